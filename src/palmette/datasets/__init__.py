"""Data sets: embedded ones, generators, readers of files, and a data home with checksums."""

from palmette.datasets.arff import read_arff
from palmette.datasets.clus import read_clus
from palmette.datasets.digits import load_digits_hierarchy
from palmette.datasets.fetch import fetch
from palmette.datasets.generators import bayes_optimal_leaves, make_hierarchical_classification
from palmette.datasets.home import data_home, find_dataset, list_datasets
from palmette.datasets.libsvm import read_libsvm
from palmette.datasets.mat import read_mat
from palmette.datasets.mulan import read_mulan
from palmette.datasets.rda import read_rda
from palmette.datasets.stdlib_docstrings import content_split, load_stdlib_docstrings
from palmette.datasets.table import read_table

__all__ = [
    "bayes_optimal_leaves",
    "content_split",
    "data_home",
    "fetch",
    "find_dataset",
    "list_datasets",
    "load_digits_hierarchy",
    "load_stdlib_docstrings",
    "make_hierarchical_classification",
    "read_arff",
    "read_clus",
    "read_libsvm",
    "read_mat",
    "read_mulan",
    "read_rda",
    "read_table",
]
