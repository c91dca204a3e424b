"""`HierarchyDisplay`: a plot of a hierarchy with one value per node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from palmette._arrays import FloatArray
from palmette.base._adapters import hierarchy_of, truth_of
from palmette.exceptions import PalmetteError
from palmette.hierarchy._drawing import TreeLayout, lay_out, one_line
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._counts import NodeCounts, node_counts
from palmette.plotting._axes import DARK, PALE, take_axes

_LINE = 0.19  # inches between two leaves
_MANY = 120  # number of leaves above which lines are closer and letters smaller
_LETTER = 0.074  # approximate width of a letter in inches
_GAP = 0.45  # inches between a name and the next column
_LONGEST = 28  # maximum number of letters of a name


class HierarchyDisplay:
    """Plot of a hierarchy, the root on the left, with values as colours.

    Of a large hierarchy only a part is plotted, chosen by `max_nodes` and `weights`; the number of
    omitted nodes is written next to their parent.

    Parameters
    ----------
    hierarchy : Hierarchy
    values : array-like of shape (n_nodes,), optional
        Values shown as colours; nodes with NaN have none.
    value_name : str, optional
        Name of the values.
    weights : array-like of shape (n_nodes,), optional
        Nodes with higher weights are kept if some are left out; upper levels by default.
    language : str or sequence of str, optional
        Language of nodes with labels; see `Hierarchy.in_language`.

    Attributes
    ----------
    layout_ : TreeLayout
        Positions of the plotted nodes.
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant",)])
    >>> display = HierarchyDisplay(h, [1.0, 0.9, 0.8, 0.7, 1.0], "F1").plot()
    >>> display.layout_.n_marks
    5
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        values: ArrayLike | None = None,
        value_name: str | None = None,
        *,
        weights: ArrayLike | None = None,
        language: str | Sequence[str] | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.language = language
        self.values = None if values is None else np.asarray(values, dtype=np.float64)
        self.value_name = value_name
        self.weights = weights
        if self.values is not None and self.values.shape != (hierarchy.n_nodes,):
            raise PalmetteError(
                f"values have shape {self.values.shape}: expected one value for each of the "
                f"{hierarchy.n_nodes} nodes."
            )

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, value: str = "f1", **options: Any
    ) -> HierarchyDisplay:
        """Plot the hierarchy of a fitted model, with scores per node if rows are given.

        Parameters
        ----------
        estimator : fitted classifier
        X : rows, optional
        y : labels of n_samples rows, optional
        value : {"f1", "precision", "recall", "support"}
        **options
            Passed to `plot`.

        Returns
        -------
        HierarchyDisplay
        """
        if X is None:
            return cls(hierarchy_of(estimator)).plot(**options)
        y = truth_of(estimator, X, y)
        hierarchy = hierarchy_of(estimator)
        return cls.from_predictions(y, estimator.predict(X), hierarchy, value=value, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        hierarchy: Hierarchy | None = None,
        *,
        value: str = "f1",
        sample_weight: Any = None,
        **options: Any,
    ) -> HierarchyDisplay:
        """Plot a hierarchy with one score per node; nodes with the most rows are kept first.

        Parameters
        ----------
        y_true, y_pred : labels of n_samples rows
        hierarchy : Hierarchy, optional
            Taken from the labels by default.
        value : {"f1", "precision", "recall", "support"}
        sample_weight : array-like of shape (n_samples,), optional
        **options
            Passed to `plot`.

        Returns
        -------
        HierarchyDisplay
        """
        counts = node_counts(y_true, y_pred, hierarchy=hierarchy, sample_weight=sample_weight)
        support = counts.tp + counts.fn
        # children have fewer rows than their parent: the factor keeps deep nodes, too
        weights = support * 3.0**counts.hierarchy.depth
        name = "F1" if value == "f1" else value
        display = cls(counts.hierarchy, node_values(counts, value), name, weights=weights)
        return display.plot(**options)

    def plot(
        self,
        ax: Any = None,
        *,
        max_nodes: int | None = 150,
        cmap: Any = "viridis",
        vmin: float | None = None,
        vmax: float | None = None,
        names: bool = True,
        colorbar: bool = True,
    ) -> HierarchyDisplay:
        """Plot the hierarchy.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure of a suitable size.
        max_nodes : int or None
            Maximum number of nodes; None plots all.
        cmap : str or Colormap
        vmin, vmax : float, optional
            Values of the first and the last colour; the range of the values by default.
        names : bool
            Whether to write the names of the nodes.
        colorbar : bool
            Whether to add a colour bar if there are values.

        Returns
        -------
        self
        """
        layout = self.layout_ = lay_out(self.hierarchy, max_nodes, self.weights)
        labels = self._labels(layout) if names else [""] * layout.n_marks
        starts, width = _columns(layout, labels)
        scale = 1.0 if layout.n_ends <= _MANY else 0.7
        height = max(1.6, scale * _LINE * layout.n_ends + 0.3)
        bar = self.values is not None and colorbar
        self.ax_ = take_axes(ax, min(max(width, 3.0) + 0.9 * bar, 40.0), min(height, 80.0))
        self.figure_ = self.ax_.figure
        x, y = starts[layout.depth], layout.across
        self._draw_links(layout, labels, x, y)
        points = self._draw_nodes(layout, x, y, cmap, vmin, vmax)
        for place in np.flatnonzero(np.array([bool(label) for label in labels])):
            left_out = layout.nodes[place] < 0
            self.ax_.text(
                x[place] + 0.09, y[place], labels[place], va="center", fontsize=8 * scale,
                color="#777777" if left_out else DARK, style="italic" if left_out else "normal",
            )  # fmt: skip
        if bar:
            self.figure_.colorbar(
                points, ax=self.ax_, label=self.value_name, shrink=min(1.0, 2.5 / height), pad=0.01
            )
        self.ax_.set(xlim=(-0.1, width), ylim=(layout.n_ends - 0.5, -0.5))
        self.ax_.set_axis_off()
        return self

    def _labels(self, layout: TreeLayout) -> list[str]:
        found, shown = [], self.hierarchy.in_language(self.language)
        for node, hidden in zip(layout.nodes.tolist(), layout.hidden.tolist(), strict=True):
            if node < 0:
                found.append(f"… {hidden:,} more")
                continue
            name = one_line(shown.names[node])
            name = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
            found.append(name + (f"  … {hidden:,} more" if hidden else ""))
        # matplotlib would typeset text between dollar signs as mathematics
        return [label.replace("$", r"\$") for label in found]

    def _draw_links(
        self, layout: TreeLayout, labels: list[str], x: FloatArray, y: FloatArray
    ) -> None:
        from matplotlib.collections import LineCollection

        ends = x + 0.09 + _LETTER * np.array([len(label) for label in labels])
        below = np.flatnonzero(layout.parents >= 0)
        edges = np.column_stack([layout.parents[below], below])
        for pairs, style in ((edges, "solid"), (layout.links, "dashed")):
            bend = np.linspace(0, 1, 12)
            ease = bend * bend * (3 - 2 * bend)
            lines = []
            for a, b in pairs.tolist():
                turn = x[b] - _GAP * 0.75
                xs = np.r_[min(ends[a], turn), turn + (x[b] - turn) * bend]
                ys = np.r_[y[a], y[a] + (y[b] - y[a]) * ease]
                lines.append(np.column_stack([xs, ys]))
            if lines:
                self.ax_.add_collection(
                    LineCollection(lines, colors=PALE, linewidths=0.8, linestyles=style, zorder=1)
                )

    def _draw_nodes(
        self,
        layout: TreeLayout,
        x: FloatArray,
        y: FloatArray,
        cmap: Any,
        vmin: float | None,
        vmax: float | None,
    ) -> Any:
        real = layout.nodes >= 0
        at = layout.nodes[real]
        if self.values is None:
            colours: Any = {"color": "#2a788e"}
        else:
            colours = {"c": self.values[at], "cmap": cmap, "vmin": vmin, "vmax": vmax}
            self.ax_.scatter(x[real], y[real], s=14, zorder=2, color="white", edgecolors=DARK,
                             linewidths=0.5)  # fmt: skip
        return self.ax_.scatter(
            x[real], y[real], s=26, zorder=3, edgecolors=DARK, linewidths=0.5,
            plotnonfinite=False, **colours,
        )  # fmt: skip


