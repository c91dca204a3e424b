"""TableFeatures: the columns of a table as a matrix of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import row_chunks
from palmette.base._column_units import ColumnUnits
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import (
    array,
    held,
    integers,
    numbers,
    require,
    same_shapes,
    within,
)
from palmette.table._schema import Schema
from palmette.table._texts import TextVectorizer

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

_BESIDE_TEXT = 0.5  # maximum length of the part of a row that is not text, where a text has 1
_LARGEST = 3.0  # absolute value of a number, however far from the median it is
_BEYOND = 1e150  # whose square is finite
_FEW = 40  # categories from which on a column of them is encoded as skrub encodes many strings
# strings without a value, as skrub and earlier versions of pandas take them
_NO_VALUE = frozenset(
    {"null", "", "1.#QNAN", "#NA", "nan", "#N/A N/A", "-1.#QNAN", "<NA>", "-1.#IND", "-nan"}
    | {"n/a", "-NaN", "1.#IND", "NULL", "NA", "N/A", "#N/A", "NaN", "?", "...", "none", "None"}
)


class TableFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Convert the columns of a table to a matrix of features.

    Texts become tf-idf weights of words and character n-grams. A category becomes a column of 0 and
    1, and so does a missing one; of two, only the second. Dates, and columns of 40 categories or
    more, become columns of numbers by skrub's TableVectorizer. Numbers are centred by their median
    and divided by their interquartile range, values far from the median are compressed to the range
    from -3 to 3, missing values become 0, and columns of 0 and 1 show where they were missing. With
    a column of texts the matrix is sparse, and the columns other than texts are multiplied by one
    number so that, in squares, they weigh at most a quarter of a text: columns without information
    cannot hurt much, and those with information still count.

    Parameters
    ----------
    schema : Schema
    text : {"tfidf", "hashing"}
        Features of texts; see `TextVectorizer`.

    Attributes
    ----------
    texts_ : dict of str to TextVectorizer
        Vectorizers by column.
    categories_ : dict of str to list of str or None
        Categories by column, ascending; None, a missing one, is last.
    table_ : skrub.TableVectorizer or None
        Vectorizer of the columns of dates, and of those with many categories.
    encoded_, numbers_ : list of str
        Columns that `table_` encodes, and columns of numbers that have a value.
    units_ : ColumnUnits or None
        Units of the columns of numbers, where single precision cannot hold some of them.
    scaler_ : NumberScaler or None
        Scales those features other than texts that are not indicators, and imputes missing values;
        a pipeline in files of earlier versions.
    is_indicator_ : bool array of shape (n_table_features,)
        Which features other than texts are 0 or 1, and are not scaled.
    weight_ : float
        Factor of all features other than texts.
    n_features_ : int

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"price": [2.5, None, 4.5]})
    >>> TableFeatures(Schema({"price": "number"})).fit_transform(frame)[:, 0].round(3).tolist()
    [-0.949, 0.0, 0.949]
    """

    in_files: ClassVar = {
        "units_": held(ColumnUnits, or_none=True, or_absent=True),
        "units_.centres": array("f", "numbers_", or_absent=True),
    }

    def __init__(self, schema: Schema, text: str = "tfidf") -> None:
        self.schema = schema
        self.text = text

    def fit(self, X: pd.DataFrame, y: Any = None) -> TableFeatures:
        """Learn the features; see `fit_transform`."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: pd.DataFrame, y: Any = None) -> Any:
        """Learn the features of a table, and return those of its rows.

        Parameters
        ----------
        X : DataFrame of n_samples rows
            Result of `Schema.cast`.
        y : ignored

        Returns
        -------
        array or sparse array of shape (n_samples, n_features)
        """
        texts = self.schema.names("text")
        self.texts_ = {name: TextVectorizer(self.text) for name in texts}
        blocks = [vectorizer.fit_transform(X[name]) for name, vectorizer in self.texts_.items()]
        self.table_: Any = None
        self.scaler_: Any = None
        numbers = self.schema.names("number")
        self.categories_, many = _find_categories(X, self.schema.names("category"))
        many.update(self.schema.names("date"))
        self.encoded_: list[str] | None = [name for name in self.schema.names() if name in many]
        has_value = X[numbers].notna().any().tolist()
        self.numbers_ = [name for name, some in zip(numbers, has_value, strict=True) if some]
        self.units_ = ColumnUnits.of(self._numbers_of(X)) if self.numbers_ else None
        if len(texts) < len(self.schema.kinds):
            coded = None
            if self.encoded_:
                self.table_ = _skrub("TableVectorizer")()
                coded = self.table_.fit_transform(_without_strings(X[self.encoded_]))
            found = self._found(X, coded)
            self.is_indicator_ = np.array([flag for _, _, flag in self._layout()], dtype=bool)
            if not self.is_indicator_.all():
                self.scaler_ = NumberScaler.of(found[:, ~self.is_indicator_])
            self.weight_ = 1.0
            scaled = self._scale(found)
            if texts:
                mean_square = float(np.einsum("ij,ij->", scaled, scaled)) / max(len(scaled), 1)
                self.weight_ = _BESIDE_TEXT / np.sqrt(max(mean_square, 1.0))
            blocks.append(self.weight_ * scaled)
        features = _join(blocks)
        self.n_features_ = int(features.shape[1])
        if not self.n_features_:
            raise PalmetteError("the columns have no words and no values: expected at least one.")
        return features

    def transform(self, X: pd.DataFrame) -> Any:
        """Return the features of a table's rows.

        Parameters
        ----------
        X : DataFrame of n_samples rows
            Result of `Schema.cast`.

        Returns
        -------
        array or sparse array of shape (n_samples, n_features)
        """
        check_is_fitted(self, "n_features_")
        blocks = [vectorizer.transform(X[name]) for name, vectorizer in self.texts_.items()]
        if len(self.texts_) < len(self.schema.kinds):
            blocks.append(self.weight_ * self._scale(self._found(X)))
        features = _join(blocks)
        if not np.isfinite(features.data if sparse.issparse(features) else features).all():
            raise PalmetteError(
                "the features of a row are not finite, because the word weights or the scales of "
                "columns in the model are not. Use another copy of the model file, or save it "
                "again."
            )
        return features

    def _found(self, X: pd.DataFrame, coded: Any = None) -> NDArray[np.float64]:
        """Return the features other than texts before scaling, in the order of the columns.

        Numbers are rounded to single precision, as by skrub, which takes long for many columns.
        """
        numbers = self._numbers_of(X)
        units: ColumnUnits | None = getattr(self, "units_", None)  # files may lack it
        single = numbers.astype(np.float32) if units is None else units.apply(numbers)
        found = [single.astype(np.float64)]
        if self.table_ is not None:
            if coded is None:
                coded = self.table_.transform(_without_strings(X[self._encoded()]))
            found.append(self._with_seconds(X, np.array(coded, dtype=np.float64)))
        found.append(_indicators(X, self.categories_))
        return np.hstack(found)[:, [place for place, _, _ in self._layout()]]

    def _with_seconds(self, X: pd.DataFrame, coded: NDArray[np.float64]) -> NDArray[np.float64]:
        """Put the seconds of dates, which skrub rounds to multiples of 128, into its features."""
        places = {name: i for i, name in enumerate(self.table_.get_feature_names_out())}
        for column in self.schema.names("date"):
            place = places.get(f"{column}_total_seconds")
            if place is not None and X[column].dtype.kind == "M":
                times = X[column].to_numpy(dtype="datetime64[us]")
                coded[:, place] = np.where(np.isnat(times), np.nan, times.astype(np.int64) / 1e6)
        return coded

    def _numbers_of(self, X: pd.DataFrame) -> NDArray[np.float64]:
        return np.asarray(X[self.numbers_].to_numpy(dtype=np.float64))

    def _encoded(self) -> list[str]:
        """Return the columns that `table_` encodes: in files of earlier versions, numbers too."""
        if self.encoded_ is not None:
            return self.encoded_
        return [name for name in self.schema.names() if name not in self.texts_]

    def _layout(self) -> list[tuple[int, str, bool]]:
        """List the features other than texts in the order of the columns.

        Returns
        -------
        list of (int, str, bool)
            Place among the numbers, the features of `table_` and the categories; name; whether it
            is a one-hot column of a category.
        """
        found = {name: [(i, name, False)] for i, name in enumerate(self.numbers_)}
        end = len(self.numbers_)
        if self.table_ is not None:
            names = self.table_.get_feature_names_out()
            place = {name: i for i, name in enumerate(names, start=end)}
            end += len(names)
            kinds = self.table_.column_to_kind_
            for column, outputs in self.table_.input_to_outputs_.items():
                is_indicator = kinds.get(column) == "low_cardinality"
                # skrub names an output of a column without values, which it leaves out
                outputs = [name for name in outputs if name in place]
                found[column] = [(place[name], name, is_indicator) for name in outputs]
        for column, categories in self.categories_.items():
            flags = ["nan" if each is None else each for each in _flagged(categories)]
            named = enumerate(flags, start=end)
            found[column] = [(place, f"{column}_{each}", True) for place, each in named]
            end += len(flags)
        return [each for column in self.schema.names() for each in found.get(column, [])]

    def _scale(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the indicators unchanged, and the other features scaled."""
        numbers = found[:, ~self.is_indicator_]
        if not numbers.shape[1]:
            return found
        return np.hstack([found[:, self.is_indicator_], self.scaler_.transform(numbers)])

    def check_arrays(self) -> None:
        """Raise ValueError for categories from a file that no table has."""
        found = vars(self).get("categories_", {})
        require(
            isinstance(found, dict)
            and found.keys() <= self.schema.kinds.keys()
            and all(isinstance(each, list) for each in found.values())
            and {type(text) for each in found.values() for text in each} <= {str, type(None)},
            "the categories of columns are not lists of strings",
        )
        scaler = vars(self).get("scaler_")
        if isinstance(scaler, NumberScaler):
            n_scaled = int(np.count_nonzero(~self.is_indicator_))
            require(len(scaler.centres) == n_scaled, "the scale of numbers is of other columns")

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state.get("table_") is not None and "is_indicator_" not in state:
            n_found = state["scaler_"].n_features_in_  # a file in which all features are scaled
            state = {**state, "is_indicator_": np.zeros(n_found, dtype=bool), "weight_": 1.0}
        if "texts_" in state:  # files of earlier versions lack these
            state = {"encoded_": None, "numbers_": [], "categories_": {}, **state}
        super().__setstate__(state)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features; words with their column if there are several columns."""
        check_is_fitted(self, "n_features_")
        alone = len(self.schema.kinds) == 1
        names: list[str] = []
        for column, vectorizer in self.texts_.items():
            grams = vectorizer.get_feature_names_out().tolist()
            names += [gram if alone else f"{column}: {gram}" for gram in grams]
        layout = self._layout()
        if layout:
            found = np.array([name for _, name, _ in layout], dtype=object)
            names += found[self.is_indicator_].tolist()
            if not self.is_indicator_.all():
                scaled = found[~self.is_indicator_]
                if isinstance(self.scaler_, NumberScaler):
                    names += self.scaler_.names_of(scaled)
                else:
                    names += map(str, self.scaler_.get_feature_names_out(scaled))
        return np.array(names, dtype=object)

    def describe(self) -> str:
        """Describe the number and kind of the features."""
        check_is_fitted(self, "n_features_")
        words = f"{self.n_features_:,} features"
        return f"{words}, texts by {self.text}" if self.texts_ else words


def _find_categories(
    X: pd.DataFrame, columns: list[str]
) -> tuple[dict[str, list[str | None]], set[str]]:
    """Return the categories of the columns with few, and the columns with many."""
    few: dict[str, list[str | None]] = {}
    many = set()
    for name in columns:
        codes, texts = _coded(X[name])
        if len(texts) >= _FEW:
            many.add(name)
        else:
            few[name] = [*sorted(texts), *([None] if len(texts) and (codes < 0).any() else [])]
    return few, many


def _coded(column: pd.Series[Any]) -> tuple[NDArray[np.int64], list[str]]:
    """Return the number of the category of each row, -1 for none, and the categories."""
    import pandas as pd

    codes, texts = pd.factorize(column.to_numpy(dtype=object))
    kept = np.array([bool(t.strip()) and t not in _NO_VALUE for t in texts.tolist()] + [False])
    if kept[:-1].all():
        return codes, texts.tolist()
    return np.where(kept, np.cumsum(kept) - 1, -1)[codes], texts[kept[:-1]].tolist()


def _flagged(categories: list[str | None]) -> list[str | None]:
    """Return the categories that have a column: of two only the second, which tells the other."""
    return categories[1:] if len(categories) == 2 else categories


def _indicators(X: pd.DataFrame, categories: dict[str, list[str | None]]) -> NDArray[np.float64]:
    """Return the columns of 0 and 1 of all categories; a row of another category has zeros."""
    rows, places, end = [], [], 0
    for name, known in categories.items():
        codes, texts = _coded(X[name])
        place_of = {each: i for i, each in enumerate(_flagged(known), start=end)}
        of_code = [place_of.get(each, -1) for each in [*texts, None]]
        found = np.array(of_code, dtype=np.int64)[codes]
        rows.append(np.flatnonzero(found >= 0))
        places.append(found[rows[-1]])
        end += len(place_of)
    flags = np.zeros((len(X), end))
    if rows:
        flags[np.concatenate(rows), np.concatenate(places)] = 1.0
    return flags


def _without_strings(frame: pd.DataFrame) -> pd.DataFrame:
    """Return strings as categories: skrub would try to read numbers in them, by pandas' parser."""
    strings = [name for name in frame.columns if frame[name].dtype.kind == "O"]
    return frame.astype(dict.fromkeys(strings, "category"))


