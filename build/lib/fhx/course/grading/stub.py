"""The exercises, as a kernel sees them while its answers are graded: they are asked for, and not here."""

import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Never


class _Later:
    """Stands for whatever is asked for: it can be called, shown and asked whether it is true, and says no more."""

    def __call__(self, *arguments: object, **options: object) -> "_Later":
        return self

    def __getattr__(self, name: str) -> "_Later":
        if name.startswith("_"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: object) -> "_Later":
        return self

    def __iter__(self) -> Iterator[Never]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return True

    __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return "This is graded later."


class _Rooms(MetaPathFinder, Loader):
    """Modules below this one: there are none, and importing from them is not an error."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.startswith(__name__ + ".") else None

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__getattr__"] = _later


def _later(name: str) -> _Later:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Later()


check = _Later()
__getattr__ = _later
sys.meta_path.append(_Rooms())
