"""Templates of HTML: each package that writes pages has a folder of them, and all are read by the same rules."""

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["environment"]


def environment(package: str) -> Environment:
    """The templates in the folder ``templates`` of a package; values are escaped, and a missing one is an error."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
