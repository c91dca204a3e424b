"""ARFF files of Clus-HMC: features and one or several classes of a tree or DAG."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from palmette.datasets._arff import ArffData, read_arff
from palmette.datasets._reading import NODE_SETS, NODES
from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy, assemble
from palmette.hierarchy.files._source import Source
from palmette.hierarchy.files._tables import parse_clus_arff
from palmette.labels._labels import NodeLabels


@dataclass(frozen=True)
class ClusTable:
    """One Clus-HMC file: its table and the labels as listed in the rows."""

    table: ArffData
    hierarchy: Hierarchy
    label_sets: list[frozenset[str]]


def read_clus(path: str | os.PathLike[str], dtype: type[np.floating] = np.float64) -> Bunch:
    """Read an ARFF file of Clus-HMC, with a tree or a DAG of classes.

    Parameters
    ----------
    path : path-like
        May be compressed as .xz, .gz, .bz2 or .zip.
    dtype : type, default=float64
        Type of `X`.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features), NaN for missing values; ``y``; ``hierarchy``;
        ``feature_names``; ``categorical_features``, a mask of nominal features, whose values are
        codes, and ``categories``, the values of the codes; ``texts``, string attributes by name;
        ``target_form``.

        If every row has one path, ``y`` is a 1-D array of the most specific nodes (``"nodes"``),
        else a list of frozensets of the listed nodes (``"node_sets"``). A node of a tree is written
        as its path, ``"1/2/7"``, a node of a DAG as its name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "goods.arff")
    ...     _ = file.write_text(
    ...         "@relation r\\n@attribute a real\\n@attribute class hierarchical 1,1/2,3\\n"
    ...         "@data\\n0.5,1@1/2\\n?,3\\n"
    ...     )
    ...     bunch = read_clus(file)
    >>> bunch.y.tolist(), bunch.hierarchy.n_nodes
    (['1/2', '3'], 4)
    """
    part = read_clus_table(path, dtype)
    form, (y,) = clus_targets([part])
    names, categorical, categories = part.table.describe_columns()
    return Bunch(
        X=part.table.numbers,
        y=y,
        hierarchy=part.hierarchy,
        feature_names=names,
        categorical_features=categorical,
        categories=categories,
        texts=clus_texts(part),
        target_form=form,
    )


def read_clus_table(
    path: str | os.PathLike[str], dtype: type[np.floating] = np.float64
) -> ClusTable:
    """Read one file with its labels as listed. The caller combines the files of a set."""
    table = read_arff(path, dtype)
    column = _class_column(table)
    hierarchy = assemble(parse_clus_arff(_HeadOfFile(table)), None)
    return ClusTable(table, hierarchy, _label_sets(table, column, hierarchy))


def clus_targets(parts: Sequence[ClusTable]) -> tuple[str, list[Any]]:
    """Convert the labels of the files of one set to one form.

    Returns
    -------
    target_form : str
    targets : list
        `y` of every part.
    """
    rows = [labels for part in parts for labels in part.label_sets]
    hierarchy = parts[0].hierarchy
    nodes = _single_nodes(rows, hierarchy)
    if nodes is None:
        return NODE_SETS, [part.label_sets for part in parts]
    y = hierarchy.path_strings[nodes]
    ends = np.cumsum([len(part.label_sets) for part in parts])
    return NODES, np.split(y, ends[:-1])


def _single_nodes(rows: list[frozenset[str]], hierarchy: Hierarchy) -> NDArray[np.int32] | None:
    """Return the most specific node of every row, None if some row has several or none."""
    if not rows or not all(rows):
        return None
    few = NodeLabels.encode(rows[:100], hierarchy)  # usually enough to find several
    if not few.is_single_path:
        return None
    labels = NodeLabels.encode(rows, hierarchy)
    return labels.terminals if labels.is_single_path else None


def clus_texts(part: ClusTable) -> dict[str, NDArray[np.object_]]:
    """Return the string attributes, such as an id, which are neither features nor classes."""
    attributes = part.table.attributes
    return {
        attributes[i].name: column
        for i, column in part.table.texts.items()
        if attributes[i].kind == "text"
    }


class _HeadOfFile(Source):
    """The lines before @data, already read, so that the file is not decompressed again."""

    def __init__(self, table: ArffData) -> None:
        super().__init__(table.path)
        self._head = table.header_text

    @cached_property
    def data(self) -> bytes:
        return self._head.encode()


def _class_column(table: ArffData) -> int:
    found = [i for i, a in enumerate(table.attributes) if a.kind == "hierarchical"]
    if len(found) != 1:
        raise ReadError(
            f"found {len(found)} attributes of type hierarchical, expected one, as Clus-HMC "
            "writes it. read_arff reads other ARFF files, read_mulan those with an XML of labels",
            path=table.path,
        )
    return found[0]


def _label_sets(table: ArffData, column: int, hierarchy: Hierarchy) -> list[frozenset[str]]:
    known = {name: name for name in hierarchy.path_strings[1:].tolist()}
    seen: dict[str | None, frozenset[str]] = {None: frozenset()}  # many rows have the same labels
    sets: list[frozenset[str]] = []
    for row, text in enumerate(table.texts[column].tolist()):
        labels = seen.get(text)
        if labels is None:
            names = [name.strip() for name in text.split("@")]
            for name in names:
                if name not in known:
                    raise ReadError(
                        f"the class {name!r} is not declared in the header ({len(known)} classes)",
                        path=table.path,
                        line=int(table.line_numbers[row]),
                        text=text,
                        column=text.find(name),
                    )
            labels = seen[text] = frozenset(known[name] for name in names)
        sets.append(labels)
    return sets