def node_values(counts: NodeCounts, value: str) -> FloatArray:
    """Return one score per node; NaN where it is undefined, and for the root.

    Examples
    --------
    >>> counts = node_counts(["a", "b"], ["a", "a"])
    >>> node_values(counts, "recall").tolist()
    [nan, 1.0, 0.0]
    """
    tp, fp, fn = counts.tp, counts.fp, counts.fn
    parts = {
        "f1": (2 * tp, 2 * tp + fp + fn),
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "support": (tp + fn, np.ones_like(tp)),
    }
    if value not in parts:
        raise PalmetteError(f"value={value!r}: expected one of {', '.join(parts)}.")
    above, below = parts[value]
    found = np.full(len(tp), np.nan)
    np.divide(above, below, out=found, where=below > 0)
    found[0] = np.nan  # the root is always correct
    return found


def _columns(layout: TreeLayout, labels: list[str]) -> tuple[FloatArray, float]:
    """Return the start of the column of each level and the total width, in inches."""
    widths = np.zeros(int(layout.depth.max()) + 1)
    for level, label in zip(layout.depth.tolist(), labels, strict=True):
        widths[level] = max(widths[level], _LETTER * len(label))
    ends = np.cumsum(widths + _GAP)
    return np.r_[0.0, ends[:-1]], float(ends[-1] - _GAP + 0.2)
