"""A parameter that bears the name of a method."""

from __future__ import annotations

from typing import Any

__all__ = ["ParameterNotMethod"]


class ParameterNotMethod:
    """Hides a parameter from those who would call it.

    scikit-learn's tools take whatever an estimator has under the name ``score`` for its method of
    that name: a pipeline would call it. As a parameter it is set, searched, cloned and shown like
    any other, and read with ``get_params()["score"]``; but an object has no such attribute.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self._name] = value

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        raise AttributeError(
            f"{owner.__name__} has no method {self._name!r}; its parameter of that name is "
            f"get_params()[{self._name!r}]."
        )
