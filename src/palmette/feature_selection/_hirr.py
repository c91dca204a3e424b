"""HirrScore: row-sparse regression at every node, with coupled nodes (HiRR-FS)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from palmette._arrays import FloatArray
from palmette._text import caller_level
from palmette.base._devices import torch_device
from palmette.base._parameters import check_not_negative, from_paper, is_number
from palmette.base._presets import Preset, preset, presets
from palmette.exceptions import PalmetteError
from palmette.feature_selection._base import FeatureScore, NodeScores, ScoringProblem
from palmette.feature_selection._hirr_descent import row_norms
from palmette.feature_selection._hirr_design import Design
from palmette.feature_selection._hirr_logistic import (
    SCALE,
    LogisticDesigns,
    LogisticNode,
    solve_logistic,
)
from palmette.feature_selection._hirr_problem import (
    HirrProblem,
    RowDesigns,
    Scaling,
    Solution,
    Weights,
    gram_designs,
)
from palmette.feature_selection._hirr_solvers import (
    SHORTEST,
    random_start,
    solve_bcd,
    solve_irls,
)

IntArray = NDArray[np.int64]
LOSSES = ("squares", "logistic")
SOLVERS = ("auto", "bcd", "irls")
STARTS = ("ridge", "random")
SCALINGS = ("auto", True, "center", False)
_PAPER = (
    "Zhao, Hu, Zhu, Wang and Wang, IEEE Transactions on Knowledge and Data Engineering 33, 2021, "
    "doi:10.1109/TKDE.2019.2960251"
)
_TIES: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("Hier-FS", "equations 2 to 5", {}),
    ("HiRRpar-FS", "equations 6 to 12", {"parent": 1.0}),
    ("HiRRsib-FS", "equations 13 to 19", {"sibling": 1.0}),
    ("HiRRfam-FS", "equations 20 to 25", {"parent": 1.0, "sibling": 1.0}),
)


def _published(name: str, equations: str, ties: dict[str, float]) -> Preset:
    # Section 4.3 of the paper; ten sweeps from random weights depend on these weights
    settings = {
        "lam": 10.0,
        "relative": False,
        "standardize": False,
        "solver": "irls",
        "max_iter": 10,
        "tol": 0.0,
    }
    return Preset(
        f"{name}: raw features, ten sweeps",
        {**settings, **ties},
        f"{_PAPER}; {equations}, Tables 4 to 8",
        "Weights start from ridge regressions instead of random numbers. Inner nodes are drawn to "
        "their children, too; equations 12 and 25 leave that out, as coupling='paper' does. The "
        "authors' program draws the root to its children only if beta > 0.",
    )


def _scaled(name: str, equations: str, ties: dict[str, float]) -> Preset:
    accuracy = {"tol": 1e-3} if ties else {}  # coupled nodes of texts would take minutes
    return Preset(
        f"{name}: standardized features, lambda as a share of its largest value, the minimum",
        {"relative": "lam", "standardize": True, **ties, **accuracy},
        f"{_PAPER}; {equations}",
        "The printed lambda = 10 depends on the units of the features: here it is relative, and "
        "the objective is minimized. alpha and beta are as printed.",
    )


_DENSE_SUPPORT = 0.002  # below this share of lambda_max, many rows are nonzero: IRLS is faster
_FEW_ENTRIES = 0.1  # share of values that are not zero below which features are not standardized
_FEW_NUMBERS = 2**25  # size of all Gram matrices up to which solver="auto" may form them
_MAX_NUMBERS = 2**30  # maximum size of all Gram matrices: 8 GiB


class HirrScore(FeatureScore):
    """Score features by a sparse regression of the options of every node (HiRR-FS).

    The score of a feature is the norm of its row of weights in a least-squares or logistic
    regression of indicators of the options. The regression is penalized by `lam` times the sum of
    these norms, so that most rows are zero. Weights of a node may be regularized towards those of
    its parents, of which a DAG may have several, and away from those of its siblings.

    Parameters
    ----------
    lam : float
        Weight of the sum of row norms: the larger, the fewer features have nonzero weights.
    relative : bool or "lam"
        Whether `lam`, `parent` and `sibling` are relative to the scale of the data; with "lam",
        only `lam` is. If it is relative, `lam` is a multiple of ``lambda_max_``, the smallest
        value at which all weights of a node are zero. With False, the three are the lambda, alpha
        and beta of the paper, which depend on the units of X and on the number of rows.
    parent : float
        Weight of the squared distance between the weights of a node and of its parent: the alpha of
        the paper. If it is relative, the unit is the mean sum of squares of the node's features,
        which is its number of rows if they are standardized: with 1, the parent counts as much as
        the rows of the node. The k-th option of one is compared with the k-th of the other, an
        arbitrary correspondence.
    sibling : float
        Weight of the dependence between the weights of siblings: the beta of the paper. If it is
        relative, the unit is such that, with 1, weights of two siblings that use the same features
        at full strength cost as much as zero weights.
    coupling : {"full", "paper"}
        See `HirrProblem`.
    solver : {"auto", "bcd", "irls"}
        Block coordinate descent over nonzero rows, exact and fast if these are few; or the
        iteratively reweighted least squares of the paper, which needs a dense matrix of shape
        (n_features, n_features) at every node. "auto" is "bcd", but "irls" if `lam` is below 0.002
        of lambda_max and X is dense with few features: on the protein data DD, "irls" becomes the
        faster one between 0.003 and 0.001.
    standardize : {"auto", True, "center", False}
        Whether every feature is scaled to mean 0 and variance 1 among the rows of each node, with
        an intercept. With "center" it has mean 0 and keeps its variance; with False, raw values are
        used without an intercept, as in the paper. "auto" is False if fewer than a tenth of the
        values of X are not zero, as in texts, and True otherwise: scaling would give the rarest
        words the largest values, and takes many times longer. Sparse X stays sparse.
    start : {"ridge", "random"}
        Initial weights of "irls"; those of "bcd" are zero.
    max_iter : int
        Maximum number of sweeps over the nodes.
    tol : float
        Maximum duality gap at convergence, relative to the objective of zero weights. With 0,
        "irls" makes `max_iter` sweeps.
    support_only : bool
        Whether features with zero weights are never selected, even if more features are requested.
        By default they are ranked after the others, by the correlation with the residual.
    callback : callable, optional
        Function that is called with the number of each sweep and the objective after it.
    loss : {"squares", "logistic"}
        "squares" is the loss of the paper. "logistic" is ``log(1 + exp(f)) - y f`` for every row
        and every option of its node, with an intercept if features are centred: rows that are far
        on the right side cost nothing. It is minimized by steps of "bcd" for squares that bound it,
        tens of sweeps instead of one: 10 s instead of .2 s on 10,000 rows of 80 features.
    device : str
        "cpu", or a CUDA device of torch such as "cuda" or "cuda:1", for dense X. There "irls"
        solves the equations of all nodes that do not depend on each other at once, and "bcd"
        computes its products with all rows. Scores are those of the CPU up to rounding.

    Notes
    -----
    Further attributes of the selector: ``lambda_max_``, ``lam_`` and ``n_nonzero_`` (number of
    nonzero rows), all of shape (n_tasks,), ``objective_`` (at the start and after every sweep),
    ``dual_gap_``, ``n_iter_``, ``solver_``.

    References
    ----------
    H. Zhao, Q. Hu, P. Zhu, Y. Wang, P. Wang (2021). A recursive regularization based feature
    selection framework for hierarchical classification. IEEE Transactions on Knowledge and Data
    Engineering 33. doi:10.1109/TKDE.2019.2960251

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> from palmette.labels._space import LabelSpace
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.5], [1.0, 0.5]])
    >>> problem = ScoringProblem(X, LabelSpace(h, h.leaves), np.array([0, 1, 2, 2]))
    >>> scores = HirrScore(lam=0.5).score(problem)
    >>> np.round(list(scores.rows()), 3)  # rows: the root and the node a
    array([[0.354, 0.   ],
           [0.   , 0.354]])
    >>> HirrScore.preset("HiRRpar-FS").parent
    1.0
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        **{row[0].lower(): _published(*row) for row in _TIES},
        **{f"{row[0].lower()}-scaled": _scaled(*row) for row in _TIES},
    }
    device = "cpu"  # in files that do not know the parameter
    loss = "squares"  # likewise

    @from_paper(alpha="parent", beta="sibling", T="max_iter")
    def __init__(
        self,
        lam: float = 0.03,
        *,
        relative: bool | str = True,
        parent: float = 0.0,
        sibling: float = 0.0,
        coupling: str = "full",
        solver: str = "auto",
        standardize: bool | str = "auto",
        start: str = "ridge",
        max_iter: int = 200,
        tol: float = 1e-6,
        support_only: bool = False,
        callback: Callable[[int, float], object] | None = None,
        device: str = "cpu",
        loss: str = "squares",
    ) -> None:
        self.lam = lam
        self.relative = relative
        self.parent = parent
        self.sibling = sibling
        self.coupling = coupling
        self.solver = solver
        self.standardize = standardize
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.support_only = support_only
        self.callback = callback
        self.device = device
        self.loss = loss

    def score(self, problem: ScoringProblem) -> NodeScores:
        """Score all features at all nodes."""
        hirr, maxima = self.pose(problem)
        _check_lambda(problem, hirr, hirr.lam / self._scale, maxima)
        solution = self.solve(hirr, seed=problem.seed, n_jobs=problem.n_jobs)
        if not solution.converged and self.tol > 0:
            warnings.warn(
                f"{solution.solver} did not converge within max_iter={self.max_iter} sweeps: the "
                f"duality gap is {solution.dual_gap:.2g}. Increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=caller_level(),
            )
        facts = {
            "lambda_max_": maxima,
            "lam_": hirr.lam / self._scale,
            "objective_": np.array(solution.objective),
            "dual_gap_": solution.dual_gap,
            "n_nonzero_": np.array([int(np.sum(w.norms > SHORTEST)) for w in solution.weights]),
            "n_iter_": len(solution.objective) - 1,
            "solver_": solution.solver,
        }
        n_options = [task.n_options for task in problem.tasks()]
        if self.support_only:
            rows = [_of_support(hirr, t, w, n_options[t]) for t, w in enumerate(solution.weights)]
            return NodeScores(sparse.vstack(rows, format="csr"), facts, sparse_is_final=True)
        return NodeScores(_of_all(hirr, solution.weights, n_options), facts)

    # ------------------------------------------------------------------ steps

    def pose(
        self, problem: ScoringProblem, *, keep: bool = False
    ) -> tuple[HirrProblem, FloatArray]:
        """Return the optimization problem, and lambda_max of every task.

        With `keep` the designs of all nodes stay in memory, for a problem that is solved several
        times.
        """
        self._check_parameters()
        widths = np.array([task.n_options for task in problem.tasks()], dtype=np.int32)
        if self.parent > 0:  # all weights need one shape, as those of parents are subtracted
            widths[:] = widths.max(initial=0)
        keep = keep or self.parent > 0 or self.sibling > 0 or self.loss == "logistic"
        scaling = self._scaling(problem.X)
        on_device = self._on_device(problem.X)
        designs: Any = RowDesigns(problem, widths, scaling, keep, on_device)
        if self.loss == "logistic":
            designs = LogisticDesigns(problem, designs)
            units = np.array([_logistic_units(node) for node in designs.nodes])
        else:
            units = np.array([_units(designs[t]) for t in range(len(widths))])
        units = units.reshape(-1, 3)
        maxima = units[:, 0].copy()
        if not self.relative or self.relative == "lam":
            units[:, 1:] = 1.0
        lam = self.penalties(self.lam, maxima)
        if self.loss == "squares" and self._choose_solver(problem, lam, maxima) == "irls":
            make_grams = gram_designs if on_device is None else on_device.grams
            designs = make_grams(problem, widths, scaling)
        parent, sibling = self.parent * units[:, 1], self.sibling * units[:, 2]
        strengths = (self._scale * parent, self._scale * sibling)
        return HirrProblem(designs, problem.above, lam, *strengths, self.coupling), maxima

    @property
    def _scale(self) -> float:
        """Factor of all strengths in the problem that is posed."""
        return SCALE if self.loss == "logistic" else 1.0

    def penalties(self, lam: float, maxima: FloatArray) -> FloatArray:
        """Return the penalty of every task in the problem that is posed, given `lam`."""
        own = lam * maxima if self.relative else np.full(len(maxima), float(lam))
        return self._scale * own

    def _on_device(self, X: Any) -> Any:
        """Return the rows on the device of torch, or None for the CPU."""
        device = None if self.device == "cpu" else torch_device(self.device)
        if device is None:
            return None
        if sparse.issparse(X):
            raise PalmetteError(
                f"X is sparse, and device={self.device!r} needs dense rows. Pass X.toarray(), or "
                "device='cpu'."
            )
        from palmette.feature_selection._hirr_device import RowsOnDevice

        return RowsOnDevice(X, device)

    def _scaling(self, X: Any) -> Scaling:
        """Return how features are scaled; the form of X, sparse or dense, changes nothing."""
        if self.standardize != "auto":
            return self.standardize  # type: ignore[return-value]
        n_entries = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
        return not n_entries < _FEW_ENTRIES * X.shape[0] * X.shape[1]

    def solve(
        self,
        hirr: HirrProblem,
        *,
        start: Sequence[Weights] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> Solution:
        """Solve the optimization problem that `pose` returned, from initial weights if given."""
        if isinstance(hirr.designs, LogisticDesigns):
            return solve_logistic(
                hirr,
                hirr.designs.nodes,
                tol=self.tol,
                max_iter=self.max_iter,
                start=start,
                callback=self.callback,
            )
        if isinstance(hirr.designs, RowDesigns):
            return solve_bcd(
                hirr,
                tol=self.tol,
                max_iter=self.max_iter,
                start=start,
                callback=self.callback,
                n_jobs=n_jobs,
            )
        if start is None and self.start == "random":
            start = random_start(hirr, seed)
        settings: Any = {"tol": self.tol, "max_iter": self.max_iter, "callback": self.callback}
        if self.device == "cpu":
            return solve_irls(hirr, start=start, **settings)
        from palmette.feature_selection._hirr_device import DeviceGrams
        from palmette.feature_selection._hirr_sweeps import solve_irls_on_device

        assert isinstance(hirr.designs, DeviceGrams)  # as posed
        return solve_irls_on_device(hirr, hirr.designs, start=start, **settings)

    def _choose_solver(self, problem: ScoringProblem, lam: FloatArray, maxima: FloatArray) -> str:
        n_numbers = len(lam) * problem.n_features**2
        if self.solver == "irls" and n_numbers > _MAX_NUMBERS:
            raise PalmetteError(
                f"solver='irls' needs a matrix of {problem.n_features} x {problem.n_features} at "
                f"each of {len(lam)} nodes, which take {n_numbers / 2**27:.0f} GiB in total. "
                "Use solver='bcd'."
            )
        if self.solver != "auto":
            return self.solver
        small = n_numbers <= _FEW_NUMBERS and not sparse.issparse(problem.X)
        return "irls" if small and np.all(lam < _DENSE_SUPPORT * maxima) else "bcd"

    def _check_parameters(self) -> None:
        for name, known in (
            ("loss", LOSSES),
            ("solver", SOLVERS),
            ("start", STARTS),
            ("standardize", SCALINGS),
            ("relative", (True, False, "lam")),
        ):
            if getattr(self, name) not in known:
                raise PalmetteError(
                    f"{name}={getattr(self, name)!r} is unknown: expected one of {known}."
                )
        if self.loss == "logistic" and (self.solver == "irls" or self.device != "cpu"):
            raise PalmetteError(
                f"loss='logistic' was given with solver={self.solver!r} and device="
                f"{self.device!r}: expected solver='auto' or 'bcd', and device='cpu'."
            )
        if not (is_number(self.lam) and self.lam > 0):
            raise PalmetteError(f"lam={self.lam!r}: expected a number above 0.")
        check_not_negative(self, "parent", "sibling", "tol", "max_iter")
        if self.callback is not None and not callable(self.callback):
            raise PalmetteError(f"callback={self.callback!r}: expected a function, or None.")


def _units(design: Design) -> tuple[float, float, float]:
    """Return the units of lam, parent and sibling at a node.

    A sum of squares q of a feature, and |Y|^2 = e, allow for weights of a squared length of about
    e / q. For two siblings the unit, the geometric mean of q^2 / e, makes the square of the product
    of their weights comparable with the loss.
    """
    used = design.squares[design.squares > 0]
    curvature = float(used.mean()) if len(used) else 0.0
    energy = max(design.energy, np.finfo(np.float64).tiny)
    return design.lambda_max, curvature, curvature**2 / energy


def _logistic_units(node: LogisticNode) -> tuple[float, float, float]:
    """Return the same units for a node with the logistic loss, which curves an eighth as much."""
    used = node.design.squares[node.design.squares > 0]
    curvature = float(used.mean()) / SCALE if len(used) else 0.0
    energy = max(node.energy, np.finfo(np.float64).tiny)
    return node.lambda_max, curvature, curvature**2 / energy


def _check_lambda(
    problem: ScoringProblem, hirr: HirrProblem, lams: FloatArray, maxima: FloatArray
) -> None:
    """Raise an error if lambda makes all weights zero; warn if those of some nodes are."""
    empty = lams >= maxima
    if not len(maxima) or not empty.any():
        return
    advice = "Decrease lam, or set it relative to lambda_max with relative=True."
    if not maxima.any():
        advice = "No feature tells the classes apart: remove constant columns."
    elif empty.all():
        raise PalmetteError(
            f"lam={lams.max():.6g} makes all weights zero at all nodes: lambda_max is "
            f"{maxima.max():.6g}. {advice}"
        )
    if not hirr.has_parents:  # otherwise the weights of parents may make those of children nonzero
        names = problem.hierarchy.names[problem.nodes[empty]].tolist()
        warnings.warn(
            f"lam={lams.max():.6g} is at or above lambda_max of {len(names)} nodes, whose "
            f"weights are all zero: {names[:5]}, with lambda_max "
            f"{maxima[empty][:5].round(6).tolist()}. {advice}",
            stacklevel=caller_level(),
        )


# ---------------------------------------------------------------------- weights to scores


def _of_support(hirr: HirrProblem, t: int, weights: Weights, n_options: int) -> Any:
    """Return the norms of the nonzero rows, as a sparse array of shape (1, n_features)."""
    norms = _norms(hirr.designs[t], weights, n_options)
    kept = np.flatnonzero(norms > SHORTEST)
    positions = (np.zeros(len(kept), dtype=np.int32), weights.rows[kept])
    shape = (1, len(hirr.designs[t].cross))
    return sparse.csr_array((norms[kept], positions), shape)


def _of_all(
    hirr: HirrProblem, weights: Sequence[Weights], n_options: Sequence[int]
) -> Iterator[FloatArray]:
    """Yield the norms of rows; for zero rows, the limit of IRLS with a smoothed norm.

    This limit is a multiple of the gradient, smaller than the norm of every nonzero row.
    """
    for t, own in enumerate(weights):
        design, coupling = hirr.designs[t], hirr.couple(t, weights)
        gradient = design.gradient(own.rows, own.values)
        if coupling is not None:
            gradient += coupling.gradient(own.rows, own.values)
        gradient = gradient[:, : n_options[t]]
        lam = hirr.lam[t]  # 0 if all features are constant
        scores = (SHORTEST * 2.0 / lam if lam > 0 else 0.0) * row_norms(gradient)
        nonzero = own.norms > SHORTEST
        norms = _norms(design, own, n_options[t])
        scores[own.rows[nonzero]] = norms[nonzero] + SHORTEST
        yield np.where(design.squares > 0, scores, 0.0)


def _norms(design: Design, weights: Weights, n_options: int) -> FloatArray:
    """Return the norms of rows over the options of the node; 0 for constant features."""
    norms = row_norms(weights.values[:, :n_options])
    return np.where(design.squares[weights.rows] > 0, norms, 0.0)


@dataclass(eq=False)
class LambdaPath:
    """Solutions from the largest lambda to the smallest.

    Parameters
    ----------
    lams : array of shape (n_lams,)
        Descending; in the unit of `HirrScore.lam`.
    lambda_max : array of shape (n_tasks,)
    n_nonzero : int array of shape (n_lams, n_tasks)
        Number of features with nonzero weights.
    entered : array of shape (n_tasks, n_features)
        Largest lambda of the path at which a feature has nonzero weights; 0 if there is none.
    objective, dual_gap : arrays of shape (n_lams,)
    weights : list of Weights
        Weights of all tasks at the smallest lambda.
    """

    lams: FloatArray
    lambda_max: FloatArray
    n_nonzero: IntArray
    entered: FloatArray
    objective: FloatArray
    dual_gap: FloatArray
    weights: list[Weights]


def lambda_path(
    problem: ScoringProblem,
    lams: Sequence[float] | None = None,
    *,
    score: HirrScore | None = None,
    n_lams: int = 20,
    smallest: float = 0.01,
) -> LambdaPath:
    """Solve the problem of `HirrScore` for a range of lambdas, each from the last solution on.

    Parameters
    ----------
    problem : ScoringProblem
    lams : sequence of float, optional
        In the unit of `HirrScore.lam`; by default `n_lams` values in geometric progression from
        lambda_max (excluded) to `smallest` times lambda_max.
    score : HirrScore, optional
        The other parameters; its `lam` is not used.
    n_lams : int
        Number of lambdas, if `lams` is None.
    smallest : float
        Smallest lambda relative to lambda_max, if `lams` is None.

    Returns
    -------
    LambdaPath

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> from palmette.labels._space import LabelSpace
    >>> h = Hierarchy.star(["x", "y"])
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    >>> problem = ScoringProblem(X, LabelSpace(h, h.leaves), np.array([0, 0, 1, 1]))
    >>> lambda_path(problem, [0.9, 0.1, 0.5]).n_nonzero.ravel().tolist()
    [1, 1, 1]
    """
    score = HirrScore() if score is None else clone(score)
    if not score.relative and lams is None:
        raise PalmetteError(
            "lams is None, but relative=False needs explicit lambdas: pass lams=[...]."
        )
    steps = np.geomspace(1.0, smallest, n_lams + 1)[1:] if lams is None else np.sort(lams)[::-1]
    if not len(steps) or not steps[-1] > 0:
        raise PalmetteError(f"lams={lams!r}: expected at least one number, all above 0.")
    # the solver for the smallest lambda is used for the whole path
    hirr, maxima = score.set_params(lam=float(steps[-1])).pose(problem, keep=True)
    path = LambdaPath(
        lams=np.asarray(steps, dtype=np.float64),
        lambda_max=maxima,
        n_nonzero=np.zeros((len(steps), len(maxima)), dtype=np.int64),
        entered=np.zeros((len(maxima), problem.n_features)),
        objective=np.zeros(len(steps)),
        dual_gap=np.zeros(len(steps)),
        weights=[],
    )
    start = None
    for i, lam in enumerate(path.lams):
        hirr.lam = score.penalties(lam, maxima)
        solution = score.solve(hirr, start=start, seed=problem.seed, n_jobs=problem.n_jobs)
        start = path.weights = solution.weights
        path.objective[i], path.dual_gap[i] = solution.objective[-1], solution.dual_gap
        for t, weights in enumerate(solution.weights):
            used = weights.rows[weights.norms > SHORTEST]
            path.n_nonzero[i, t] = len(used)
            path.entered[t, used] = np.maximum(path.entered[t, used], lam)
    return path
