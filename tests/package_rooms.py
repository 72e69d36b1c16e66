"""The rooms of the package: the folders of its modules."""

from pkgutil import iter_modules

import fhx

ROOMS = [found.name for found in iter_modules(fhx.__path__) if found.ispkg]
