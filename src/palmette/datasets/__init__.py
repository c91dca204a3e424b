"""Data sets: embedded ones, generators, readers of files, and a data home with checksums."""

from palmette.datasets._arff import read_arff
from palmette.datasets._clus import read_clus
from palmette.datasets._embedded import (
    content_split,
    load_digits_hierarchy,
    load_icd10cm,
    load_stdlib_docstrings,
)
from palmette.datasets._fetch import fetch
from palmette.datasets._generators import bayes_optimal_leaves, make_hierarchical_classification
from palmette.datasets._home import data_home, find_dataset, list_datasets
from palmette.datasets._mat import read_mat
from palmette.datasets._mulan import read_mulan
from palmette.datasets._rda import read_rda
from palmette.datasets._table import read_libsvm, read_table

__all__ = [
    "bayes_optimal_leaves",
    "content_split",
    "data_home",
    "fetch",
    "find_dataset",
    "list_datasets",
    "load_digits_hierarchy",
    "load_icd10cm",
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
