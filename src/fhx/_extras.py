"""What is installed only by an extra, ``pip install 'fhx[torch]'``: imported when it is needed, asked for by name.

A name of :data:`EXTRAS` is an extra; ``pyproject.toml`` has the same packages with their bounds.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

__all__ = ["EXTRAS", "MissingExtraError", "lazily", "needs"]

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "torch": ("torch", "jaxtyping"),
    "figures": ("matplotlib", "matplotlib_inline", "IPython", "ipywidgets", "jinja2"),
    "data": ("pooch", "requests", "sklearn"),
    "learn": ("aalpy", "pydot"),
    "cluster": ("distributed",),
    "convex": ("cvxpy", "clarabel"),
    "export": ("onnx", "onnxruntime", "onnxscript", "safetensors"),
    "course": ("nbformat", "jupyter_client", "ipykernel", "psutil", "pybtex", "yaml", "zmq"),
}
"""The packages of each extra, by the names under which they are imported."""


class MissingExtraError(ModuleNotFoundError):
    """A package is missing that an extra installs; the message has the command."""


@contextmanager
def needs(*extras: str) -> Iterator[None]:
    """For imports, of what is in one of these extras or needs it.

    Raises:
        MissingExtraError: a package of theirs is missing; the message names it and the command that installs it.
    """
    try:
        yield
    except MissingExtraError:
        raise
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        for extra in extras:
            if package in EXTRAS[extra]:
                message = (
                    f"this part of fhx needs the package {package!r}, which is missing: pip install 'fhx[{extra}]'"
                )
                raise MissingExtraError(message, name=error.name) from error
        raise


def lazily(module: str, places: Mapping[str, str], *extras: str) -> Callable[[str], Any]:
    """A ``__getattr__`` for a module, PEP 562: some of its names are imported when they are first asked for.

    Args:
        module: the name of the module.
        places: the module in which each of the names is defined; that of a module stands for itself.
        extras: which these need.
    """

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        with needs(*extras):
            found = import_module(places[name])
        return found if places[name] == f"{module}.{name}" else getattr(found, name)

    return get
