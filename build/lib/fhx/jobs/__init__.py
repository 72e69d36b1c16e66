"""Independent jobs: run here, in processes of this machine, or on the workers of a Dask cluster.

Jobs know nothing of each other, so a result does not depend on where its job ran, when, or how often it was started.
A cluster needs the extra ``cluster``: ``pip install 'fhx[cluster]'``, here and on its machines.
"""

from fhx.jobs.cluster import ClusterError
from fhx.jobs.job import JobFailedError
from fhx.jobs.unordered import map_unordered

__all__ = ["ClusterError", "JobFailedError", "map_unordered"]
