"""The methods of Tables 2 and 3, and the data sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, KFold

from palmette._arrays import short_indices
from palmette.compare import Problem
from palmette.hierarchy._hierarchy import Hierarchy
from papers.cells import Options
from papers.mf_tree.trees import (
    PLAIN,
    changed,
    dependence,
    label_embedding,
    mf_tree,
    nmf,
    relaxed,
    star,
)

__all__ = [
    "BEST_READING",
    "DATASETS",
    "LITERAL",
    "TAUS",
    "Method",
    "approximations",
    "describe_preparation",
    "has_taxonomy",
    "kernels",
    "methods",
    "plain_trees",
    "read_set",
    "variants",
]

# ---------------------------------------------------------------------- methods


TAUS = (0, 2, 3, 4, 5, 6)  # 3 to 6 as in Table 3, 2 as in Section 4.4
RHOS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8)  # beside the usual .7; the paper tries .5 to .8
BRANCHINGS = (3, 4, 5)  # beside 2
BEAM = 5
LITERAL = "MF-Tree as published"
BEST_READING = "MF-Tree, larger entry, one-hot router"
PAIRS = 5  # pairs of classes that DRHL starts from, as published: those that are confused least
_STEPS = 100  # of liblinear: most classes of Diatoms do not settle within twice as many
_GREEDY = {"decoding": "greedy"}
_BEAM = {"decoding": "beam", "beam_width": BEAM}


@dataclass(frozen=True)
class Method:
    """One fit, which may answer in several ways.

    Parameters
    ----------
    key : str
        Names it in the store and in figures.
    grow : callable or None
        Takes Options and gives the learner of the tree; None where the classifier has its own.
    make : callable or None
        Takes the tree, or None, and Options and gives the classifier; None where only the tree is
        looked at.
    answers : dict of str to dict
        Ways to answer: parameters to set on the fitted classifier, by the words for them.
    """

    key: str
    grow: Callable[[Options], Any] | None
    make: Callable[[Hierarchy | None, Options], Any] | None
    answers: dict[str, dict[str, Any]] = field(default_factory=lambda: {"": {}})


def methods() -> list[Method]:
    """Return the methods of Table 2: as published, ours, the paper's rivals, and one-vs-rest.

    Examples
    --------
    >>> [method.key for method in methods()][:3]
    ['MF-Tree as published', 'MF-Tree, one-hot router', 'MF-Tree, larger entry']
    """
    return [
        Method(LITERAL, None, _reading()),
        Method("MF-Tree, one-hot router", None, _reading(one_hot=True)),
        Method("MF-Tree, larger entry", None, _reading(rule="max")),
        Method(BEST_READING, None, _reading(rule="max", one_hot=True)),
        Method("MF-Tree", None, _mf_default),
        _routed("MF-Tree, binary", mf_tree),
        Method("DAGSVM", None, _dag_svm),
        _routed("DRHL", relaxed),
        _routed("DRHL, published starts", changed(relaxed, starts="pairs", n_starts=PAIRS)),
        _routed("CMTL", label_embedding),
        _routed("RNMF", nmf),
        Method("RNMF as published", None, _rows_by("nmf", 2)),
        _routed("RDM", dependence),
        Method("RDM as published", None, _rows_by("dependence", 2)),
        Method("one-vs-rest", star, _follow, {"": _GREEDY}),
        Method("one-vs-rest, scikit-learn", None, _linear_svc),
    ]


def variants() -> list[Method]:
    """Return the rivals with the other settings that the paper tries, for Figure 2."""
    return [
        *(_routed(f"DRHL, rho={rho}", changed(relaxed, rho=rho)) for rho in RHOS),
        *(_routed(f"RNMF, p={p}", changed(nmf, branching=p)) for p in BRANCHINGS),
        *(_routed(f"RDM, p={p}", changed(dependence, branching=p)) for p in BRANCHINGS),
        *(
            Method(f"{name} as published, p={p}", None, _rows_by(kind, p))
            for name, kind in (("RNMF", "nmf"), ("RDM", "dependence"))
            for p in BRANCHINGS
        ),
    ]


def approximations() -> list[Method]:
    """Return the methods of Table 3: binary trees whose first levels are divided the quick way."""
    return [
        *(_routed(f"MF-Tree, tau={tau}", changed(mf_tree, tau=tau)) for tau in TAUS),
        *(Method(f"{LITERAL}, tau={tau}", None, _reading(tau=tau)) for tau in TAUS if tau),
        *(
            Method(f"{BEST_READING}, tau={tau}", None, _reading("max", one_hot=True, tau=tau))
            for tau in TAUS
            if tau
        ),
    ]


def kernels() -> list[Method]:
    """Return the readings of MF-Tree with a kernel whose width is chosen on training rows."""
    return [
        Method(f"{LITERAL}, rbf", None, _reading(kernel="rbf")),
        Method(f"{BEST_READING}, rbf", None, _reading("max", one_hot=True, kernel="rbf")),
    ]


def plain_trees() -> list[Method]:
    """Return the trees that are only compared with those of the methods (Figure 4, Equation 5)."""
    return [Method(key, grow, None, {}) for key, grow in PLAIN.items()]


def _routed(key: str, grow: Callable[[Options], Any]) -> Method:
    """Put linear classifiers at the nodes; decide greedily, as published, or by a beam."""
    return Method(key, grow, _follow, {"greedy": _GREEDY, f"beam {BEAM}": _BEAM})


# ---------------------------------------------------------------------- classifiers


def _follow(tree: Hierarchy | None, options: Options) -> Any:
    from palmette.class_tree._classifier import ClassTreeClassifier

    return ClassTreeClassifier(
        tree,
        router="linear",
        standardize=False,
        random_state=options.seed,
        n_jobs=options.n_jobs,
    )


def _reading(
    rule: str = "abs", *, one_hot: bool = False, tau: int = 0, kernel: str = "linear"
) -> Callable[[Hierarchy | None, Options], Any]:
    """Follow a reading of Algorithms 1 to 3.

    Parameters
    ----------
    rule : {"abs", "max"}
        The side of a class: where G has its larger magnitude, or its larger entry.
    one_hot : bool
        Whether G of the decisions has zeros and ones, as before the relaxation of its problem.
    tau : int
    kernel : str
    """

    def make(tree: Hierarchy | None, options: Options) -> Any:
        from palmette.class_tree._mf_classifier import MFTreeClassifier
        from palmette.routing import SpectralRouter

        made = MFTreeClassifier.preset(
            "published", rule=rule, tau=tau, random_state=options.seed, n_jobs=options.n_jobs
        )
        if one_hot:
            made.set_params(router=SpectralRouter(one_hot=True))
        return made if kernel == "linear" else WidthChosen(made.set_params(kernel=kernel))

    return make


WIDTHS = (0.25, 1.0, 4.0, 16.0, 64.0)  # times the inverse of the sum of all variances
_CHOICE_ROWS = 2_000


class WidthChosen(BaseEstimator):  # type: ignore[misc]
    """Choose the width of a kernel by three-fold cross-validation on some training rows.

    Parameters
    ----------
    model : MFTreeClassifier
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> WidthChosen:
        """Choose on up to 2,000 rows drawn at random, and fit to all rows."""
        rows = np.random.default_rng(0).permutation(len(y))[:_CHOICE_ROWS]
        unit = 1.0 / np.var(X, axis=0).sum()
        grid = {"kernel_params": [{"gamma": width * unit} for width in WIDTHS]}
        folds = KFold(3, shuffle=True, random_state=0)  # some classes have fewer rows than folds
        search = GridSearchCV(self.model, grid, cv=folds, refit=False).fit(X[rows], y[rows])
        self.model_ = clone(self.model).set_params(**search.best_params_).fit(X, y)
        self.classes_ = self.model_.classes_
        self.hierarchy_, self.hierarchy_learner_ = self.model_.hierarchy_, self.model_
        return self

    def predict(self, X: Any) -> Any:
        """Predict labels."""
        return self.model_.predict(X)

    def count_products(self, X: Any) -> float:
        """Return the kernel values of a row: one for every training row."""
        return float(self.model_.routes_.member.shape[0])


