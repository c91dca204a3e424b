"""The dtype contract: which width every kind of array has, and why.

Widths are fixed. A platform's own integer would make a model that was saved on one machine
unreadable, or different, on another.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BIN",
    "COUNT",
    "FLAG",
    "INDICATOR",
    "NODE",
    "OFFSET",
    "PROBABILITY",
    "BinArray",
    "CountArray",
    "FlagArray",
    "IndicatorArray",
    "NodeArray",
    "OffsetArray",
    "ProbabilityArray",
]

NODE = np.int32
"""Number of a node, class or column of features; -1 for none. The largest hierarchies have 1e5
to 1e6 nodes; half the memory of int64 in closures, and what scipy's sparse matrices use."""

OFFSET = np.int64
"""Number of a row, and place in a concatenation. Rows times depth, or the entries of a sparse
matrix, pass 2**31 long before memory ends."""

COUNT = np.float64
"""Counts, weights, sums and scatters. Sample weights make counts fractional, merging and
subtracting statistics cancels digits, and float64 counts rows exactly up to 2**53."""

PROBABILITY = np.float64
"""Probabilities and scores. A path's probability is a product over levels, and siblings must sum
to their parent to 1e-12; float32 would lose both at a few thousand siblings."""

INDICATOR = np.int8
"""Entries of 0/1 matrices of labels that are multiplied or summed: a signed byte, as a bool
product saturates and a difference of unsigned ones wraps."""

FLAG = np.bool_
"""Masks and the closure of a hierarchy, which only select."""

BIN = np.uint8
"""Codes of binned features: at most 255 bins and one for missing values, one byte each, since
histograms are bound by the memory that they read."""

NodeArray: TypeAlias = NDArray[np.int32]
OffsetArray: TypeAlias = NDArray[np.int64]
CountArray: TypeAlias = NDArray[np.float64]
ProbabilityArray: TypeAlias = NDArray[np.float64]
IndicatorArray: TypeAlias = NDArray[np.int8]
FlagArray: TypeAlias = NDArray[np.bool_]
BinArray: TypeAlias = NDArray[np.uint8]
