"""Foreign objects of a model: kept together, written and read by skops."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Collection
from typing import Any

from palmette.exceptions import PalmetteError
from palmette.persistence import skops_file
from palmette.persistence.graph import Encoder
from palmette.persistence.part_checks import check_parts
from palmette.persistence.reviewed import REVIEWED
from palmette.persistence.trust import Untrusted

__all__ = ["ForeignReader", "ForeignWriter", "untrusted_types"]

_TOGETHER = 64  # objects in a member: similar ones pack well, and skops is slow with very many


def _skops_io() -> Any:
    try:
        return importlib.import_module("skops.io")
    except ImportError as error:
        raise ImportError(
            "skops writes and reads the estimators of other libraries that the model holds, and it "
            f"cannot be imported ({error}). Install it: pip install 'skops>=0.13'"
        ) from error


class ForeignWriter:
    """Gather foreign objects, and write them."""

    def __init__(self) -> None:
        self._objects: list[Any] = []
        self._refusals: list[Callable[[str], PalmetteError]] = []

    def add(self, value: Any, encoder: Encoder) -> int:
        """Keep an object, and return its number."""
        if inspect.ismodule(value) or hasattr(value, "fileno") or inspect.isgenerator(value):
            raise encoder.refusal(
                value, "it belongs to this process. Set it to None, or remove it."
            )
        path = encoder.path
        self._objects.append(value)
        self._refusals.append(lambda why: encoder.refusal(value, why, path))
        return len(self._objects) - 1

    def members(self) -> dict[str, bytes]:
        """Return files of skops by their names."""
        starts = range(0, len(self._objects), _TOGETHER)
        return {
            f"foreign/{i:04d}.skops": self._written(
                start, min(start + _TOGETHER, len(self._objects))
            )
            for i, start in enumerate(starts)
        }

    def _written(self, start: int, stop: int) -> bytes:
        try:
            content = skops_file.tidy(_skops_io().dumps(self._objects[start:stop]))
            problem = _cannot_be_found(content)
        except ImportError as error:
            raise PalmetteError(f"{error}.") from error
        except Exception as error:  # skops asks objects for their state, which may do anything
            content, problem = b"", f"skops cannot write it ({error})"
        if problem is None:
            return content
        if stop - start > 1:  # find the one that is to blame, so that the error can name it
            for each in range(start, stop):
                self._written(each, each + 1)
        raise self._refusals[start](
            f"{problem}. Set it to None, or give an object that can be kept."
        )


def _cannot_be_found(content: bytes) -> str | None:
    """Tell what a file names that no module has, such as a function inside another."""
    for module, name in skops_file.names_in(content):
        if module in sys.modules and not hasattr(sys.modules[module], name):
            return f"it needs {module}.{name}, which cannot be found by that name"
    return None


class ForeignReader:
    """Read foreign objects, of types that are reviewed or trusted only.

    Parameters
    ----------
    read : callable
        From the name of a member to its bytes.
    trusted : collection of str
        Names of types that the caller vouches for.
    """

    def __init__(self, read: Callable[[str], bytearray], trusted: Collection[str]) -> None:
        self._read = read
        self._trusted = trusted
        self._parts: dict[int, list[Any]] = {}

    def get(self, number: Any) -> Any:
        """Return an object by its number."""
        if type(number) is not int or number < 0:
            raise ValueError(f"there is no foreign object {str(number)[:20]}")
        part, place = divmod(number, _TOGETHER)
        if part not in self._parts:
            self._parts[part] = self._loaded(f"foreign/{part:04d}.skops")
        return self._parts[part][place]

    def _loaded(self, name: str) -> list[Any]:
        content = bytes(self._read(name))
        skops_file.check_content(content)
        skops = _skops_io()
        try:
            objects = skops.loads(content, trusted=self._allowed_in(content))
        except importlib.import_module("skops.io.exceptions").UntrustedTypesFoundException:
            raise Untrusted(name) from None
        if not isinstance(objects, list):
            raise ValueError(f"{name} holds no list of objects")
        check_parts(objects)
        return objects

    def _allowed_in(self, content: bytes) -> list[str]:
        """Reviewed types that the file names, for skops is slow with many, and trusted ones."""
        named = {f"{module}.{name}" for module, name in skops_file.names_in(content)}
        return sorted({*(REVIEWED & named), *self._trusted})


def untrusted_types(content: bytes, trusted: Collection[str] = ()) -> list[str]:
    """Return the names of types in a file of skops that are neither reviewed nor trusted."""
    skops_file.check_content(content)
    found = _skops_io().get_untrusted_types(data=content)
    return sorted(set(found) - REVIEWED - set(trusted))