def _skrub(name: str) -> Any:
    """Return a class of skrub, which is an extra."""
    try:
        import skrub
    except ImportError:
        raise PalmetteError(
            "columns of categories, numbers and dates need skrub: pip install 'palmette[table]'."
        ) from None
    return getattr(skrub, name)


def _join(blocks: list[Any]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    joined = sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr")
    if joined.nnz < 2**31:  # liblinear and trees of scikit-learn need 32-bit indices
        joined.indices = joined.indices.astype(np.int32, copy=False)
        joined.indptr = joined.indptr.astype(np.int32, copy=False)
    return joined


# ---------------------------------------------------------------------- the scale of numbers


class NumberScaler:
    """Centres columns by their median, divides them by their interquartile range, and squashes.

    Where both quartiles are equal, half of the range takes the place of the interquartile range; a
    constant column becomes zero. Missing values become zero too, and columns of 0 and 1 show where
    they were. The scale is that of `skrub.SquashingScaler`, for all columns at once: a table with
    thousands of columns is scaled in a fraction of the time.

    Parameters
    ----------
    centres, factors : float array of shape (n_columns,)
        What is subtracted, and what the difference is multiplied by.
    missing : int array of shape (n_missing,)
        Columns that had missing values in training.

    Examples
    --------
    >>> X = np.array([[2.0, 1.0], [3.0, np.nan], [4.0, 1.0]])
    >>> NumberScaler.of(X).transform(X).round(3).tolist()
    [[-0.949, 0.0, 0.0], [0.0, 0.0, 1.0], [0.949, 0.0, 0.0]]
    """

    def __init__(
        self, centres: FloatArray, factors: FloatArray, missing: NDArray[np.int64]
    ) -> None:
        self.centres = centres
        self.factors = factors
        self.missing = missing

    @classmethod
    def of(cls, X: FloatArray) -> NumberScaler:
        """Find the scale of training rows of shape (n_samples, n_columns)."""
        by_column = np.where(np.isfinite(X.T), X.T, np.nan)
        by_column.sort(axis=1)  # missing values are last
        known = X.shape[0] - np.isnan(by_column).sum(axis=1)
        low, middle, high = (_quantile(by_column, known, share) for share in (0.25, 0.5, 0.75))
        least, most = (_quantile(by_column, known, share) for share in (0.0, 1.0))
        spread = np.where(high > low, high - low, (most - least) / 2)
        is_flat = spread <= np.finfo(np.float64).tiny
        factors = np.where(is_flat, 0.0, 1.0 / np.where(is_flat, 1.0, spread))
        return cls(middle, factors, np.flatnonzero(np.isnan(X).any(axis=0)))

    def transform(self, X: FloatArray) -> FloatArray:
        """Return rows on this scale: (n_samples, n_columns + n_missing)."""
        n_rows, n_columns = X.shape
        found = np.empty((n_rows, n_columns + len(self.missing)))
        for part in row_chunks(n_rows, n_columns):
            far = np.clip(X[part] - self.centres, -_BEYOND, _BEYOND) * self.factors
            far /= np.sqrt(1.0 + (far / _LARGEST) ** 2)
            found[part, :n_columns] = np.nan_to_num(far, copy=False)
            found[part, n_columns:] = np.isnan(X[part][:, self.missing])
        return found

    def names_of(self, columns: NDArray[np.object_]) -> list[str]:
        """Return the names of the features, given those of the columns."""
        flags = [f"missingindicator_{columns[i]}" for i in self.missing.tolist()]
        return [*columns.tolist(), *flags]

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        centres = numbers(self.centres, np.float64, 1, "centres of columns")
        factors = numbers(self.factors, np.float64, 1, "factors of columns")
        same_shapes(centres, factors)
        missing = integers(self.missing, "columns with missing values")
        require(within(missing, len(centres)).all(), "a column with missing values is not there")


def _quantile(by_column: FloatArray, known: NDArray[np.int64], share: float) -> FloatArray:
    """Return a quantile of the known values of every column, which are ascending and come first."""
    place = share * np.maximum(known - 1, 0)
    before = np.floor(place).astype(np.int64)
    after = np.minimum(before + 1, np.maximum(known - 1, 0))
    columns = np.arange(len(by_column))
    low, high = by_column[columns, before], by_column[columns, after]
    found = low + (high - low) * (place - before)
    return np.where(known > 0, found, 0.0)
