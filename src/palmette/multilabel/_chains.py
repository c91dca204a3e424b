"""Rows with the labels of a chain beside the features: one matrix for all steps of the chain.

There is a column for every label of the chain from the start; those that are not yet known are
zero, which no classifier learns from. So nothing is copied from step to step, and sparse rows stay
sparse.
"""

from __future__ import annotations

import itertools
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from palmette.base._multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError
from palmette.multilabel._c45 import SortedRows
from palmette.multilabel._members import (
    RowDraws,
    ask_positive,
    fit_member,
    half_suffices,
    in_threads,
    make_members,
    part_to_share,
    rows_to_ask,
    rows_to_fit,
    rows_to_share,
)

__all__ = ["AskedChain", "ChainEnsemble", "TaughtChain"]


class TaughtChain:
    """Training rows of a chain, in which the labels before each step are the true ones.

    Parameters
    ----------
    X : array, CSR matrix or SortedRows of shape (n_rows, n_features)
    Y : sparse bool array of shape (n_rows, n_labels)
        Columns in the order of the chain.
    estimator : classifier or None
        Base of the chain, which says what type of rows suits it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> Y = sparse.csr_array(np.array([[1, 1], [0, 1]]))
    >>> chain = TaughtChain(np.array([[7.0], [8.0]]), Y, LogisticRegression())
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
            blank = np.zeros((X.shape[0], Y.shape[1]), dtype=X.dtype)
            self._rows = rows_to_fit(np.hstack([X, blank]), estimator)

    def step(self, place: int) -> tuple[Any, NDArray[np.int8]]:
        """Return the rows and the targets of one step; steps are asked for in their order."""
        target = self._column(place)
        if isinstance(self._rows, SortedRows):
            return self._rows.first_columns(self._n_features + place), target
        if not sparse.issparse(self._rows):
            if place:
                self._rows[:, self._n_features + place - 1] = self._column(place - 1)
            return self._rows, target
        rows, known = self._rows, self._n_features + place
        if rows.format != "csc":
            rows = self._rows = sparse.csc_array(rows)
        end = rows.indptr[known]
        starts = np.minimum(rows.indptr, end)  # columns from here on are empty
        return sparse.csc_array((rows.data[:end], rows.indices[:end], starts), rows.shape), target

    def _column(self, place: int) -> NDArray[np.int8]:
        return np.asarray(self._labels[:, [place]].toarray().ravel(), dtype=np.int8)


class AskedChain:
    """Rows to answer, to which every step adds what it found.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    n_labels : int

    Attributes
    ----------
    matrix : array or CSR matrix of shape (n_rows, n_features + n_labels)
        Changed in place by `tell`.
    """

    def __init__(self, X: Any, n_labels: int) -> None:
        self._n_labels = n_labels
        shape = (X.shape[0], n_labels)
        if sparse.issparse(X):
            # a place for every label of every row, at the end of the row
            places = sparse.csr_array(np.ones(shape, dtype=X.dtype))
            self.matrix = sparse.hstack([X, places], format="csr")
            self._places = self.matrix.indptr[1:, None] - n_labels + np.arange(n_labels)
            self.matrix.data[self._places] = 0
        else:
            self.matrix = np.hstack([X, np.zeros(shape, dtype=X.dtype)])

    def tell(self, place: int, votes: NDArray[np.bool_]) -> None:
        """Set the label at a place of the chain, for all rows."""
        if sparse.issparse(self.matrix):
            self.matrix.data[self._places[:, place]] = votes
        else:
            self.matrix[:, place - self._n_labels] = votes


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class ChainEnsemble(MultilabelClassifier):
    """Ensemble of classifier chains (ECC).

    A chain goes through the labels in a random order :math:`\\pi`. The classifier of each sees the
    features and the labels before it: the true ones in training, those it predicted in answering,

    .. math:: \\hat y_{\\pi(t)} = h_t(x, \\hat y_{\\pi(1)}, \\ldots, \\hat y_{\\pi(t - 1)}).

    Answers are the means over chains.

    Parameters
    ----------
    estimator : classifier, optional
        Base of the chains; `C45Tree` by default.
    n_chains : int
        Number of chains.
    sampling : {"bootstrap", "subsample"} or None
        Rows that each chain learns from. With "bootstrap" as many as there are, with replacement,
        in numbers that follow Poisson's distribution; with "subsample" a share of `max_samples`,
        without replacement, as first published; None for all.
    max_samples : float
        Share of rows of a subsample.
    voting : {"soft", "hard"}
        Whether chains give probabilities or votes, of which half suffice. Along a chain votes go on
        in either case.
    hierarchy : Hierarchy, learner of one, or None
        Labels are closed upwards, and answers coherent. None takes it from y.
    decoding : "auto", number or decision rule
        "auto" answers with labels above one half.
    n_jobs : int, optional
        Chains at a time, in threads; -1 for all cores.
    random_state : int, RandomState or None

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    nodes_ : int array of shape (n_columns,)
    orders_ : int array of shape (n_chains, n_columns)
        Columns of ``nodes_`` in the order of each chain.
    chains_ : list of lists of fitted classifiers
        By chain and place in its order.

    References
    ----------
    J. Read, B. Pfahringer, G. Holmes and E. Frank: Classifier chains for multi-label
    classification. ECML PKDD 2009.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a"}, {"a"}, {"a", "b"}, {"a", "b"}, {"a", "b"}]
    >>> model = ChainEnsemble(n_chains=5, sampling=None, random_state=0).fit(X, y)
    >>> model.predict([[0.0], [1.3]]) == [{"a"}, {"a", "b"}]
    True
    """

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
    ) -> None:
        self.estimator = estimator
        self.n_chains = n_chains
        self.sampling = sampling
        self.max_samples = max_samples
        self.voting = voting
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not isinstance(self.n_chains, Integral) or self.n_chains < 1:
            raise PalmetteError(f"n_chains={self.n_chains!r}: expected a positive integer.")
        if self.sampling not in ("bootstrap", "subsample", None):
            raise PalmetteError(
                f"sampling={self.sampling!r}: expected 'bootstrap', 'subsample' or None."
            )
        if not isinstance(self.max_samples, Real) or not 0.0 < self.max_samples <= 1.0:
            raise PalmetteError(
                f"max_samples={self.max_samples!r}: expected a share above 0, up to 1."
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
        self.chains_ = in_threads(self._fit_chain, jobs, self.n_jobs)

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
        chain = TaughtChain(X, Y[:, order], self.estimator)
        return [
            fit_member(member, *chain.step(place), weights) for place, member in enumerate(members)
        ]

    def _node_proba_of(self, X: Any) -> FloatArray:
        X = rows_to_ask(X, self.estimator)
        jobs = ((chain, X, order) for chain, order in zip(self.chains_, self.orders_, strict=True))
        total = np.zeros((X.shape[0], len(self.nodes_)))
        for answers in in_threads(self._ask_chain, jobs, self.n_jobs):
            total += answers
        shares = total / self.n_chains
        return half_suffices(shares) if self.voting == "hard" else shares

    def _ask_chain(self, models: list[Any], X: Any, order: IntArray) -> FloatArray:
        rows = AskedChain(X, len(models))
        answers = np.empty((X.shape[0], len(models)))
        for place, (model, column) in enumerate(zip(models, order.tolist(), strict=True)):
            shares = ask_positive(model, rows.matrix)
            votes = shares > 0.5
            rows.tell(place, votes)
            answers[:, column] = shares if self.voting == "soft" else votes
        return answers

    def _numbers_over_nodes(self) -> int:
        return len(self.nodes_) * (4 + len(self.chains_))
