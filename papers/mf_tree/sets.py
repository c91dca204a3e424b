"""The data sets as flat problems of many classes, their features made ready."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.compare import Problem

__all__ = ["DATASETS", "describe_preparation", "has_taxonomy", "read_set"]

_LETTER_TRAIN = 16_000  # the rows that are learnt from ever since the set was published
_SIDE = 16  # pixels
_BLUR = 0.8  # pixels: thin strokes that miss each other by one would have nothing in common


def read_set(name: str) -> Problem:
    """Read a data set of the data home.

    Parameters
    ----------
    name : str
        One of `DATASETS`.

    Returns
    -------
    Problem
        With numbers as features and one label a row, under the given taxonomy where there is one.
    """
    from palmette.datasets import fetch

    bunch = fetch(name)
    X_train, y_train, X_test, y_test = _PREPARE[name][0](bunch)
    return Problem(name, bunch.hierarchy, X_train, _plain(y_train), X_test, _plain(y_test))


def describe_preparation(name: str) -> str:
    """Say in words what the features of a data set are.

    Examples
    --------
    >>> describe_preparation("letter")
    'standardised; the first 16,000 rows to learn from'
    """
    return _PREPARE[name][1] if name in _PREPARE else "as they came"


def has_taxonomy(problem: Problem) -> bool:
    """Whether classes stand in groups that were given, to compare learnt ones with.

    Examples
    --------
    >>> from palmette.core.hierarchy import Hierarchy
    >>> has_taxonomy(Problem("p", Hierarchy.star(["a", "b"]), None, None))
    False
    """
    return bool(problem.hierarchy.max_depth > 1)


def _plain(y: Any) -> NDArray[np.object_]:
    return np.array([str(label) for label in y], dtype=object)


# ---------------------------------------------------------------------- kinds of features


def _words(ngrams: tuple[int, int]) -> Callable[[Any], tuple[Any, ...]]:
    def prepare(bunch: Any) -> tuple[Any, ...]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = TfidfVectorizer(sublinear_tf=True, ngram_range=ngrams)
        X = words.fit_transform(bunch.X_train)
        return X, bunch.y_train, words.transform(bunch.X_test), bunch.y_test

    return prepare


def _numbers(bunch: Any) -> tuple[Any, ...]:
    X_train, X_test = (np.nan_to_num(np.asarray(X)) for X in (bunch.X_train, bunch.X_test))
    return _standardised(X_train, bunch.y_train, X_test, bunch.y_test)


def _letters(bunch: Any) -> tuple[Any, ...]:
    X, n = np.asarray(bunch.X), _LETTER_TRAIN
    return _standardised(X[:n], bunch.y[:n], X[n:], bunch.y[n:])


def _standardised(X_train: Any, y_train: Any, X_test: Any, y_test: Any) -> tuple[Any, ...]:
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), y_train, scaler.transform(X_test), y_test


def _drawings(bunch: Any) -> tuple[Any, ...]:
    from sklearn.model_selection import train_test_split

    # what comes as the test part has other letters, none of which could be learnt
    X = small_drawings(bunch.X_train.reshape(-1, *bunch.image_shape))
    y = np.asarray(bunch.y_train)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=0
    )
    return X_train, y_train, X_test, y_test


def small_drawings(drawings: NDArray[Any]) -> NDArray[np.float64]:
    """Cut drawings to their ink, shrink them to 16 x 16 pixels, blur them, scale them to length 1.

    Parameters
    ----------
    drawings : array of shape (n_drawings, height, width)
        0 where there is no ink.

    Returns
    -------
    array of shape (n_drawings, 256)
    """
    from scipy.ndimage import gaussian_filter

    small = np.empty((len(drawings), _SIDE, _SIDE))
    for i, drawing in enumerate(drawings):
        rows, columns = (np.flatnonzero(drawing.any(axis=axis)) for axis in (1, 0))
        ink = drawing[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        height, width = (_shares(n) for n in ink.shape)
        small[i] = height @ ink @ width.T
    small = gaussian_filter(small, (0.0, _BLUR, _BLUR)).reshape(len(small), -1)
    return np.asarray(small / np.linalg.norm(small, axis=1, keepdims=True))


def _shares(n_pixels: int) -> NDArray[np.float64]:
    """How much of each of 16 equal parts of a side every pixel fills: (16, n_pixels)."""
    ends = np.linspace(0.0, n_pixels, _SIDE + 1)
    pixel = np.arange(n_pixels)
    common = np.minimum(ends[1:, None], pixel + 1) - np.maximum(ends[:-1, None], pixel)
    return np.asarray(np.maximum(common, 0.0) * (_SIDE / n_pixels))


_SCALED = "standardised"
_PREPARE: dict[str, tuple[Callable[[Any], tuple[Any, ...]], str]] = {
    "20newsgroups_bydate": (_words((1, 1)), "tf-idf of words, sublinear"),
    "letter": (_letters, f"{_SCALED}; the first 16,000 rows to learn from"),
    "clinc150": (_words((1, 2)), "tf-idf of words and pairs of words, sublinear"),
    "imclef07a": (_numbers, f"{_SCALED}; the leaves are the classes"),
    "diatoms": (_numbers, f"{_SCALED}; the labels, mostly leaves, are the classes"),
    "omniglot_small": (
        _drawings,
        "cut to the ink, 16 x 16 pixels, blurred, of length 1; 15 drawings of a letter to learn "
        "from, 5 to test on",
    ),
}
DATASETS = tuple(_PREPARE)
