"""LinearMultilabel: one linear classifier per label, with calibrated probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.utils import check_random_state

from palmette._arrays import FloatArray, row_chunks, take_rows
from palmette._stopping import raise_if_stopped, stop_flag
from palmette.base._fitting import Threads, one_blas_thread
from palmette.base._multilabel import MultilabelClassifier
from palmette.base._parameters import check_positive, is_number
from palmette.decisions._thresholds import LabelRule, Threshold
from palmette.decisions._tuned import TunedRule
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.multilabel._members import hash_rows
from palmette.persistence.checks import numbers, require
from palmette.trees._random import mix_array

_AT_ONCE = 32  # labels that are fitted together: two cache lines of weights per feature
_FOLDS = 3
_SCALED_COST = 0.5
_COSTS = (1e-100, 1e6)  # bounds of C="scale": rows may be close to zero
_SLOPE = 4.0  # of the logistic function of margins, as long as no row is held out
_RIDGE = 0.1  # of slopes and offsets towards those of the labels of a block
_CALIBRATION_STEPS = 30
_BINS = 1000  # of probabilities, for the threshold
_ENTRIES_AT_ONCE = 2**23  # products of rows and weights at a time


class LinearMultilabel(MultilabelClassifier):
    """One linear classifier per label, with calibrated probabilities and a tuned threshold.

    Every label is separated from all other rows by a linear support vector machine with squared
    hinge loss, the objective of scikit-learn's LinearSVC. Labels are fitted in blocks by coordinate
    descent in the dual, in few passes over the rows; if there are at most 128 features, exactly by
    Newton's method. Margins of held-out rows give each label its logistic curve from margins to
    probabilities, and the threshold of the predictions. Sparse rows stay sparse, and memory does
    not grow with rows times labels.

    Parameters
    ----------
    C : "scale" or float
        Weight of the loss relative to the squared norm of the weights. "scale" is 0.5 for rows of
        length one, such as tf-idf, and less for longer rows: 0.5 divided by the mean squared length
        to the power 3/4, found by cross-validation on texts and measurements.
    balance : {"none", "cost"}
        ``"cost"``: the positive and the negative rows of a label have the same total weight, in the
        fit, in its calibration and in the choice of the threshold.
    held_out : {"third", "all"}
        Rows whose margins calibrate probabilities and tune thresholds, by a model that was fitted
        without them. ``"third"``: a third of the rows, at two thirds of the cost of a fit.
        ``"all"``: each third in turn, at twice the cost of a fit, for labels with few rows.
    prune : float
        Weights up to this share of the largest one of the label are set to zero after the fit.
    tol : float
        Rows whose projected gradients are below it are left out until those of all rows are.
    max_iter : int
        Maximum number of passes over the rows. More than a few gain nothing for texts.
    hierarchy : Hierarchy, optional
        Ancestors of labels are labels too, and no label is more probable than its parents.
    decoding : "auto", number, name or rule of `palmette.decoding`
        ``"auto"`` is one threshold for all labels, F / 2, where F is the best F1 of all held-out
        (row, node) cells: if probabilities are calibrated, no other rule has a larger expected F1
        over all cells. ``"f1"`` tunes one threshold per label.
    n_jobs : int, optional
        Number of blocks of labels fitted at a time, in threads. It does not change the result.
    random_state : int, RandomState or None
        Seed of the order of the rows, and of the rows that are held out.
    verbose : int
        Whether to print the number of labels that are fitted, after every block of them.

    Attributes
    ----------
    coef_ : CSR array of shape (n_features, n_columns)
        Columns as in ``nodes_``.
    intercept_ : array of shape (n_columns,)
    calibration_ : array of shape (2, n_columns)
        Slope and offset of the logistic function of the margins.
    n_iter_ : int
        Largest number of passes, or of steps of Newton's method, of a label.
    threshold_ : float
        The threshold of ``decoding="auto"``.
    thresholds_ : array of shape (n_classes,)
        Thresholds of the labels in ``classes_``.

    References
    ----------
    C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan (2008). A dual coordinate
    descent method for large-scale linear SVM. ICML 2008. doi:10.1145/1390156.1390208

    Lipton, Elkan, Naryanaswamy, Optimal thresholding of classifiers to maximize F1 measure, ECML
    PKDD 2014.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> texts = ["red wine", "white wine", "red car", "old car", "red fox", "old fox"] * 5
    >>> y = [set(text.split()) - {"wine"} for text in texts]
    >>> X = TfidfVectorizer().fit_transform(texts)
    >>> clf = LinearMultilabel(random_state=0).fit(X, y)
    >>> [sorted(labels) for labels in clf.predict(X[:3])]
    [['red'], ['white'], ['car', 'red']]
    """

    def __init__(
        self,
        C: float | str = "scale",
        *,
        balance: str = "none",
        held_out: str = "third",
        prune: float = 0.0,
        tol: float = 0.01,
        max_iter: int = 100,
        hierarchy: Hierarchy | None = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.balance = balance
        self.held_out = held_out
        self.prune = prune
        self.tol = tol
        self.max_iter = max_iter
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if self.balance not in ("none", "cost"):
            raise PalmetteError(f"balance={self.balance!r} is unknown: expected 'none' or 'cost'.")
        if self.held_out not in ("third", "all"):
            raise PalmetteError(f"held_out={self.held_out!r}: expected 'third' or 'all'.")
        check_positive(self, "C", words=("scale",))
        check_positive(self, "tol", "max_iter")
        if not (is_number(self.prune) and 0 <= self.prune < 1):
            raise PalmetteError(f"prune={self.prune!r}: expected a number from 0 to below 1.")

    # ------------------------------------------------------------------ fitting

    def _fit_nodes(
        self, X: Any, Y: sparse.csr_array, weights: FloatArray | None
    ) -> FloatArray | None:
        # a module with kernels, which takes long to import
        from palmette.multilabel._label_descent import LabelProblem

        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        stop = stop_flag()
        each = np.ones(X.shape[0]) if weights is None else weights
        n_features, used = X.shape[1], None
        if sparse.issparse(X):  # columns without entries have no weights
            used = np.flatnonzero(np.bincount(X.indices, minlength=n_features))
            X = X if len(used) == n_features else X[:, used]
        C = _scaled_cost(X, each) if self.C == "scale" else float(self.C)
        whole = LabelProblem.of(X, C * each, stop)
        shares = _held_out_shares(X, Y, each, seed)[: 1 if self.held_out == "third" else _FOLDS]
        parts = []
        for share in shares:
            train, test = np.flatnonzero(share < 1), np.flatnonzero(share > 0)
            costs = C * (each * (1.0 - share))[train]
            part = LabelProblem.of(take_rows(whole.X, train), costs, stop)
            parts.append(_Part(part, train, take_rows(whole.X, test)))
        _, held = np.nonzero(shares)
        held_weights = (shares * each)[shares > 0]
        table: FloatArray | None = None
        if self.several_paths_ and isinstance(self._several_rule(), TunedRule):
            table = np.full((len(held), Y.shape[1]), 0.5)
        by_label = sparse.csc_array(Y)
        order = np.argsort(np.diff(by_label.indptr), kind="stable")
        blocks = [order[start : start + _AT_ONCE] for start in range(0, len(order), _AT_ONCE)]
        done: list[int] = []

        def fit(block: NDArray[np.int64]) -> _Block:
            truth = by_label[:, block].toarray().astype(bool)
            found = self._fit_block(whole, parts, truth, each, (held, held_weights), seed)
            if table is not None and found.proba is not None:
                table[:, block] = found.proba
            done.append(len(block))
            if self.verbose:
                print(f"{sum(done)} of {len(order)} labels", flush=True)
            return found._replace(proba=None)

        with Threads(self.n_jobs) as threads, one_blas_thread():
            fitted = threads.map(fit, blocks)
        raise_if_stopped(stop)
        back = np.argsort(order)
        coef = sparse.hstack([b.weights for b in fitted], format="csc")[:, back].tocsr()
        self.coef_ = _spread(coef, used, n_features)
        self.intercept_ = np.concatenate([b.bias for b in fitted])[back]
        self.calibration_ = np.hstack([b.calibration for b in fitted])[:, back].copy()
        self.n_iter_ = max(b.n_iter for b in fitted)
        self.threshold_ = _best_threshold(sum(b.tally for b in fitted)) if len(held) else 0.5
        self._held = (held, held_weights) if table is not None and len(held) else None
        return table

    def _fit_block(
        self,
        whole: Any,
        parts: list[_Part],
        truth: NDArray[np.bool_],
        weights: FloatArray,
        held: tuple[NDArray[np.int64], FloatArray],
        seed: int,
    ) -> _Block:
        """Fit some labels: calibration on held-out rows, then the weights on all rows."""
        from palmette.multilabel._label_descent import fit_labels

        signs = np.where(truth, 1, -1).astype(np.int8)
        factors = np.ones((2, truth.shape[1]))
        if self.balance == "cost":
            shares = weights @ truth / weights.sum()
            factors = 0.5 / np.maximum(np.vstack([1.0 - shares, shares]), 1e-12)
            factors[:, shares >= 1.0 - 1e-12] = 1.0
        solver = factors, float(self.tol), int(self.max_iter), seed
        rows, row_weights = held
        margins = np.empty((len(rows), truth.shape[1]))
        start = 0
        for part in parts:
            w, bias, _ = fit_labels(part.problem, signs[part.train], *solver)
            end = start + part.held.shape[0]
            margins[start:end] = part.held @ w + bias
            start = end
        cells = row_weights[:, None] * np.where(truth[rows], factors[1], factors[0])
        calibration = _logistic_curves(margins, truth[rows], cells)
        proba = expit(calibration[0] * margins + calibration[1])
        w, bias, n_iter = fit_labels(whole, signs, *solver)
        tally = _tally(proba, truth[rows], cells)
        return _Block(_pruned(w, self.prune), bias, calibration, tally, proba, n_iter)

    def _tune(
        self, truth: sparse.csr_array, weights: FloatArray | None, scores: FloatArray | None = None
    ) -> None:
        held = self.__dict__.pop("_held", None)
        if held is not None:
            truth, weights = truth[held[0]], held[1]
        super()._tune(truth, weights, scores)
        if self.several_paths_ and not hasattr(self, "thresholds_"):
            self.thresholds_ = np.full(len(self.classes_), self.threshold_)

    def _tunes_itself(self) -> bool:
        return True

    def _several_rule(self) -> LabelRule | TunedRule:
        if isinstance(self.decoding, str) and self.decoding == "auto":
            return Threshold(getattr(self, "threshold_", 0.5))
        return super()._several_rule()

    # ------------------------------------------------------------------ predicting

    def _node_proba_of(self, X: Any) -> FloatArray:
        margins = np.empty((X.shape[0], len(self.nodes_)))
        for rows in row_chunks(X.shape[0], len(self.nodes_), at_once=_ENTRIES_AT_ONCE):
            found = X[rows] @ self.coef_
            margins[rows] = found.toarray() if sparse.issparse(found) else found
        margins += self.intercept_
        margins *= self.calibration_[0]
        margins += self.calibration_[1]
        proba: FloatArray = expit(margins, out=margins)
        return proba

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if not hasattr(self, "coef_"):
            return
        n_columns = len(self.nodes_)
        require(
            sparse.issparse(self.coef_) and self.coef_.format == "csr",
            "coef_ is not a CSR array",
        )
        require(
            self.coef_.shape == (self.n_features_in_, n_columns)
            and self.coef_.data.dtype in (np.float32, np.float64),
            "coef_ does not fit the features and the labels of the model",
        )
        bias = numbers(self.intercept_, np.float64, 1, "intercept_")
        curves = numbers(self.calibration_, np.float64, 2, "calibration_")
        require(
            len(bias) == n_columns and curves.shape == (2, n_columns),
            "a label has no intercept or no calibration",
        )
        finite = [np.isfinite(a).all() for a in (self.coef_.data, bias, curves)]
        require(finite, "a weight or a calibration is not finite")
        require(
            isinstance(self.threshold_, float) and 0 <= self.threshold_ <= 1,
            "threshold_ is not a number from 0 to 1",
        )


class _Part(NamedTuple):
    """The training rows of a fold, as a problem and as row numbers, and its held-out rows."""

    problem: Any
    train: NDArray[np.int64]
    held: Any


class _Block(NamedTuple):
    """Some fitted labels, and the held-out weights by truth and probability, (2, n_bins)."""

    weights: sparse.csc_array
    bias: FloatArray
    calibration: FloatArray
    tally: FloatArray
    proba: FloatArray | None
    n_iter: int


def _scaled_cost(X: Any, weights: FloatArray) -> float:
    """Return the value of C="scale"; 1 if all rows are zero."""
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    mean = float(np.average(np.asarray(squares).ravel(), weights=weights))
    return float(np.clip(_SCALED_COST / mean**0.75, *_COSTS)) if mean > 0 else 1.0


def _pruned(weights: FloatArray, prune: float) -> sparse.csc_array:
    """Return the weights above a share of the largest of their column, (n_features, n_labels)."""
    by_label = np.ascontiguousarray(weights.T)
    bounds = prune * np.abs(by_label).max(axis=1, initial=0.0)
    kept = np.abs(by_label) > bounds[:, None]
    ends = np.cumsum(kept.sum(axis=1))
    places = np.flatnonzero(kept) % max(weights.shape[0], 1)
    return sparse.csc_array(
        (by_label[kept], places.astype(np.int32), np.append(0, ends)), shape=weights.shape
    )


def _spread(coef: sparse.csr_array, used: Any, n_features: int) -> sparse.csr_array:
    """Return the weights of all features, given those of some of them, (n_features, n_columns)."""
    if used is None or len(used) == n_features:
        return coef
    counts = np.zeros(n_features + 1, dtype=coef.indptr.dtype)
    counts[used + 1] = np.diff(coef.indptr)
    parts = coef.data, coef.indices, np.cumsum(counts, dtype=coef.indptr.dtype)
    return sparse.csr_array(parts, shape=(n_features, coef.shape[1]))


# ---------------------------------------------------------------------- held-out rows


def _held_out_shares(X: Any, Y: sparse.csr_array, weights: FloatArray, seed: int) -> FloatArray:
    """Deal the copies of the rows of every label set out to three folds.

    A weight is a number of copies, rounded; equal rows with equal labels are copies too. So the
    order of the rows changes nothing, and a weight of k equals k rows.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    Y : sparse bool array of shape (n_samples, n_columns)
    weights : array of shape (n_samples,)
    seed : int

    Returns
    -------
    array of shape (n_folds, n_samples)
        Share of the weight of a row that each fold holds out; no folds if there are fewer copies
        than folds.
    """
    of_labels = hash_rows(Y)
    mixed = mix_array(hash_rows(X) ^ mix_array(of_labels ^ np.array([seed], dtype=np.uint64)))
    keys, first, unit = np.unique(mixed, return_index=True, return_inverse=True)
    copies = np.bincount(unit, np.maximum(np.rint(weights), 1.0)).astype(np.int64)
    if copies.sum() < _FOLDS:
        return np.empty((0, len(weights)))
    order = np.lexsort((keys, of_labels[first]))
    start = np.empty(len(keys), dtype=np.int64)
    start[order] = np.cumsum(copies[order]) - copies[order]
    # how many of the copies start, start + 1, ... leave the remainder of the fold
    parts = [
        (start + copies - 1 - fold) // _FOLDS - (start - 1 - fold) // _FOLDS
        for fold in range(_FOLDS)
    ]
    shares: FloatArray = (np.array(parts) / copies)[:, unit]
    return shares


def _logistic_curves(
    margins: FloatArray, truth: NDArray[np.bool_], weights: FloatArray
) -> FloatArray:
    """Return the slope and the offset of the logistic function of every label: (2, n_labels).

    They maximize the likelihood of held-out rows with a penalty for their squared distance to the
    curve of all labels together, so that labels with few rows have nearly the common curve.

    Parameters
    ----------
    margins : array of shape (n_samples, n_labels)
        No rows give the default curve.
    truth : bool array of shape (n_samples, n_labels)
    weights : array of shape (n_samples, n_labels)
    """
    n_labels = margins.shape[1]
    common = np.array([[_SLOPE], [0.0]])
    if len(margins):
        flat = margins.reshape(-1, 1), truth.reshape(-1, 1), weights.reshape(-1, 1)
        common = _penalized(*flat, common)
    start = np.repeat(common, n_labels, axis=1)
    return _penalized(margins, truth, weights, start) if len(margins) else start


def _penalized(
    margins: FloatArray, truth: NDArray[np.bool_], weights: FloatArray, start: FloatArray
) -> FloatArray:
    """Fit curves of shape (2, n_labels) near given ones by Newton's method; slopes are >= 0."""
    curves = start.copy()
    for _ in range(_CALIBRATION_STEPS):
        proba = expit(curves[0] * margins + curves[1])
        wrong = weights * (proba - truth)
        bend = weights * proba * (1.0 - proba)
        away = _RIDGE * (curves - start)
        slope, offset = np.einsum("ij,ij->j", wrong, margins) + away[0], wrong.sum(0) + away[1]
        mixed = bend * margins
        a, b, c = np.einsum("ij,ij->j", mixed, margins) + _RIDGE, mixed.sum(0), bend.sum(0) + _RIDGE
        determinant = a * c - b * b
        step = np.vstack([c * slope - b * offset, a * offset - b * slope]) / determinant
        before = curves
        curves = curves - np.clip(step, -2.0, 2.0)  # far from the optimum steps are too long
        curves[0] = np.maximum(curves[0], 0.0)
        if np.abs(curves - before).max() < 1e-7:
            break
    return curves


def _tally(proba: FloatArray, truth: NDArray[np.bool_], weights: FloatArray) -> FloatArray:
    """Return the weights of negative and positive cells by their probability: (2, n_bins)."""
    bins = np.minimum((proba * _BINS).astype(np.int64), _BINS - 1)
    cells = bins + _BINS * truth
    counts = np.bincount(cells.ravel(), weights.ravel(), minlength=2 * _BINS)
    return np.asarray(counts.reshape(2, _BINS), dtype=np.float64)


def _best_threshold(tally: Any) -> float:
    """Return half of the best F1 over all cells, from the counts of `_tally`."""
    above = np.cumsum(tally[:, ::-1], axis=1)
    total = above[1, -1]
    if not total > 0:
        return 0.5
    return float((above[1] / (above.sum(axis=0) + total)).max())
