"""The best stump of every column, by histograms, with threads over blocks of features."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from palmette.engine.weak.base import Floats, TrainingRows

__all__ = ["search_stumps"]

_SMALL = 2**20  # additions a round, up to which float64 costs nothing that anyone would notice


def search_stumps(
    rows: TrainingRows,
    signed: Floats,
    chosen: NDArray[np.int32] | None,
    candidates: NDArray[np.int32],
    must_split: bool = False,
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Find the stump of largest edge for every column; the result is the same for any threads.

    Parameters
    ----------
    rows : TrainingRows
    signed : float array of shape (n_samples, n_columns)
    chosen : int array, optional
        Rows to look at; all by default.
    candidates : int32 array of shape (n_candidates,)
        Features to look at.
    must_split : bool
        Whether a stump has to split where it can.

    Returns
    -------
    features : int32 array of shape (n_columns,)
        -1 where no split beats voting alike for all rows.
    cuts : uint8 array of shape (n_columns,)
    """
    from palmette._kernels.exact_stumps import exact_stump_edges
    from palmette._kernels.histogram import column_totals, pick_stumps, stump_edges

    codes = rows.by_feature
    if chosen is not None:
        codes, signed = np.ascontiguousarray(codes[:, chosen]), signed[chosen]
    signed = np.ascontiguousarray(signed)
    is_small = signed.size * len(candidates) <= _SMALL
    if is_small:
        signed = signed.astype(np.float64)
    find, dtype = (exact_stump_edges, np.float64) if is_small else (stump_edges, np.float32)
    totals = column_totals(signed)
    shape = len(candidates), signed.shape[1]
    cuts, edges = np.empty(shape, dtype=np.uint8), np.empty(shape, dtype=dtype)

    def search(block: slice) -> None:
        find(codes, signed, totals, candidates[block], cuts[block], edges[block])

    rows.threads.map(search, _blocks(len(candidates), rows.threads.n_threads))
    not_to_split = np.zeros_like(totals) if must_split else totals
    features, best, _ = pick_stumps(candidates, cuts, edges, not_to_split)
    return features, best


def _blocks(n: int, n_threads: int) -> list[slice]:
    bounds = np.linspace(0, n, min(n_threads, n) + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(bounds)]
