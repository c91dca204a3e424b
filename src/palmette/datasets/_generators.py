"""Synthetic data with known truth, over any hierarchy and of any size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.utils import Bunch

from palmette._arrays import COUNT, NODE, CountArray, NodeArray, OffsetArray
from palmette.datasets._row_models import GaussianModel, RowModel, WordModel, row_blocks
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy

YForm: TypeAlias = Literal["paths", "names", "sets", "indices"]
Noise: TypeAlias = Literal["uniform", "sibling"]

_TRIES = 8  # draws of a further label by its prior before a uniform one


def make_hierarchical_classification(
    n_samples: int = 1000,
    n_features: int = 20,
    *,
    hierarchy: Hierarchy | None = None,
    branching: Sequence[int] | None = None,
    n_leaves: int | None = None,
    depth: int | None = None,
    n_informative: int | None = None,
    class_sep: float = 2.0,
    level_decay: float = 0.7,
    imbalance: float = 0.0,
    label_noise: float = 0.0,
    noise: Noise = "uniform",
    internal_labels: float = 0.0,
    multi_path: int = 0,
    missing: float = 0.0,
    sparse: bool = False,
    density: float = 0.01,
    dtype: DTypeLike = np.float64,
    y_form: YForm | None = None,
    return_truth: bool = True,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> Bunch:
    """Make rows of classes whose means differ from those of their parents by random steps.

    Dense data are Gaussian: a node's mean is its parent's (the average of several parents') plus a
    random step, a row is the mean of its leaf plus noise of variance one. Sparse data are bags of
    words: each of a row's draws is a feature at random, or one of the 16 features of its leaf or
    of one of the leaf's ancestors.

    Parameters
    ----------
    n_samples, n_features : int
    hierarchy : Hierarchy, optional
        Tree or DAG. By default it is made from `branching`, or from `n_leaves` and `depth`.
    branching : sequence of int, optional
        Number of children per node, level by level; (3, 4) if no hierarchy is described.
    n_leaves, depth : int, optional
        Number of leaves, and number of levels (2 by default) of an even tree.
    n_informative : int, optional
        Features in which classes differ; all by default.
    class_sep : float
        Half the typical distance between two siblings on the first level, in standard deviations
        of the noise: a pair of them has a Bayes error of about ``Phi(-class_sep)``. In sparse
        data, the odds of an informative draw.
    level_decay : float
        Factor of `class_sep` from one level to the next; in sparse data, of the share of a level.
    imbalance : float
        Exponent of Zipf's law for the sizes of the leaves, in random order; 0 for equal sizes.
        Sizes are rounded expectations, not random.
    label_noise : float
        Share of rows whose label is replaced by a wrong leaf.
    noise : {"uniform", "sibling"}
        Whether the wrong leaf is any other leaf, or one under the nearest ancestor that has one.
    internal_labels : float
        Share of rows labelled with an ancestor of their leaf (not the root), without label noise.
    multi_path : int
        Number of further leaves per row, drawn like the first; a row is then made from the average
        of their means. Noise and internal labels change the first.
    missing : float
        Share of entries of X that are NaN; dense data only.
    sparse : bool
        Whether X is a CSR array of counts; it is never made dense.
    density : float
        Number of draws per row, as a share of `n_features`, in sparse data.
    dtype : numpy dtype
        Type of X, float32 or float64.
    y_form : {"paths", "names", "sets", "indices"}, optional
        A 2-D object array padded with ``''``; a 1-D array of names; a list of sets of path tuples
        (names in a DAG); node numbers of shape (n_samples,), or (n_samples, 1 + multi_path). By
        default sets for several labels per row, names for a DAG, paths otherwise.
    return_truth : bool
        Whether to return the parameters from which the data were made.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features), ``y``, ``hierarchy``. With `return_truth` also
        ``y_clean``, y before noise; ``sources``, the leaves a row was made from, of shape
        (n_samples, 1 + multi_path); ``is_noisy``; ``means``, of shape (n_nodes, n_features), CSR
        for sparse data, and ``background``, of shape (n_features,): their sum is what X is
        expected to be in a class; ``prior`` of the leaves; and ``informative``, feature numbers.

    Notes
    -----
    Dense data take the memory of X and 8 bytes for each of n_nodes * n_features means; sparse data
    12 bytes per draw (8 in float32), and twice that during construction. Rows are made in blocks,
    which adds about 100 MB.

    Examples
    --------
    >>> data = make_hierarchical_classification(200, 10, branching=(2, 3), random_state=0)
    >>> data.X.shape, data.y.shape, data.hierarchy.n_leaves
    ((200, 10), (200, 2), 6)
    >>> found = bayes_optimal_leaves(data)
    >>> bool((found == data.sources[:, 0]).mean() > 0.7)
    True
    """
    rng = _generator(random_state)
    h = _hierarchy(hierarchy, branching, n_leaves, depth)
    n_informative = n_features if n_informative is None else n_informative
    _check_sizes(n_samples, n_features, n_informative)
    _check_amounts(class_sep=class_sep, level_decay=level_decay, imbalance=imbalance)
    _check_shares(label_noise, internal_labels, missing, density)
    _check_labels(h, multi_path, label_noise, noise, y_form)

    prior = zipf(h.n_leaves, imbalance, rng)
    places = draw_leaves(n_samples, prior, multi_path, rng)
    sources = h.leaves[places]
    noisy, coarse = choose_rows(h, sources[:, 0], label_noise, internal_labels, rng)
    clean = sources.copy()
    clean[coarse, 0] = some_ancestor(h, clean[coarse, 0], rng)
    nodes = clean.copy()
    nodes[noisy, 0] = h.leaves[wrong_leaves(h, places[noisy], noise, rng)]

    informative = np.sort(rng.permutation(n_features)[:n_informative])
    model: RowModel
    if sparse:
        model = WordModel.make(h, n_features, informative, class_sep, level_decay, density, rng)
    else:
        model = GaussianModel.make(h, n_features, informative, class_sep, level_decay, rng)
    X = model.draw(sources, np.dtype(dtype), rng)
    if missing:
        _remove_entries(X, missing, rng)
    bunch = Bunch(X=X, y=write_labels(h, nodes, y_form), hierarchy=h)
    if return_truth:
        bunch.update(
            y_clean=write_labels(h, clean, y_form),
            sources=sources,
            is_noisy=np.isin(np.arange(n_samples), noisy),
            means=model.means,
            background=model.background,
            prior=prior,
            informative=informative,
            model=model,
        )
    return bunch


def bayes_optimal_leaves(data: Bunch, X: Any = None) -> NodeArray:
    """Return the most probable leaf of each row under the model that made the data.

    No classifier has a higher expected accuracy. For one label per row only.

    Parameters
    ----------
    data : Bunch
        Result of `make_hierarchical_classification`.
    X : array or CSR array of shape (n_samples, n_features), optional
        Rows; those of `data` by default. NaN is ignored.

    Returns
    -------
    int array of shape (n_samples,)
        Node numbers.
    """
    if data.sources.shape[1] > 1:
        raise PalmetteError("the rows have several labels each: expected multi_path=0.")
    X = data.X if X is None else X
    leaves = data.hierarchy.leaves
    log_prior = np.log(data.prior)
    found = np.empty(X.shape[0], dtype=NODE)
    for block in row_blocks(X.shape[0], len(leaves)):
        score = data.model.log_likelihood(X[block], leaves) + log_prior
        found[block] = leaves[np.argmax(score, axis=1)]
    return found


# ---------------------------------------------------------------------- hierarchy


def _hierarchy(
    given: Hierarchy | None,
    branching: Sequence[int] | None,
    n_leaves: int | None,
    depth: int | None,
) -> Hierarchy:
    ways = [given is not None, branching is not None, n_leaves is not None]
    if sum(ways) > 1 or (depth is not None and n_leaves is None):
        raise PalmetteError(
            "the hierarchy is given twice or incompletely: expected one of hierarchy, branching, "
            "or "
            "n_leaves with or without depth."
        )
    if given is not None:
        return given
    if n_leaves is not None:
        depth = 2 if depth is None else depth
        if n_leaves < 1 or depth < 1:
            raise PalmetteError(f"got n_leaves={n_leaves}, depth={depth}: expected at least 1.")
        return _even_tree([round(n_leaves ** (level / depth)) for level in range(depth + 1)])
    branching = (3, 4) if branching is None else branching
    if not len(branching) or min(branching) < 1:
        raise PalmetteError(f"got branching={branching!r}: expected numbers of 1 or more.")
    return _even_tree(np.cumprod([1, *branching]).tolist())


def _even_tree(sizes: Sequence[int]) -> Hierarchy:
    """Make a tree with given numbers of nodes per level; names are positions, such as '2.1.3'."""
    parents, names = [np.array([-1])], ["root"]
    first = 0  # of the level above
    for above, size in pairwise(sizes):
        owner = np.arange(size) * above // size
        place = np.arange(size) - np.searchsorted(owner, owner)
        stems = [names[first + o] + "." if first else "" for o in owner.tolist()]
        parents.append(first + owner)
        first = len(names)
        names += [stem + str(p + 1) for stem, p in zip(stems, place.tolist(), strict=True)]
    return Hierarchy.from_parents(np.concatenate(parents), names)


# ---------------------------------------------------------------------- small helpers


def _generator(
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, dtype=np.uint32))
    return np.random.default_rng(random_state)


def _remove_entries(X: Any, share: float, rng: np.random.Generator) -> None:
    if not isinstance(X, np.ndarray):
        raise PalmetteError("got missing > 0 with sparse=True: expected dense data.")
    for block in row_blocks(*X.shape):
        X[block][rng.random(X[block].shape) < share] = np.nan


# ---------------------------------------------------------------------- checks


def _check_sizes(n_samples: int, n_features: int, n_informative: int) -> None:
    if n_samples < 0 or n_features < 1:
        raise PalmetteError(
            f"got n_samples={n_samples}, n_features={n_features}: expected at least 0 and 1."
        )
    if not 1 <= n_informative <= n_features:
        raise PalmetteError(
            f"got n_informative={n_informative}: expected 1 to n_features={n_features}."
        )


def _check_amounts(**amounts: float) -> None:
    for name, amount in amounts.items():
        if not 0.0 <= amount < np.inf:
            raise PalmetteError(f"got {name}={amount}: expected a finite number of 0 or more.")


def _check_shares(label_noise: float, internal: float, missing: float, density: float) -> None:
    given = {"label_noise": label_noise, "internal_labels": internal}
    given |= {"missing": missing, "density": density}
    for name, share in given.items():
        if not 0.0 <= share <= 1.0:
            raise PalmetteError(f"got {name}={share}: expected a share between 0 and 1.")
    if label_noise + internal > 1.0:
        raise PalmetteError(
            f"got label_noise={label_noise} and internal_labels={internal}: no row has both, so "
            "expected at most 1 together."
        )


def _check_labels(
    h: Hierarchy, multi_path: int, label_noise: float, noise: str, y_form: str | None
) -> None:
    if h.n_nodes < 2:
        raise PalmetteError("the hierarchy has no class below its root: expected one or more.")
    needed = 1 + multi_path + (label_noise > 0)
    if multi_path < 0 or needed > h.n_leaves:
        raise PalmetteError(
            f"got multi_path={multi_path} and label_noise={label_noise} for {h.n_leaves} leaves: "
            f"expected at least {needed} leaves, and multi_path of 0 or more."
        )
    if noise not in get_args(Noise):
        raise PalmetteError(f"got noise={noise!r}: expected 'uniform' or 'sibling'.")
    if y_form is not None and y_form not in get_args(YForm):
        raise LabelError(
            f"got y_form={y_form!r}: expected {', '.join(map(repr, get_args(YForm)))} or None."
        )


# ---------------------------------------------------------------------- labels


def zipf(n_leaves: int, exponent: float, rng: np.random.Generator) -> CountArray:
    """Return shares by Zipf's law, in random order."""
    sizes = np.power(rng.permutation(n_leaves) + 1.0, -exponent, dtype=COUNT)
    return np.asarray(sizes / sizes.sum(), dtype=COUNT)


