"""Steps that make the features of a data set fit for a model: text, missing values, scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from palmette.bench.models import ModelSpec
from palmette.core.rows import is_text
from palmette.exceptions import PalmetteError

__all__ = ["prepare"]


def prepare(model: Any, spec: ModelSpec, X: Any) -> Any:
    """Put before a model what the features need, as a pipeline fitted on training rows only.

    Parameters
    ----------
    model : estimator
    spec : ModelSpec
    X : features of n_samples rows
        Looked at for their kind only.

    Returns
    -------
    estimator
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    steps: list[Any] = []
    if is_text(X):
        steps.append(TfidfVectorizer(sublinear_tf=True, min_df=2))
    else:
        if hasattr(X, "columns"):
            steps.append(_vectorizer_of_tables())
        elif _has_missing(X) and not spec.takes_missing:
            steps.append(SimpleImputer(keep_empty_features=True))
        if spec.scale:
            steps.append(StandardScaler(with_mean=not sparse.issparse(X)))
    return make_pipeline(*steps, model) if steps else model


def _vectorizer_of_tables() -> Any:
    """Numbers stay, categories are one-hot, texts and dates become numbers; nothing is missing."""
    try:
        from skrub import TableVectorizer
    except ImportError:
        raise PalmetteError(
            "a table with named columns needs skrub: pip install 'palmette[table]'."
        ) from None
    return TableVectorizer()


def _has_missing(X: Any) -> bool:
    if sparse.issparse(X):
        return False
    array = np.asarray(X)
    return array.dtype.kind == "f" and bool(np.isnan(array).any())
