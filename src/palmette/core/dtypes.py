"""The dtype of every kind of array, and why.

Widths are fixed: with platform integers, a model saved on one machine could be unreadable or
different on another.
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
"""Number of a node, class or feature; -1 for none. The largest hierarchies have 1e5 to 1e6 nodes;
closures take half the memory of int64, and scipy's sparse matrices use int32 too."""

OFFSET = np.int64
"""Number of a row, and position in a concatenation. Rows times depth, or the entries of a sparse
matrix, can exceed 2**31."""

COUNT = np.float64
"""Counts, weights, sums and scatters. Sample weights make counts fractional, merging and
subtracting statistics loses digits, and float64 counts rows exactly up to 2**53."""

PROBABILITY = np.float64
"""Probabilities and scores. The probability of a path is a product over levels, and siblings must
sum to their parent within 1e-12; float32 is not precise enough for thousands of siblings."""

INDICATOR = np.int8
"""Entries of 0/1 label matrices that are multiplied or summed: a signed byte, since products of
bools saturate and differences of unsigned bytes wrap around."""

FLAG = np.bool_
"""Masks and the closure of a hierarchy, which only select."""

BIN = np.uint8
"""Codes of binned features: at most 255 bins and one for missing values in one byte, since reading
memory limits the speed of histograms."""

NodeArray: TypeAlias = NDArray[np.int32]
OffsetArray: TypeAlias = NDArray[np.int64]
CountArray: TypeAlias = NDArray[np.float64]
ProbabilityArray: TypeAlias = NDArray[np.float64]
IndicatorArray: TypeAlias = NDArray[np.int8]
FlagArray: TypeAlias = NDArray[np.bool_]
BinArray: TypeAlias = NDArray[np.uint8]