def _rows_by(kind: str, branching: int) -> Callable[[Hierarchy | None, Options], Any]:
    """Divide rows instead of classes, as published; leaves have one-class classifiers."""

    def make(tree: Hierarchy | None, options: Options) -> Any:
        from papers.mf_tree.row_trees import RowTreeClassifier

        return RowTreeClassifier(kind, branching, random_state=options.seed)  # type: ignore[arg-type]

    return make


def _mf_default(tree: Hierarchy | None, options: Options) -> Any:
    from palmette.class_tree._mf_classifier import MFTreeClassifier

    return MFTreeClassifier(standardize=False, random_state=options.seed, n_jobs=options.n_jobs)


def _dag_svm(tree: Hierarchy | None, options: Options) -> Any:
    from palmette.class_tree._dag_svm import DAGSVMClassifier

    return DAGSVMClassifier(random_state=options.seed, n_jobs=options.n_jobs)


def _linear_svc(tree: Hierarchy | None, options: Options) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(max_iter=_STEPS, random_state=options.seed)


# ------------------------------------------------------ data sets as flat problems of many classes


_LETTER_TRAIN = 16_000  # the rows that are learned from ever since the set was published
_SIDE = 16  # pixels
_BLUR = 0.8  # pixels: thin strokes that miss each other by one would have nothing in common


