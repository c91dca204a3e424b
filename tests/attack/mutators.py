"""Changes of model files and checkpoints that one who means harm would make.

A mutator changes a file that was taken apart, and returns what it did in words. What it does
depends on the random numbers that it is given only.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.attack.acts import acting_settings, huge_scalars, shared
from tests.attack.arrays import (
    DTYPES,
    NARROW,
    UNSIGNED,
    ArrayMutator,
    another_dtype,
    extreme,
    nudged,
    reshaped,
    resized,
)
from tests.attack.documents import huge, nested
from tests.attack.files import Slot, Taken, attributes_of
from tests.attack.grafts import grafted, moved, reordered, sizes_changed
from tests.attack.parameters import parameters_changed
from tests.persistence.mutations import KINDS, ODD_VALUES, places_in

from palmette.persistence.names import STORED

__all__ = ["MUTATORS", "mutate"]

Mutator = Callable[[Taken, random.Random], str]

_SKLEARN = [
    "sklearn.calibration.CalibratedClassifierCV",
    "sklearn.ensemble._bagging.BaggingClassifier",
    "sklearn.ensemble._forest.ExtraTreesClassifier",
    "sklearn.ensemble._forest.RandomForestClassifier",
    "sklearn.ensemble._gb.GradientBoostingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier",
    "sklearn.ensemble._iforest.IsolationForest",
    "sklearn.ensemble._weight_boosting.AdaBoostClassifier",
    "sklearn.gaussian_process._gpc.GaussianProcessClassifier",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.linear_model._stochastic_gradient.SGDClassifier",
    "sklearn.model_selection._search.GridSearchCV",
    "sklearn.multiclass.OneVsRestClassifier",
    "sklearn.naive_bayes.CategoricalNB",
    "sklearn.naive_bayes.GaussianNB",
    "sklearn.neighbors._classification.KNeighborsClassifier",
    "sklearn.neighbors._classification.RadiusNeighborsClassifier",
    "sklearn.neighbors._kde.KernelDensity",
    "sklearn.neural_network._multilayer_perceptron.MLPClassifier",
    "sklearn.pipeline.FeatureUnion",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._encoders.OneHotEncoder",
    "sklearn.svm._classes.LinearSVC",
    "sklearn.svm._classes.NuSVC",
    "sklearn.svm._classes.OneClassSVM",
    "sklearn.svm._classes.SVC",
    "sklearn.svm._classes.SVR",
    "sklearn.tree._classes.DecisionTreeClassifier",
    "sklearn.tree._classes.DecisionTreeRegressor",
    "sklearn.tree._classes.ExtraTreeClassifier",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
]
_NUMBERS = [0, 1, -1, 2, 3, 7, 127, 128, 255, 256, 2**31 - 1, 2**31, 2_000_000_000, -(2**31)]
_NUMBERS += [2**32 - 1, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 0.5, -0.5, 1e-320, 1e308, 1e19]


def mutate(content: bytes, mutator: str, rng: random.Random) -> tuple[bytes, str]:
    """Return a changed file, and what was done to it in words."""
    if mutator == "bytes_and_members":
        kind = rng.choice(KINDS)
        return kind(content, rng), kind.__name__
    taken = Taken(content)
    words = MUTATORS[mutator](taken, rng)
    return taken.sealed(), words


# ---------------------------------------------------------------------- of arrays


def _each_array(change: ArrayMutator) -> Mutator:
    """Return the mutator that changes one array of a file, or some of them."""

    def mutator(taken: Taken, rng: random.Random) -> str:
        slots = taken.slots()
        if not slots:
            return wrong_types(taken, rng)
        share = rng.choice([0.0, 0.0, 0.0, 0.2, 1.0])
        chosen = [s for s in slots if rng.random() < share] or [rng.choice(slots)]
        return "; ".join([_change(slot, change, rng) for slot in chosen][:3])

    return mutator


def _change(slot: Slot, change: ArrayMutator, rng: random.Random) -> str:
    array, words = change(slot.get(), rng)
    slot.put(array)
    return words


_ANY_CHANGE: list[ArrayMutator] = [
    *[extreme] * 3,
    nudged,
    reshaped,
    resized,
    another_dtype(DTYPES),
    another_dtype(NARROW),
    another_dtype(UNSIGNED),
]


def layouts(taken: Taken, rng: random.Random) -> str:
    """Change the order, the byte order or whether an array can be written."""
    slots = taken.slots()
    if not slots:
        return wrong_types(taken, rng)
    action = rng.choice(["Fortran order", "byte order", "read-only", "writable"])
    chosen = slots if rng.random() < 0.3 else [rng.choice(slots)]
    for slot in chosen:
        array = slot.get()
        if action == "Fortran order":
            array = np.asfortranarray(array)
        elif action == "byte order" and not array.dtype.names:
            array = array.astype(array.dtype.newbyteorder())
        read_only = {"read-only": True, "writable": False}.get(action)
        slot.put(array, read_only)
    return f"{action} of {len(chosen)} arrays"


def swapped_arrays(taken: Taken, rng: random.Random) -> str:
    """Swap two arrays, often of the same type."""
    slots = taken.slots()
    if len(slots) < 2:
        return swapped_members(taken, rng)
    one = rng.choice(slots)
    alike = [s for s in slots if s is not one and s.get().dtype == one.get().dtype]
    other = rng.choice(
        alike if alike and rng.random() < 0.7 else [s for s in slots if s is not one]
    )
    first, second = one.get(), other.get()
    one.put(second)
    other.put(first)
    return f"{first.dtype}{first.shape} and {second.dtype}{second.shape} swapped"


def arrays_of_objects(taken: Taken, rng: random.Random) -> str:
    """Replace an array by an array of objects, a list, a sparse matrix, a scalar or a mask."""
    refs = [i for i, each in enumerate(taken.objects) if list(each) == ["array"]]
    if not refs:
        return wrong_types(taken, rng)
    number = rng.choice(refs)
    array = taken.slots(taken.objects[number])[0].get()
    if array.dtype.names or array.dtype.kind not in "iufb":
        return wrong_types(taken, rng)
    values = [None if isinstance(v, float) and v != v else v for v in array.ravel().tolist()[:500]]
    values = [v if v is None or abs(v) < 1e300 else 0 for v in values]
    place = {"array": taken.objects[number]["array"]}
    shape = [len(values)]
    choices = [
        {"objects": {"shape": shape, "values": values}},
        {"objects": {"shape": shape, "values": [str(v) for v in values], "strings": True}},
        {"list": values},
        {"tuple": values},
        {"set": sorted({v for v in values if v is not None})},
        {"masked": [place, place, place]},
        {"scalar": ["<i8", 3]},
        {"scalar": ["<f8", 3.5]},
        {"sparse": _sparse_of(place, shape[0], rng)},
        {"range": [0, 3, 1]},
        {"slice": ["range", 0, 10**12, 1]},
    ]
    taken.objects[number] = rng.choice(choices)
    return f"array {number} written as {next(iter(taken.objects[number]))}"


def _sparse_of(place: Any, n: int, rng: random.Random) -> dict[str, Any]:
    form = rng.choice(["csr", "csc", "bsr", "coo", "dia"])
    names = {"coo": ("data", "coords"), "dia": ("data", "offsets")}
    parts = dict.fromkeys(names.get(form, ("data", "indices", "indptr")), place)
    shape = rng.choice([[1, n], [n, 1], [2**31, 2**31], [10**9, 3], [0, 0], [-1, 4]])
    return {"class": f"{form}_array", "format": form, "shape": shape, "parts": parts}


# ---------------------------------------------------------------------- of objects


def _refs(taken: Taken) -> list[tuple[Any, Any]]:
    return [
        (owner, key)
        for owner, key in places_in(taken.state)
        if isinstance(owner[key], dict)
        and type(owner[key].get("ref")) is int
        and owner[key]["ref"] < len(taken.objects)
    ]


def inlined(taken: Taken, rng: random.Random) -> str:
    """Write objects where they are used instead of into the table, and change their arrays."""
    depth = rng.choice([1, 2, 3])
    refs = _refs(taken)
    chosen = refs if rng.random() < 0.2 else [rng.choice(refs)]
    copies = []
    for owner, key in chosen:
        if isinstance(owner.get(key) if isinstance(owner, dict) else owner[key], dict):
            owner[key] = _inline(owner[key], taken, depth, [400])
            copies.append(owner[key])
    words = f"{len(copies)} references, {depth} deep"
    slots = taken.slots(*copies)
    if slots and rng.random() < 0.85:
        slot = rng.choice(slots)
        words += f", {_change(slot, rng.choice(_ANY_CHANGE), rng)}"
    return words


def _inline(value: Any, taken: Taken, depth: int, left: list[int]) -> Any:
    """Return a copy of a value with objects in place of references, not more than are left."""
    if isinstance(value, list):
        return [_inline(each, taken, depth, left) for each in value]
    if not isinstance(value, dict):
        return value
    number = value.get("ref")
    if len(value) != 1 or type(number) is not int:
        return {key: _inline(each, taken, depth, left) for key, each in value.items()}
    left[0] -= 1
    if depth <= 0 or left[0] < 0 or not 0 <= number < len(taken.objects):
        return dict(value)
    return _inline(json.loads(json.dumps(taken.objects[number])), taken, depth - 1, left)


def swapped_members(taken: Taken, rng: random.Random) -> str:
    """Swap members of the archive, or objects of the table."""
    names = [name for name in taken.members if name.endswith(".npy")]
    if len(names) > 1 and rng.random() < 0.3:
        one, other = rng.sample(names, 2)
        taken.members[one], taken.members[other] = taken.members[other], taken.members[one]
        return f"{one} and {other}"
    one = rng.randrange(len(taken.objects))
    tag = list(taken.objects[one])
    alike = [i for i, each in enumerate(taken.objects) if list(each) == tag and i != one]
    other = rng.choice(alike) if alike else rng.randrange(len(taken.objects))
    objects = taken.objects
    objects[one], objects[other] = objects[other], objects[one]
    return f"objects {one} and {other} ({tag[0]})"


def swapped_attributes(taken: Taken, rng: random.Random) -> str:
    """Put the value of one attribute into another, or swap two."""
    attributes = attributes_of(taken)
    (one, at), (other, key) = rng.choice(attributes), rng.choice(attributes)
    if rng.random() < 0.5:
        one[at], other[key] = other[key], one[at]
        return f"{at} and {key} swapped"
    one[at] = json.loads(json.dumps(other[key]))
    return f"{key} copied to {at}"


def _attributes_of_skops(taken: Taken) -> list[tuple[Any, Any]]:
    found = []
    for node in taken.nodes():
        inner = node.get("content") if node["__loader__"] == "ObjectNode" else None
        content = inner.get("content") if isinstance(inner, dict) else None
        if isinstance(content, dict | list):
            keys = content if isinstance(content, dict) else range(len(content))
            found += [(content, key) for key in keys]
    return found


def classes_changed(taken: Taken, rng: random.Random) -> str:
    """Give an object another class, of ours or of scikit-learn."""
    nodes = [n for n in taken.nodes() if n["__loader__"] == "ObjectNode"]
    if nodes and rng.random() < 0.4:
        node, name = rng.choice(nodes), rng.choice(_SKLEARN)
        words = f"{node['__class__']} as {name}"
        node["__module__"], _, node["__class__"] = name.rpartition(".")
        return words
    named = [
        owner
        for owner, key in places_in(taken.state["objects"])
        if key == "class" and isinstance(owner[key], str)
    ]
    if not named:
        return wrong_types(taken, rng)
    owner = rng.choice(named)
    before = owner["class"]
    of_sklearn = before.startswith("sklearn.")
    if of_sklearn or rng.random() < 0.15:
        owner["class"] = rng.choice(_SKLEARN)
        if not of_sklearn:
            for holder in _holders_of(taken, owner):
                holder["holder"] = holder.pop("object")
    else:
        folder = before.partition(".")[0]
        alike = [name for name in STORED if name.startswith(folder + ".")]
        owner["class"] = rng.choice(alike if alike and rng.random() < 0.6 else list(STORED))
    return f"{before} as {owner['class']}"


def _holders_of(taken: Taken, content: Any) -> list[dict[str, Any]]:
    return [
        owner
        for owner, key in places_in(taken.state)
        if key == "object" and isinstance(owner, dict) and owner[key] is content
    ]


def holders_around_parts(taken: Taken, rng: random.Random) -> str:
    """Write an estimator of a skops file as a holder around parts that each pass by themselves."""
    foreign = [
        (i, each["foreign"])
        for i, each in enumerate(taken.objects)
        if list(each) == ["foreign"] and type(each["foreign"]) is int
    ]
    rng.shuffle(foreign)
    for place, number in foreign:
        member = f"foreign/{number // 64:04d}.skops"
        if member not in taken.skops:
            continue
        listed = taken.skops[member][0]["content"]
        node = listed[number % 64]
        inner = node.get("content")
        content = inner.get("content") if isinstance(inner, dict) else None
        if node.get("__loader__") != "ObjectNode" or not isinstance(content, dict):
            continue
        state: dict[str, Any] = {}
        for name, part in content.items():
            if part.get("__loader__") == "JsonNode":
                state[name] = json.loads(part["content"])
            elif len(listed) < 64:
                listed.append(part)
                state[name] = {"foreign": number // 64 * 64 + len(listed) - 1}
        if not any(isinstance(v, dict) for v in state.values()) and len(foreign) > 1:
            continue
        listed[number % 64] = {**node, "content": {**inner, "content": {}, "key_types": _no_keys()}}
        name = f"{node['__module__']}.{node['__class__']}"
        if rng.random() < 0.3:
            name = rng.choice(_SKLEARN)
        counts = [key for key, value in state.items() if type(value) is int]
        words = f"{node['__class__']} as a holder of {name}"
        if counts and rng.random() < 0.8:
            key = rng.choice([c for c in counts if c.endswith("_")] or counts)
            state[key] = rng.choice(_NUMBERS)
            words += f" with {key}={state[key]}"
        slots = taken.slots()
        if slots and rng.random() < 0.3:
            words += f", {_change(rng.choice(slots), rng.choice(_ANY_CHANGE), rng)}"
        taken.objects[place] = {"holder": {"class": name, "state": state}}
        return words
    return classes_changed(taken, rng)


def _no_keys() -> dict[str, Any]:
    return {
        "__class__": "list",
        "__module__": "builtins",
        "__loader__": "ListNode",
        "content": [],
    }


def parts_too_wide(taken: Taken, rng: random.Random) -> str:
    """Let trees of scikit-learn use more features or outputs than their estimators have."""
    trees = [n for n in taken.nodes() if n["__class__"] in ("Tree", "TreePredictor")]
    trees = [n for n in trees if n["__loader__"] != "TypeNode"]
    if not trees:
        return numbers_changed(taken, rng)
    wide, feature = rng.choice([5, 1000, 10**6, 2_000_000_000]), 0
    for node in trees if rng.random() < 0.5 else [rng.choice(trees)]:
        arguments = node.get("__reduce__", {}).get("args", {}).get("content", ())
        for at in (0, 2) if rng.random() < 0.2 else (0,):
            if len(arguments) > at:
                arguments[at]["content"] = str(wide)
        for slot in taken.slots_of_node(node):
            array = slot.get()
            for name in {"feature", "feature_idx"} & set(array.dtype.names or ()):
                feature = rng.choice([4, wide - 1])
                array[name][array[name] >= 0] = feature
            slot.put(array)
    words = f"trees of {wide:,} features that use {feature:,}"
    how = rng.choice(["alone", "holder", "estimator"])
    if how == "holder":
        return f"{words}; {holders_around_parts(taken, rng)}"
    if how == "estimator":
        for owner, key in _attributes_of_skops(taken):
            if key in ("n_features_in_", "_n_features"):
                owner[key]["content"] = str(wide)
    return words


def removed_attributes(taken: Taken, rng: random.Random) -> str:
    """Remove one attribute, or some, of ours or of scikit-learn's."""
    in_skops = _attributes_of_skops(taken)
    attributes = in_skops if in_skops and rng.random() < 0.3 else attributes_of(taken)
    chosen = rng.sample(attributes, min(len(attributes), rng.choice([1, 1, 1, 2, 5])))
    for owner, key in chosen:
        if isinstance(owner, dict):
            owner.pop(key)
            _fix_key_types(taken)
        elif key < len(owner):
            del owner[key]
    return f"without {[key for _, key in chosen]}"