def draw_leaves(
    n_samples: int, prior: CountArray, n_more: int, rng: np.random.Generator
) -> OffsetArray:
    """Draw places in the list of leaves, of shape (n_samples, 1 + n_more), distinct in a row."""
    edges = np.cumsum(prior)
    edges[-1] = np.inf  # not 1, which rounding may exceed
    even = (np.arange(n_samples) + rng.random()) / max(1, n_samples)
    places = rng.permutation(np.searchsorted(edges, even, side="right"))[:, None]
    for _ in range(n_more):
        more = np.searchsorted(edges, rng.random(n_samples), side="right")
        for _ in range(_TRIES):
            again = np.flatnonzero((places == more[:, None]).any(axis=1))
            more[again] = np.searchsorted(edges, rng.random(len(again)), side="right")
        again = np.flatnonzero((places == more[:, None]).any(axis=1))
        more[again] = _any_other(places[again], len(prior), rng)
        places = np.column_stack([places, more])
    return places


def _any_other(taken: OffsetArray, n_leaves: int, rng: np.random.Generator) -> OffsetArray:
    """Draw for each row a place that is not taken, uniformly."""
    drawn = rng.integers(0, n_leaves - taken.shape[1], len(taken))
    for column in np.sort(taken, axis=1).T:
        drawn += drawn >= column
    return drawn


