"""What the paper says: Tables 1 to 3, and the numbers of its figures.

References
----------
G. Jun, J. Ghosh (2009). Multi-class boosting with class hierarchies. MCS 2009.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from palmette.exceptions import PalmetteError

__all__ = ["METHODS", "PaperSet", "paper_cost", "paper_set"]

METHODS = ("MH", "MI", "ECC", "BHC")


@dataclass(frozen=True)
class PaperSet:
    """What the paper says of a data set.

    Parameters
    ----------
    title : str
        Its name in the paper.
    figure : int
        The figure that shows its errors.
    n_train, n_features, n_classes : int
    n_test : int or None
        None where the paper cross-validates (Table 2).
    seconds : tuple of 4 floats, or None
        Training time of 100 rounds, by method (Table 3).
    """

    title: str
    figure: int
    n_train: int
    n_test: int | None
    n_features: int
    n_classes: int
    seconds: tuple[float, float, float, float] | None = None


_SETS = {
    "iris": PaperSet("Iris", 2, 150, None, 4, 3),
    "glass": PaperSet("Glass", 3, 214, None, 10, 6),
    "yeast_uci": PaperSet("Yeast", 4, 1484, None, 8, 10, (32.0, 43.5, 5.5, 24.8)),
    "page_blocks": PaperSet("Page blocks", 5, 5473, None, 10, 5, (156.9, 128.1, 15.8, 49.3)),
    "landsat": PaperSet("Landsat", 6, 4435, 2000, 36, 6, (311.8, 331.0, 42.5, 167.1)),
    "optdigits": PaperSet("Optical digits", 7, 3823, 1797, 64, 10, (698.9, 731.4, 60.0, 198.7)),
    "pendigits": PaperSet("Pen-based digits", 8, 7494, 3498, 16, 10, (866.8, 688.4, 33.9, 138.1)),
}


def paper_set(name: str) -> PaperSet | None:
    """Return what the paper says of a data set, None where it says nothing.

    Examples
    --------
    >>> paper_set("landsat").seconds[3]
    167.1
    """
    return _SETS.get(name)


def paper_cost(method: str, n_rows: float, n_classes: int, power: float) -> float:
    """Cost of a round as the paper counts it, for a weak learner of cost ``n_rows ** power``.

    Powers 1 and 2 are the rows of Table 1. (The paper's formula for BHC has 1 / 2^k nodes at depth
    k; its Table 1, and the text before it, ask for 2^k.)

    Parameters
    ----------
    method : {"MH", "MI", "ECC", "BHC"}
    n_rows : float
    n_classes : int
    power : float

    Returns
    -------
    float

    Examples
    --------
    >>> [paper_cost(method, 10, 4, 1) for method in METHODS]
    [40.0, 40.0, 10.0, 20.0]
    >>> [paper_cost(method, 10, 4, 2) for method in METHODS]
    [1600.0, 400.0, 100.0, 150.0]
    """
    if method == "MH":
        return float((n_classes * n_rows) ** power)
    if method == "MI":
        return float(n_classes * n_rows**power)
    if method == "ECC":
        return float(n_rows**power)
    if method == "BHC":
        depth = round(math.log2(n_classes))
        return float(sum(2**k * (n_rows / 2**k) ** power for k in range(depth)))
    raise PalmetteError(f"method={method!r}: expected one of {', '.join(METHODS)}.")
