"""Changes of the parameters of estimators: each is of a type that it may have, and far too large.

What checks parameters in a fit does not see those of a model that was fitted before: how many
columns, n-grams, threads or rounds there are, and by which pattern words are found.
"""

from __future__ import annotations

import json
import random
from typing import Any

from tests.attack.files import Taken, attributes_of

__all__ = ["parameters_changed"]

_LARGE: list[Any] = [10**6, 10**9, 2**31, 2**62, -(10**9), -1, 0, 1e300, True, None, [1, 10**9]]
_WORDS = "auto all char char_wb word dense onehot-dense onehot brute kd_tree mahalanobis l1 max"
_WORDS += (
    " nan_euclidean precomputed reflect wrap linear cosine float16 object O U1000000 threading"
)
# of which some take time that doubles with each letter
_PATTERNS = [r"(?u)(\w+)+!", r"(?:\w|\w\w)+!", r"\w*\w*\w*\w*\w*\w*\w*!", r"(\w?){60}\w{60}", "("]
_PATTERNS += [r"(?=(\w+)+!)", r"", r"\b", r"(\w)(\w)", r"\w{1,1000000000}"]


def parameters_changed(taken: Taken, rng: random.Random) -> str:
    """Replace parameters, of ours or of scikit-learn, by large numbers, odd words and patterns."""
    ours = [(o, k) for o, k in attributes_of(taken) if _is_parameter(k)]
    in_skops = [(o, k) for o, k in _of_skops(taken) if _is_parameter(k)]
    chosen, words = rng.choice([each for each in (ours, in_skops) if each] or [[]]), []
    for owner, key in rng.sample(chosen, min(len(chosen), rng.choice([1, 1, 2, 5]))):
        value: Any = rng.choice(
            [rng.choice(_LARGE), rng.choice(_LARGE), rng.choice(_WORDS.split())]
        )
        if "pattern" in str(key):
            value = rng.choice(_PATTERNS)
        owner[key] = _of_skops_file(value) if chosen is in_skops else _of_ours(value)
        words.append(f"{key}={value!r}")
    return ", ".join(words) or "nothing to change"


def _is_parameter(key: Any) -> bool:
    return isinstance(key, str) and not key.startswith("_") and not key.endswith("_")


def _of_skops(taken: Taken) -> list[tuple[Any, Any]]:
    inner = [n["content"] for n in taken.nodes() if n["__loader__"] == "ObjectNode"]
    contents = [each.get("content") for each in inner if isinstance(each, dict)]
    return [(each, key) for each in contents if isinstance(each, dict) for key in each]


def _of_ours(value: Any) -> Any:
    return {"tuple": value} if isinstance(value, list) else value


def _of_skops_file(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        parts = [_of_skops_file(each) for each in value]
        named = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode"}
        return {**named, "content": parts}
    named = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode"}
    return {**named, "content": json.dumps(value), "is_json": True}
