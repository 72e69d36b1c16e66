"""Bags of independent jobs: run here, in processes of this machine, or on the workers of a Dask cluster.

Jobs know nothing of each other, so it makes no difference to a result where it was made, when, or how often it was
begun. A cluster needs the extra ``cluster``: ``pip install 'fhx[cluster]'``, here and on its machines.
"""

from fhx.jobs.bag import run
from fhx.jobs.cluster import ClusterError
from fhx.jobs.job import JobFailed

__all__ = ["ClusterError", "JobFailed", "run"]
