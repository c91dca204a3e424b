"""`HierarchicalConfusionDisplay`: confusion matrix of one level or of siblings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.base._adapters import hierarchy_of, truth_of
from palmette.exceptions import PalmetteError
from palmette.hierarchy._drawing import one_line
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._counts import check_level
from palmette.metrics._pairs import pair_labels
from palmette.plotting._axes import DARK, take_axes

_ELSEWHERE = "elsewhere"
_NORMS = (None, "true", "pred", "all")
_MOST_WRITTEN = 30  # maximum size of a matrix with numbers in its cells


@dataclass(eq=False, repr=False)
class HierarchicalConfusionDisplay:
    """Confusion matrix of the nodes of one level, or of the children of one parent.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_columns)
        Sum of sample weights by true node (rows) and predicted node (columns).
    row_names, column_names : list of str
    title : str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.
    text_ : array of matplotlib Text or None
        The numbers, if they are written.

    Examples
    --------
    >>> truth = ["a/x", "a/y", "b"]
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    >>> display = HierarchicalConfusionDisplay.from_predictions(
    ...     truth, ["a/x", "b", "b"], h, parent="a")
    >>> display.matrix.tolist(), display.column_names
    ([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], ['x', 'y', 'elsewhere'])
    """

    matrix: NDArray[np.float64]
    row_names: list[str]
    column_names: list[str]
    title: str = ""

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, **options: Any
    ) -> HierarchicalConfusionDisplay:
        """Plot the confusion matrix of a fitted model.

        Parameters
        ----------
        estimator : fitted classifier
        X : rows
        y : labels of n_samples rows
            Optional for table models, which read them from their target column.
        **options
            Passed to `from_predictions`.

        Returns
        -------
        HierarchicalConfusionDisplay
        """
        y = truth_of(estimator, X, y)
        return cls.from_predictions(y, estimator.predict(X), hierarchy_of(estimator), **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        hierarchy: Hierarchy | None = None,
        *,
        level: int | None = None,
        parent: Any = None,
        normalize: str | None = None,
        max_nodes: int = 40,
        sample_weight: Any = None,
        **options: Any,
    ) -> HierarchicalConfusionDisplay:
        """Plot the confusion matrix of predictions.

        Parameters
        ----------
        y_true, y_pred : labels of n_samples rows
            One path per row.
        hierarchy : Hierarchy, optional
            A tree; taken from the labels by default.
        level : int, optional
            Compare the nodes at this depth, 1 by default; labels that end above it are
            compared themselves.
        parent : node, optional
            Compare the children of this node instead, on the rows whose true label is below it;
            all other predictions count as "elsewhere".
        normalize : {None, "true", "pred", "all"}
            Normalize over the true nodes (rows), the predicted nodes (columns) or all; None
            plots counts.
        max_nodes : int
            Maximum number of nodes: those with the most rows; the others are "elsewhere".
        sample_weight : array-like of shape (n_samples,), optional
        **options
            Passed to `plot`.

        Returns
        -------
        HierarchicalConfusionDisplay
        """
        if normalize not in _NORMS:
            raise PalmetteError(f"normalize={normalize!r}: expected one of {_NORMS}.")
        if level is not None and parent is not None:
            raise PalmetteError("got both level and parent: expected only one of them.")
        pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
        h = pair.hierarchy
        h.require_tree("HierarchicalConfusionDisplay")
        true, pred = pair.true.terminals, pair.pred.terminals
        if parent is None:
            level = 1 if level is None else level
            check_level(h, level)
            above, title = _at_depth(h, level), f"nodes at level {level}"
        else:
            node = h._number(parent)
            above = _children_of(h, node)
            title = f"children of {one_line(h.path_strings[node])}"
        rows, columns = above[true], above[pred]
        kept = rows >= 0
        if not kept.any():
            raise PalmetteError(f"no row has a true label among the {title}.")
        matrix, nodes = _count(rows[kept], columns[kept], pair.weight[kept], max_nodes)
        names = [one_line(h.path_strings[n] if parent is None else h.names[n]) for n in nodes]
        return _shown(cls, _normalized(matrix, normalize), names, title).plot(**options)

    def plot(
        self, ax: Any = None, *, cmap: Any = "Blues", colorbar: bool = False
    ) -> HierarchicalConfusionDisplay:
        """Plot the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        cmap : str or Colormap
        colorbar : bool
            Whether to add a colour bar; matrices without numbers always have one.

        Returns
        -------
        self
        """
        n_rows, n_columns = self.matrix.shape
        margin = 0.07 * min(max(map(len, self.row_names)), 30)
        size = max(2.2, 0.32 * n_columns)
        self.ax_ = take_axes(ax, size + margin + 0.6, max(2.0, 0.32 * n_rows) + margin * 0.7 + 0.7)
        self.figure_ = self.ax_.figure
        image = self.ax_.imshow(self.matrix, cmap=cmap, vmin=0, aspect="auto")
        self.ax_.set_xticks(range(n_columns), _cut(self.column_names), rotation=60, ha="right",
                            rotation_mode="anchor", fontsize=8)  # fmt: skip
        self.ax_.set_yticks(range(n_rows), _cut(self.row_names), fontsize=8)
        self.ax_.set_xlabel("predicted", color=DARK)
        self.ax_.set_ylabel("true", color=DARK)
        self.ax_.set_title(self.title, fontsize=10, color=DARK)
        written = max(n_rows, n_columns) <= _MOST_WRITTEN
        self.text_ = self._write_numbers() if written else None
        if colorbar or not written:
            self.figure_.colorbar(image, ax=self.ax_)
        return self

    def _write_numbers(self) -> NDArray[Any]:
        dark = self.matrix.max() / 2
        whole = np.array_equal(self.matrix, np.round(self.matrix))
        texts = np.full(self.matrix.shape, None, dtype=object)
        cells = [
            (row, column, f"{value:.0f}" if whole else f"{value:.2f}".removeprefix("0"))
            for row, column in zip(*np.nonzero(self.matrix), strict=True)
            for value in [self.matrix[row, column]]
        ]
        longest = max((len(text) for *_, text in cells), default=0)
        cell = 72 * max(2.2, 0.32 * self.matrix.shape[1]) / self.matrix.shape[1]
        size = min(7.0, 1.35 * cell / max(longest, 1))  # points: a digit is .65 of it wide
        for row, column, text in cells:
            texts[row, column] = self.ax_.text(
                column, row, text, ha="center", va="center", fontsize=size,
                color="white" if self.matrix[row, column] > dark else DARK,
            )  # fmt: skip
        return texts


def _at_depth(h: Hierarchy, level: int) -> NDArray[np.int64]:
    """Return the ancestor of every node at a depth; shallower nodes map to themselves."""
    above = np.arange(h.n_nodes)
    while (deep := h.depth[above] > level).any():
        above[deep] = h.parents[above[deep]]
    return above


def _children_of(h: Hierarchy, node: int) -> NDArray[np.int64]:
    """Return the child of `node` that is an ancestor of each node; -1 outside its subtree."""
    if h.is_leaf[node]:
        raise PalmetteError(f"{h.path_strings[node]!r} is a leaf: it has no children to compare.")
    above = np.full(h.n_nodes, -1)
    for child in h.children(node).tolist():
        above[child : h.subtree_end[child]] = child
    return above


def _count(
    rows: NDArray[Any], columns: NDArray[Any], weight: NDArray[np.float64], max_nodes: int
) -> tuple[NDArray[np.float64], list[int]]:
    """Count pairs of nodes; the last row and column are for nodes that are not kept."""
    n_nodes = int(columns.max()) + 1
    totals = np.asarray(np.bincount(rows, weight, minlength=n_nodes), dtype=np.float64)
    totals += np.bincount(columns[columns >= 0], minlength=len(totals)) * 1e-9  # only predicted
    used = np.flatnonzero(totals)
    nodes = np.sort(used[np.argsort(-totals[used], kind="stable")][:max_nodes])
    place = np.full(len(totals) + 1, len(nodes))  # the last entry is for -1
    place[nodes] = np.arange(len(nodes))
    size = len(nodes) + 1
    pairs = place[rows] * size + place[columns]
    counts = np.asarray(np.bincount(pairs, weight, minlength=size * size), dtype=np.float64)
    return counts.reshape(size, size), nodes.tolist()


def _normalized(matrix: NDArray[np.float64], normalize: str | None) -> NDArray[np.float64]:
    if normalize is None:
        return matrix
    axis = {"true": 1, "pred": 0, "all": None}[normalize]
    total = np.asarray(matrix.sum(axis=axis, keepdims=True))
    shares: NDArray[np.float64] = np.divide(
        matrix, total, out=np.zeros_like(matrix), where=total > 0
    )
    return shares


def _shown(
    kind: type[HierarchicalConfusionDisplay],
    matrix: NDArray[np.float64],
    names: list[str],
    title: str,
) -> HierarchicalConfusionDisplay:
    """Return the display without empty "elsewhere" rows and columns."""
    rows, columns = ([*names, _ELSEWHERE], [*names, _ELSEWHERE])
    if not matrix[-1].any():
        matrix, rows = matrix[:-1], rows[:-1]
    if not matrix[:, -1].any():
        matrix, columns = matrix[:, :-1], columns[:-1]
    return kind(matrix, rows, columns, title)


def _cut(names: list[str]) -> list[str]:
    cut = [name if len(name) <= 30 else "…" + name[-29:] for name in names]
    return [name.replace("$", r"\$") for name in cut]
