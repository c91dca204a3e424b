"""Stability of a selection of features: how much it depends on the sample of rows."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from palmette._arrays import FloatArray, IntArray, take_rows
from palmette.base._fitting import check_weights
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

if TYPE_CHECKING:
    import pandas as pd


class Stability(NamedTuple):
    """The stability measure of Nogueira et al., with its confidence interval.

    Parameters
    ----------
    value : float
        1 if all selections are the same, about 0 if they are random.
    low, high : float
        Bounds of the confidence interval.
    """

    value: float
    low: float
    high: float


def selection_stability(supports: Any, confidence: float = 0.95) -> Stability:
    """Return the stability of selections of features, corrected for chance.

    Parameters
    ----------
    supports : bool array or sparse array of shape (n_selections, n_features)
        Whether each selection contains each feature. Sizes may differ.
    confidence : float
        Level of the confidence interval.

    Returns
    -------
    Stability
        NaN if every selection has all features, or none, as random selections would not differ.

    Notes
    -----
    Stability is one minus the mean variance of a feature's presence, divided by that of random
    selections of the same mean size. The interval is asymptotic in the number of selections.

    References
    ----------
    Nogueira, Sechidis and Brown, "On the stability of feature selection algorithms", JMLR 18
    (2018), definition 4 and theorem 7.

    Examples
    --------
    >>> selection_stability([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]).value.round(3)
    np.float64(0.333)
    """
    chosen = sparse.csr_array(
        supports if sparse.issparse(supports) else np.atleast_2d(np.asarray(supports))
    ).astype(np.float64)
    n_selections, n_features = chosen.shape
    if n_selections < 2:
        raise PalmetteError(f"got {n_selections} selection: expected at least two selections.")
    if not 0.0 < confidence < 1.0:
        raise PalmetteError(f"confidence={confidence!r}: expected a number between 0 and 1.")
    shares = np.asarray(chosen.mean(axis=0)).ravel()
    sizes = np.asarray(chosen.sum(axis=1)).ravel() / n_features
    size = sizes.mean()
    chance = size * (1.0 - size)
    if chance <= 0.0:
        return Stability(np.nan, np.nan, np.nan)
    variance = (shares * (1.0 - shares)).sum() * n_selections / (n_selections - 1)
    value = 1.0 - variance / n_features / chance
    # contribution of each selection, to first order
    overlap = np.asarray(chosen @ shares) / n_features
    effect = overlap - sizes * size + value / 2.0 * (2.0 * size * sizes - sizes - size + 1.0)
    effect /= chance
    spread = np.sqrt(4.0 / n_selections**2 * ((effect - effect.mean()) ** 2).sum())
    reach = NormalDist().inv_cdf(0.5 + confidence / 2.0) * spread
    return Stability(value, value - reach, value + reach)


@dataclass(frozen=True, eq=False)
class NodeStability:
    """Stability of the features of every node over subsamples of the rows.

    Parameters
    ----------
    hierarchy : Hierarchy
    nodes : int array of shape (n_chosen,)
        Nodes with selections in at least two subsamples.
    by_node : list of Stability
        One per node of `nodes`.
    n_selections : int array of shape (n_chosen,)
        Number of subsamples in which features were selected for the node.
    frequencies : sparse array of shape (n_nodes, n_features)
        Share of these subsamples in which a feature was selected.
    """

    hierarchy: Hierarchy
    nodes: IntArray
    by_node: list[Stability]
    n_selections: NDArray[np.int64]
    frequencies: sparse.csr_array

    @property
    def mean(self) -> float:
        """Mean stability of the nodes for which it is defined."""
        return float(np.nanmean([each.value for each in self.by_node]))

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per node."""
        import pandas as pd

        table = pd.DataFrame(self.by_node, columns=["stability", "low", "high"])
        table.insert(0, "node", self.hierarchy.path_strings[self.nodes])
        table["n_selections"] = self.n_selections
        return table


