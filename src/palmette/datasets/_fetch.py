"""Fetch a data set of the data home by its name."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from palmette.datasets._families import (
    Files,
    load_clus,
    load_delimited,
    load_flat_arff,
    load_libsvm,
    load_mat,
    load_mulan,
    load_rda,
)
from palmette.datasets._home import DatasetEntry, find_dataset
from palmette.datasets._named_sets import (
    load_clinc150,
    load_newsgroups,
    load_omniglot,
    load_rcv1,
    load_taxonomy,
    load_wos,
)
from palmette.exceptions import DataHomeError, PalmetteError
from palmette.labels._containers import LabelArray

Loader = Callable[[DatasetEntry, Files], dict[str, Any]]

# Beginning of the format in the manifest, and its loader.
_BY_FORMAT: dict[str, Loader] = {
    "Clus-HMC ARFF": load_clus,
    "MULAN ARFF": load_mulan,
    "MATLAB v5": load_mat,
    "R .rda": load_rda,
    "LIBSVM": load_libsvm,
    "ARFF": load_flat_arff,
}

# Data sets with a format of their own, or with options.
_BY_NAME: dict[str, Loader] = {
    # 15313 x 2071 0/1 features: half the memory
    "phyletic_profiles": partial(load_clus, dtype=np.float32),
    "clinc150": load_clinc150,
    "20newsgroups_bydate": load_newsgroups,
    "omniglot_small": load_omniglot,
    "wos_1k": load_wos,
    "rcv1_dev": load_rcv1,
    "glass": partial(load_delimited, separator=",", pattern=r"\.data", ignored=(0,)),
    "yeast_uci": partial(load_delimited, separator=None, pattern=r"\.data", ignored=(0,)),
    "landsat": partial(load_delimited, separator=None, pattern=r"^sat\.", header=True),
    "optdigits": partial(load_delimited, separator="\t", pattern=r"\.t(ra|es)"),
    "pendigits": partial(load_delimited, separator=",", pattern=r"\.t(ra|es)", one_hot_class=True),
    "letter": partial(load_delimited, separator=",", pattern=r"\.data", target=0, header=True),
    "icd10cm": partial(load_taxonomy, file=".txt", alternates={"xml": ".xml"}),
    "imagenet_wordnet": partial(
        load_taxonomy,
        file="parent-child.txt",
        root="root",
        alternates={"mintree": "mintree.txt"},
        class_index=".json",
    ),
    "cifar100_wordnet": partial(
        load_taxonomy,
        file="parent-child.txt",
        alternates={"named": "hierarchy.txt"},
        names="class_names.txt",
    ),
    "inaturalist": partial(load_taxonomy, file="inat.txt", alternates={"2019": "inat2019.txt"}),
    "cub200": partial(
        load_taxonomy,
        file="parent-child.txt",
        alternates={"named": "hierarchy_wikispecies.txt"},
        names="classes_wikispecies.txt",
    ),
    "ipc_2022": partial(load_taxonomy, file="id_6.tsv", alternates={"subclasses": "id_4.tsv"}),
}


def fetch(name: str, data_home: str | os.PathLike[str] | None = None, verify: bool = True) -> Bunch:
    """Load a data set of the data home.

    Parameters
    ----------
    name : str
        As in the manifest: see `list_datasets`.
    data_home : path-like, optional
        The folder of data sets; by default the environment variable ``PALMETTE_DATA``.
    verify : bool, default=True
        Compare the sha256 of every file with the manifest.

    Returns
    -------
    Bunch
        ``X_train``, ``y_train``, ``X_test``, ``y_test`` of the published split, and ``X_valid``,
        ``y_valid`` if the source has them; ``X`` and ``y`` if there is no split. A set of
        which only one part exists has only that part.

        X is a float array with NaN for missing values, a CSR array for sparse sources, a uint8
        array for images, or a list of strings. The form of y is ``target_form``: ``"nodes"`` (1-D,
        one node per row: a path string, a name or a number), ``"node_sets"`` (frozensets,
        several nodes per row) or ``"indicator"`` (0/1, one column per label in ``label_names``).
        ``hierarchy`` has all of these nodes; it is a star for flat and multi-label sets, so that
        they need no special case. If it is not a star, y is an array that carries it: ``fit`` and
        metrics use it, also for rows taken from y, unless another hierarchy is given.
        Taxonomies have only ``hierarchy`` (``target_form`` is None), and ``alternates`` if the set
        has several.

        Further keys are ``name``, ``feature_names`` (None for texts), ``DESCR``, for ARFF sets
        ``categorical_features``, a mask of the nominal features, which estimators with a
        parameter of this name take, and ``categories``, and others that depend on the set.

    Raises
    ------
    DataHomeError
        If there is no data home or no such set, or if a file is missing or altered.
    ReadError
        If a file cannot be read.

    Examples
    --------
    >>> bunch = fetch("imclef07a")  # doctest: +SKIP
    >>> clf.fit(bunch.X_train, bunch.y_train).predict(bunch.X_test)  # doctest: +SKIP
    >>> fetch("imclef07a", data_home="/nowhere")
    Traceback (most recent call last):
    ...
    palmette.exceptions.DataHomeError: /nowhere is not a folder, expected the data home...
    """
    entry = find_dataset(name, data_home)
    files = entry.files(verify)
    try:
        loaded = _loader(entry)(entry, files)
    except PalmetteError:
        raise
    except (ValueError, LookupError, TypeError, RecursionError, csv.Error) as error:
        # small files, such as JSON, that have no reader of their own
        raise DataHomeError(
            f"{entry.name}: a file is not as expected ({error!r}). Copy the set again."
        ) from error
    loaded.setdefault("feature_names", None)
    hierarchy = loaded["hierarchy"]
    for key, y in loaded.items():  # a sparse matrix cannot carry a hierarchy
        is_labels = key.split("_")[0] == "y" and isinstance(y, np.ndarray | list)
        if is_labels and hierarchy.max_depth > 1:
            loaded[key] = LabelArray(y, hierarchy)
    return Bunch(name=entry.name, DESCR=entry.description, **loaded)


def _loader(entry: DatasetEntry) -> Loader:
    if entry.name in _BY_NAME:
        return _BY_NAME[entry.name]
    if entry.group == "taxonomies":
        return load_taxonomy
    written = str(entry.facts.get("format", ""))
    for beginning, loader in _BY_FORMAT.items():
        if written.startswith(beginning):
            return loader
    raise DataHomeError(
        f"{entry.name}: the manifest has the format {written!r}, for which there is no reader. "
        f"Expected one of: {', '.join(_BY_FORMAT)}."
    )
