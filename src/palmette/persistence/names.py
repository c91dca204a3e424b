"""What a model file may name: classes, types and functions, each found in a list or a room.

A file holds names, never code. A name leads to something only if it is listed here or, for classes
of Palmette, if it is a class that the named module of an allowed room itself defines.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import re
from typing import Any

import numpy as np

__all__ = [
    "find_function",
    "find_palmette_class",
    "find_type",
    "import_class",
    "is_of_palmette",
    "name_of",
    "name_of_function",
    "name_of_type",
]

# rooms whose classes are parts of models; commands, readers and pictures are none
_ROOMS = frozenset(
    [
        "_kernels",
        "bench",
        "boosting",
        "calibration",
        "class_tree",
        "core",
        "decoding",
        "engine",
        "feature_selection",
        "forest",
        "local",
        "metrics",
        "multilabel",
        "multipath",
        "partition",
        "routing",
        "scoring",
        "table",
        "weak",
    ]
)
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)

_BUILTINS = frozenset(
    [
        "bool",
        "bytes",
        "complex",
        "dict",
        "float",
        "frozenset",
        "int",
        "list",
        "object",
        "range",
        "set",
        "slice",
        "str",
        "tuple",
        "type",
    ]
)
# types that labels come in, by the modules that users import them from
_TYPES = {
    "numpy": frozenset({"ndarray", "dtype", *(t.__name__ for t in np.sctypeDict.values())}),
    "scipy.sparse": frozenset(
        f"{form}_{kind}"
        for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
        for kind in ("array", "matrix")
    ),
    "pandas": frozenset({"DataFrame", "Series", "Index", "Categorical", "MultiIndex"}),
    "polars": frozenset({"DataFrame", "Series", "LazyFrame"}),
    "pyarrow": frozenset({"Table", "Array", "ChunkedArray", "RecordBatch"}),
}
# functions that parameters and fitted state hold, reviewed: they compute and do nothing else
_FUNCTIONS = {
    "sklearn.feature_selection": frozenset(
        [
            "chi2",
            "f_classif",
            "f_regression",
            "mutual_info_classif",
            "mutual_info_regression",
            "r_regression",
        ]
    ),
    "sklearn.metrics": frozenset(
        [
            "accuracy_score",
            "average_precision_score",
            "balanced_accuracy_score",
            "brier_score_loss",
            "cohen_kappa_score",
            "f1_score",
            "fbeta_score",
            "hamming_loss",
            "jaccard_score",
            "log_loss",
            "matthews_corrcoef",
            "ndcg_score",
            "precision_score",
            "recall_score",
            "roc_auc_score",
            "top_k_accuracy_score",
            "zero_one_loss",
        ]
    ),
    "sklearn.metrics.pairwise": frozenset(
        [
            "additive_chi2_kernel",
            "chi2_kernel",
            "cosine_similarity",
            "laplacian_kernel",
            "linear_kernel",
            "polynomial_kernel",
            "rbf_kernel",
            "sigmoid_kernel",
        ]
    ),
    "numpy": frozenset(
        [
            "abs",
            "cbrt",
            "ceil",
            "cos",
            "exp",
            "exp2",
            "expm1",
            "floor",
            "log",
            "log10",
            "log1p",
            "log2",
            "max",
            "mean",
            "median",
            "min",
            "prod",
            "reciprocal",
            "rint",
            "sign",
            "sin",
            "sqrt",
            "square",
            "std",
            "sum",
            "tan",
            "tanh",
            "var",
        ]
    ),
    "scipy.special": frozenset(
        ["entr", "erf", "expit", "gammaln", "log_expit", "logit", "logsumexp", "softmax"]
    ),
}
_PALMETTE_FUNCTIONS = "palmette.metrics"  # all that it makes public


def name_of(kind: type) -> str:
    """Return the full name of a class."""
    return f"{kind.__module__}.{kind.__qualname__}"


def is_of_palmette(kind: type) -> bool:
    """Whether a class belongs to Palmette."""
    return kind.__module__.partition(".")[0] == "palmette"


def find_palmette_class(name: str) -> type:
    """Return a class of Palmette by its full name.

    Raises
    ------
    ValueError
        Where the name is none of a class that an allowed room defines.

    Examples
    --------
    >>> find_palmette_class("palmette.core.hierarchy.Hierarchy").__name__
    'Hierarchy'
    >>> find_palmette_class("palmette.core.files.os")
    Traceback (most recent call last):
      ...
    ValueError: 'palmette.core.files.os' is no class that a model file may hold
    """
    parts = name.split(".") if isinstance(name, str) else []
    if len(parts) > 2 and parts[0] == "palmette" and parts[1] in _ROOMS:
        found = import_class(name)
        if found is not None and not issubclass(found, BaseException):
            return found
    raise ValueError(f"{str(name)[:120]!r} is no class that a model file may hold")


def import_class(name: str) -> type | None:
    """Return the class of a full name, if its module says that it defines it."""
    module_name, _, class_name = name.rpartition(".")
    if not _MODULE.fullmatch(name):
        return None
    try:
        module = importlib.import_module(module_name)
    except ImportError:
        return None
    found = vars(module).get(class_name)
    is_own = inspect.isclass(found) and name_of(found) == name
    return found if is_own else None


# ---------------------------------------------------------------------- types


def name_of_type(kind: type) -> str | None:
    """Return the name of a type that files may name, or None."""
    if kind is type(None):
        return "NoneType"
    if kind.__name__ in _BUILTINS and getattr(builtins, kind.__name__) is kind:
        return kind.__name__
    package = kind.__module__.partition(".")[0]
    for module, names in _TYPES.items():
        if module.partition(".")[0] == package and kind.__name__ in names:
            return f"{module}.{kind.__name__}"
    is_own = is_of_palmette(kind) and _resolves(kind)
    return name_of(kind) if is_own else None


def _resolves(kind: type) -> bool:
    try:
        return find_palmette_class(name_of(kind)) is kind
    except ValueError:
        return False


def find_type(name: str) -> type:
    """Return the type that a file names."""
    if name == "NoneType":
        return type(None)
    if name in _BUILTINS:
        return getattr(builtins, name)
    module, _, own = str(name).rpartition(".")
    if own in _TYPES.get(module, ()):
        return getattr(importlib.import_module(module), own)
    return find_palmette_class(name)


# ---------------------------------------------------------------------- functions


def name_of_function(function: Any) -> str | None:
    """Return the name of a function that files may name, or None."""
    own = getattr(function, "__name__", "")
    for module, names in _FUNCTIONS.items():
        if own in names and getattr(importlib.import_module(module), own, None) is function:
            return f"{module}.{own}"
    metrics = importlib.import_module(_PALMETTE_FUNCTIONS)
    if own in metrics.__all__ and getattr(metrics, own) is function:
        return f"{_PALMETTE_FUNCTIONS}.{own}"
    return None


def find_function(name: str) -> Any:
    """Return the function that a file names."""
    module, _, own = str(name).rpartition(".")
    listed = own in _FUNCTIONS.get(module, ())
    if not listed and module == _PALMETTE_FUNCTIONS:
        listed = own in importlib.import_module(module).__all__
    found = getattr(importlib.import_module(module), own) if listed else None
    if not callable(found) or inspect.isclass(found):
        raise ValueError(f"{str(name)[:120]!r} is no function that a model file may hold")
    return found
