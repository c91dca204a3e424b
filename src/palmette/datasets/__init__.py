"""Data sets: embedded ones, generators, readers of files, and a data home with checksums."""

from palmette.datasets.digits import load_digits_hierarchy
from palmette.datasets.fetch import fetch
from palmette.datasets.generators import bayes_optimal_leaves, make_hierarchical_classification
from palmette.datasets.home import data_home, list_datasets
from palmette.datasets.stdlib_docstrings import content_split, load_stdlib_docstrings
from palmette.datasets.table import read_table

__all__ = [
    "bayes_optimal_leaves",
    "content_split",
    "data_home",
    "fetch",
    "list_datasets",
    "load_digits_hierarchy",
    "load_stdlib_docstrings",
    "make_hierarchical_classification",
    "read_table",
]
