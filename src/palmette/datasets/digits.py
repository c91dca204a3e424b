"""Scikit-learn's handwritten digits under a small hierarchy of shapes."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from palmette.core.hierarchy import Hierarchy

__all__ = ["load_digits_hierarchy"]

_SHAPES: tuple[tuple[str | int, ...], ...] = (
    ("closed", 0),
    ("closed", 6),
    ("closed", 8),
    ("closed", 9),
    ("open", "curved", 2),
    ("open", "curved", 3),
    ("open", "curved", 5),
    ("open", "straight", 1),
    ("open", "straight", 4),
    ("open", "straight", 7),
)

_DESCR = """\
Handwritten digits under a hierarchy of shapes

The 1,797 images of 8 x 8 pixels of scikit-learn's load_digits (UCI Optical Recognition of
Handwritten Digits, test part), with grey values from 0 to 16.

The hierarchy is Palmette's own, by the shape of the figures as they are usually written: those
that enclose an area (0, 6, 8, 9), and the open ones, drawn with curves (2, 3, 5) or with straight
strokes (1, 4, 7; about half of the fours here are open at the top). It comes from no publication
and was not fitted to the images. Leaves lie at two depths.
"""


def load_digits_hierarchy() -> Bunch:
    """Load the handwritten digits with a hierarchy by shape; the labels are integers.

    Returns
    -------
    Bunch
        ``X``, a float array of shape (1797, 64); ``y``, an int array of shape (1797,) of digits,
        which are the names of the leaves; ``hierarchy``; ``feature_names``; ``DESCR``.

    Examples
    --------
    >>> digits = load_digits_hierarchy()
    >>> print(digits.hierarchy)
    root
    ├─ closed
    │  ├─ 0
    │  ├─ 6
    │  ├─ 8
    │  └─ 9
    └─ open
       ├─ curved
       │  ├─ 2
       │  ├─ 3
       │  └─ 5
       └─ straight
          ├─ 1
          ├─ 4
          └─ 7
    """
    # inside, as scikit-learn's dataset module is slow to import and few need it
    from sklearn.datasets import load_digits

    plain = load_digits()
    return Bunch(
        X=plain.data,
        y=plain.target.astype(np.int64),
        hierarchy=Hierarchy.from_paths(_SHAPES),
        feature_names=list(plain.feature_names),
        DESCR=_DESCR,
    )
