"""Imports that wait until they are needed: they are most of the time that a command takes to start.

`lazy_names` is for the names of a package of ours, `postpone` for libraries that other libraries
import without using them, and `import_after` for what has to follow the import of a library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package or module.

    One whose names come from many modules would otherwise import all of them, and their libraries,
    for the first name that is asked for.

    Parameters
    ----------
    package : str
        Its name.
    modules : mapping of str to str
        By module, the names that come from it, separated by spaces. A module whose own name is
        among them, or that has no names, is an attribute itself.

    Returns
    -------
    __getattr__, __dir__ : callable
    """
    homes = {
        name: home
        for home, names in modules.items()
        for name in names.split() or [home.rpartition(".")[2]]
    }

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = import_module(home)
        found = module if home == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return find, names


def import_after(first: str, then: str) -> None:
    """Import a module as soon as another one has been imported, which may be now.

    Parameters
    ----------
    first, then : str
    """
    if first in sys.modules:
        import_module(then)
    elif then not in sys.modules:
        sys.meta_path.insert(0, _Finder({first}, lambda loader: _Followed(loader, then)))


def postpone(names: Iterable[str]) -> None:
    """Let modules wait for their first use, where they are imported from now on.

    They are in `sys.modules` at once, and are loaded when an attribute is asked for that is not one
    of their modules. One that is not installed is an ImportError, as always.

    Parameters
    ----------
    names : iterable of str
    """
    waiting = {name for name in names if name not in sys.modules}
    sys.meta_path.insert(0, _Finder(waiting, _Postponing))


class _Finder(MetaPathFinder):
    """Gives modules another loader."""

    def __init__(self, names: set[str], load: Callable[[Any], Loader]) -> None:
        self._names, self._load = names, load

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self._names:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            self._names.discard(name)
            spec.loader = self._load(spec.loader)
        return spec


class _Followed(Loader):
    """Imports another module after one that it loads."""

    def __init__(self, loader: Any, then: str) -> None:
        self._loader, self._then = loader, then

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = module.__spec__.loader = self._loader  # type: ignore[union-attr]
        self._loader.exec_module(module)
        import_module(self._then)


class _Postponing(Loader):
    """Loads a module when `load` is called."""

    def __init__(self, loader: Any) -> None:
        self._loader, self._lock, self._begun = loader, RLock(), False

    def exec_module(self, module: ModuleType) -> None:
        module.__class__ = _Postponed

    def load(self, module: ModuleType) -> None:
        with self._lock:  # other threads wait; this one goes on where the module imports itself
            if not self._begun:
                self._begun = True
                self._loader.exec_module(module)
                module.__loader__ = module.__spec__.loader = self._loader  # type: ignore[union-attr]
                module.__class__ = ModuleType


class _Postponed(ModuleType):
    """A module that is loaded at its first use."""

    def __getattr__(self, name: str) -> Any:
        loader = getattr(self.__spec__, "loader", None)
        if isinstance(loader, _Postponing):
            part = sys.modules.get(f"{self.__name__}.{name}")
            if part is not None:
                return part
            loader.load(self)
        return ModuleType.__getattribute__(self, name)
