"""The numbers of the paper: Tables 2 and 3, as far as its text gives them.

References
----------
L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class learning.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PAPER_ROWS", "PAPER_TAU", "REFERENCE", "PaperRow", "PaperTau"]

REFERENCE = (
    "L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class "
    "learning. CIKM 2015."
)


@dataclass(frozen=True)
class PaperRow:
    """A row of Table 2.

    Parameters
    ----------
    dataset, method : str
    f1 : float
        Mean over the classes, and over five samples.
    seconds : float
        Test time.
    depth : int
    """

    dataset: str
    method: str
    f1: float
    seconds: float
    depth: int


@dataclass(frozen=True)
class PaperTau:
    """What the text says of Table 3: Wiki2.

    Parameters
    ----------
    tau : int
    f1 : float
    saved : float or None
        Share of the training time.
    """

    tau: int
    f1: float
    saved: float | None


PAPER_ROWS = (
    PaperRow("Caltech1", "DAGSVM", 0.369, 436.8, 256),
    PaperRow("Caltech1", "MF-Tree", 0.3816, 77.5, 10),
    PaperRow("Caltech2", "DAGSVM", 0.356, 751.68, 256),
    PaperRow("Caltech2", "MF-Tree", 0.376, 135.6, 10),
    PaperRow("Wiki1", "DAGSVM", 0.5309, 942.9, 214),
    PaperRow("Wiki1", "MF-Tree", 0.5406, 152.7, 9),
    PaperRow("Wiki2", "DAGSVM", 0.3106, 1618.6, 1618),
    PaperRow("Wiki2", "MF-Tree", 0.3318, 267.7, 11),
)
PAPER_TAU = (PaperTau(0, 0.3318, 0.0), PaperTau(3, 0.3289, 0.226), PaperTau(6, 0.2868, None))