def read_set(name: str) -> Problem:
    """Read a data set of the data home, or generate one.

    Parameters
    ----------
    name : str
        One of `DATASETS`.

    Returns
    -------
    Problem
        With numbers as features and one label per row, under the given taxonomy where there is one.
    """
    from palmette.datasets import fetch

    bunch = _generated() if name == GENERATED else fetch(name)
    X_train, y_train, X_test, y_test = _PREPARE[name][0](bunch)
    return Problem(name, bunch.hierarchy, X_train, _plain(y_train), X_test, _plain(y_test))


def describe_preparation(name: str) -> str:
    """Say in words what the features of a data set are.

    Examples
    --------
    >>> describe_preparation("letter")
    'standardized; the first 16,000 rows to learn from'
    """
    return _PREPARE[name][1] if name in _PREPARE else "as they came"


def has_taxonomy(problem: Problem) -> bool:
    """Whether classes stand in groups that were given, to compare learned ones with.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> has_taxonomy(Problem("p", Hierarchy.star(["a", "b"]), None, None))
    False
    """
    return bool(problem.hierarchy.max_depth > 1)


def _plain(y: Any) -> NDArray[np.object_]:
    return np.array([str(label) for label in y], dtype=object)


# ---------------------------------------------------------------------- kinds of features


GENERATED = "generated_1618"  # as many classes as the larger sample of Wikipedia in the paper


def _generated() -> Any:
    """Return rows of 1,618 classes in groups of groups, 20 of each for training and for testing."""
    from palmette.datasets import make_hierarchical_classification

    paths = [(f"g{i // 162}", f"h{i // 18}", f"c{i}") for i in range(1618)]
    bunch = make_hierarchical_classification(
        n_samples=40 * len(paths),
        n_features=60,
        hierarchy=Hierarchy.from_paths(paths),
        class_sep=5.0,
        random_state=0,
    )
    return bunch


def _halves(bunch: Any) -> tuple[Any, ...]:
    from sklearn.model_selection import train_test_split

    X, y = np.asarray(bunch.X), np.array([path[-1] for path in bunch.y], dtype=object)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=0
    )
    return _standardized(X_train, y_train, X_test, y_test)


def _words(ngrams: tuple[int, int]) -> Callable[[Any], tuple[Any, ...]]:
    def prepare(bunch: Any) -> tuple[Any, ...]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = TfidfVectorizer(sublinear_tf=True, ngram_range=ngrams)
        X = words.fit_transform(bunch.X_train)
        return X, bunch.y_train, words.transform(bunch.X_test), bunch.y_test

    return prepare


def _numbers(bunch: Any) -> tuple[Any, ...]:
    X_train, X_test = (np.nan_to_num(np.asarray(X)) for X in (bunch.X_train, bunch.X_test))
    return _standardized(X_train, bunch.y_train, X_test, bunch.y_test)


