"""ChainEnsemble: ensembles of classifier chains.

A chain uses rows of one width for all steps: the features, followed by one column per label of the
chain. The columns of labels that are not known yet are zero, so that they have no influence. Rows
that a classifier was given never change afterwards, as it may keep them (k nearest neighbours do):
dense rows are copied before a label is added, so that a chain holds two copies at a time, unless
the classifiers keep theirs. Sparse rows stay sparse; their features are shared by all steps.
"""

from __future__ import annotations

import itertools
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from palmette._arrays import FloatArray
from palmette.base._multilabel import MultilabelClassifier
from palmette.base._presets import Preset, preset, presets
from palmette.exceptions import PalmetteError
from palmette.multilabel._c45 import MULAN, SOSHF_TABLE, C45Tree, SortedRows, j48
from palmette.multilabel._members import (
    RowDraws,
    fit_member,
    in_threads,
    make_members,
    part_to_share,
    positive_proba,
    rows_to_fit,
    rows_to_predict,
    rows_to_share,
    ties_to_positive,
)

IntArray = NDArray[np.intp]


class ChainEnsemble(MultilabelClassifier):
    """Ensemble of classifier chains (ECC).

    A chain has the labels in a random order :math:`\\pi`. The classifier of a label uses the
    features and the labels before it: the true ones in training, the predicted ones in prediction,

    .. math:: \\hat y_{\\pi(t)} = h_t(x, \\hat y_{\\pi(1)}, \\ldots, \\hat y_{\\pi(t - 1)}).

    Predictions are averaged over the chains.

    Parameters
    ----------
    estimator : classifier, optional
        Base estimator of the chains; `C45Tree` by default.
    n_chains : int
        Number of chains.
    sampling : {"bootstrap", "subsample"} or None
        Training rows of each chain. "bootstrap": each row is drawn a Poisson-distributed number of
        times; "subsample": a proportion `max_samples` of the rows is drawn without replacement, as
        first published; None: all rows.
    max_samples : float
        Proportion of rows of a subsample.
    voting : {"soft", "hard"}
        Whether probabilities or votes of the chains are averaged; a tie of votes is positive.
        Labels are passed along a chain as votes in either case.
    hierarchy : Hierarchy, learner of one, or None
        Ancestors of labels are labels too, and predictions are coherent. None: taken from y.
    decoding : "auto", number or decision rule
        "auto" predicts labels with scores above one half.
    n_jobs : int, optional
        Number of chains at a time, in threads; -1 for all cores.
    random_state : int, RandomState or None
    verbose : int
        Passed to joblib: positive numbers print the progress.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    nodes_ : int array of shape (n_columns,)
    orders_ : int array of shape (n_chains, n_columns)
        Columns of ``nodes_`` in the order of each chain.
    chains_ : list of lists of fitted classifiers
        By chain and position in its order.

    References
    ----------
    J. Read, B. Pfahringer, G. Holmes, E. Frank (2009). Classifier chains for multi-label
    classification. ECML PKDD 2009. doi:10.1007/978-3-642-04174-7_17

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a"}, {"a"}, {"a", "b"}, {"a", "b"}, {"a", "b"}]
    >>> model = ChainEnsemble(n_chains=5, sampling=None, random_state=0).fit(X, y)
    >>> model.predict([[0.0], [1.3]]) == [{"a"}, {"a", "b"}]
    True
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "soshf": Preset(
            "50 chains of J48's trees, as in the comparison of SOSHF",
            {"estimator": j48(), "n_chains": 50},
            f"{SOSHF_TABLE}, ECC; {MULAN}",
        )
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_chains: int = 10,
        sampling: Literal["bootstrap", "subsample"] | None = "bootstrap",
        max_samples: float = 0.67,
        voting: Literal["soft", "hard"] = "soft",
        hierarchy: Any = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_chains = n_chains
        self.sampling = sampling
        self.max_samples = max_samples
        self.voting = voting
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if not isinstance(self.n_chains, Integral) or self.n_chains < 1:
            raise PalmetteError(f"n_chains={self.n_chains!r}: expected a positive integer.")
        if self.sampling not in ("bootstrap", "subsample", None):
            raise PalmetteError(
                f"sampling={self.sampling!r}: expected 'bootstrap', 'subsample' or None."
            )
        if not isinstance(self.max_samples, Real) or not 0.0 < self.max_samples <= 1.0:
            raise PalmetteError(
                f"max_samples={self.max_samples!r}: expected a number above 0 and up to 1."
            )
        if self.voting not in ("soft", "hard"):
            raise PalmetteError(f"voting={self.voting!r}: expected 'soft' or 'hard'.")

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        rng, n_columns = check_random_state(self.random_state), Y.shape[1]
        self.orders_ = np.array([rng.permutation(n_columns) for _ in range(self.n_chains)])
        seeds = rng.randint(2**31 - 1, size=self.n_chains).tolist()
        draws = None if self.sampling is None else RowDraws(X, weights)
        shared = rows_to_share(X, self.estimator)
        jobs = [
            (make_members(self.estimator, n_columns, rng), shared, Y, weights, order, draws, seed)
            for order, seed in zip(self.orders_, seeds, strict=True)
        ]
        self.chains_ = in_threads(self._fit_chain, jobs, self.n_jobs, self.verbose)

    def _fit_chain(
        self,
        members: list[Any],
        X: Any,
        Y: sparse.csr_array,
        weights: FloatArray | None,
        order: IntArray,
        draws: RowDraws | None,
        seed: int,
    ) -> list[Any]:
        if draws is not None:
            if self.sampling == "bootstrap":
                rows, weights = draws.bootstrap(seed)
            else:
                rows, weights = draws.subsample(seed, self.max_samples)
            X, Y = part_to_share(X, rows), Y[rows]
        chain = TrainingChain(X, Y[:, order], self.estimator)
        return [
            fit_member(member, *chain.step(place), weights) for place, member in enumerate(members)
        ]

    def _node_proba_of(self, X: Any) -> FloatArray:
        X = rows_to_predict(X, self.estimator)
        jobs = ((chain, X, order) for chain, order in zip(self.chains_, self.orders_, strict=True))
        total = np.zeros((X.shape[0], len(self.nodes_)))
        for answers in in_threads(self._predict_chain, jobs, self.n_jobs):
            total += answers
        shares = total / self.n_chains
        return ties_to_positive(shares) if self.voting == "hard" else shares

    def _predict_chain(self, models: list[Any], X: Any, order: IntArray) -> FloatArray:
        rows = PredictedChain(X, len(models))
        answers = np.empty((X.shape[0], len(models)))
        for place, (model, column) in enumerate(zip(models, order.tolist(), strict=True)):
            shares = positive_proba(model, rows.matrix)
            votes = shares > 0.5
            if place + 1 < len(models):
                rows.add_label(place, votes, is_kept=not isinstance(model, C45Tree))
            answers[:, column] = shares if self.voting == "soft" else votes
        return answers

    def _numbers_over_nodes(self) -> int:
        return len(self.nodes_) * (4 + len(self.chains_))


class TrainingChain:
    """Training rows of a chain: features, and the true labels before each step.

    Parameters
    ----------
    X : array, CSR matrix or SortedRows of shape (n_rows, n_features)
    Y : sparse bool array of shape (n_rows, n_labels)
        Columns in the order of the chain.
    estimator : classifier or None
        Base estimator of the chain, which determines the type of the rows.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> Y = sparse.csr_array(np.array([[1, 1], [0, 1]]))
    >>> chain = TrainingChain(np.array([[7.0], [8.0]]), Y, LogisticRegression())
    >>> chain.step(1)[0].tolist()
    [[7.0, 1.0, 0.0], [8.0, 0.0, 0.0]]
    """

    def __init__(self, X: Any, Y: sparse.csr_array, estimator: Any) -> None:
        self._labels = sparse.csc_array(Y)
        self._n_features = X.shape[1]
        if isinstance(X, SortedRows):
            ends = self._labels.indptr
            flags = [self._labels.indices[a:b] for a, b in itertools.pairwise(ends.tolist())]
            self._rows = X.with_flags(flags)
        elif sparse.issparse(X):
            both = sparse.hstack([X, self._labels.astype(X.dtype)], format="csc")
            self._rows = rows_to_fit(both, estimator)
        else:
            zeros = np.zeros((X.shape[0], Y.shape[1]), dtype=X.dtype)
            self._rows = rows_to_fit(np.hstack([X, zeros]), estimator)

    def step(self, place: int) -> tuple[Any, NDArray[np.int8]]:
        """Return the rows and the targets of one step; steps must be taken in order."""
        target = self._column(place)
        if isinstance(self._rows, SortedRows):
            return self._rows.first_columns(self._n_features + place), target
        if not sparse.issparse(self._rows):
            if place:
                self._rows = self._rows.copy(order="K")  # the last classifier may keep its rows
                self._rows[:, self._n_features + place - 1] = self._column(place - 1)
            return self._rows, target
        rows, known = self._rows, self._n_features + place
        if rows.format != "csc":
            rows = self._rows = sparse.csc_array(rows)
        end = rows.indptr[known]
        starts = np.minimum(rows.indptr, end)  # later columns are empty
        return sparse.csc_array((rows.data[:end], rows.indices[:end], starts), rows.shape), target

    def _column(self, place: int) -> NDArray[np.int8]:
        return np.asarray(self._labels[:, [place]].toarray().ravel(), dtype=np.int8)


class PredictedChain:
    """Rows to predict, to which every step adds its predicted labels.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    n_labels : int

    Attributes
    ----------
    matrix : array or CSR matrix of shape (n_rows, n_features + n_labels)
        Replaced by `add_label`.
    """

    def __init__(self, X: Any, n_labels: int) -> None:
        self._n_labels = n_labels
        shape = (X.shape[0], n_labels)
        if sparse.issparse(X):
            # one stored entry per label of every row, at the end of the row
            places = sparse.csr_array(np.ones(shape, dtype=X.dtype))
            self.matrix = sparse.hstack([X, places], format="csr")
            self._places = self.matrix.indptr[1:, None] - n_labels + np.arange(n_labels)
            self.matrix.data[self._places] = 0
        else:
            self.matrix = np.hstack([X, np.zeros(shape, dtype=X.dtype)])

    def add_label(self, place: int, votes: NDArray[np.bool_], *, is_kept: bool = True) -> None:
        """Add the predicted label of one step, to a copy if a classifier may keep the matrix."""
        if sparse.issparse(self.matrix):
            values = self.matrix.data.copy() if is_kept else self.matrix.data
            values[self._places[:, place]] = votes
            parts = (values, self.matrix.indices, self.matrix.indptr)
            self.matrix = type(self.matrix)(parts, shape=self.matrix.shape)
        else:
            self.matrix = self.matrix.copy(order="K") if is_kept else self.matrix
            self.matrix[:, place - self._n_labels] = votes
