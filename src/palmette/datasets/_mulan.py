"""MULAN data sets: an ARFF file whose label columns are named, perhaps nested, in an XML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from palmette.datasets._arff import ArffAttribute, ArffData, read_arff
from palmette.datasets._reading import INDICATOR
from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy, assemble
from palmette.hierarchy.files._source import Source
from palmette.hierarchy.files._xml import parse_mulan


def read_mulan(path: str | os.PathLike[str], labels: str | os.PathLike[str] | Hierarchy) -> Bunch:
    """Read a MULAN data set.

    Parameters
    ----------
    path : path-like
        The ARFF file, dense or sparse, compressed or not.
    labels : path-like or Hierarchy
        The XML file that names the label columns, or the result of `read_mulan_labels`.

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features) and ``y``, a 0/1 matrix of shape (n_samples,
        n_labels), both CSR if the rows are sparse; ``label_names``, the columns of ``y``,
        in the order of the XML file; ``hierarchy``, whose nodes except the root are these labels:
        a star, or the tree of nested labels; ``feature_names``; ``categorical_features`` and
        ``categories`` as in `read_clus`; ``target_form``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data, names = pathlib.Path(folder, "a.arff"), pathlib.Path(folder, "a.xml")
    ...     _ = names.write_text('<labels><label name="y"/></labels>')
    ...     _ = data.write_text(
    ...         "@relation r\\n@attribute a real\\n@attribute y {0,1}\\n@data\\n.5,1\\n"
    ...     )
    ...     bunch = read_mulan(data, names)
    >>> bunch.X, bunch.y, bunch.label_names
    (array([[0.5]]), array([[1]], dtype=int8), array(['y'], dtype=object))
    """
    hierarchy = labels if isinstance(labels, Hierarchy) else read_mulan_labels(labels)
    table = read_arff(path)
    label_columns = _find_columns(table, hierarchy)
    chosen = set(label_columns)
    feature_columns = [i for i in range(len(table.coded)) if i not in chosen]
    names, categorical, categories = table.describe_columns(feature_columns)
    return Bunch(
        X=table.numbers[:, feature_columns],
        y=_indicator(table, label_columns),
        label_names=hierarchy.names[1:],
        hierarchy=hierarchy,
        feature_names=names,
        categorical_features=categorical,
        categories=categories,
        target_form=INDICATOR,
    )


def read_mulan_labels(path: str | os.PathLike[str]) -> Hierarchy:
    """Read the XML file of a MULAN data set: a star of labels, or a tree where they are nested."""
    return assemble(parse_mulan(Source(path)), None)


def _find_columns(table: ArffData, hierarchy: Hierarchy) -> list[int]:
    """Find the column of every label, in the order of the hierarchy."""
    columns: dict[str, int] = {}
    repeated: set[str] = set()
    for i, attribute in enumerate(table.coded):
        if attribute.name in columns:
            repeated.add(attribute.name)
        columns[attribute.name] = i
    labels = hierarchy.names[1:].tolist()
    missing = [name for name in labels if name not in columns]
    if missing:
        shown = ", ".join(map(repr, missing[:3])) + (", ..." if len(missing) > 3 else "")
        raise ReadError(
            f"{len(missing)} of {len(labels)} labels have no column ({shown}). Check that the "
            "XML file "
            "belongs to this data set",
            path=table.path,
        )
    for name in labels:
        if name in repeated:
            raise ReadError(
                f"two columns have the name {name!r} of a label: rename one", path=table.path
            )
        _require_binary(table, table.coded[columns[name]])
    return [columns[name] for name in labels]


def _require_binary(table: ArffData, attribute: ArffAttribute) -> None:
    if attribute.is_categorical and set(attribute.values) != {"0", "1"}:
        raise ReadError(
            f"the label {attribute.name!r} has the values {{{','.join(attribute.values[:6])}}}, "
            "expected {0,1}",
            path=table.path,
        )


def _indicator(table: ArffData, columns: Sequence[int]) -> NDArray[np.int8] | sparse.csr_array:
    picked: Any = table.numbers[:, list(columns)]
    is_sparse = sparse.issparse(picked)
    # {1,0} is rare but legal: its codes are reversed
    reversed_ = [k for k, i in enumerate(columns) if table.coded[i].is_categorical]
    if reversed_ and is_sparse:
        raise ReadError(
            "a label is declared as {1,0}, so that sparse rows omit the ones: declare {0,1}",
            path=table.path,
        )
    if reversed_:
        picked[:, reversed_] = 1 - picked[:, reversed_]
    _check_labels(table, sparse.coo_array(picked), columns)
    if not is_sparse:
        return np.ascontiguousarray(picked, dtype=np.int8)
    labels = sparse.csr_array(picked.astype(np.int8))
    labels.eliminate_zeros()
    return labels


def _check_labels(table: ArffData, entries: sparse.coo_array, columns: Sequence[int]) -> None:
    wrong = np.flatnonzero((entries.data != 0) & (entries.data != 1))
    if not len(wrong):
        return
    row, column = (int(coordinate[wrong[0]]) for coordinate in entries.coords)
    value = entries.data[wrong[0]]
    raise ReadError(
        f"the label {table.coded[columns[column]].name!r} is "
        f"{'missing' if np.isnan(value) else f'{value:g}'} in this row, expected 0 or 1",
        path=table.path,
        line=int(table.line_numbers[row]),
    )
