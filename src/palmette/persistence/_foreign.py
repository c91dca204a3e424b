"""Objects of other libraries: which of them a file may hold, and how they are written and read.

What holds nothing of Palmette goes to skops as it is. An estimator that does, such as a pipeline or
a search around one of our classifiers, is written as our own objects are: its class and its
attributes, so that each part meets the codec of its kind.
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
from palmette.persistence._graph import Codec, Decoder, Encoder
from palmette.persistence._objects import OWN_CODECS, attributes_of, check_attributes
from palmette.persistence._skops import REVIEWED, check_content, check_parts, names_in, tidy
from palmette.persistence.names import full_name, import_class, is_of_palmette, stable_name

__all__ = [
    "ALL_CODECS",
    "BUNCH",
    "ForeignReader",
    "ForeignWriter",
    "Untrusted",
    "trusted_class",
    "untrusted_types",
]

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
            content = tidy(_skops_io().dumps(self._objects[start:stop]))
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
    for module, name in names_in(content):
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
        check_content(content)
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
        named = {f"{module}.{name}" for module, name in names_in(content)}
        return sorted({*(REVIEWED & named), *self._trusted})


def untrusted_types(content: bytes, trusted: Collection[str] = ()) -> list[str]:
    """Return the names of types in a file of skops that are neither reviewed nor trusted."""
    check_content(content)
    found = _skops_io().get_untrusted_types(data=content)
    return sorted(set(found) - REVIEWED - set(trusted))


# ---------------------------------------------------------------------- classes that may be named


BUNCH = "sklearn.utils._bunch.Bunch"

# parts of scikit-learn's meta-estimators that are no estimators; they hold attributes only
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


class Untrusted(ValueError):
    """A type of another library that neither Palmette nor the caller vouches for."""


def trusted_class(name: Any, trusted: Collection[str]) -> type:
    """Return an estimator of scikit-learn, or a class that the caller trusts, by its full name.

    Raises
    ------
    Untrusted
        Where it is neither.
    ValueError
        Where there is no such class.

    Examples
    --------
    >>> trusted_class("sklearn.pipeline.Pipeline", ())
    <class 'sklearn.pipeline.Pipeline'>
    >>> trusted_class("subprocess.Popen", ())
    Traceback (most recent call last):
      ...
    palmette.persistence._foreign.Untrusted: subprocess.Popen
    """
    if not isinstance(name, str):
        raise ValueError(f"{str(name)[:40]} is no name of a class")
    outside = {"conftest", "externals", "tests"} & set(name.split("."))
    of_sklearn = name.startswith("sklearn.") and not outside
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
    """Foreign objects that hold objects of Palmette."""

    tag, shared, by_type = "holder", True, False

    def takes(self, value: Any) -> bool:
        return not is_of_palmette(type(value)) and _holds_ours(value)

    def write(self, value: Any, encoder: Encoder) -> dict[str, Any]:
        name = full_name(type(value))
        if import_class(name) is not type(value):
            raise encoder.refusal(
                value, "its class cannot be found by name. Define it at the top of a module."
            )
        if isinstance(value, dict):
            if name != BUNCH:
                raise encoder.refusal(value, "it is a dictionary of its own kind. Make it a dict.")
            return {"class": name, "items": encoder.inside("", dict(value))}
        state = attributes_of(value)
        return {
            "class": name,
            "state": {name: encoder.inside(f".{name}", state[name]) for name in sorted(state)},
        }

    def read(self, content: Any, decoder: Decoder) -> Any:
        kind = trusted_class(content["class"], decoder.trusted)
        return kind() if content["class"] == BUNCH else object.__new__(kind)

    def fill(self, made: Any, content: Any, decoder: Decoder) -> None:
        if isinstance(made, dict):
            made.update(decoder.value(content["items"]))
            return
        check_attributes(type(made), content["state"])
        state = {name: decoder.value(each) for name, each in content["state"].items()}
        if isinstance(made, BaseEstimator):
            made.__setstate__(state)  # warns where scikit-learn has another version
        else:
            vars(made).update(state)


class Foreign(Codec):
    """Objects of other libraries, which skops writes and reads."""

    tag, shared, by_type = "foreign", True, False

    def takes(self, value: Any) -> bool:
        return not is_of_palmette(type(value)) and not isinstance(value, type)

    def write(self, value: Any, encoder: Encoder) -> int:
        return encoder.foreign.add(value, encoder)

    def read(self, content: Any, decoder: Decoder) -> Any:
        return decoder.foreign.get(content)


def _holds_ours(value: Any) -> bool:
    """Whether an object of Palmette is somewhere in a foreign one."""
    seen: set[int] = set()
    kept = [value]  # all that was met: an id is of one object only while that lives
    place = 0
    while place < len(kept):
        each = kept[place]
        place += 1
        if _is_ours(type(each)):
            return True
        for part in _parts_of(each):
            if not isinstance(part, _OPAQUE) and id(part) not in seen:
                seen.add(id(part))
                kept.append(part)
    return False


def _is_ours(kind: type) -> bool:
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


# the first that takes an object writes it: foreign parts are what nothing else knows
ALL_CODECS: list[Codec] = [*OWN_CODECS, Holders(), Foreign()]