def _fix_key_types(taken: Taken) -> None:
    """Give dictionaries of skops files as many types of keys as they have keys."""
    kind = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
    for node in taken.nodes():
        content = node.get("content")
        if node["__loader__"] == "DictNode" and isinstance(content, dict):
            types = node["key_types"]["content"]
            node["key_types"]["content"] = (types + [kind] * len(content))[: len(content)]


_NAMES = (
    "predict predict_proba check_arrays fit __class__ __dict__ __init__ _answers tree_ classes_"
)
_NAMES += " _estimator_type n_features_in_ feature_names_in_ options_ routes_ rounds_ bins_ space_"
_NAMES += " decoding __setstate__ _rule extra x"


def added_attributes(taken: Taken, rng: random.Random) -> str:
    """Add an attribute with the value of another, or an odd one."""
    attributes = attributes_of(taken)
    owner, _ = rng.choice([a for a in attributes if isinstance(a[0], dict)])
    other, key = rng.choice(attributes)
    name = rng.choice([*_NAMES, str(key)])
    owner[name] = rng.choice([json.loads(json.dumps(other[key])), rng.choice(ODD_VALUES)])
    return f"{name}={str(owner[name])[:60]}"


def wrong_types(taken: Taken, rng: random.Random) -> str:
    """Replace the value of an attribute by one of another type."""
    in_skops = _attributes_of_skops(taken)
    if in_skops and rng.random() < 0.3:
        owner, key = rng.choice(in_skops)
        text = json.dumps(rng.choice([v for v in ODD_VALUES if not isinstance(v, dict)]))
        owner[key] = {
            "__class__": "str",
            "__module__": "builtins",
            "__loader__": "JsonNode",
            "content": text,
            "is_json": True,
        }
        return f"skops {key}={text}"
    owner, key = rng.choice(attributes_of(taken))
    owner[key] = rng.choice([*ODD_VALUES, *_ODD_ARRAYS])
    return f"{key}={str(owner[key])[:60]}"


