"""skops files: written small and reproducibly, checked before and after skops loads them.

skops numbers objects by their addresses, repeats shared objects and stores the time; a skops file
may be compressed, and states the sizes of its arrays. Here objects are numbered in order, shared
ones are written once, nothing is compressed, and the sizes of arrays are checked.

Cython classes of scikit-learn use their arrays while they are loaded, so `check_schema` checks the
state that skops creates them from. scikit-learn traverses its trees without bounds checks, so
`check_parts` checks the trees that were loaded.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from palmette.persistence._archive import MAX_BYTES, parse_json
from palmette.persistence._arrays import from_npy, to_npy
from palmette.persistence.checks import require

_EPOCH = (1980, 1, 1, 0, 0, 0)
_SCHEMA = "schema.json"
_NAME = re.compile(r"[\w-]+\.(npy|npz|bin|json)", re.ASCII)
_WITHOUT_IDENTITY = (
    "JsonNode",
    "TypeNode",
    "FunctionNode",
)  # no identity to keep


def tidy(content: bytes) -> bytes:
    """Return a skops file with objects numbered in order, each written once, without times."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members.pop(_SCHEMA))
    _sort_sets(schema)
    uses: Counter[Any] = Counter(node.get("__id__") for node in nodes_of(schema))
    numbers: dict[Any, int] = {}
    files: dict[str, str] = {}
    schema = _renumbered(schema, uses, numbers, files)
    kept = {new: _decompressed(old, members[old]) for old, new in files.items()}
    return _zipped({_SCHEMA: json.dumps(schema, separators=(",", ":")).encode(), **kept})


def names_in(content: bytes) -> list[tuple[str, str]]:
    """Return the (module, name) of all classes and functions that a skops file names."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema = json.loads(archive.read(_SCHEMA))
    plain = ("JsonNode", "CachedNode", "MethodNode", "OperatorFuncNode")
    found = {
        (n["__module__"], n["__class__"]) for n in nodes_of(schema) if n["__loader__"] not in plain
    }
    return sorted(found)


def check_content(content: bytes | bytearray, max_bytes: int = MAX_BYTES) -> None:
    """Raise an error for a file with compressed members or with invalid arrays.

    Parameters
    ----------
    content : bytes
    max_bytes : int
        See `parse_json`.

    Raises
    ------
    ValueError
        With a description of the error.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check_members(archive, len(content))
        check_schema(parse_json(archive.read(_SCHEMA), max_bytes))
        for name in archive.namelist():
            if name.endswith(".npy"):
                from_npy(archive.read(name))
            elif name.endswith(".npz"):
                inner = archive.read(name)
                with zipfile.ZipFile(io.BytesIO(inner)) as arrays:
                    _check_members(arrays, len(inner))
                    for each in arrays.namelist():
                        from_npy(arrays.read(each))


def _check_members(archive: zipfile.ZipFile, n_bytes: int) -> None:
    infos = archive.infolist()
    if len({info.filename for info in infos}) < len(infos):
        raise ValueError("a member occurs twice")
    for info in infos:
        if not _NAME.fullmatch(info.filename):
            raise ValueError(f"{info.filename[:60]!r} is not a valid name of a member")
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 0x1:
            raise ValueError(f"{info.filename} is compressed")
    if sum(info.file_size for info in infos) > n_bytes:
        raise ValueError("it states more bytes than it has")


# ---------------------------------------------------------------------- the schema


def _sort_sets(schema: Any) -> None:
    """Sort the members of sets, for a reproducible order."""
    for node in nodes_of(schema):
        if node["__loader__"] == "SetNode":
            node["content"].sort(key=lambda each: json.dumps(each.get("content"), sort_keys=True))


def _renumbered(
    node: Any, uses: Counter[Any], numbers: dict[Any, int], files: dict[str, str]
) -> Any:
    if isinstance(node, list):
        return [_renumbered(each, uses, numbers, files) for each in node]
    if not isinstance(node, dict):
        return node
    if "__loader__" not in node:
        return {key: _renumbered(each, uses, numbers, files) for key, each in node.items()}
    old = node.get("__id__")
    is_shared = old is not None and uses[old] > 1 and node["__loader__"] not in _WITHOUT_IDENTITY
    if is_shared and old in numbers:
        stub = {key: node[key] for key in ("__class__", "__module__")}
        return {**stub, "__loader__": "CachedNode", "__id__": numbers[old]}
    written: dict[str, Any] = {}
    if is_shared:
        numbers[old] = written["__id__"] = len(numbers) + 1
    for key, each in node.items():
        if key == "file":
            written[key] = files.setdefault(each, f"{len(files)}.{each.rpartition('.')[2]}")
        elif key != "__id__":
            written[key] = _renumbered(each, uses, numbers, files)
    return written


