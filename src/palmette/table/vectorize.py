"""TableFeatures: the columns of a table as numbers, sparse where there are texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from palmette.exceptions import PalmetteError
from palmette.table.schema import Schema
from palmette.table.text import TextVectorizer

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TableFeatures"]


class TableFeatures(TransformerMixin, BaseEstimator):
    """Turn a table whose columns have the types of their kinds into a matrix.

    Texts become weights of words and their pieces; categories, dates and numbers become columns of
    numbers by skrub's TableVectorizer, without gaps and of mean 0 and variance 1. With a text the
    matrix is sparse.

    Parameters
    ----------
    schema : Schema
    text : {"tfidf", "hashing"}
        How texts become numbers; see `TextVectorizer`.

    Attributes
    ----------
    texts_ : dict of str to TextVectorizer
        By column.
    table_ : skrub.TableVectorizer or None
        Of all other columns.
    scaler_ : Pipeline or None
        Fills gaps and scales what the table gives.
    n_features_ : int

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"price": [2.5, None, 4.5]})
    >>> TableFeatures(Schema({"price": "number"})).fit_transform(frame)[:, 0].round(3).tolist()
    [-1.225, 0.0, 1.225]
    """

    def __init__(self, schema: Schema, text: str = "tfidf") -> None:
        self.schema = schema
        self.text = text

    def fit(self, X: pd.DataFrame, y: Any = None) -> TableFeatures:
        """Learn the features; see `fit_transform`."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: pd.DataFrame, y: Any = None) -> Any:
        """Learn the features from the rows of a table, and return theirs.

        Parameters
        ----------
        X : DataFrame of n_samples rows
            As `Schema.cast` gives it.
        y : ignored

        Returns
        -------
        array or sparse array of shape (n_samples, n_features)
        """
        texts = self.schema.names("text")
        others = [name for name in self.schema.names() if name not in texts]
        self.texts_ = {name: TextVectorizer(self.text) for name in texts}
        blocks = [vectorizer.fit_transform(X[name]) for name, vectorizer in self.texts_.items()]
        self.table_ = self.scaler_ = None
        if others:
            self.table_ = _table_vectorizer()
            found = np.asarray(self.table_.fit_transform(X[others]), dtype=np.float64)
            self.scaler_ = _scaler()
            blocks.append(self.scaler_.fit_transform(found))
        features = _join(blocks)
        self.n_features_ = int(features.shape[1])
        if not self.n_features_:
            raise PalmetteError("the columns of the table hold no words and no values.")
        return features

    def transform(self, X: pd.DataFrame) -> Any:
        """Return the features of a table's rows.

        Parameters
        ----------
        X : DataFrame of n_samples rows
            As `Schema.cast` gives it.

        Returns
        -------
        array or sparse array of shape (n_samples, n_features)
        """
        check_is_fitted(self, "n_features_")
        blocks = [vectorizer.transform(X[name]) for name, vectorizer in self.texts_.items()]
        if self.table_ is not None:
            others = [name for name in self.schema.names() if name not in self.texts_]
            found = np.asarray(self.table_.transform(X[others]), dtype=np.float64)
            blocks.append(self.scaler_.transform(found))
        return _join(blocks)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features: words with their column where there are several columns."""
        check_is_fitted(self, "n_features_")
        alone = len(self.schema.kinds) == 1
        names: list[str] = []
        for column, vectorizer in self.texts_.items():
            grams = vectorizer.get_feature_names_out().tolist()
            names += [gram if alone else f"{column}: {gram}" for gram in grams]
        if self.table_ is not None:
            found = self.table_.get_feature_names_out()
            names += map(str, self.scaler_.get_feature_names_out(np.asarray(found, dtype=object)))
        return np.array(names, dtype=object)

    def describe(self) -> str:
        """Say how many features there are, and of what kind."""
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


def _scaler() -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler()
    )


def _join(blocks: list[Any]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    joined = sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr")
    if joined.nnz < 2**31:  # liblinear and trees of scikit-learn take no other
        joined.indices = joined.indices.astype(np.int32, copy=False)
        joined.indptr = joined.indptr.astype(np.int32, copy=False)
    return joined