_ODD_ARRAYS: list[Any] = [
    {"float": "nan"},
    {"float": "inf"},
    {"complex": [1, 2]},
    {"bytes": "AAAA"},
    {"slice": ["range", 0, 10**15, 1]},
    {"slice": ["slice", 0, 3, -1]},
    {"objects": {"shape": [2], "values": ["a", {"tuple": ["a", 3]}]}},
    {"objects": {"shape": [], "values": [None]}},
    {"scalar": ["<i8", -1]},
    {"scalar": ["<f4", {"float": "nan"}]},
    {"dict": {"a": 1}},
    {"dict": [[0, 1], [1, None]]},
    {"set": [1, 2]},
    {"frozenset": ["a"]},
]


def numbers_changed(taken: Taken, rng: random.Random) -> str:
    """Replace a number in the JSON of the state, or of a skops file, by an extreme one."""
    plain = [
        (owner, key)
        for owner, key in places_in(taken.state["objects"])
        if type(owner[key]) in (int, float) and key not in ("ref", "foreign", "at")
    ]
    in_skops = [
        node
        for node in taken.nodes()
        if node["__loader__"] == "JsonNode" and str(node.get("content"))[:1] in "-0123456789"
    ]
    value = rng.choice(_NUMBERS)
    if in_skops and (not plain or rng.random() < 0.4):
        node = rng.choice(in_skops)
        before, node["content"] = node["content"], json.dumps(value)
        return f"skops {before} as {value}"
    if not plain:
        return wrong_types(taken, rng)
    owner, key = rng.choice(plain)
    before, owner[key] = owner[key], value
    return f"{key}: {before} as {value}"


