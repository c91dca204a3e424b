"""Codecs of what files hold by name alone: types and functions."""

from __future__ import annotations

import inspect
from typing import Any

from palmette.persistence import names
from palmette.persistence.graph import Codec, Decoder, Encoder

__all__ = ["CODECS"]


class Types(Codec):
    """Types that labels come in, and classes of Palmette."""

    tag = "type"

    def takes(self, value: Any) -> bool:
        return inspect.isclass(value)

    def write(self, value: type, encoder: Encoder) -> str:
        name = names.name_of_type(value)
        if name is None:
            raise encoder.refusal(
                value, f"it is the class {names.name_of(value)}. Give an object of that class."
            )
        return name

    def read(self, content: Any, decoder: Decoder) -> type:
        return names.find_type(content)


class Functions(Codec):
    """Functions of a short list: files hold no code."""

    tag = "function"

    def takes(self, value: Any) -> bool:
        return not inspect.isclass(value) and (
            inspect.isroutine(value) or type(value).__name__ in _FUNCTION_LIKE
        )

    def write(self, value: Any, encoder: Encoder) -> str:
        name = names.name_of_function(value)
        if name is None:
            called = getattr(value, "__qualname__", type(value).__name__)
            raise encoder.refusal(
                value,
                f"it is the function {called}, and files hold no code. Set it to None before "
                "saving, or give the name of a rule or an object in its place.",
            )
        return name

    def read(self, content: Any, decoder: Decoder) -> Any:
        return names.find_function(content)


_FUNCTION_LIKE = frozenset({"ufunc", "_ArrayFunctionDispatcher", "partial", "CPUDispatcher"})

CODECS: list[Codec] = [Types(), Functions()]
