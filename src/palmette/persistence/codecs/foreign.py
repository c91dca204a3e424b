"""Codecs of objects of other libraries.

What holds nothing of Palmette goes to skops as it is. An estimator that does, such as a pipeline or
a search around one of our classifiers, is written as our own objects are: its class and its
attributes, so that each part meets the codec of its kind.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from palmette.persistence import names
from palmette.persistence.codecs.objects import attributes_of, check_attributes
from palmette.persistence.graph import Codec, Decoder, Encoder
from palmette.persistence.trust import BUNCH, trusted_class

__all__ = ["CODECS"]

_OPAQUE = (str, bytes, int, float, bool, complex, type(None), np.dtype)


class Holders(Codec):
    """Foreign objects that hold objects of Palmette."""

    tag, shared = "holder", True

    def takes(self, value: Any) -> bool:
        return not names.is_of_palmette(type(value)) and _holds_ours(value)

    def write(self, value: Any, encoder: Encoder) -> dict[str, Any]:
        name = names.name_of(type(value))
        if names.import_class(name) is not type(value):
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

    tag, shared = "foreign", True

    def takes(self, value: Any) -> bool:
        return not names.is_of_palmette(type(value)) and not isinstance(value, type)

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
        if names.is_of_palmette(type(each)) or _is_subclass_of_ours(type(each)):
            return True
        for part in _parts_of(each):
            if not isinstance(part, _OPAQUE) and id(part) not in seen:
                seen.add(id(part))
                kept.append(part)
    return False


def _is_subclass_of_ours(kind: type) -> bool:
    return any(names.is_of_palmette(each) for each in kind.__mro__)


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


CODECS: list[Codec] = [Holders(), Foreign()]
