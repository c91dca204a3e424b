"""SpectralRouter: decisions by projections on the eigenvectors of MF-Tree, as published."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy import optimize, sparse

from palmette._arrays import FloatArray, IntArray
from palmette.base._grow import ClassProblem
from palmette.class_tree._class_kernel import ClassKernel, RowKernel, is_precomputed
from palmette.class_tree._linear_routes import LinearRoutes
from palmette.class_tree._routing import OptionTable, Router, Routes, RoutingProblem
from palmette.class_tree._shared_router import SharedRoutes
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import held, numbers, require


class SpectralRouter(Router):
    """Choose the option with the largest projection on an eigenvector of the class similarity.

    At a node, D is the matrix of similarities of the classes, as `MFTree` has it. Each option has
    one of its leading eigenvectors: the one with the largest entries at its classes. With these as
    G, a row x has the projections G'Y'k, where k are the kernels of x and the training rows,
    centred as those of the training rows are: nothing is trained. Nodes above the depth `tau` of
    the tree, which were not divided by eigenvectors, have indicators of the classes of their
    options as G. This router reproduces the paper; `LinearRouter` is more accurate.

    Parameters
    ----------
    one_hot : bool
        Whether G are indicators at all nodes, as in the paper's problem before the relaxation,
        which makes fewer errors.
    tree : MFTree, optional
        Its parameters `kernel`, `kernel_params`, `weights`, `centring`, `rule` and `tau` are
        used. By default those of the tree that was learned, if it is an `MFTree`; else those
        of ``MFTree.preset("published")``.

    References
    ----------
    L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class
    learning. CIKM 2015. Algorithms 2 and 3. doi:10.1145/2806416.2806540

    Examples
    --------
    >>> SpectralRouter(one_hot=True)
    SpectralRouter(one_hot=True)
    """

    def __init__(self, *, one_hot: bool = False, tree: Any = None) -> None:
        self.one_hot = one_hot
        self.tree = tree

    def train(self, problem: RoutingProblem) -> Routes:
        """Compute the projections of every node; see `Router.train`."""
        table = problem.table
        rule = self._rule(problem.learner)
        rows = ClassProblem(problem.X, problem.codes, table.n_classes, problem.weights)
        classes = ClassKernel.of(rows, rule.kernel, rule.kernel_params, rule.weights)
        nodes = _Projections(table, classes, rule, self.one_hot)
        if classes.rows is None:
            blocks = [nodes.linear(node) for node in range(table.n_nodes)]
            return LinearRoutes(table, blocks, classes.means.shape[1], "softmax")
        coef, bias = nodes.by_class()
        marks = None if is_precomputed(rule.kernel) else problem.X.copy()
        return KernelRoutes(table, classes.rows, marks, classes.member, coef, bias)

    def _rule(self, learner: Any) -> Any:
        """Return an `MFTree` with the parameters to use."""
        from palmette.class_tree._spectral import MFTree

        if not (self.tree is None or isinstance(self.tree, MFTree)):
            raise PalmetteError(f"tree={self.tree!r}: expected an MFTree, or None.")
        rule = self.tree
        if rule is None:
            rule = learner if isinstance(learner, MFTree) else MFTree.preset("published")
        elif isinstance(learner, MFTree):
            warn_of_other_kernel(learner, rule)
        if hasattr(rule.kernel, "transform"):
            warn_of_other_kernel(rule, "linear")
            rule = MFTree(**{**rule.get_params(deep=False), "kernel": "linear"})
        rule._check(2 if rule.branching == "auto" else rule.branching)
        return rule


def warn_of_other_kernel(learner: Any, other: Any) -> None:
    """Warn that decisions have another kernel than the tree.

    Parameters
    ----------
    learner : MFTree
    other : "linear" or MFTree
    """
    kernel, params = learner.kernel, learner.kernel_params
    others = (other, None) if isinstance(other, str) else (other.kernel, other.kernel_params)
    if (repr(kernel), params or {}) == (repr(others[0]), others[1] or {}):
        return
    warnings.warn(
        f"The tree is learned with kernel={kernel!r} and kernel_params={params!r}, but decisions "
        f"have kernel={others[0]!r} and kernel_params={others[1]!r}. A transformer, as in "
        "MFTreeClassifier(kernel=Nystroem()), is a kernel for both, and so is any kernel with "
        "router='spectral'.",
        stacklevel=4,
    )


class _Projections:
    """The matrices G of all nodes, and the coefficients that follow from them."""

    def __init__(self, table: OptionTable, classes: ClassKernel, rule: Any, one_hot: bool) -> None:
        self.table, self.classes, self.rule = table, classes, rule
        self.per_node = rule.centring == "node"
        self.similarity = classes.similarity(self.per_node)
        self.is_one_hot = _depths(table) < (np.inf if one_hot else rule.tau)

    def _scaled(self, node: int) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the classes of a node, G times their scale, and shares of all classes in a mean.

        Similarities are centred at this mean.
        """
        classes, within = self.table.family(node)
        grouped = within.toarray().T.astype(np.float64)
        G = grouped if self.is_one_hot[node] else self._spectrum(classes, grouped)
        share = self.classes.weight
        if self.per_node:
            share = np.zeros(len(share))
            share[classes] = self.classes.weight[classes]
        return classes, self.classes.scale[classes, None] * G, share / share.sum()

    def _spectrum(self, classes: IntArray, grouped: FloatArray) -> FloatArray:
        """Return leading eigenvectors in the order of the options."""
        values, vectors = self.similarity.leading(classes, grouped.shape[1])
        # those of the eigenvalue zero are arbitrary, and nothing projects on them
        G = np.zeros_like(grouped)
        G[:, : len(values)] = np.where(values > 0, vectors, 0.0)
        strengths = self.rule._strengths(G)
        _, order = optimize.linear_sum_assignment(-(grouped.T @ strengths))
        return G[:, order]

    def linear(self, node: int) -> tuple[sparse.csr_array, FloatArray]:
        """Return the weights and biases of a node with the linear kernel."""
        means: Any = self.classes.means
        if self.table.sizes[node] == 1:
            return sparse.csr_array((means.shape[1], 0)), np.empty(0)
        classes, G, share = self._scaled(node)
        centre = np.asarray(share @ means)
        if sparse.issparse(means):
            weights = np.asarray(means[classes].T @ G) - np.outer(centre, G.sum(axis=0))
        else:
            weights = (means[classes] - centre).T @ G
        return sparse.csr_array(weights), -(centre @ weights)

    def by_class(self) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients of the mean kernels of all classes, and biases, per option."""
        products = self.classes.products
        coef, bias = np.zeros((len(products), self.table.n_options)), np.zeros(self.table.n_options)
        for node in range(self.table.n_nodes):
            classes, G, share = self._scaled(node)
            here = slice(*self.table.first[node : node + 2])
            coef[classes, here] = G
            coef[:, here] -= np.outer(share, G.sum(axis=0))
            bias[here] = -(share @ products) @ coef[:, here]
        return coef, bias


def _depths(table: OptionTable) -> IntArray:
    """Return the depth of every node: the number of options that lead to it, along a path."""
    depth = np.zeros(table.n_nodes, dtype=np.int32)
    owner = np.repeat(np.arange(table.n_nodes), table.sizes)
    for option in np.flatnonzero(table.targets >= 0):  # parents come before children
        depth[table.targets[option]] = depth[owner[option]] + 1
    return depth


class KernelRoutes(Routes):
    """Projections of all nodes, from the mean kernels of a row and the rows of every class.

    Parameters
    ----------
    table : OptionTable
    kernel : RowKernel
    marks : rows of shape (n_marks, n_features), or None
        The training rows; None with a precomputed kernel, where rows are kernels already.
    member : sparse array of shape (n_marks, n_classes)
        See `palmette.class_tree._class_kernel.members`.
    coef : array of shape (n_classes, n_options)
    bias : array of shape (n_options,)
    """

    def __init__(
        self,
        table: OptionTable,
        kernel: RowKernel,
        marks: Any,
        member: sparse.csr_array,
        coef: FloatArray,
        bias: FloatArray,
    ) -> None:
        self.table = table
        self.kernel = kernel
        self.marks = marks
        self.member = member
        self.coef = coef
        self.bias = bias

    in_files: ClassVar = {
        "table": held(OptionTable),
        "kernel": held(RowKernel),
        "member": held(sparse.csr_array, dtype="f", shape=(None, "coef")),
    }

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        coef = numbers(self.coef, np.float64, 2, "coef")
        bias = numbers(self.bias, np.float64, 1, "bias")
        shape = self.table.n_classes, self.table.n_options
        require(coef.shape == shape and len(bias) == shape[1], "coefficients and options differ")
        kernel, marks = self.kernel, self.marks
        if marks is None or is_precomputed(kernel.kernel):
            fits = marks is None and is_precomputed(kernel.kernel)
            require(fits, "rows and a precomputed kernel are in one model")
            return
        if not sparse.issparse(marks):
            numbers(marks, np.float64, 2, "marks")
        require(marks.shape[0] == self.member.shape[0], "rows and their classes differ")
        origin = kernel.origin
        require(origin is None or np.shape(origin) == marks.shape[1:], "the origin is no row")

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.member.shape[0] if self.marks is None else self.marks.shape[1])

    def prepare(self, X: Any) -> FloatArray:
        """Return the scores of all options, of shape (n_samples, n_options)."""
        if X.shape[1] != self.n_features:
            raise PalmetteError(
                f"X has {X.shape[1]} features, but the routes were fitted with {self.n_features}."
            )
        first, sizes = self.table.first[:-1], self.table.sizes
        scores = self.kernel.means(X, self.marks, self.member) @ self.coef + self.bias
        scores -= np.repeat(np.maximum.reduceat(scores, first, axis=1), sizes, axis=1)
        totals = np.add.reduceat(np.exp(scores), first, axis=1)
        return np.asarray(scores - np.repeat(np.log(totals), sizes, axis=1))

    score, score_all = SharedRoutes.score, SharedRoutes.score_all  # of scores that are ready