def node_stability(
    selector: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    n_subsamples: int = 30,
    share: float = 0.5,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> NodeStability:
    """Fit a selector to subsamples of the rows, and compare the selected features of every node.

    Parameters
    ----------
    selector : HierarchicalFeatureSelector
        A clone is fitted to every subsample, with the hierarchy of a fit to all rows.
    X : array or sparse matrix of shape (n_samples, n_features)
    y : labels of n_samples rows
    sample_weight : array-like of shape (n_samples,), optional
    n_subsamples : int
        Number of subsamples.
    share : float
        Share of the rows of every label, at least one row, that is drawn without replacement.
    confidence : float
        Level of the confidence intervals.
    n_jobs : int, optional
        Number of subsamples that are fitted at a time, in processes.
    random_state : int, RandomState or None

    Returns
    -------
    NodeStability

    Examples
    --------
    >>> from palmette.feature_selection._selector import HierarchicalFeatureSelector
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 8)), np.repeat(["a", "b"], 30)
    >>> X[y == "b", 3] += 5.0
    >>> selector = HierarchicalFeatureSelector("fisher", n_features_to_select=1)
    >>> node_stability(selector, X, y, n_subsamples=5, random_state=0).mean
    1.0
    """
    if n_subsamples < 2 or not 0.0 < share < 1.0:
        raise PalmetteError(
            f"n_subsamples={n_subsamples!r} and share={share!r}: expected at least two subsamples, "
            "and a share between 0 and 1."
        )
    whole = clone(selector).fit(X, y, **_weighted(sample_weight))
    labels = NodeLabels.encode(y, whole.hierarchy_)
    weights = check_weights(sample_weight, len(labels))
    rng = check_random_state(random_state)
    draws = [_stratified_rows(labels.terminals, share, rng) for _ in range(n_subsamples)]
    ready = clone(selector).set_params(hierarchy=whole.hierarchy_)
    supports = Parallel(n_jobs=n_jobs)(
        delayed(_supports)(
            clone(ready),
            take_rows(X, rows),
            NodeLabels(labels.hierarchy, labels.given[rows], labels.form),
            None if weights is None else weights[rows],
        )
        for rows in draws
    )
    return _compare(supports, whole.hierarchy_, confidence)


def _weighted(sample_weight: Any) -> dict[str, Any]:
    return {} if sample_weight is None else {"sample_weight": sample_weight}


def _stratified_rows(terminals: IntArray, share: float, rng: np.random.RandomState) -> IntArray:
    """Return the rows of a subsample, ascending: a share per label, at least one row."""
    order = rng.permutation(len(terminals))
    order = order[np.argsort(terminals[order], kind="stable")]
    counts = np.unique(terminals, return_counts=True)[1]
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    wanted = np.repeat(np.maximum(1, np.round(share * counts)), counts)
    return np.sort(order[np.arange(len(order)) - starts < wanted]).astype(np.int32)


def _supports(
    selector: Any, X: Any, labels: NodeLabels, weights: FloatArray | None
) -> tuple[sparse.csr_array, NDArray[np.bool_]]:
    """Return the features of all nodes, and for which nodes features were selected."""
    selector.fit(X, labels, **_weighted(weights))
    has_selection = ~selector.hierarchy_.is_leaf
    has_selection[selector.skipped_nodes_] = False
    return selector.node_supports_, has_selection


def _compare(
    supports: list[tuple[sparse.csr_array, NDArray[np.bool_]]],
    hierarchy: Hierarchy,
    confidence: float,
) -> NodeStability:
    times = np.sum([has_selection for _, has_selection in supports], axis=0)
    nodes = np.flatnonzero(times >= 2).astype(np.int32)
    by_node = []
    for node in nodes:
        rows = [chosen[[node]] for chosen, has_selection in supports if has_selection[node]]
        by_node.append(selection_stability(sparse.vstack(rows, format="csr"), confidence))
    total = sum(chosen.astype(np.float64) for chosen, _ in supports)
    scale = np.divide(1.0, times, out=np.zeros(len(times)), where=times > 0)
    frequencies = sparse.csr_array(sparse.diags_array(scale) @ total)
    return NodeStability(hierarchy, nodes, by_node, times[nodes], frequencies)
