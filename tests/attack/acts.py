"""Changes of files that try to act, to be visited without end, or to need any memory.

`acting_inside` finds what of it is left in a loaded object.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.attack.files import Taken, attributes_of
from tests.persistence.mutations import places_in

from palmette.persistence._acting import ACTING, defaults_of_acting

__all__ = ["acting_inside", "acting_settings", "huge_scalars", "put_everywhere", "shared"]

_HOST, _FOLDER = "tcp://127.0.0.1:9", "/tmp/a-stranger-s-folder"
_VALUES: dict[str, list[Any]] = {
    "callback": [{"function": "numpy.log"}, _FOLDER],
    "callbacks": [{"list": [_FOLDER]}],
    "client": [_HOST, {"tuple": ["127.0.0.1", 9]}],
    "device": ["cuda", "cuda:7", _HOST],
    "input": ["filename", "file"],
    "memory": [_FOLDER, {"path": _FOLDER}, 0],
    "n_jobs": [10**6, -1, 2, "all"],
    "n_threads": [10**6],
    "pre_dispatch": ["2**10**10", "__import__('os').system('true')", 10**9],
    "scratch": [_FOLDER, {"path": _FOLDER}],
}
# what acts only where it is used as the name of something
_NAMES = {
    "_skl_callbacks": {"list": [{"path": _FOLDER}]},
    "chain_method_": "tofile",
    "hierarchy": "/etc/passwd",
    "learner_": f"{_FOLDER}/tree.obo",
    "stack_method_": {"list": ["tofile"]},
}
_SETTINGS = ("options", "param_distributions", "param_grid", "settings")
_PREFIXES = ("", "estimator__", "base__estimator__", "b__")


def acting_settings(taken: Taken, rng: random.Random) -> str:
    """Put settings that act into attributes and settings, of one object or of all."""
    if rng.random() < 0.3:
        name = rng.choice(list(_NAMES))
        owners = _states(taken)
        owner = rng.choice([o for o in owners if name in o] or owners or [taken.state])
        owner[name] = _NAMES[name]
        return f"{name} is {str(_NAMES[name])[:60]}"
    return f"{put_everywhere(taken, rng, rng.choice([0.05, 0.3, 1.0]))} settings"


def put_everywhere(taken: Taken, rng: random.Random, share: float = 1.0) -> int:
    """Put settings that act into a share of all objects, and return how many."""
    n_put = 0
    for state in _states(taken):
        for name, values in _VALUES.items():
            if rng.random() < share:
                state[name] = rng.choice(values)
                n_put += 1
    for settings in _settings(taken):
        for name, values in _VALUES.items():
            if rng.random() < share:
                settings[rng.choice(_PREFIXES) + name] = rng.choice(values)
                n_put += 1
    for node in taken.nodes():
        inner = node.get("content")
        is_object = node["__loader__"] == "ObjectNode" and isinstance(inner, dict)
        parts = inner.get("content") if is_object else None
        if isinstance(parts, dict):
            n_put += _put_into_skops(inner, parts, rng, share)
    return n_put


def _put_into_skops(
    inner: dict[str, Any], parts: dict[str, Any], rng: random.Random, share: float
) -> int:
    n_put = 0
    for name, values in _VALUES.items():
        plain = [each for each in values if not isinstance(each, dict)]
        if plain and rng.random() < share:
            if name not in parts:
                text = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
                inner["key_types"]["content"].append(text)
            text = json.dumps(rng.choice(plain))
            parts[name] = {
                "__class__": "str",
                "__module__": "builtins",
                "__loader__": "JsonNode",
                "content": text,
                "is_json": True,
            }
            n_put += 1
    return n_put


def _states(taken: Taken) -> list[dict[str, Any]]:
    """Return the attributes of all objects of the state."""
    places = places_in(taken.objects)
    return [o[k] for o, k in places if k == "state" and "class" in o and isinstance(o[k], dict)]


def _settings(taken: Taken) -> list[dict[str, Any]]:
    """Return the dictionaries that are settings, made where there are none yet."""
    found = []
    for owner, key in attributes_of(taken):
        value = owner[key]
        if key == "summary_" and isinstance(value, dict) and type(value.get("ref")) is int:
            facts = taken.objects[value["ref"]].get("dict", {})
            facts["settings"] = {"dict": {}}
            found.append(facts["settings"]["dict"])
        elif key in _SETTINGS:
            owner[key] = {"dict": {}}
            found.append(owner[key]["dict"])
    return found


def acting_inside(whole: Any) -> Iterator[str]:
    """Yield what acts in an object or its parts."""
    seen: set[int] = set()
    waiting = [("", whole)]
    while waiting:
        path, each = waiting.pop()
        if id(each) in seen or isinstance(each, str | bytes | int | float | None):
            continue
        seen.add(id(each))
        own = getattr(each, "__dict__", {})
        for name, default in defaults_of_acting(type(each)).items():
            if own.get(name, default) != default:
                yield f"{path}.{name}={own[name]!r}"
        yield from (f"{path}.{name}" for name in own if name.startswith("_skl_callbacks"))
        for name, part in _parts_of(each, own):
            inside = f"{path}.{name}"
            if name in _SETTINGS and isinstance(part, dict):
                last = {key.rpartition("__")[2] for key in part if isinstance(key, str)}
                yield from (f"{inside}[{key!r}]" for key in last & ACTING)
            waiting.append((inside, part))


def _parts_of(value: Any, own: dict[str, Any]) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, np.ndarray):
        return list(enumerate(value.ravel())) if value.dtype == object else []
    if isinstance(value, list | tuple | set | frozenset):
        return list(enumerate(value))
    slots = getattr(type(value), "__slots__", ())
    return [*own.items(), *((name, getattr(value, name, None)) for name in slots)]


# ---------------------------------------------------------------------- used by many


def shared(taken: Taken, rng: random.Random) -> str:
    """Let an object be used by many others: 2 to the power of their number, or all references."""
    action = rng.choice(["doubled", "doubled", "containers", "one for all", "skops"])
    if action == "skops" and taken.skops:
        return _doubled_in_skops(taken, rng)
    if action == "one for all":
        refs = [(o, k) for o, k in places_in(taken.state) if list(_as_dict(o[k])) == ["ref"]]
        number = rng.randrange(len(taken.objects))
        share = rng.choice([0.1, 0.5, 1.0])
        for owner, key in refs:
            if rng.random() < share:
                owner[key] = {"ref": number}
        return f"references are {number}"
    return _doubled(taken, rng, action)


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _doubled(taken: Taken, rng: random.Random, action: str) -> str:
    """Append objects that hold the next one twice, of a class of the file or containers."""
    objects, first = taken.objects, len(taken.objects)
    length = rng.choice([8, 20, 45, 90])
    several = [
        i
        for i, each in enumerate(objects)
        if isinstance(state := _state_of(each), dict) and len(_refs_of(state)) > 1
    ]
    template = rng.choice(several) if several and action == "doubled" else None
    tags = [rng.choice(["list", "tuple", "dict", "set", "frozenset", "mixed"])]
    tags = ["list", "tuple", "dict", "frozenset"] if tags == ["mixed"] else tags
    for i in range(length):
        ref = {"ref": first + i + 1}
        if template is None:
            tag = rng.choice(tags)
            pairs = [[ref, 0], [{"tuple": [ref, 1]}, 1]]
            held = pairs if tag == "dict" else [ref, {"tuple": [ref, 1]}]
            objects.append({tag: held})
        else:
            copy = json.loads(json.dumps(objects[template]))
            state = _state_of(copy)
            for name in rng.sample(_refs_of(state), 2):
                state[name] = ref
            objects.append(copy)
    is_closed = rng.random() < 0.2
    last = {"list": [{"ref": first}]} if is_closed else objects[template or 0]
    objects.append(json.loads(json.dumps(last)))
    owner, key = rng.choice(attributes_of(taken))
    owner[key] = {"ref": first}
    words = f"{key}: 2^{length} of {template if template is not None else tags}"
    return words + (", closed" if is_closed else "")


def _state_of(written: Any) -> Any:
    [(_, content)] = written.items()
    return content.get("state") if isinstance(content, dict) else None


def _refs_of(state: dict[str, Any]) -> list[str]:
    return [name for name, value in state.items() if list(_as_dict(value)) == ["ref"]]


def _doubled_in_skops(taken: Taken, rng: random.Random) -> str:
    """Append lists to a skops file, each with the one before twice."""
    schema = rng.choice(list(taken.skops.values()))[0]
    plain = {"__class__": "list", "__module__": "builtins"}
    length = rng.choice([8, 20, 60])
    node: Any = {**plain, "__loader__": "ListNode", "content": [], "__id__": 90_000}
    for i in range(1, length):
        again = {**plain, "__loader__": "CachedNode", "__id__": 90_000 + i - 1}
        node = {**plain, "__loader__": "ListNode", "content": [node, again], "__id__": 90_000 + i}
    inner = [n for n in taken.nodes() if n["__loader__"] == "ListNode" and n["content"]]
    if inner and rng.random() < 0.5:
        listed = rng.choice(inner)["content"]
        listed[rng.randrange(len(listed))] = node
    else:
        schema["content"].append(node)
    return f"2^{length} lists in a skops file"


# ---------------------------------------------------------------------- of any size


_HUGE: list[Any] = [
    {"scalar": ["V1000000000", 10**9]},
    {"scalar": [{"dtype": "V1000000000"}, ""]},
    {"scalar": [{"dtype": "U100000000"}, ""]},
    {"scalar": ["<f8", 10**400]},
    {"scalar": ["<i8", 2**63]},
    {"scalar": ["<M8[as]", 2**62]},
    {"scalar": [{"dtype": "<M8[ns]"}, "ff" * 8]},
    {"dtype": "S2000000000"},
    {"dtype": "U500000000"},
    {"dtype": "(1000000,1000000)f8"},
    {"dtype": "f8," * 10**4 + "f8"},
    {"slice": ["range", 0, 10**30, 1]},
    {"slice": ["range", 0, 10**7, 1]},
    {"slice": ["range", 10**18, -(10**18), -1]},
    {"slice": ["slice", -(10**30), 10**30, 10**20]},
    {"complex": [10**300, -(10**300)]},
    {"date": ["timedelta", 10**9, 0, 0]},
    {"date": ["timedelta", -999999999, 0, 0]},
    {"date": ["datetime", "9999-12-31T23:59:59.999999"]},
    {"objects": {"shape": [10**9, 0], "values": []}},
    {"objects": {"shape": [1] * 32, "values": [1]}},
    {"objects": {"shape": [1] * 1000, "values": [1]}},
    {"pandas_dtype": "period[1000000000000000000s]"},
    {"pandas_dtype": "Sparse[int, " + "9" * 4000 + "]"},
    {"path": "/" * 10**6},
    {"set": [2**61 - 1 + i * (2**61 - 1) for i in range(2000)]},
    {"dict": [[i * (2**61 - 1), 0] for i in range(2000)]},
    *[10**18, 2**63, 2**64, -(10**30), 10**4000, 1e308, "9" * 5000, "e" * 10**6],
]


def huge_scalars(taken: Taken, rng: random.Random) -> str:
    """Put in scalars, types, ranges, numbers and sizes that name more than there is."""
    sized = [
        (owner, key)
        for owner, key in places_in(taken.objects)
        if (key in ("at", "shape") and isinstance(owner, dict))
    ]
    if sized and rng.random() < 0.25:
        owner, key = rng.choice(sized)
        number = rng.choice([2**31, 2**62, 10**12, 10**30, -1])
        owner[key] = number if key == "at" else rng.choice([[number], [number, 0], [0, number]])
        return f"{key} is {owner[key]}"
    value = json.loads(json.dumps(rng.choice(_HUGE)))
    attributes = attributes_of(taken)
    counts = [(o, k) for o, k in attributes if type(o[k]) in (int, float)]
    is_number = isinstance(value, int | float) or "scalar" in _as_dict(value)
    owner, key = rng.choice(counts if counts and is_number else attributes)
    owner[key] = value
    return f"{key} is {str(value)[:60]}"
