"""Types and functions that a file may name, only those of a list; codecs of types of columns.

A file has names, never code.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
from typing import Any

import numpy as np

from palmette.persistence._graph import Codec, Decoder, Encoder
from palmette.persistence.names import find_class, stable_name


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


# ---------------------------------------------------------------------- columns of tables
# (pandas, polars and pyarrow are imported only if a file or an object needs them)


def _package(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


class PandasIndexes(Codec):
    """Indexes of rows or columns of pandas, as their values."""

    tag, shared = "pandas_index", True

    def takes(self, value: Any) -> bool:
        return _package(value) == "pandas" and type(value).__name__ in ("Index", "RangeIndex")

    def write(self, value: Any, encoder: Encoder) -> dict[str, Any]:
        values = np.asarray(value.astype(object))
        return {
            "values": encoder.inside(".values", values),
            "dtype": encoder.inside(".dtype", value.dtype),
            "name": encoder.inside(".name", value.name),
        }

    def read(self, content: Any, decoder: Decoder) -> Any:
        import pandas as pd

        parts = {key: decoder.value(content[key]) for key in ("values", "dtype", "name")}
        if type(parts["values"]) is not np.ndarray:  # a range would become an array of any size
            raise ValueError("the values of an index are not an array")
        return pd.Index(parts["values"], dtype=parts["dtype"], name=parts["name"])


class PandasTypes(Codec):
    """Types of columns of pandas."""

    tag, by_type = "pandas_dtype", False

    def takes(self, value: Any) -> bool:
        return _package(value) == "pandas" and hasattr(value, "na_value")

    def write(self, value: Any, encoder: Encoder) -> Any:
        import pandas as pd

        if isinstance(value, pd.CategoricalDtype):
            categories = encoder.inside(".categories", value.categories)
            return {"categories": categories, "ordered": bool(value.ordered)}
        if isinstance(value, pd.StringDtype):
            return {
                "storage": value.storage.removesuffix("_numpy"),  # pandas 2.2: pyarrow_numpy
                "missing": "nan" if value.na_value is np.nan else "NA",
            }
        if pd.api.types.pandas_dtype(str(value)) != value:
            raise encoder.refusal(
                value, "its name does not define it. Change the type of the column."
            )
        return str(value)

    def read(self, content: Any, decoder: Decoder) -> Any:
        import pandas as pd

        if isinstance(content, str):
            if "dateutil" in content:  # a time zone that is read from any file
                raise ValueError(f"{content[:60]!r} is not a type of a column that a file may name")
            return pd.api.types.pandas_dtype(content)
        if "storage" in content:
            is_nan = content["missing"] == "nan"
            try:
                return pd.StringDtype(content["storage"], na_value=np.nan if is_nan else pd.NA)
            except TypeError:  # pandas 2.2
                return pd.StringDtype("pyarrow_numpy" if is_nan else content["storage"])
        return pd.CategoricalDtype(decoder.value(content["categories"]), bool(content["ordered"]))


class PolarsTypes(Codec):
    """Types of columns of polars: those without parameters, and enumerations."""

    tag, by_type = "polars_dtype", False
    _names = listed(
        "Binary Boolean Categorical Date Float32 Float64 Int8 Int16 Int32 Int64 Int128 "
        "Null Object String Time UInt8 UInt16 UInt32 UInt64"
    )

    def takes(self, value: Any) -> bool:
        is_class = isinstance(value, type) and value.__module__.startswith("polars.datatypes")
        return is_class or (_package(value) == "polars" and hasattr(value, "base_type"))

    def write(self, value: Any, encoder: Encoder) -> Any:
        import polars as pl

        if isinstance(value, pl.Enum):
            return encoder.values(value.categories.to_list())
        name = value.base_type().__name__
        if name not in self._names:
            raise encoder.refusal(value, "columns of labels do not have this type. Change it.")
        return name

    def read(self, content: Any, decoder: Decoder) -> Any:
        import polars as pl

        if isinstance(content, list):
            return pl.Enum(decoder.values(content))
        if content not in self._names:
            raise ValueError(f"{str(content)[:40]!r} is not a type of a polars column")
        return getattr(pl, content)()


class ArrowTypes(Codec):
    """Types of columns of pyarrow."""

    tag, by_type = "arrow_dtype", False

    def takes(self, value: Any) -> bool:
        return _package(value) == "pyarrow" and hasattr(value, "num_fields")

    def write(self, value: Any, encoder: Encoder) -> Any:
        import pyarrow as pa

        if pa.types.is_dictionary(value):
            return encoder.values([value.index_type, value.value_type, value.ordered])
        try:
            pa.type_for_alias(str(value))
        except ValueError:
            raise encoder.refusal(
                value, "columns of labels do not have this type. Change it."
            ) from None
        return str(value)

    def read(self, content: Any, decoder: Decoder) -> Any:
        import pyarrow as pa

        if isinstance(content, list):
            return pa.dictionary(*decoder.values(content))
        return pa.type_for_alias(content)


TABLE_CODECS: list[Codec] = [PandasIndexes(), PandasTypes(), PolarsTypes(), ArrowTypes()]