def references_changed(taken: Taken, rng: random.Random) -> str:
    """Let references lead to other objects, round in circles or to none."""
    refs = _refs(taken)
    owner, key = rng.choice(refs)
    before = owner[key]["ref"]
    action = rng.choice(["other", "other", "itself", "root", "none", "alike"])
    n = len(taken.objects)
    tag = list(taken.objects[before])
    alike = [i for i, each in enumerate(taken.objects) if list(each) == tag and i != before]
    choices = {"root": 0, "none": n, "other": rng.randrange(n)}
    if action == "alike" and alike:
        choices["alike"] = rng.choice(alike)
    if action == "itself":
        others = [i for i, each in enumerate(taken.objects) if _is_inside(owner, each)]
        choices["itself"] = others[0] if others else 0
    owner[key] = {"ref": choices.get(action, 0)}
    return f"{key}: {before} to {owner[key]['ref']}"


def _is_inside(part: Any, whole: Any) -> bool:
    return any(owner is part for owner, _ in places_in(whole))


# ---------------------------------------------------------------------- all of them


def two_at_once(taken: Taken, rng: random.Random) -> str:
    """Do two of the others; the second only where it can be done to what the first has left."""
    chosen = rng.sample([m for n, m in MUTATORS.items() if n not in _ALONE], 2)
    words = chosen[0](taken, rng)
    try:
        return f"{words} + {chosen[1](taken, rng)}"
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return words


