"""The numbers of the paper: Tables I and II, and the set-up of its experiments.

References
----------
C. Chelmis, W. Qi (2021). Hierarchical multiclass AdaBoost.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MEASURES", "METHODS", "PaperSet", "paper_set"]

MEASURES = ("micro_f1", "macro_f1", "h_f", "hmc_loss")
METHODS = ("H-Ada.MH", "Local", "Global")


@dataclass(frozen=True)
class PaperSet:
    """What the paper says of a data set.

    Parameters
    ----------
    title : str
        Its name in the paper.
    rounds : int
        Base learners (Section V.B).
    n_train, n_test, n_classes, n_leaves, depth, n_features : int
        Table I.
    scores : dict of str to tuple of 4 floats
        Table II: by method, Micro-F1, Macro-F1, H-F and HMC-loss.
    """

    title: str
    rounds: int
    n_train: int
    n_test: int
    n_classes: int
    n_leaves: int
    depth: int
    n_features: int
    scores: dict[str, tuple[float, float, float, float]]


_SETS = {
    "imclef07a": PaperSet(
        "ImageCLEF07A", 600, 10000, 1006, 26, 11, 3, 80,
        {
            "H-Ada.MH": (0.7143, 0.5096, 0.7445, 0.075),
            "Local": (0.569, 0.1504, 0.573, 0.137),
            "Global": (0.6633, 0.470, 0.691, 0.079),
        },
    ),
    "imclef07d": PaperSet(
        "ImageCLEF07D", 600, 10000, 1006, 22, 9, 3, 80,
        {
            "H-Ada.MH": (0.7216, 0.3992, 0.7607, 0.129),
            "Local": (0.646, 0.1546, 0.662, 0.2047),
            "Global": (0.644, 0.4552, 0.670, 0.1948),
        },
    ),
    "diatoms": PaperSet(
        "Diatoms", 200, 2065, 1054, 343, 258, 2, 371,
        {
            "H-Ada.MH": (0.487, 0.5587, 0.4542, 0.012),
            "Local": (0.174, 0.0138, 0.1176, 0.0174),
            "Global": (0.205, 0.2391, 0.1812, 0.0187),
        },
    ),
}  # fmt: skip


def paper_set(name: str) -> PaperSet | None:
    """Return what the paper says of a data set, None where it says nothing.

    Examples
    --------
    >>> paper_set("diatoms").scores["H-Ada.MH"][0]
    0.487
    """
    return _SETS.get(name)
