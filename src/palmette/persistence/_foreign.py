"""Objects of other libraries: which of them a file may contain, and how they are saved and loaded.

An object without parts of Palmette is saved by skops. One with such parts, such as a pipeline or a
search around a classifier of Palmette, is saved as objects of Palmette are, by its class and its
attributes, each with its own codec.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from palmette.exceptions import PalmetteError
from palmette.persistence._archive import MAX_BYTES
from palmette.persistence._graph import Codec, Decoder, Encoder
from palmette.persistence._objects import OWN_CODECS, attributes_of, read_attributes
from palmette.persistence._parts import (
    REVIEWED,
    Untrusted,
    check_part,
    check_parts,
    is_reviewed,
    set_defaults,
)
from palmette.persistence._skops import check_content, names_in, skops_io, write
from palmette.persistence.names import full_name, import_class, is_of_palmette, stable_name

_PER_MEMBER = 64  # objects per member: similar ones compress well, but skops is slow with many


class ForeignWriter:
    """Collect objects of other libraries to be written."""

    def __init__(self) -> None:
        self._objects: list[Any] = []
        self._refusals: list[Callable[[str], PalmetteError]] = []

    def add(self, value: Any, encoder: Encoder) -> int:
        """Add an object, and return its number."""
        if type(value).__module__ == "builtins" or not (encoder.path or is_model(value)):
            raise encoder.refusal(
                value,
                "expected an estimator, a hierarchy, or lists and dictionaries of them. Save other "
                "objects with the library they are from, or with pickle.",
            )
        if inspect.ismodule(value) or hasattr(value, "fileno") or inspect.isgenerator(value):
            raise encoder.refusal(
                value, "it belongs to this process. Set it to None, or remove it."
            )
        path = encoder.path
        self._objects.append(value)
        self._refusals.append(lambda why: encoder.refusal(value, why, path))
        return len(self._objects) - 1

    def members(self) -> dict[str, bytes]:
        """Return skops files by name."""
        starts = range(0, len(self._objects), _PER_MEMBER)
        return {
            f"foreign/{i:04d}.skops": self._written(
                start, min(start + _PER_MEMBER, len(self._objects))
            )
            for i, start in enumerate(starts)
        }

    def _written(self, start: int, stop: int) -> bytes:
        try:
            skops_io()
            content = write(self._objects[start:stop])
            problem = _cannot_be_found(content)
        except ImportError as error:
            raise PalmetteError(f"{error}.") from error
        except Exception as error:  # `__getstate__` of an object may raise anything
            content, problem = b"", f"skops cannot write it ({error})"
        if problem is None:
            return content
        if stop - start > 1:  # find the object that fails, so that the error can name it
            for each in range(start, stop):
                self._written(each, each + 1)
        raise self._refusals[start](
            f"{problem}. Set it to None, or use an object that can be saved."
        )


def is_model(value: Any) -> bool:
    """Return whether an object of another library has the methods of an estimator."""
    return hasattr(value, "get_params") or hasattr(value, "predict") or hasattr(value, "transform")


def _cannot_be_found(content: bytes) -> str | None:
    """Return an error for a name that no module has, such as a function inside another."""
    for module, name in names_in(content):
        if module in sys.modules and not hasattr(sys.modules[module], name):
            return f"it needs {module}.{name}, which cannot be found by that name"
    return None


class ForeignReader:
    """Load objects of other libraries, of reviewed or trusted types only.

    Parameters
    ----------
    read : callable
        Returns the bytes of a member by name.
    trusted : collection of str
        Names of types that the caller trusts.
    max_bytes : int
        See `parse_json`.
    """

    def __init__(
        self,
        read: Callable[[str], bytearray],
        trusted: Collection[str],
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._read = read
        self._trusted = trusted
        self._max_bytes = max_bytes
        self._parts: dict[int, list[tuple[Any, int]]] = {}

    def get(self, number: Any) -> tuple[Any, int]:
        """Return an object by its number, and how many parts it has."""
        if type(number) is not int or number < 0:
            raise ValueError(f"there is no foreign object {str(number)[:20]}")
        part, place = divmod(number, _PER_MEMBER)
        if part not in self._parts:
            self._parts[part] = self._loaded(f"foreign/{part:04d}.skops")
        return self._parts[part][place]

    def _loaded(self, name: str) -> list[tuple[Any, int]]:
        content = bytes(self._read(name))
        sizes = check_content(content, self._max_bytes)
        for each in _not_reviewed(content, self._trusted):
            raise Untrusted(each)
        skops = skops_io()
        try:
            objects = skops.loads(content, trusted=self._allowed_in(content))
        except importlib.import_module("skops.io.exceptions").UntrustedTypesFoundException:
            raise Untrusted(name) from None
        if not isinstance(objects, list):
            raise ValueError(f"{name} is not a list of objects")
        check_parts(objects, self._trusted)
        set_defaults(objects, self._trusted)
        return list(zip(objects, sizes, strict=True))

    def _allowed_in(self, content: bytes) -> list[str]:
        """Return trusted types, and the reviewed ones of the file: skops is slow with many."""
        named = {f"{module}.{name}" for module, name in names_in(content)}
        return sorted({*(REVIEWED & named), *self._trusted})


def untrusted_types(
    content: bytes, trusted: Collection[str] = (), max_bytes: int = MAX_BYTES
) -> list[str]:
    """Return the names of types in a skops file that are neither reviewed nor trusted."""
    check_content(content, max_bytes)
    found = skops_io().get_untrusted_types(data=content)
    return sorted({*found, *_not_reviewed(content)} - REVIEWED - set(trusted))


def _not_reviewed(content: bytes, trusted: Collection[str] = ()) -> list[str]:
    """Return the types of scikit-learn in a skops file whose compiled code may not be safe."""
    named = {f"{module}.{name}" for module, name in names_in(content)}
    of_sklearn = {each for each in named if each.startswith("sklearn.")}
    return sorted(each for each in of_sklearn - set(trusted) if not is_reviewed(each))


# ---------------------------------------------------------------------- trusted classes


BUNCH = "sklearn.utils._bunch.Bunch"

# parts of meta-estimators of scikit-learn that are not estimators; they only have attributes
_HOLDERS = frozenset(
    {
        BUNCH,
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.metrics._scorer._MultimetricScorer",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.utils._metadata_requests.MetadataRequest",
        "sklearn.utils._metadata_requests.MethodMetadataRequest",
    }
)


def trusted_class(name: Any, trusted: Collection[str]) -> type:
    """Return an estimator of scikit-learn, or a class that the caller trusts, by its full name.

    Raises
    ------
    Untrusted
        If it is neither.
    ValueError
        If there is no such class.

    Examples
    --------
    >>> trusted_class("sklearn.pipeline.Pipeline", ())
    <class 'sklearn.pipeline.Pipeline'>
    >>> trusted_class("subprocess.Popen", ())
    Traceback (most recent call last):
      ...
    palmette.persistence._parts.Untrusted: subprocess.Popen
    """
    if not isinstance(name, str):
        raise ValueError(f"{str(name)[:40]} is not the name of a class")
    outside = {"conftest", "externals", "tests"} & set(name.split("."))
    of_sklearn = name.startswith("sklearn.") and not outside
    of_sklearn = of_sklearn and (name in _HOLDERS or is_reviewed(name))
    if not of_sklearn and name not in trusted:
        raise Untrusted(name[:200])
    found = import_class(name)
    if found is None:
        raise ValueError(f"there is no class {name[:200]}")
    if name in trusted or name in _HOLDERS or issubclass(found, BaseEstimator):
        return found
    raise Untrusted(name)


# ---------------------------------------------------------------------- codecs


_OPAQUE = (str, bytes, int, float, bool, complex, type(None), np.dtype)


class Holders(Codec):
    """Objects of other libraries with parts of Palmette."""

    tag, shared, by_type = "holder", True, False

    def takes(self, value: Any) -> bool:
        return not is_of_palmette(type(value)) and _has_palmette_part(value)

    def write(self, value: Any, encoder: Encoder) -> dict[str, Any]:
        name = full_name(type(value))
        if import_class(name) is not type(value):
            raise encoder.refusal(
                value, "its class cannot be found by name. Define it at the top of a module."
            )
        if isinstance(value, dict):
            if name != BUNCH:
                raise encoder.refusal(value, "it is a subclass of dict. Convert it to a dict.")
            return {"class": name, "items": encoder.inside("", dict(value))}
        state = attributes_of(value)
        return {
            "class": name,
            "state": {name: encoder.inside(f".{name}", state[name]) for name in sorted(state)},
        }

    def read(self, content: Any, decoder: Decoder) -> Any:
        kind = trusted_class(content["class"], decoder.trusted)
        return kind() if content["class"] == BUNCH else object.__new__(kind)

    def check_of(self, made: Any, decoder: Decoder) -> Callable[[], None] | None:
        return lambda: check_part(made, decoder.trusted)

    def fill(self, made: Any, content: Any, decoder: Decoder) -> None:
        if isinstance(made, dict):
            made.update(decoder.value(content["items"]))
            return
        state = read_attributes(type(made), content["state"], decoder)
        if isinstance(made, BaseEstimator):
            made.__setstate__(state)  # warns if the version of scikit-learn differs
            set_defaults([made], decoder.trusted)
        else:
            vars(made).update(state)


class Foreign(Codec):
    """Objects of other libraries, saved and loaded by skops."""

    tag, shared, by_type = "foreign", True, False

    def takes(self, value: Any) -> bool:
        return not is_of_palmette(type(value)) and not isinstance(value, type)

    def write(self, value: Any, encoder: Encoder) -> int:
        return encoder.foreign.add(value, encoder)

    def read(self, content: Any, decoder: Decoder) -> Any:
        made, n_values = decoder.foreign.get(content)
        decoder.count(n_values)
        return made


def _has_palmette_part(value: Any) -> bool:
    """Return whether any part of an object of another library is of Palmette."""
    seen: set[int] = set()
    kept = [value]  # references to all visited objects, so that their ids stay unique
    place = 0
    while place < len(kept):
        each = kept[place]
        place += 1
        if _is_palmette_class(type(each)):
            return True
        for part in _parts_of(each):
            if not isinstance(part, _OPAQUE) and id(part) not in seen:
                seen.add(id(part))
                kept.append(part)
    return False


def _is_palmette_class(kind: type) -> bool:
    return any(is_of_palmette(each) or stable_name(each) for each in kind.__mro__)


def _parts_of(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if isinstance(value, np.ndarray):
        return list(value.ravel()) if value.dtype == object else []
    if inspect.ismodule(value) or inspect.isclass(value) or inspect.isroutine(value):
        return []
    return list(getattr(value, "__dict__", {}).values())


# the first codec that takes an object writes it; `Foreign` takes what no other does
ALL_CODECS: list[Codec] = [*OWN_CODECS, Holders(), Foreign()]
