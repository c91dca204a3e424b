"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
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