def choose_rows(
    h: Hierarchy, leaves: NodeArray, label_noise: float, internal: float, rng: np.random.Generator
) -> tuple[OffsetArray, OffsetArray]:
    """Choose rows for noise and others for internal labels, which need a leaf below depth 1."""
    n_noisy, n_internal = round(label_noise * len(leaves)), round(internal * len(leaves))
    order = rng.permutation(len(leaves))
    deep = h.depth[leaves[order]] > 1
    coarse = order[deep][:n_internal]
    if len(coarse) < n_internal:
        raise LabelError(
            f"internal_labels={internal} needs {n_internal} rows, but only {len(coarse)} rows "
            "have an ancestor below the root. Lower it, or use a deeper hierarchy."
        )
    rest = order[~np.isin(order, coarse)]
    return rest[:n_noisy], coarse


def some_ancestor(h: Hierarchy, nodes: NodeArray, rng: np.random.Generator) -> NodeArray:
    """Draw one of the ancestors of each node between it and the root."""
    closure = h.closure  # a row begins with the root and ends with the node itself
    first, last = closure.indptr[nodes] + 1, closure.indptr[nodes + 1] - 1
    return closure.indices[rng.integers(first, last)] if len(nodes) else nodes


def wrong_leaves(
    h: Hierarchy, places: OffsetArray, noise: str, rng: np.random.Generator
) -> OffsetArray:
    """Draw for each row a place among the leaves other than its own."""
    if noise == "uniform" or not len(places):
        return _any_other(places, h.n_leaves, rng)
    h.require_tree("noise='sibling'")
    above = h.parents[h.leaves]
    while True:
        start = np.searchsorted(h.leaves, above)
        stop = np.searchsorted(h.leaves, h.subtree_end[above])
        alone = (stop - start < 2) & (above > 0)
        if not alone.any():
            break
        above = np.where(alone, h.parents[above], above)
    own = places[:, 0]
    wrong = rng.integers(start[own], stop[own] - 1)
    wrong += wrong >= own
    also_true = (places == wrong[:, None]).any(axis=1)
    wrong[also_true] = _any_other(places[also_true], h.n_leaves, rng)
    return wrong