# ---------------------------------------------------------------------- the zip file


def _decompressed(name: str, content: bytes) -> bytes:
    """Return a member without compression, and with zeros as padding of records."""
    if name.endswith(".npy"):
        return to_npy(from_npy(content))
    if not name.endswith(".npz"):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return _zipped({each: archive.read(each) for each in archive.namelist()})


def _zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)
    return stream.getvalue()


# ---------------------------------------------------------------------- schemas


_DISTANCES = "sklearn.metrics._dist_metrics"
# indices of arrays in the tuple that is the state of a class
_ARRAYS = {
    "sklearn.neighbors._kd_tree.KDTree": (0, 1, 2, 3),
    "sklearn.neighbors._ball_tree.BallTree": (0, 1, 2, 3),
    _DISTANCES: (1,),  # all classes of the module
}
_METRIC_AT = 11  # index in the state of a search tree


def nodes_of(schema: Any) -> list[dict[str, Any]]:
    """Return the nodes of all objects in a skops schema, outer ones before inner ones."""
    found, waiting = [], [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if "__loader__" in each:
                found.append(each)
            waiting.extend(reversed(each.values()))
        elif isinstance(each, list):
            waiting.extend(reversed(each))
    return found


def check_schema(schema: Any) -> None:
    """Raise an error if a compiled class lacks its arrays, or an object is written twice.

    Raises
    ------
    ValueError
        With a description of the error.
    """
    nodes = [node for node in nodes_of(schema) if node["__loader__"] != "CachedNode"]
    numbered: dict[Any, dict[str, Any]] = {}
    for node in nodes:
        number = node.get("__id__")
        if number is not None and numbered.setdefault(number, node) is not node:
            raise ValueError(f"the object {str(number)[:20]} is written twice")
    for node in nodes:
        places = _ARRAYS.get(f"{node.get('__module__')}.{node.get('__class__')}")
        places = places or _ARRAYS.get(str(node.get("__module__")))
        if places and not _has_its_state(node, places, numbered):
            name = f"{node['__module__']}.{node['__class__']}"
            raise ValueError(f"an object of {name[:100]} has an invalid state")


def _has_its_state(
    node: dict[str, Any], places: tuple[int, ...], numbered: dict[Any, dict[str, Any]]
) -> bool:
    def found(part: Any) -> dict[str, Any]:
        is_stub = isinstance(part, dict) and part.get("__loader__") == "CachedNode"
        node = numbered.get(part.get("__id__")) if is_stub else part
        return node if isinstance(node, dict) else {}

    state = found(node.get("content"))
    parts = state.get("content")
    if node["__loader__"] != "ObjectNode" or state.get("__loader__") != "TupleNode":
        return False
    if not isinstance(parts, list) or len(parts) <= max(places):
        return False
    arrays = [found(parts[place]) for place in places]
    if any((a.get("__loader__"), a.get("type")) != ("NdArrayNode", "numpy") for a in arrays):
        return False
    if node["__module__"] == _DISTANCES:
        return True
    metric = found(parts[_METRIC_AT]) if len(parts) > _METRIC_AT else {}
    return metric.get("__module__") == _DISTANCES


# ---------------------------------------------------------------------- compiled parts


def check_parts(objects: Any) -> None:
    """Check all compiled parts of objects of other libraries.

    Parameters
    ----------
    objects : object
        Containers and attributes are searched.

    Raises
    ------
    ValueError
        If a part has an index out of bounds.
    """
    seen: set[int] = set()
    waiting = [objects]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        check = _CHECKS.get(f"{type(each).__module__}.{type(each).__name__}")
        if check is not None:
            check(each)
        elif isinstance(each, np.random.RandomState | np.random.Generator):
            check_random_state(each)
        elif sparse.issparse(each) and each.format in ("bsr", "csc", "csr"):
            each.check_format(full_check=True)
        waiting.extend(_parts_of(each))


def _parts_of(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if isinstance(value, np.ndarray):
        return list(value.ravel()) if value.dtype == object else []
    return list(getattr(value, "__dict__", {}).values())


def _check_estimator_of_trees(estimator: Any) -> None:
    """Raise an error if a tree and its estimator differ in features or outputs."""
    if not hasattr(estimator, "tree_"):
        return  # not fitted
    tree = estimator.tree_
    if tree.n_features != estimator.n_features_in_ or tree.n_outputs != estimator.n_outputs_:
        raise ValueError("a tree has other features or outputs than its estimator")


def _check_boosted_trees(estimator: Any) -> None:
    """Raise an error if trees and their estimator differ in features, which boosting assumes."""
    if not hasattr(estimator, "estimators_"):
        return
    for each in estimator.estimators_.ravel():
        if each.tree_.n_features != estimator.n_features_in_:
            raise ValueError("a tree has other features than its estimator")


def _check_histogram_trees(estimator: Any) -> None:
    for stage in getattr(estimator, "_predictors", ()):
        for each in stage:
            inner = each.nodes["is_leaf"] == 0
            used = each.nodes["feature_idx"][inner]
            fits = (used >= 0) & (used < estimator.n_features_in_)
            require(fits, "a tree uses a feature that it lacks")


def _check_tree(tree: Any) -> None:
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = np.flatnonzero(left != -1)
    _check_children(inner, left[inner], right[inner], tree.node_count)
    used = feature[inner]
    require((used >= 0) & (used < tree.n_features), "a tree uses a feature that it lacks")


def _check_predictor(predictor: Any) -> None:
    nodes = predictor.nodes
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    left, right = (nodes[name][inner].astype(np.int64) for name in ("left", "right"))
    _check_children(inner, left, right, len(nodes))
    is_category = nodes["is_categorical"][inner] != 0
    rows = nodes["bitset_idx"][inner][is_category]
    sets = (predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets)
    require(rows < min(map(len, sets)), "a tree names a set of categories that it lacks")


def _check_children(inner: Any, left: Any, right: Any, n_nodes: int) -> None:
    for child in (left, right):
        # children come after their parents, so that there are no cycles
        require((child > inner) & (child < n_nodes), "a tree leads to a node that it lacks")


def _check_neighbours(tree: Any) -> None:
    data, index, nodes, bounds = tree.get_arrays()
    require((index >= 0) & (index < len(data)), "a search tree names a row that it lacks")
    start, end = nodes["idx_start"], nodes["idx_end"]
    inside = (start >= 0) & (start <= end) & (end <= len(data))
    require(inside, "a search tree names rows that it lacks")
    n_bounds = 2 if type(tree).__name__ == "KDTree" else 1
    fits = len(index) == len(data) and bounds.shape == (n_bounds, len(nodes), data.shape[1])
    require(fits, "the parts of a search tree do not fit together")
    inner = np.flatnonzero(nodes["is_leaf"] == 0)  # the children of i are 2 i + 1 and 2 i + 2
    require(2 * inner + 2 < len(nodes), "a search tree leads to a node that it lacks")


def check_random_state(generator: Any) -> None:
    """Check the position of a random generator in its buffer, which numpy does not check.

    Raises
    ------
    ValueError
        If it is out of bounds.
    """
    is_legacy = isinstance(generator, np.random.RandomState)
    state = generator.get_state(legacy=False) if is_legacy else generator.bit_generator.state
    if state["bit_generator"] == "MT19937":
        require(
            0 <= state["state"]["pos"] <= 624, "the position of a random generator is out of bounds"
        )
    elif state["bit_generator"] == "Philox":
        require(
            0 <= state["buffer_pos"] <= 4, "the position of a random generator is out of bounds"
        )


_CHECKS: dict[str, Callable[[Any], None]] = {
    "sklearn.tree._tree.Tree": _check_tree,
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": _check_predictor,
    "sklearn.neighbors._kd_tree.KDTree": _check_neighbours,
    "sklearn.neighbors._ball_tree.BallTree": _check_neighbours,
    **{
        f"sklearn.ensemble._gb.GradientBoosting{kind}": _check_boosted_trees
        for kind in ("Classifier", "Regressor")
    },
    **{
        "sklearn.ensemble._hist_gradient_boosting.gradient_boosting."
        f"HistGradientBoosting{kind}": _check_histogram_trees
        for kind in ("Classifier", "Regressor")
    },
    **{
        f"sklearn.tree._classes.{name}": _check_estimator_of_trees
        for name in (
            "DecisionTreeClassifier",
            "DecisionTreeRegressor",
            "ExtraTreeClassifier",
            "ExtraTreeRegressor",
        )
    },
}


# ---------------------------------------------------------------------- types that were reviewed


def _in(module: str, names: str) -> set[str]:
    return {f"{module}.{name}" for name in names.split()}


_CHECKED_PARTS = (
    _in("sklearn.tree._tree", "Tree")
    | _in("sklearn.ensemble._hist_gradient_boosting.predictor", "TreePredictor")
    | _in("sklearn.neighbors._kd_tree", "KDTree")
    | _in("sklearn.neighbors._ball_tree", "BallTree")
)
_SKLEARN = (
    _in(
        "sklearn.metrics._dist_metrics",
        "EuclideanDistance64 ManhattanDistance64 ChebyshevDistance64",
    )
    | _in(
        "sklearn.model_selection._split",
        "GroupKFold KFold LeaveOneOut PredefinedSplit RepeatedKFold RepeatedStratifiedKFold "
        "ShuffleSplit StratifiedGroupKFold StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit",
    )
    | _in("sklearn.metrics._scorer", "_PassthroughScorer _Scorer")
    | _in("sklearn.calibration", "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling")
    | _in("sklearn.utils._bunch", "Bunch")
    | _in("sklearn.neural_network._stochastic_optimizers", "AdamOptimizer SGDOptimizer")
    | _in("sklearn.gaussian_process._gpc", "_BinaryGaussianProcessClassifierLaplace")
    | _in(
        "sklearn.gaussian_process.kernels",
        "ConstantKernel DotProduct Matern Product RBF RationalQuadratic Sum WhiteKernel",
    )
    | _in(
        "sklearn.feature_selection._univariate_selection",
        "chi2 f_classif f_oneway f_regression r_regression",
    )
    | _in("sklearn.feature_selection._mutual_info", "mutual_info_classif mutual_info_regression")
    | _in(
        "sklearn.metrics._classification",
        "accuracy_score balanced_accuracy_score f1_score log_loss matthews_corrcoef "
        "precision_score recall_score",
    )
    | _in("sklearn.metrics._ranking", "average_precision_score roc_auc_score")
)
_SKRUB = (
    _in("skrub._apply_to_cols", "ApplyToCols")
    | _in("skrub._apply_to_each_col", "ApplyToEachCol")
    | _in("skrub._apply_to_sub_frame", "ApplyToSubFrame")
    | _in("skrub._check_input", "CheckInputDataFrame")
    | _in("skrub._clean_categories", "CleanCategories")
    | _in("skrub._clean_null_strings", "CleanNullStrings")
    | _in("skrub._dataframe._common", "is_any_date is_categorical is_numeric is_string")
    | _in("skrub._datetime_encoder", "DatetimeEncoder")
    | _in("skrub._drop_uninformative", "DropUninformative")
    | _in("skrub._duration_to_float", "DurationToFloat")
    | _in("skrub._gap_encoder", "GapEncoder")
    | _in("skrub._minhash_encoder", "MinHashEncoder")
    | _in("skrub._string_encoder", "StringEncoder")
    | _in("skrub._table_vectorizer", "Cleaner PassThrough ShortReprDict TableVectorizer")
    | _in("skrub._table_vectorizer", "_created_by_predicate")
    | _in("skrub._to_categorical", "ToCategorical")
    | _in("skrub._to_datetime", "ToDatetime")
    | _in("skrub._to_float", "ToFloat ToFloat32")
    | _in("skrub._to_str", "ToStr")
    | _in("skrub._utils", "LRUDict")
    | _in("skrub.selectors._base", "All And Cols Filter Inv NameFilter Or Sub XOr")
    | _in("skrub.selectors._selectors", "_cardinality_below")
)
_PLAIN = {"collections.OrderedDict", "numpy.dtype", "numpy.mean"}
_SCIPY = {
    f"scipy.sparse._{form}.{form}_{kind}"
    for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    for kind in ("array", "matrix")
}

# skops trusts the estimators of scikit-learn, numbers and plain containers. Other types in fitted
# models were reviewed one by one: each only has attributes or computes; none opens files, starts
# processes or calls objects of the file. Compiled parts with indices in their arrays are included
# because `check_schema` and `check_parts` check those arrays.
REVIEWED = frozenset(_CHECKED_PARTS | _SKLEARN | _SKRUB | _PLAIN | _SCIPY)