def _parts(bunch: Any) -> tuple[Any, ...]:
    """Return the parts of a set; of one file the halves of each class, as the paper drew them."""
    if "X_train" in bunch:
        return bunch.X_train, bunch.y_train, bunch.X_test, bunch.y_test
    from sklearn.model_selection import train_test_split

    X_train, X_test, y_train, y_test = train_test_split(
        bunch.X, bunch.y, test_size=0.5, stratify=bunch.y, random_state=0
    )
    return X_train, y_train, X_test, y_test


def _as_they_came(bunch: Any) -> tuple[Any, ...]:
    X_train, y_train, X_test, y_test = _parts(bunch)
    return short_indices(X_train), y_train, short_indices(X_test), y_test


def _pictures(bunch: Any) -> tuple[Any, ...]:
    X_train, y_train, X_test, y_test = _parts(bunch)
    return _standardized(X_train.toarray(), y_train, X_test.toarray(), y_test)


def _letters(bunch: Any) -> tuple[Any, ...]:
    X, n = np.asarray(bunch.X), _LETTER_TRAIN
    return _standardized(X[:n], bunch.y[:n], X[n:], bunch.y[n:])


def _standardized(X_train: Any, y_train: Any, X_test: Any, y_test: Any) -> tuple[Any, ...]:
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), y_train, scaler.transform(X_test), y_test


def _drawings(bunch: Any) -> tuple[Any, ...]:
    from sklearn.model_selection import train_test_split

    # what comes as the test part has other letters, none of which could be learned
    X = small_drawings(bunch.X_train.reshape(-1, *bunch.image_shape))
    y = np.asarray(bunch.y_train)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=0
    )
    return X_train, y_train, X_test, y_test


def small_drawings(drawings: NDArray[Any]) -> NDArray[np.float64]:
    """Crop drawings to their strokes, resize them to 16 x 16 pixels, blur and normalize them.

    Parameters
    ----------
    drawings : array of shape (n_drawings, height, width)
        0 for the background.

    Returns
    -------
    array of shape (n_drawings, 256)
    """
    from scipy.ndimage import gaussian_filter

    small = np.empty((len(drawings), _SIDE, _SIDE))
    for i, drawing in enumerate(drawings):
        rows, columns = (np.flatnonzero(drawing.any(axis=axis)) for axis in (1, 0))
        strokes = drawing[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        height, width = (_shares(n) for n in strokes.shape)
        small[i] = height @ strokes @ width.T
    small = gaussian_filter(small, (0.0, _BLUR, _BLUR)).reshape(len(small), -1)
    return np.asarray(small / np.linalg.norm(small, axis=1, keepdims=True))


def _shares(n_pixels: int) -> NDArray[np.float64]:
    """How much of each of 16 equal parts of a side every pixel fills: (16, n_pixels)."""
    ends = np.linspace(0.0, n_pixels, _SIDE + 1)
    pixel = np.arange(n_pixels)
    common = np.minimum(ends[1:, None], pixel + 1) - np.maximum(ends[:-1, None], pixel)
    return np.asarray(np.maximum(common, 0.0) * (_SIDE / n_pixels))


_SCALED = "standardized"
_PREPARE: dict[str, tuple[Callable[[Any], tuple[Any, ...]], str]] = {
    "20newsgroups_bydate": (_words((1, 1)), "tf-idf of words, sublinear"),
    "letter": (_letters, f"{_SCALED}; the first 16,000 rows to learn from"),
    "clinc150": (_words((1, 2)), "tf-idf of words and pairs of words, sublinear"),
    "imclef07a": (_numbers, f"{_SCALED}; the leaves are the classes"),
    "diatoms": (_numbers, f"{_SCALED}; the labels, mostly leaves, are the classes"),
    "omniglot_small": (
        _drawings,
        "cropped to the strokes, 16 x 16 pixels, blurred, of length 1; 15 drawings per letter for "
        "training, 5 for testing",
    ),
    GENERATED: (_halves, f"generated, groups of groups of classes; {_SCALED}"),
    "caltech256": (_pictures, f"{_SCALED}; a copy of your own"),  # see docs/data.md
    "wiki": (_as_they_came, "a copy of your own, as it came"),
}
DATASETS = tuple(_PREPARE)