def write_labels(h: Hierarchy, nodes: NodeArray, y_form: YForm | None) -> Any:
    """Write nodes of shape (n_samples, n_labels) as labels."""
    several = nodes.shape[1] > 1
    if y_form is None:
        y_form = "sets" if several else "paths" if h.is_tree else "names"
    if y_form == "indices":
        return nodes if several else nodes[:, 0]
    if y_form == "sets":
        labels = _path_tuples(h) if h.is_tree else h.names.tolist()
        return [{labels[node] for node in row} for row in nodes.tolist()]
    if several:
        raise LabelError(f"y_form={y_form!r} has one label per row: expected 'sets' or 'indices'.")
    if y_form == "paths":
        h.require_tree("y_form='paths'")
        return _path_table(h)[nodes[:, 0]]
    if len(set(h.names.tolist())) < h.n_nodes:
        raise LabelError("names occur twice in the hierarchy: expected y_form='paths'.")
    kinds = {type(name) for name in h.names[1:].tolist()}
    names = np.array(h.names[1:].tolist()) if kinds in ({str}, {int}) else h.names[1:]
    return names[nodes[:, 0] - 1]


def _path_tuples(h: Hierarchy) -> list[tuple[Any, ...]]:
    table = _path_table(h).tolist()
    return [tuple(row[:depth]) for row, depth in zip(table, h.depth.tolist(), strict=True)]


def _path_table(h: Hierarchy) -> NDArray[np.object_]:
    table = np.full((h.n_nodes, max(1, h.max_depth)), "", dtype=object)
    node = np.repeat(np.arange(h.n_nodes), np.diff(h.closure.indptr))
    above = h.closure.indices
    below_root = above > 0
    node, above = node[below_root], above[below_root]
    table[node, h.depth[above] - 1] = h.names[above]
    return table
