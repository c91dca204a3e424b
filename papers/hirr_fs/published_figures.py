"""The numbers of the paper: Tables 2 to 8.

References
----------
H. Zhao, Q. Hu, P. Zhu, Y. Wang, P. Wang (2021). A recursive regularization based feature selection
framework for hierarchical classification.
"""

from __future__ import annotations

__all__ = [
    "FRIEDMAN_F",
    "PAPER_CD",
    "PAPER_CHOSEN",
    "PAPER_DATA",
    "PAPER_F1",
    "PAPER_GRID",
    "PAPER_SECONDS",
    "PAPER_TEST_SECONDS",
    "PAPER_TIE",
    "REFERENCE",
    "STRENGTHS",
]

REFERENCE = (
    "H. Zhao, Q. Hu, P. Zhu, Y. Wang, P. Wang (2021). A recursive regularization based feature "
    "selection framework for hierarchical classification. IEEE TKDE 33."
)

# Table 2: training rows, test rows, features, nodes, leaves, levels
PAPER_DATA = {
    "F194": (7105, 1420, 473, 202, 194, 3),
    "DD": (3020, 605, 473, 32, 27, 3),
    "VOC": (7178, 5105, 1000, 30, 20, 5),
    "Cifar100": (50000, 10000, 4096, 121, 100, 3),
    "SUN": (45109, 22556, 4096, 343, 324, 4),
    "ILSVRC65": (12346, 11845, 4096, 65, 57, 4),
}
# Table 3: seconds of classification with some and with all features
PAPER_TEST_SECONDS = {
    "F194": (0.709, 0.729),
    "DD": (0.858, 0.860),
    "VOC": (256.0, 1041.0),
    "Cifar100": (1172.0, 6552.0),
    "SUN": (779.0, 3925.0),
    "ILSVRC65": (4855.0, 27232.0),
}
# Tables 4, 5 and 7: HierFisher, HierFSNM, HierMRMR, Hier-FS, HiRRfam-FS; None: out of memory
PAPER_TIE = {
    "F194": (0.1945, 0.2123, 0.1800, 0.1746, 0.1730),
    "DD": (0.1355, 0.0886, 0.0919, 0.0850, 0.0836),
    "VOC": (0.2271, 0.2144, 0.2188, 0.2143, 0.2138),
    "Cifar100": (0.1285, None, 0.1273, 0.1269, 0.1272),
    "SUN": (0.1341, None, 0.1322, 0.1280, 0.1271),
    "ILSVRC65": (0.0336, 0.0350, 0.0335, 0.0328, 0.0329),
}
PAPER_F1 = {
    "F194": (0.6758, 0.6462, 0.7000, 0.7089, 0.7117),
    "DD": (0.7741, 0.8524, 0.8468, 0.8584, 0.8606),
    "VOC": (0.6576, 0.6739, 0.6669, 0.6754, 0.6758),
    "Cifar100": (0.7859, None, 0.7879, 0.7885, 0.7880),
    "SUN": (0.8324, None, 0.8348, 0.8400, 0.8411),
    "ILSVRC65": (0.9580, 0.9563, 0.9581, 0.9591, 0.9588),
}
PAPER_SECONDS = {
    "F194": (5.83, 112.6, 50.93, 0.96, 5.59),
    "DD": (0.95, 27.24, 23.87, 0.52, 1.66),
    "VOC": (0.73, 122.1, 251.9, 6.42, 13.4),
    "Cifar100": (14.8, None, 24162.0, 597.0, 8763.0),
    "SUN": (29.7, None, 32953.0, 525.0, 2195.0),
    "ILSVRC65": (6.37, 1042.0, 9574.0, 227.0, 450.0),
}
FRIEDMAN_F = 21.94  # with the ranks of Table 5
PAPER_CD = 2.046  # at .1

# Table 6: features 1 to 473 of the root and of its four children, in the order of their numbers
PAPER_CHOSEN = {
    name: tuple(int(feature) for feature in features.split())
    for name, features in {
        "root": "425 426 430 433 437 441 443 444 445 446 449 450 451 452 454 455 "
        "457 458 460 461 463 464 467 469",
        "node 1": "421 422 423 424 425 426 427 428 429 431 433 434 435 436 439 440 "
        "448 454 457 463 464 467 468 469",
        "node 2": "422 423 425 427 428 430 431 432 433 434 435 436 437 438 451 455 "
        "458 460 463 464 465 467 469 470",
        "node 3": "421 422 423 424 426 427 428 429 430 432 434 435 439 440 446 448 "
        "449 451 452 453 457 460 467 470",
        "node 4": "421 422 424 425 426 431 433 434 437 440 449 451 452 453 454 456 "
        "457 458 462 463 465 466 469 470",
    }.items()
}

STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
# Table 8(b), DD: a row for every beta, a column for every alpha, as printed
PAPER_GRID = (
    (0.8601, 0.8601, 0.8601, 0.8601, 0.8601),
    (0.8601, 0.8601, 0.8601, 0.8601, 0.8601),
    (0.8601, 0.8601, 0.8601, 0.8601, 0.8601),
    (0.8601, 0.8601, 0.8601, 0.8601, 0.8601),
    (0.5851, 0.5851, 0.5851, 0.7731, 0.8292),
)
