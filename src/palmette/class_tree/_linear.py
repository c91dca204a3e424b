"""LinearRouter: training of the linear classifiers of all nodes."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from palmette._arrays import FloatArray, IntArray, read_only
from palmette._stopping import raise_if_stopped, stop_flag
from palmette._text import caller_level
from palmette.base._fitting import one_blas_thread
from palmette.base._parameters import check_positive, is_number
from palmette.class_tree._linear_routes import FlatRows, LinearRoutes, PrunedNodes, WholeNodes
from palmette.class_tree._routing import Router, RoutingProblem
from palmette.exceptions import PalmetteError

# up to this number of features, and if there are more rows, Newton's method is faster
_NEWTON_FEATURES = {"squared_hinge": 512, "logistic": 128}
_FEW_FEATURES = 32  # up to this number it is fast for any number of rows, and exact
_COSTS = (1e-100, 1e6)  # bounds of C="scale": rows may be close to zero
_NEWTON_STEPS, _ROW_UPDATES = 1000, 80_000  # limits of max_iter="auto"
_PASSES = 5, 8  # least and most of them there
_MOST = 0.75  # share of all features from which the rows of a node are not renumbered
_ROWS_AT_ONCE = 2**16
_ROWS_TO_READ = 2**14
_SMALL = 0.05  # of the root mean square of weights: those that are set to zero by prune="auto"
_BITS = 8  # of the others there; a file compresses the zeros after them
_CERTAIN = 1000.0  # margin of an option that is true of all rows of its node: a score of 0
_COARSE = 0.05  # tolerance from which label sets and sparse rows need no more than float32
_AT_ONCE = 16  # number of classifiers that are trained together: two cache lines of weights
_MANY_AT_ONCE = 48  # of label sets in float32, if there are few features
_FEW_FOR_MANY = 2_500  # features: weights of half a MiB


class LinearRouter(Router):
    """Separate the options of every node by linear classifiers.

    The classifiers of a node are trained together, on the rows below it, by coordinate descent in
    the dual or, if there are few features and more rows, by Newton's method; two options without
    common classes need only one classifier. The objective is that of scikit-learn's LinearSVC and
    of liblinear: the bias is regularized like a weight.

    Parameters
    ----------
    loss : {"squared_hinge", "logistic"}
        With "squared_hinge" an option scores ``-max(0, 1 - margin)^2``, with "logistic" the
        logarithm of its share of the sigmoids at the node.
    against : {"rest", "each"}
        Whether a classifier separates an option from the rest of the node, or every pair of options
        has a classifier, trained on the rows below these two: more dot products, and higher
        accuracy if there are few features. With "each" the score of an option is the mean over the
        other options, and the loss must be "squared_hinge".
    siblings : bool
        Whether the score of an option also depends on those of its siblings, with the loss
        "squared_hinge": of the hinge scores s of a node, an option gets
        ``2 s - log(sum(exp(2 s))) / 2``. This is between the scores alone, which do not depend on
        siblings, and their softmax, which sums to one even if all margins are negative.
        On texts with a given hierarchy it is more accurate than both.
    C : "scale" or float
        Weight of the loss relative to the squared norm of the weights. "scale" is 3 for rows of
        length one, such as tf-idf, and less for longer rows: 3 divided by the mean squared length
        to the power 3/4, found by cross-validation on texts, measurements and images.
    prune : float or "auto"
        Weights up to this absolute value are set to zero after training. Predictions are faster and
        the model is smaller, but accuracy falls if the value is not small against typical weights.
        With "auto" the bound is a twentieth of the root mean square of the weights of a classifier,
        and the others are rounded to 8 significant bits: on texts accuracy stays the same, and a
        model file is a quarter to two fifths of its size.
    tol : float
        Tolerance of the stopping criterion: the range of the projected gradients.
    max_iter : int or "auto"
        Maximum number of passes over the rows of a node. "auto" is for texts, where more passes
        take time and gain nothing: 8 for up to 10,000 rows, 5 for 16,000 and more.

    References
    ----------
    C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan (2008). A dual coordinate
    descent method for large-scale linear SVM. ICML 2008. doi:10.1145/1390156.1390208

    H.-F. Yu, F.-L. Huang, C.-J. Lin (2011). Dual coordinate descent methods for logistic regression
    and maximum entropy models. Machine Learning 85. doi:10.1007/s10994-010-5221-8

    Examples
    --------
    >>> LinearRouter(loss="logistic", C=10.0)
    LinearRouter(C=10.0, loss='logistic')
    """

    def __init__(
        self,
        loss: str = "squared_hinge",
        *,
        against: str = "rest",
        siblings: bool = False,
        C: float | str = "scale",
        prune: float | str = 0.0,
        tol: float = 0.01,
        max_iter: int | str = 1000,
    ) -> None:
        self.loss = loss
        self.against = against
        self.siblings = siblings
        self.C = C
        self.prune = prune
        self.tol = tol
        self.max_iter = max_iter

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"siblings": False, **state})  # a parameter that files may lack

    def train(self, problem: RoutingProblem) -> LinearRoutes:
        """Train the classifiers of all nodes; see `Router.train`."""
        tasks_of = _pairs_of if self.against == "each" else _tasks_of
        nodes = range(problem.table.n_nodes)
        return self._train(problem, [task for node in nodes for task in tasks_of(problem, node)])

    def train_pairs(self, problem: RoutingProblem, pairs: IntArray) -> LinearRoutes:
        """Train a classifier of two classes at every node, on the rows of these two classes.

        Parameters
        ----------
        problem : RoutingProblem
            Every node has two options.
        pairs : int array of shape (n_nodes, 2)
            Classes of the first and the second option of every node.
        """
        signs = np.array([[-1], [1]], dtype=np.int8)
        return self._train(problem, [_Task(node, pair, signs) for node, pair in enumerate(pairs)])

    def train_sets(self, problem: Any) -> LinearRoutes:
        """Train a classifier of every option, on the rows that have a label below its node.

        Parameters
        ----------
        problem : SetProblem
            Rows with label sets; see `palmette.class_tree._label_tree`.
        """
        tasks = []
        few = sparse.issparse(problem.X) and problem.X.shape[1] <= _FEW_FOR_MANY
        step = _MANY_AT_ONCE if few and self._is_coarse() else _AT_ONCE
        for node, size in enumerate(problem.table.sizes.tolist()):
            first = int(problem.table.first[node])
            for start in range(0, size, step):
                tasks.append(_SetTask(node, first + start, first + min(start + step, size)))
        return self._train(problem, tasks)

    def _train(self, problem: Any, tasks: list[Any]) -> LinearRoutes:
        """Train all classifiers, those of many rows first, and pack those of a node at once."""
        self._check()
        rows = FlatRows.of(problem.X)
        C = scaled_cost(rows, problem.weights) if self.C == "scale" else float(self.C)
        stop = stop_flag()
        # half as long: most time is spent waiting for weights from memory
        sets = bool(tasks) and isinstance(tasks[0], _SetTask)
        coarse = sets and not rows.is_dense and self._is_coarse()
        thin = rows.values.astype(np.float32) if coarse else None
        prune = 0.0 if isinstance(self.prune, str) else self.prune
        packing = WholeNodes if prune == 0 and _one_per_node(tasks) else PrunedNodes
        shapes = [(task.node, task.n_targets) for task in tasks]
        columns = _columns_of(problem, rows, tasks)
        packed = packing(problem.table, shapes, columns, rows.n_features, prune)
        del columns

        def solve(k: int) -> int:
            weights, passes = self._solve(problem, rows, tasks[k], packed.columns(k), C, stop, thin)
            packed.put(k, _brief(weights) if self.prune == "auto" else weights)
            return passes

        # the nodes of many rows take longest: no thread should begin them last
        by_size = sorted(range(len(tasks)), key=lambda k: -tasks[k].count_rows(problem))
        with one_blas_thread():  # threads slow small matrices down
            trained = problem.run(solve, by_size)
        raise_if_stopped(stop)
        n_failed = 0
        if not isinstance(self.max_iter, str):
            n_failed = sum(passes >= self.max_iter for passes in trained)
        if n_failed:
            warnings.warn(
                f"{n_failed} of {len(tasks)} optimizations did not converge within max_iter="
                f"{self.max_iter} passes. Scale the features, or increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=caller_level(),
            )
        return packed.routes(self._link(sets), max(trained, default=0))

    def _is_coarse(self) -> bool:
        """Return whether float32 is enough for sparse rows with label sets."""
        return self.loss == "squared_hinge" and self.tol >= _COARSE

    def _link(self, sets: bool) -> str:
        """Return the function from margins to scores; see `LinearRoutes`."""
        if sets:
            return "label_hinge" if self.loss == "squared_hinge" else "label_logistic"
        return "siblings" if self.siblings else "pairs" if self.against == "each" else self.loss

    def _check(self) -> None:
        if self.loss not in ("squared_hinge", "logistic"):
            raise PalmetteError(
                f"loss={self.loss!r} is unknown: expected 'squared_hinge' or 'logistic'."
            )
        if self.against not in ("rest", "each"):
            raise PalmetteError(f"against={self.against!r} is unknown: expected 'rest' or 'each'.")
        if self.against == "each" and self.loss != "squared_hinge":
            raise PalmetteError(
                f"against='each' with loss={self.loss!r}: expected loss='squared_hinge'."
            )
        if self.siblings and (self.loss, self.against) != ("squared_hinge", "rest"):
            raise PalmetteError(
                f"siblings=True with loss={self.loss!r} and against={self.against!r}: expected "
                "loss='squared_hinge' and against='rest'."
            )
        check_positive(self, "C", words=("scale",))
        check_positive(self, "tol")
        check_positive(self, "max_iter", words=("auto",))
        prune: Any = 0.0 if self.prune == "auto" else self.prune
        if not (is_number(prune) and prune >= 0):
            raise PalmetteError(
                f"prune={self.prune!r}: expected a number of at least 0, or 'auto'."
            )

    def _solve(
        self,
        problem: Any,
        X: FlatRows,
        task: Any,
        used: IntArray,
        C: float,
        stop: NDArray[np.uint8],
        thin: NDArray[np.float32] | None,
    ) -> tuple[FloatArray, int]:
        """Train classifiers of a node on the features `used`, all that its rows have.

        `thin` are the values of the rows for the descent, if float32 is enough. Return the weights,
        of shape (n_used + 1, n_targets), the last of which are biases, and the number of passes.
        """
        from palmette.class_tree._dual_descent import (
            TargetRows,
            local_columns,
            logistic_descent,
            squared_hinge_descent,
        )
        from palmette.class_tree._newton import logistic_newton, squared_hinge_newton

        rows, member, signs = task.rows_of(problem)
        n_used, n_targets = len(used), task.n_targets
        few = n_used <= max(_FEW_FEATURES, min(_NEWTON_FEATURES[self.loss], len(rows) - 1))
        if isinstance(task, _SetTask) and not X.is_dense:
            few = n_used <= _FEW_FEATURES  # each of many labels has few rows
        elif isinstance(self.max_iter, str) and not X.is_dense and n_used > _FEW_FEATURES:
            # a step of Newton's method takes no longer than all passes over the sparse rows
            few = few and n_used**3 <= 3 * _PASSES[1] * int(X.lengths[rows].sum())
        if X.is_dense or (not few and n_used > _MOST * X.n_features):
            # the node has nearly all features: they keep their numbers
            local, starts, n_local = X.columns, X.column_starts[rows], X.n_features
        else:
            local, starts = local_columns(
                X.columns, X.column_starts, X.lengths, rows, read_only(used), X.n_features
            )
            n_local = n_used
        costs = np.full(len(rows), C)
        if problem.weights is not None:
            costs *= problem.weights[rows]
        values: Any = X.values if few or thin is None else read_only(thin)
        weights = np.zeros((n_local + 1, n_targets), values.dtype)
        data = TargetRows(
            values,
            X.value_starts,
            X.lengths,
            read_only(local),
            starts,
            rows,
            member,
            signs,
            costs,
            stop,
        )
        hinge = self.loss == "squared_hinge"
        steps = _NEWTON_STEPS if isinstance(self.max_iter, str) else int(self.max_iter)
        if few:
            newton = squared_hinge_newton if hinge else logistic_newton
            passes = newton(data, steps, weights)
        else:
            state = np.array([problem.seed or 0], dtype=np.uint64)
            descend = squared_hinge_descent if hinge else logistic_descent
            if isinstance(self.max_iter, str):
                steps = min(max(_ROW_UPDATES // len(rows), _PASSES[0]), _PASSES[1])
            passes = descend(data, float(self.tol), steps, state, weights)
        if n_local > n_used:
            weights = weights[np.append(used, n_local)]
        if isinstance(task, _SetTask):
            always = (signs > 0).all(axis=0)  # of all rows that reach the node: nothing to learn
            weights[:, always], weights[-1, always] = 0.0, _CERTAIN
        return weights, passes


class _Task(NamedTuple):
    """Classifiers of a node: its classes, and their targets, of shape (n_classes, n_targets)."""

    node: int
    classes: IntArray
    signs: NDArray[np.int8]

    @property
    def n_targets(self) -> int:
        return int(self.signs.shape[1])

    def key(self) -> Any:
        """Return what tasks of the same rows have in common."""
        return id(self.classes)

    def count_rows(self, problem: RoutingProblem) -> int:
        return problem.count_rows(self.classes)

    def row_numbers(self, problem: RoutingProblem) -> NDArray[np.int64]:
        return problem.rows_of(self.classes)[0]

    def rows_of(self, problem: RoutingProblem) -> tuple[Any, Any, NDArray[np.int8]]:
        """Return the rows, the group of every row, and the signs of the groups."""
        return *problem.rows_of(self.classes), self.signs


class _SetTask(NamedTuple):
    """Classifiers of some options of a node, for rows with label sets."""

    node: int
    first: int
    end: int

    @property
    def n_targets(self) -> int:
        return self.end - self.first

    def key(self) -> Any:
        """Return what tasks of the same rows have in common."""
        return self.node

    def count_rows(self, problem: Any) -> int:
        return len(problem.rows_of(self.node))

    def row_numbers(self, problem: Any) -> NDArray[np.int64]:
        rows: NDArray[np.int64] = problem.rows_of(self.node)
        return rows

    def rows_of(self, problem: Any) -> tuple[Any, Any, NDArray[np.int8]]:
        """Return the rows, which are a group each, and their signs."""
        rows = problem.rows_of(self.node)
        member = np.arange(len(rows), dtype=np.int32)
        return rows, member, problem.signs_of(rows, self.first, self.end)


def scaled_cost(rows: FlatRows, weights: FloatArray | None, of_unit_rows: float = 3.0) -> float:
    """Return the value of C="scale"; 1 if all rows are zero.

    Parameters
    ----------
    rows : FlatRows
    weights : array of shape (n_samples,), optional
    of_unit_rows : float
        The value for rows of length one.
    """
    lengths = np.empty(len(rows))
    total, ends = 0.0, rows.value_starts + rows.lengths
    for low in range(0, len(rows), _ROWS_AT_ONCE):  # squares of all values would double X
        chunk = slice(low, low + _ROWS_AT_ONCE)
        first, last = rows.value_starts[low], ends[chunk][-1]
        squares = np.empty(last - first + 1)
        squares[0] = total
        np.square(rows.values[first:last], out=squares[1:])
        sums = np.cumsum(squares, out=squares)
        lengths[chunk] = sums[ends[chunk] - first] - sums[rows.value_starts[chunk] - first]
        total = sums[-1]
    mean = float(np.average(lengths, weights=weights))
    return float(np.clip(of_unit_rows / mean**0.75, *_COSTS)) if mean > 0 else 1.0


def _brief(weights: FloatArray) -> FloatArray:
    """Return weights of which small ones are zero, and others have few bits; biases are unchanged.

    The weights of a classifier change by less than a twentieth of their norm, as each of those that
    become zero is below a twentieth of their root mean square.

    Parameters
    ----------
    weights : array of shape (n_used + 1, n_targets)
        The last row has the biases.
    """
    features = weights[:-1]
    typical = np.sqrt(np.square(features).mean(axis=0)) if len(features) else 0.0
    digits, exponents = np.frexp(features)
    found = np.empty(weights.shape)
    found[:-1] = np.ldexp(np.rint(np.ldexp(digits, _BITS)), exponents - _BITS)
    found[:-1][np.abs(features) <= _SMALL * typical] = 0.0
    found[-1] = weights[-1]
    return found


def _one_per_node(tasks: list[Any]) -> bool:
    return len({task.node for task in tasks}) == len(tasks)


def _columns_of(problem: Any, X: FlatRows, tasks: list[Any]) -> list[IntArray]:
    """Return the features that the rows of every task have; tasks of equal rows share them."""
    if X.is_dense:
        return [X.columns] * len(tasks)
    from palmette.class_tree._dual_descent import used_columns

    distinct = {task.key(): task for task in tasks}
    parts: list[tuple[Any, Any]] = []
    for key, task in distinct.items():
        n_rows = task.count_rows(problem)
        if n_rows <= _ROWS_TO_READ:
            parts.append((key, None))
            continue
        rows = task.row_numbers(problem)  # which threads share
        parts += [(key, rows[k : k + _ROWS_TO_READ]) for k in range(0, n_rows, _ROWS_TO_READ)]

    def find(part: tuple[Any, Any]) -> IntArray:
        key, rows = part
        rows = distinct[key].row_numbers(problem) if rows is None else rows
        used: IntArray = used_columns(X.columns, X.column_starts, X.lengths, rows, X.n_features)
        return used

    found: dict[Any, list[IntArray]] = {key: [] for key in distinct}
    for (key, _), used in zip(parts, problem.run(find, parts), strict=True):
        found[key].append(used)
    united = {key: _union(used, X.n_features) for key, used in found.items()}
    return [united[task.key()] for task in tasks]


def _union(parts: list[IntArray], n_features: int) -> IntArray:
    if len(parts) == 1:
        return parts[0]
    seen = np.zeros(n_features, dtype=np.bool_)
    for used in parts:
        seen[used] = True
    return np.flatnonzero(seen).astype(np.int32)


def _tasks_of(problem: RoutingProblem, node: int) -> list[_Task]:
    """Return the classifiers of a node, one against the rest, in blocks that fit into the cache."""
    if problem.table.sizes[node] < 2:
        return []
    classes, within = problem.table.family(node)
    skipped = 0
    if problem.table.sizes[node] == 2 and within.nnz == len(classes):
        skipped = 1  # no class on both sides: one classifier is enough
    members = within.toarray()
    tasks = []
    for start in range(skipped, len(members), _AT_ONCE):
        reached = members[start : start + _AT_ONCE].T
        signs = np.ascontiguousarray(np.where(reached, 1, -1), dtype=np.int8)
        tasks.append(_Task(node, classes, signs))
    return tasks


def _pairs_of(problem: RoutingProblem, node: int) -> list[_Task]:
    """Return a classifier per pair of options, over the classes of exactly one of the two."""
    classes, within = problem.table.family(node)
    member = within.toarray().astype(bool)
    tasks = []
    for k, other in combinations(range(len(member)), 2):
        differ = member[k] != member[other]
        signs = np.where(member[other][differ], 1, -1).astype(np.int8)
        tasks.append(_Task(node, classes[differ], signs[:, None]))
    return tasks
