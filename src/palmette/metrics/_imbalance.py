"""Imbalance of the labels of a data set, and number of labels per row.

F. Charte, A. Rivera, M. J. del Jesus, F. Herrera, "Addressing imbalance in multilabel
classification: measures and random resampling algorithms", Neurocomputing 163, 2015 (IRLbl, MeanIR,
CVIR), and "Concurrence among imbalanced labels and its influence on multilabel resampling
algorithms", HAIS 2014 (SCUMBLE).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray
from palmette.exceptions import LabelError, PalmetteError
from palmette.labels._containers import unwrap
from palmette.labels._labels import NodeLabels
from palmette.metrics._pairs import read_indicator

# ---------------------------------------------------------------------- between labels


def imbalance_ratios(y: Any) -> FloatArray:
    """Rows of the most frequent label over rows of each label: IRLbl.

    Parameters
    ----------
    y : labels of n_samples rows
        A 0/1 matrix, a list of sets, or any other form that `NodeLabels.encode` reads.

    Returns
    -------
    float array of shape (n_labels,)
        1 for the most frequent label, infinite for one that no row has. Labels are in the order of
        the columns, or sorted where y has none.

    Examples
    --------
    >>> imbalance_ratios([{"a"}, {"a", "b"}, {"a", "c"}, {"a"}]).tolist()
    [1.0, 4.0, 4.0]
    """
    return _ratios_to_largest(_counts(_read(y)))


def mean_imbalance_ratio(y: Any) -> float:
    """Mean of `imbalance_ratios` over the labels that some row has: MeanIR.

    Parameters
    ----------
    y : labels of n_samples rows, as for `imbalance_ratios`

    Returns
    -------
    float

    Examples
    --------
    >>> mean_imbalance_ratio([{"a"}, {"a", "b"}, {"a", "c"}, {"a"}])
    3.0
    """
    return _mean_ratio(_counts(_read(y)))


def cvir(y: Any) -> float:
    """Coefficient of variation of `imbalance_ratios` over the labels that some row has: CVIR.

    Parameters
    ----------
    y : labels of n_samples rows, as for `imbalance_ratios`

    Returns
    -------
    float
        0 for a single label.

    Examples
    --------
    >>> round(cvir([{"a"}, {"a", "b"}, {"a", "c"}, {"a"}]), 3)
    0.577
    """
    return _variation(_counts(_read(y)))


def scumble(y: Any, *, per: Literal["dataset", "row", "label"] = "dataset") -> Any:
    """How often frequent and rare labels occur in the same rows: SCUMBLE.

    For one row: 1 minus the geometric mean of its labels' imbalance ratios divided by their
    arithmetic mean. It is 0 if the labels are equally frequent, as in rows with at most one label.

    Parameters
    ----------
    y : labels of n_samples rows, as for `imbalance_ratios`
    per : {"dataset", "row", "label"}, default="dataset"
        The mean over all rows, the value of each row, or the mean over the rows of each label.

    Returns
    -------
    float, or float array of shape (n_samples,) or (n_labels,)
        NaN for a label that no row has.

    Examples
    --------
    >>> y = [{"a"}, {"a", "b"}, {"a", "c"}, {"a"}]
    >>> round(scumble(y), 3), scumble(y, per="row").round(3).tolist()
    (0.1, [0.0, 0.2, 0.2, 0.0])
    >>> scumble(y, per="label").round(3).tolist()
    [0.1, 0.2, 0.2]
    """
    if per not in ("dataset", "row", "label"):
        raise PalmetteError(f"got per={per!r}: expected 'dataset', 'row' or 'label'.")
    flags = _read(y)
    of_rows = _concurrence(flags)
    if per == "label":
        with np.errstate(invalid="ignore"):
            return (flags.T @ of_rows) / _counts(flags)
    return of_rows if per == "row" else float(of_rows.mean())


# ---------------------------------------------------------------------- within labels


def within_label_imbalance_ratios(y: Any) -> FloatArray:
    """Rows of each label's larger side, true or false, over those of the smaller one.

    Parameters
    ----------
    y : labels of n_samples rows, as for `imbalance_ratios`

    Returns
    -------
    float array of shape (n_labels,)
        Infinite for a label that no row or every row has.

    Examples
    --------
    >>> within_label_imbalance_ratios([{"a"}, {"a", "b"}, {"a"}, set()]).tolist()
    [3.0, 3.0]
    """
    flags = _read(y)
    return _ratios_within(_counts(flags), flags.shape[0])


# ---------------------------------------------------------------------- labels of rows


def label_cardinality(y: Any) -> float:
    """Mean number of labels per row.

    Parameters
    ----------
    y : labels of n_samples rows, as for `imbalance_ratios`

    Returns
    -------
    float

    Examples
    --------
    >>> label_cardinality([{"a"}, {"a", "b"}, set(), {"b"}])
    1.0
    """
    flags = _read(y)
    return float(flags.nnz / flags.shape[0])


def label_density(y: Any) -> float:
    """Mean share of the labels that a row has: cardinality over the number of labels.

    Parameters
    ----------
    y : labels of n_samples rows, as for `imbalance_ratios`

    Returns
    -------
    float

    Examples
    --------
    >>> label_density([{"a"}, {"a", "b"}, set(), {"b"}])
    0.5
    """
    flags = _read(y)
    return float(flags.nnz / (flags.shape[0] * flags.shape[1]))


def label_diversity(y: Any) -> int:
    """Return the number of distinct label sets, the empty one included.

    Parameters
    ----------
    y : labels of n_samples rows, as for `imbalance_ratios`

    Returns
    -------
    int

    Examples
    --------
    >>> label_diversity([{"a"}, {"a", "b"}, {"b", "a"}, set()])
    3
    """
    return _n_distinct(_read(y))


def proportion_of_distinct_label_sets(y: Any) -> float:
    """Return distinct label sets over rows: PDL.

    Parameters
    ----------
    y : labels of n_samples rows, as for `imbalance_ratios`

    Returns
    -------
    float

    Examples
    --------
    >>> proportion_of_distinct_label_sets([{"a"}, {"a", "b"}, {"b", "a"}, set()])
    0.75
    """
    flags = _read(y)
    return float(_n_distinct(flags) / flags.shape[0])


# ---------------------------------------------------------------------- all of them


@dataclass(frozen=True)
class LabelDescription:
    """Result of `describe_labels`; `dataclasses.asdict` converts it to a dict.

    Attributes
    ----------
    n_samples, n_labels : int
    cardinality, density : float
    diversity : int
        Distinct label sets.
    distinct : float
        Distinct label sets divided by the number of rows: PDL.
    mean_imbalance, max_imbalance, cvir : float
        Imbalance between labels.
    scumble : float
    min_within, mean_within, max_within : float
        Imbalance within labels: rows with the label to rows without it, or vice versa.
    """

    n_samples: int
    n_labels: int
    cardinality: float
    density: float
    diversity: int
    distinct: float
    mean_imbalance: float
    max_imbalance: float
    cvir: float
    scumble: float
    min_within: float
    mean_within: float
    max_within: float


def describe_labels(y: Any) -> LabelDescription:
    """Describe the labels of a data set: their number, imbalance and concurrence.

    Parameters
    ----------
    y : labels of n_samples rows, as for `imbalance_ratios`

    Returns
    -------
    LabelDescription

    Examples
    --------
    >>> found = describe_labels([{"a"}, {"a", "b"}, {"a", "c"}, {"a"}])
    >>> found.mean_imbalance, found.cardinality, found.distinct
    (3.0, 1.5, 0.75)
    """
    flags = _read(y)
    n_samples, n_labels = flags.shape
    counts, n_distinct = _counts(flags), _n_distinct(flags)
    within = _ratios_within(counts, n_samples)
    return LabelDescription(
        n_samples=n_samples,
        n_labels=n_labels,
        cardinality=flags.nnz / n_samples,
        density=flags.nnz / (n_samples * n_labels),
        diversity=n_distinct,
        distinct=n_distinct / n_samples,
        mean_imbalance=_mean_ratio(counts),
        max_imbalance=float(_ratios_to_largest(counts).max()),
        cvir=_variation(counts),
        scumble=float(_concurrence(flags).mean()),
        min_within=float(within.min()),
        mean_within=float(within.mean()),
        max_within=float(within.max()),
    )


# ---------------------------------------------------------------------- helpers


def _read(y: Any) -> sparse.csr_array:
    """Read labels as sparse flags of shape (n_samples, n_labels); nodes above labels included."""
    values, _ = unwrap(y)
    if sparse.issparse(values) or (getattr(values, "ndim", 1) == 2 and values.dtype.kind in "biuf"):
        flags = read_indicator(y, "y")
    else:
        flags = sparse.csr_array(NodeLabels.encode(y, flat=True).closed[:, 1:])
    if not flags.shape[0] or not flags.shape[1]:
        raise LabelError(
            f"y has {flags.shape[0]} rows and {flags.shape[1]} labels: expected at least one of "
            "each."
        )
    return flags


def _counts(flags: sparse.csr_array) -> NDArray[np.int64]:
    return np.bincount(flags.indices, minlength=flags.shape[1])


def _ratios_to_largest(counts: NDArray[np.int64]) -> FloatArray:
    with np.errstate(divide="ignore"):
        ratios: FloatArray = max(counts.max(), 1) / counts.astype(np.float64)
    return ratios


def _present_ratios(counts: NDArray[np.int64]) -> FloatArray:
    present = counts[counts > 0]
    if not len(present):
        raise LabelError("no row has a label: expected at least one labelled row.")
    return _ratios_to_largest(present)


def _mean_ratio(counts: NDArray[np.int64]) -> float:
    return float(_present_ratios(counts).mean())


def _variation(counts: NDArray[np.int64]) -> float:
    ratios = _present_ratios(counts)
    return float(ratios.std(ddof=1) / ratios.mean()) if len(ratios) > 1 else 0.0


def _concurrence(flags: sparse.csr_array) -> FloatArray:
    """SCUMBLE of every row."""
    ratios = _ratios_to_largest(_counts(flags))[flags.indices]
    sizes = np.diff(flags.indptr)
    row = np.repeat(np.arange(flags.shape[0]), sizes)
    logs = np.bincount(row, np.log(ratios), flags.shape[0])
    sums = np.bincount(row, ratios, flags.shape[0])
    several = sizes > 1  # with one label both means are equal: skip it to avoid rounding errors
    answer = np.zeros(flags.shape[0])
    size = sizes[several]
    answer[several] = np.maximum(0.0, 1 - np.exp(logs[several] / size) / (sums[several] / size))
    return answer


def _ratios_within(counts: NDArray[np.int64], n_samples: int) -> FloatArray:
    smaller = np.minimum(counts, n_samples - counts)
    with np.errstate(divide="ignore"):
        return (n_samples - smaller) / smaller.astype(np.float64)


def _n_distinct(flags: sparse.csr_array) -> int:
    indices, starts = flags.indices, flags.indptr.tolist()
    return len({indices[start:stop].tobytes() for start, stop in pairwise(starts)})