def _nothing(taken: Taken, rng: random.Random) -> str:
    raise AssertionError("works on bytes")


_ALONE = {
    "two_at_once",
    "bytes_and_members",
    "nested",
    "huge",
    "holders_around_parts",
    "parts_too_wide",
}

MUTATORS: dict[str, Mutator] = {
    "inlined": inlined,
    "dtypes": _each_array(another_dtype(DTYPES)),
    "narrow_integers": _each_array(another_dtype(NARROW)),
    "unsigned_integers": _each_array(another_dtype(UNSIGNED)),
    "extreme_values": _each_array(extreme),
    "nudged_values": _each_array(nudged),
    "shapes": _each_array(reshaped),
    "lengths": _each_array(resized),
    "layouts": layouts,
    "swapped_arrays": swapped_arrays,
    "arrays_of_objects": arrays_of_objects,
    "swapped_members": swapped_members,
    "swapped_attributes": swapped_attributes,
    "classes_changed": classes_changed,
    "holders_around_parts": holders_around_parts,
    "parts_too_wide": parts_too_wide,
    "removed_attributes": removed_attributes,
    "added_attributes": added_attributes,
    "wrong_types": wrong_types,
    "numbers_changed": numbers_changed,
    "references_changed": references_changed,
    "grafted": grafted,
    "moved": moved,
    "sizes_changed": sizes_changed,
    "reordered": reordered,
    "parameters_changed": parameters_changed,
    "nested": nested,
    "huge": huge,
    "acting_settings": acting_settings,
    "shared": shared,
    "huge_scalars": huge_scalars,
    "two_at_once": two_at_once,
    "bytes_and_members": _nothing,
}
