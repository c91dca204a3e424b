"""Made-up data whose truth is known, over any hierarchy and of any size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils import Bunch

from palmette.core.dtypes import NODE, NodeArray
from palmette.core.hierarchy import Hierarchy
from palmette.datasets.label_draws import (
    Noise,
    YForm,
    choose_rows,
    draw_leaves,
    some_ancestor,
    write_labels,
    wrong_leaves,
    zipf,
)
from palmette.datasets.row_models import GaussianModel, RowModel, WordModel, row_blocks
from palmette.exceptions import LabelError, PalmetteError

__all__ = ["bayes_optimal_leaves", "make_hierarchical_classification"]


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
    """Make rows of classes whose means step away from those of their parents.

    Dense data are Gaussian: a node's mean is its parent's (the average of several parents') plus a
    random step, a row is the mean of its leaf plus noise of variance one. Sparse data are bags of
    words: each of a row's draws is a feature at random, or one of the 16 features of its leaf or
    of one of the leaf's ancestors.

    Parameters
    ----------
    n_samples, n_features : int
    hierarchy : Hierarchy, optional
        Tree or DAG. Or else one is made from `branching`, or from `n_leaves` and `depth`.
    branching : sequence of int, optional
        Children of each node, level by level; (3, 4) if nothing is said about the hierarchy.
    n_leaves, depth : int, optional
        Leaves, spread evenly over a tree of so many levels (2 by default).
    n_informative : int, optional
        Features in which classes differ; all by default.
    class_sep : float
        Half the typical distance between two siblings on the first level, in standard deviations
        of the noise: a pair of them has a Bayes error of about ``Phi(-class_sep)``. In sparse
        data the odds of an informative draw.
    level_decay : float
        Factor of `class_sep` from one level to the next; in sparse data of the share of a level.
    imbalance : float
        Exponent of Zipf's law for the sizes of the leaves, in random order; 0 for equal sizes.
        Sizes are rounded up or down from their expectations, not drawn.
    label_noise : float
        Share of rows whose label is replaced by a wrong leaf.
    noise : {"uniform", "sibling"}
        Whether the wrong leaf is any, or one under the nearest ancestor with another leaf.
    internal_labels : float
        Share of rows labelled with an ancestor of their leaf, not the root; none of them is noisy.
    multi_path : int
        Further leaves of each row, drawn like the first; a row is then made from the average of
        their means. Noise and internal labels change the first.
    missing : float
        Share of entries of X that are NaN; dense data only.
    sparse : bool
        Whether X is a CSR array of counts, of which no dense form is ever made.
    density : float
        Draws a row, as a share of `n_features`, in sparse data.
    dtype : numpy dtype
        float32 or float64, of X.
    y_form : {"paths", "names", "sets", "indices"}, optional
        A 2-D object array padded with ``''``; a 1-D array of names; a list of sets of path tuples
        (names in a DAG); node numbers of shape (n_samples,), or (n_samples, 1 + multi_path). By
        default sets for several labels a row, names for a DAG, paths otherwise.
    return_truth : bool
        Whether to return what the data were made from.
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
    12 bytes a draw (8 in float32), and twice that while they are put together. Blocks of rows are
    made at a time, which adds about 100 MB.

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

    No classifier is right more often, but by chance. One label a row only.

    Parameters
    ----------
    data : Bunch
        Of `make_hierarchical_classification`.
    X : array or CSR array of shape (n_samples, n_features), optional
        Rows; those of `data` by default. NaN is left out of account.

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
            "the hierarchy is said twice or in part: expected one of hierarchy, branching, or "
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
    """Make a tree with so many nodes on each level; names are positions, such as '2.1.3'."""
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
