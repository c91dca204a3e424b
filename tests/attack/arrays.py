"""Changes of an array: types, values, shapes and lengths, as one who means harm would make them."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

__all__ = [
    "DTYPES",
    "NARROW",
    "UNSIGNED",
    "ArrayMutator",
    "another_dtype",
    "extreme",
    "nudged",
    "reshaped",
    "resized",
]

Changed = tuple[np.ndarray, str]
ArrayMutator = Callable[[np.ndarray, random.Random], Changed]

_NOT_NUMBERS = ["S3", "U2", "M8[s]", "m8[D]", "V4"]
DTYPES = [*["f2", "f4", "f8", "g", "i2", "i4", "i8", "u2", "u4", "?", "c8", "c16"], *_NOT_NUMBERS]
NARROW = ["i1", "i2"]
UNSIGNED = ["u1", "u2", "u4", "u8"]


def _converted(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Return an array of another dtype; what lies between its numbers is zero, not chance."""
    made = np.zeros(array.shape, dtype)
    with np.errstate(all="ignore"), suppress(TypeError, ValueError):
        made[...] = array
    return made


def _with_fields(array: np.ndarray, change: Callable[[np.dtype], Any], field: str) -> np.ndarray:
    """Return records of which one field has another dtype."""
    kinds = [(n, change(array.dtype[n]) if n == field else array.dtype[n]) for n in _names(array)]
    made = np.zeros(array.shape, kinds)
    for name in _names(array):
        made[name] = _converted(array[name], made.dtype[name])
    return made


def _names(array: np.ndarray) -> tuple[str, ...]:
    return array.dtype.names or ()


def another_dtype(choices: list[str]) -> ArrayMutator:
    """Return the mutator to one of some dtypes, with extreme values of it in half of the cases."""

    def change(array: np.ndarray, rng: random.Random) -> Changed:
        kind = rng.choice([c for c in choices if np.dtype(c) != array.dtype])
        if _names(array):
            field = rng.choice(_names(array))
            kind = "f8" if kind == "g" else kind  # its padding would be written as it comes
            return _with_fields(array, lambda _: np.dtype(kind), field), f"{field} as {kind}"
        changed = _converted(array, kind)
        if rng.random() < 0.5:
            return changed, f"{array.dtype} as {kind}"
        changed, words = extreme(changed, rng)
        return changed, f"{array.dtype} as {kind}, {words}"

    return change


def extreme(array: np.ndarray, rng: random.Random) -> Changed:
    """Put extreme values at one place, at some or at all."""
    if not array.size:
        return array, "empty"
    field = rng.choice(_names(array)) if _names(array) else None
    part = array if field is None else array[field]
    value = _extreme_value(part, rng)
    flat = part.reshape(-1).copy()
    place = rng.choice(["all", "first", "last", "one", "one", "some"])
    if place == "some":
        at: Any = rng.sample(range(flat.size), max(1, flat.size // 3))
    else:
        at = {"all": slice(None), "first": 0, "last": -1}.get(place, rng.randrange(flat.size))
    with np.errstate(all="ignore"):
        flat[at] = value
    if field is None:
        return flat.reshape(part.shape), f"{place} set to {value!r}"
    array[field] = flat.reshape(part.shape)
    return array, f"{field}, {place} set to {value!r}"


def _extreme_value(array: np.ndarray, rng: random.Random) -> Any:
    kind = array.dtype.kind
    if kind in "iu":
        info = np.iinfo(array.dtype)
        values = [info.min, info.max, info.max - 1, 2_000_000_000, -1, -2, 0, 1, 2**31 - 1]
        values += [array.size, array.size - 1, len(array) if array.ndim else 1, 2**30]
        return rng.choice([v for v in values if info.min <= v <= info.max])
    if kind == "f":
        values = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, -1.0, 2e9, 1e19]
        with np.errstate(all="ignore"):
            return np.array(rng.choice(values)).astype(array.dtype)[()]
    if kind == "b":
        return rng.random() < 0.5
    if kind in "US":
        return rng.choice(["", "x", "\0", "é" if kind == "U" else "e"])
    return np.zeros(1, array.dtype)[0]


def nudged(array: np.ndarray, rng: random.Random) -> Changed:
    """Change one number by one, copy another, or change the order."""
    if array.size < 2 or array.dtype.kind not in "iuf":
        return extreme(array, rng)
    flat = array.reshape(-1).copy()
    one, other = rng.randrange(flat.size), rng.randrange(flat.size)
    action = rng.choice(["one more", "one less", "copied", "swapped", "reversed", "all one more"])
    with np.errstate(all="ignore"):
        if action in ("one more", "one less"):
            flat[one : one + 1] += np.array(1 if action == "one more" else -1).astype(flat.dtype)
        elif action == "copied":
            flat[one] = flat[other]
        elif action == "swapped":
            flat[[one, other]] = flat[[other, one]]
        elif action == "reversed":
            flat = flat[::-1].copy()
        else:
            flat = flat + flat.dtype.type(1)
    return flat.reshape(array.shape), f"{action} at {one}"


def reshaped(array: np.ndarray, rng: random.Random) -> Changed:
    """Give an array another shape of as many numbers, or none or one of them."""
    shapes: list[tuple[int, ...]] = [(-1,), (1, *array.shape), (*array.shape, 1), (-1, 1), (1, -1)]
    shapes += [array.shape[::-1], (1,) * 30 + array.shape]
    if array.size and array.size % 2 == 0:
        shapes += [(2, array.size // 2), (array.size // 2, 2)]
    action = rng.choice(["shape", "shape", "shape", "none", "scalar", "empty rows"])
    if action == "none":
        return array[:0] if array.ndim else array.reshape(1)[:0], "no numbers"
    if action == "scalar":
        return array.reshape(-1)[:1].reshape(()) if array.size else array, "one number"
    if action == "empty rows":
        return np.zeros((len(array) if array.ndim else 3, 0), array.dtype), "rows without numbers"
    shape = rng.choice([s for s in shapes if array.size or -1 not in s])
    return array.reshape(shape), f"shape {array.shape} to {shape[-4:]}"


def resized(array: np.ndarray, rng: random.Random) -> Changed:
    """Cut numbers off, or append some, along an axis."""
    if not array.ndim:
        return np.repeat(array, rng.choice([0, 2, 100])), "a number repeated"
    axis = rng.randrange(array.ndim)
    length = array.shape[axis]
    if length and rng.random() < 0.5:
        n = rng.choice([0, 1, length - 1, length // 2])
        return np.take(array, range(n), axis), f"axis {axis} of {length} cut to {n}"
    if not length:
        grown = list(array.shape)
        grown[axis] = 3
        return np.zeros(grown, array.dtype), f"axis {axis} of none to 3"
    n = rng.choice([length + 1, 2 * length, length + 1000 // max(1, array.size // length)])
    return np.take(array, [i % length for i in range(n)], axis), f"axis {axis} of {length} to {n}"
