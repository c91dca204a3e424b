"""The numbers of the paper, Tables 1 and 2.

References
----------
Z. A. Daniels, D. N. Metaxas (2017). Addressing imbalance in multi-label classification using
structured Hellinger forests. AAAI 2017.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "COLUMNS",
    "PAPER_AUC",
    "PAPER_AUC_RANKS",
    "PAPER_F",
    "PAPER_F_RANKS",
    "PAPER_SETS",
    "REFERENCE",
    "SHORT",
    "PaperRank",
    "PaperSet",
    "column_of",
]

REFERENCE = (
    "Z. A. Daniels, D. N. Metaxas (2017). Addressing imbalance in multi-label classification using "
    "structured Hellinger forests. AAAI 2017."
)


@dataclass(frozen=True)
class PaperSet:
    """A row of Table 1.

    Parameters
    ----------
    instances, features, labels : int
    density, distinct : float
        Label density and proportion of distinct label sets.
    min_ir, max_ir, mean_ir : float
        Of the larger side of a label over the smaller one.
    """

    instances: int
    features: int
    labels: int
    density: float
    distinct: float
    min_ir: float
    max_ir: float
    mean_ir: float


@dataclass(frozen=True)
class PaperRank:
    """The last column of Table 2.

    Parameters
    ----------
    rank : float
        Mean rank over the data sets.
    by_ranks, by_wilcoxon : bool
        Whether SF-H-CS is significantly better, by mean ranks and by Wilcoxon's test.
    """

    rank: float
    by_ranks: bool
    by_wilcoxon: bool


COLUMNS = (  # of Table 2, by the names of the data home
    "cal500",
    "emotions",
    "medical",
    "enron",
    "scene",
    "yeast",
    "corel5k",
    "rcv1subset1_top944",
    "rcv1subset2_top944",
    "tmc2007_500",
    "mediamill",
)
SHORT = {
    "cal500": "CAL",
    "emotions": "Emot",
    "medical": "Med",
    "enron": "Enron",
    "scene": "Scene",
    "yeast": "Yeast",
    "corel5k": "Corel",
    "rcv1subset1_top944": "RCV1",
    "rcv1subset2_top944": "RCV2",
    "tmc2007_500": "TMC",
    "mediamill": "Media",
}
# whole versions of sets, which are a reader's own: the same columns of the paper
_WHOLE = {
    "rcv1subset1": "rcv1subset1_top944",
    "rcv1subset2": "rcv1subset2_top944",
    "tmc2007": "tmc2007_500",
}


def column_of(name: str) -> str:
    """Return the name, in `COLUMNS`, of the paper's column of a set; others are unchanged.

    Examples
    --------
    >>> column_of("tmc2007"), column_of("bibtex")
    ('tmc2007_500', 'bibtex')
    """
    return _WHOLE.get(name, name)


PAPER_SETS = {
    "cal500": PaperSet(502, 68, 124, 0.2, 1.0, 1.04, 24.1, 8.45),
    "emotions": PaperSet(593, 72, 6, 0.31, 0.05, 1.25, 3.01, 2.32),
    "medical": PaperSet(978, 237, 14, 0.08, 0.04, 2.68, 43.45, 19.94),
    "enron": PaperSet(1702, 999, 24, 0.13, 0.32, 1.01, 43.79, 16.15),
    "scene": PaperSet(2407, 294, 6, 0.18, 0.01, 3.52, 5.61, 4.66),
    "yeast": PaperSet(2417, 103, 13, 0.32, 0.08, 1.33, 12.58, 4.25),
    "corel5k": PaperSet(5000, 499, 44, 0.05, 0.21, 3.46, 49.0, 29.4),
    "rcv1subset1_top944": PaperSet(6000, 1475, 43, 0.06, 0.1, 3.34, 49.42, 25.53),
    "rcv1subset2_top944": PaperSet(6000, 1456, 39, 0.06, 0.08, 3.22, 47.78, 26.37),
    "tmc2007_500": PaperSet(28596, 278, 15, 0.14, 0.02, 1.45, 34.26, 13.58),
    "mediamill": PaperSet(43907, 120, 29, 0.14, 0.08, 1.75, 44.74, 16.44),
}
PAPER_F = {
    "svm-cost": (0.261, 0.632, 0.765, 0.354, 0.633, 0.473, 0.216, 0.356, 0.345, 0.584, 0.352),
    "svm-down": (0.275, 0.602, 0.617, 0.265, 0.569, 0.46, 0.122, 0.35, 0.313, 0.514, 0.333),
    "svm-adasyn": (0.259, 0.618, 0.755, 0.347, 0.63, 0.466, 0.208, 0.355, 0.343, 0.563, 0.343),
    "rf-cost": (0.306, 0.656, 0.795, 0.411, 0.754, 0.52, 0.211, 0.449, 0.432, 0.702, 0.484),
    "rf-down": (0.285, 0.65, 0.705, 0.264, 0.628, 0.484, 0.129, 0.323, 0.295, 0.547, 0.337),
    "rf-adasyn": (0.226, 0.651, 0.801, 0.343, 0.74, 0.479, 0.081, 0.329, 0.305, 0.648, 0.478),
    "ml-knn": (0.073, 0.592, 0.507, 0.152, 0.722, 0.386, 0.03, 0.118, 0.105, 0.483, 0.244),
    "iblr": (0.228, 0.629, 0.558, 0.219, 0.728, 0.408, 0.055, 0.195, 0.198, 0.504, 0.276),
    "ecc": (0.094, 0.633, 0.781, 0.296, 0.729, 0.402, 0.051, 0.244, 0.23, 0.617, 0.247),
    "clr": (0.083, 0.593, 0.768, 0.29, 0.633, 0.408, 0.048, 0.233, 0.233, 0.61, 0.265),
    "rakel": (0.191, 0.613, 0.766, 0.307, 0.692, 0.428, 0.087, 0.309, 0.298, 0.623, 0.374),
    "homer": (0.254, 0.575, 0.764, 0.332, 0.595, 0.443, 0.146, 0.317, 0.305, 0.589, 0.32),
    "cocoa": (0.228, 0.66, 0.777, 0.389, 0.743, 0.479, 0.2, 0.39, 0.376, 0.656, 0.454),
    "sf": (0.308, 0.66, 0.454, 0.324, 0.644, 0.481, 0.202, 0.364, 0.323, 0.587, 0.343),
    "sf-lr": (0.301, 0.659, 0.685, 0.252, 0.69, 0.501, 0.172, 0.26, 0.242, 0.704, 0.445),
    "sf-lr-cs": (0.301, 0.653, 0.727, 0.247, 0.694, 0.505, 0.198, 0.319, 0.301, 0.719, 0.405),
    "sf-h": (0.305, 0.682, 0.775, 0.375, 0.763, 0.521, 0.231, 0.476, 0.453, 0.727, 0.496),
    "sf-h-cs": (0.306, 0.684, 0.792, 0.379, 0.758, 0.524, 0.246, 0.472, 0.452, 0.731, 0.505),
}
PAPER_F_RANKS = {
    "svm-cost": PaperRank(8.5, True, True),
    "svm-down": PaperRank(12.5, True, True),
    "svm-adasyn": PaperRank(9.9, True, True),
    "rf-cost": PaperRank(3.2, False, False),
    "rf-down": PaperRank(11.5, True, True),
    "rf-adasyn": PaperRank(7.9, False, True),
    "ml-knn": PaperRank(16.9, True, True),
    "iblr": PaperRank(14.5, True, True),
    "ecc": PaperRank(12.5, True, True),
    "clr": PaperRank(14.2, True, True),
    "rakel": PaperRank(11.4, True, True),
    "homer": PaperRank(12.1, True, True),
    "cocoa": PaperRank(5.6, False, True),
    "sf": PaperRank(8.3, True, True),
    "sf-lr": PaperRank(9.4, True, True),
    "sf-lr-cs": PaperRank(8.5, True, True),
    "sf-h": PaperRank(2.5, False, False),
    "sf-h-cs": PaperRank(1.8, False, False),
}
PAPER_AUC = {
    "svm-cost": (0.534, 0.8, 0.962, 0.726, 0.872, 0.659, 0.707, 0.838, 0.835, 0.914, 0.817),
    "svm-down": (0.533, 0.774, 0.967, 0.705, 0.864, 0.642, 0.689, 0.897, 0.889, 0.905, 0.798),
    "svm-adasyn": (0.532, 0.793, 0.959, 0.721, 0.868, 0.653, 0.7, 0.837, 0.834, 0.907, 0.813),
    "rf-cost": (0.552, 0.838, 0.963, 0.779, 0.939, 0.703, 0.728, 0.899, 0.892, 0.932, 0.835),
    "rf-down": (0.552, 0.824, 0.966, 0.7, 0.911, 0.693, 0.673, 0.89, 0.878, 0.924, 0.814),
    "rf-adasyn": (0.541, 0.832, 0.962, 0.767, 0.933, 0.693, 0.725, 0.894, 0.885, 0.928, 0.838),
    "ml-knn": (0.515, 0.812, 0.913, 0.654, 0.926, 0.684, 0.587, 0.664, 0.671, 0.855, 0.767),
    "iblr": (0.508, 0.833, 0.921, 0.686, 0.935, 0.698, 0.65, 0.789, 0.792, 0.881, 0.801),
    "ecc": (0.557, 0.843, 0.938, 0.736, 0.943, 0.706, 0.604, 0.87, 0.861, 0.882, 0.802),
    "clr": (0.562, 0.794, 0.965, 0.759, 0.896, 0.651, 0.739, 0.898, 0.891, 0.905, 0.805),
    "rakel": (0.529, 0.798, 0.9, 0.679, 0.894, 0.64, 0.55, 0.738, 0.726, 0.85, 0.736),
    "homer": (0.515, 0.706, 0.93, 0.645, 0.811, 0.593, 0.59, 0.707, 0.707, 0.8, 0.641),
    "cocoa": (0.56, 0.839, 0.969, 0.787, 0.941, 0.717, 0.732, 0.911, 0.905, 0.928, 0.842),
    "sf": (0.559, 0.835, 0.916, 0.736, 0.901, 0.643, 0.741, 0.88, 0.86, 0.901, 0.755),
    "sf-lr": (0.549, 0.835, 0.96, 0.655, 0.909, 0.683, 0.685, 0.797, 0.785, 0.938, 0.828),
    "sf-lr-cs": (0.556, 0.83, 0.961, 0.643, 0.909, 0.684, 0.704, 0.833, 0.815, 0.942, 0.789),
    "sf-h": (0.569, 0.848, 0.976, 0.771, 0.943, 0.708, 0.736, 0.922, 0.912, 0.945, 0.857),
    "sf-h-cs": (0.572, 0.848, 0.977, 0.776, 0.943, 0.706, 0.746, 0.921, 0.91, 0.946, 0.855),
}
PAPER_AUC_RANKS = {
    "svm-cost": PaperRank(10.5, True, True),
    "svm-down": PaperRank(11.4, True, True),
    "svm-adasyn": PaperRank(12.2, True, True),
    "rf-cost": PaperRank(5.1, False, True),
    "rf-down": PaperRank(9.0, True, True),
    "rf-adasyn": PaperRank(7.2, False, True),
    "ml-knn": PaperRank(14.8, True, True),
    "iblr": PaperRank(12.4, True, True),
    "ecc": PaperRank(8.5, True, True),
    "clr": PaperRank(8.4, True, True),
    "rakel": PaperRank(16.0, True, True),
    "homer": PaperRank(17.0, True, True),
    "cocoa": PaperRank(3.4, False, False),
    "sf": PaperRank(10.2, False, True),
    "sf-lr": PaperRank(10.5, True, True),
    "sf-lr-cs": PaperRank(10.6, True, True),
    "sf-h": PaperRank(2.2, False, False),
    "sf-h-cs": PaperRank(1.6, False, False),
}
