"""Types and functions that a file may name: only those of a list.

A file has names, never code.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
from typing import Any

import numpy as np

from palmette.persistence.names import find_class, stable_name

__all__ = ["find_function", "find_type", "listed", "name_of_function", "name_of_type"]


def listed(names: str) -> frozenset[str]:
    """Return the names in a text."""
    return frozenset(names.split())


_BUILTINS = listed(
    "bool bytes complex dict float frozenset int list object range set slice str tuple type"
)
# types of labels, by the modules that users import them from
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
# functions in parameters and fitted models; all were reviewed to have no side effects
_FUNCTIONS = {
    "sklearn.feature_selection": listed(
        "chi2 f_classif f_regression mutual_info_classif mutual_info_regression r_regression"
    ),
    "sklearn.metrics": listed(
        "accuracy_score average_precision_score balanced_accuracy_score brier_score_loss "
        "cohen_kappa_score f1_score fbeta_score hamming_loss jaccard_score log_loss "
        "matthews_corrcoef ndcg_score precision_score recall_score roc_auc_score "
        "top_k_accuracy_score zero_one_loss"
    ),
    "sklearn.metrics.pairwise": listed(
        "additive_chi2_kernel chi2_kernel cosine_similarity laplacian_kernel "
        "linear_kernel polynomial_kernel rbf_kernel sigmoid_kernel"
    ),
    "numpy": listed(
        "abs cbrt ceil cos exp exp2 expm1 floor log log10 log1p log2 max mean median min "
        "prod reciprocal rint sign sin sqrt square std sum tan tanh var"
    ),
    "scipy.special": frozenset(
        ["entr", "erf", "expit", "gammaln", "log_expit", "logit", "logsumexp", "softmax"]
    ),
}
# packages whose public functions a file may name, by the first part of their stable names
_PACKAGES = {"metrics": "palmette.metrics"}


# ---------------------------------------------------------------------- types


def name_of_type(kind: type) -> str | None:
    """Return the name of a type that files may name, or None."""
    if kind is type(None):
        return "NoneType"
    if kind.__name__ in _BUILTINS and getattr(builtins, kind.__name__) is kind:
        return str(kind.__name__)
    package = kind.__module__.partition(".")[0]
    for module, names in _TYPES.items():
        if module.partition(".")[0] == package and kind.__name__ in names:
            return f"{module}.{kind.__name__}"
    return stable_name(kind)


def find_type(name: Any) -> Any:
    """Return the type that a file names."""
    if name == "NoneType":
        return type(None)
    if name in _BUILTINS:
        return getattr(builtins, name)
    module, _, own = str(name).rpartition(".")
    if own in _TYPES.get(module, ()):
        return getattr(importlib.import_module(module), own)
    return find_class(name)


# ---------------------------------------------------------------------- functions


def name_of_function(function: Any) -> str | None:
    """Return the name of a function that files may name, or None."""
    own = getattr(function, "__name__", "")
    for module, names in _FUNCTIONS.items():
        if own in names and getattr(importlib.import_module(module), own, None) is function:
            return f"{module}.{own}"
    for folder, package in _PACKAGES.items():
        public = importlib.import_module(package)
        if own in public.__all__ and getattr(public, own) is function:
            return f"{folder}.{own}"
    return None


def find_function(name: str) -> Any:
    """Return the function that a file names."""
    module, _, own = str(name).rpartition(".")
    is_listed = own in _FUNCTIONS.get(module, ())
    if not is_listed and module in _PACKAGES:
        module = _PACKAGES[module]
        is_listed = own in importlib.import_module(module).__all__
    found = getattr(importlib.import_module(module), own) if is_listed else None
    if not callable(found) or inspect.isclass(found):
        raise ValueError(f"{str(name)[:120]!r} is not a function that a file may name")
    return found
