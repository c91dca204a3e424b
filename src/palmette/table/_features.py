"""TableFeatures: the columns of a table as a matrix of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from palmette.exceptions import PalmetteError
from palmette.table._schema import Schema
from palmette.table._texts import TextVectorizer

if TYPE_CHECKING:
    import pandas as pd

_BESIDE_TEXT = 0.5  # maximum length of the part of a row that is not text, where a text has 1


class TableFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Convert the columns of a table to a matrix of features.

    Texts become tf-idf weights of words and character n-grams; categories, dates and numbers become
    columns of numbers by skrub's TableVectorizer. Those of categories are 0 or 1. Numbers are
    centred by their median and divided by their interquartile range, values far from the median are
    compressed to the range from -3 to 3, missing values become 0, and columns of 0 and 1 tell
    where they were missing. With a column of texts the matrix is sparse, and the columns other than
    texts are multiplied by one number so that, in squares, they weigh at most a quarter of a
    text: columns that tell nothing cannot hurt much, and those that tell something still count.

    Parameters
    ----------
    schema : Schema
    text : {"tfidf", "hashing"}
        Features of texts; see `TextVectorizer`.

    Attributes
    ----------
    texts_ : dict of str to TextVectorizer
        Vectorizers by column.
    table_ : skrub.TableVectorizer or None
        Vectorizer of all other columns.
    scaler_ : Pipeline or None
        Scales those features of `table_` that are not indicators, and imputes missing values.
    is_indicator_ : bool array of shape (n_table_features,)
        Which features of `table_` are 0 or 1, and are not scaled.
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
        others = [name for name in self.schema.names() if name not in texts]
        self.texts_ = {name: TextVectorizer(self.text) for name in texts}
        blocks = [vectorizer.fit_transform(X[name]) for name, vectorizer in self.texts_.items()]
        self.table_: Any = None
        self.scaler_: Any = None
        if others:
            self.table_ = _table_vectorizer()
            found = np.asarray(self.table_.fit_transform(X[others]), dtype=np.float64)
            self.is_indicator_ = _are_indicators(self.table_, found.shape[1])
            if not self.is_indicator_.all():
                self.scaler_ = _scaler().fit(found[:, ~self.is_indicator_])
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
        if self.table_ is not None:
            others = [name for name in self.schema.names() if name not in self.texts_]
            found = np.asarray(self.table_.transform(X[others]), dtype=np.float64)
            blocks.append(self.weight_ * self._scale(found))
        features = _join(blocks)
        if not np.isfinite(features.data if sparse.issparse(features) else features).all():
            raise PalmetteError(
                "the features of a row are not finite, because the word weights or the scales of "
                "columns in the model are not. Use another copy of the model file, or save it "
                "again."
            )
        return features

    def _scale(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the indicators unchanged, and the other features scaled."""
        numbers = found[:, ~self.is_indicator_]
        if not numbers.shape[1]:
            return found
        return np.hstack([found[:, self.is_indicator_], self.scaler_.transform(numbers)])

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state.get("table_") is not None and "is_indicator_" not in state:
            n_found = state["scaler_"].n_features_in_  # a file in which all features are scaled
            state = {**state, "is_indicator_": np.zeros(n_found, dtype=bool), "weight_": 1.0}
        super().__setstate__(state)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features; words with their column if there are several columns."""
        check_is_fitted(self, "n_features_")
        alone = len(self.schema.kinds) == 1
        names: list[str] = []
        for column, vectorizer in self.texts_.items():
            grams = vectorizer.get_feature_names_out().tolist()
            names += [gram if alone else f"{column}: {gram}" for gram in grams]
        if self.table_ is not None:
            found = np.asarray(self.table_.get_feature_names_out(), dtype=object)
            names += found[self.is_indicator_].tolist()
            if not self.is_indicator_.all():
                scaled = self.scaler_.get_feature_names_out(found[~self.is_indicator_])
                names += map(str, scaled)
        return np.array(names, dtype=object)

    def describe(self) -> str:
        """Describe the number and kind of the features."""
        check_is_fitted(self, "n_features_")
        words = f"{self.n_features_:,} features"
        return f"{words}, texts by {self.text}" if self.texts_ else words


def _table_vectorizer() -> Any:
    try:
        from skrub import TableVectorizer
    except ImportError:
        raise PalmetteError(
            "columns of categories, numbers and dates need skrub: pip install 'palmette[table]'."
        ) from None
    return TableVectorizer()


def _are_indicators(table: Any, n_features: int) -> NDArray[np.bool_]:
    """Return which features of a TableVectorizer are one-hot columns of categories."""
    names = list(table.get_feature_names_out())
    kinds = table.column_to_kind_
    indicators = {
        output
        for column, outputs in table.input_to_outputs_.items()
        if kinds.get(column) == "low_cardinality"
        for output in outputs
    }
    return np.array([name in indicators for name in names], dtype=bool).reshape(n_features)


def _scaler() -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from skrub import SquashingScaler

    return make_pipeline(
        SquashingScaler(),
        SimpleImputer(
            strategy="constant", fill_value=0.0, add_indicator=True, keep_empty_features=True
        ),
    )


def _join(blocks: list[Any]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    joined = sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr")
    if joined.nnz < 2**31:  # liblinear and trees of scikit-learn need 32-bit indices
        joined.indices = joined.indices.astype(np.int32, copy=False)
        joined.indptr = joined.indptr.astype(np.int32, copy=False)
    return joined
