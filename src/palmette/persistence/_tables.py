"""Codecs of column types of pandas, polars and pyarrow, and of indexes of pandas.

The libraries are imported only if a file or an object needs them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette.persistence._graph import Codec, Decoder, Encoder
from palmette.persistence._types import listed

__all__ = ["CODECS"]


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
                "storage": value.storage,
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
            return pd.api.types.pandas_dtype(content)
        if "storage" in content:
            missing = np.nan if content["missing"] == "nan" else pd.NA
            return pd.StringDtype(content["storage"], na_value=missing)
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


CODECS: list[Codec] = [PandasIndexes(), PandasTypes(), PolarsTypes(), ArrowTypes()]
