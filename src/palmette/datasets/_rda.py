"""R's .rda files with an `mldr` object: the multi-label data sets of R."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from palmette._files import MAX_UNPACKED, read_bytes
from palmette.datasets._reading import INDICATOR, object_array
from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy

_SAVED_BY_R = (b"RDX2\n", b"RDX3\n", b"RDA2\n", b"RDA3\n")
_MAX_SEQUENCE = 2**26  # numbers in a sequence that R writes as three: start, length, step
_SPARSE_BELOW = 0.1


def read_rda(path: str | os.PathLike[str]) -> Bunch:
    """Read an ``mldr`` object from a file that R's ``save`` wrote.

    Needs the package ``rdata``: ``pip install 'palmette[rda]'``.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features), a CSR array if fewer than a tenth of its cells
        are nonzero; ``y``, a 0/1 matrix of shape (n_samples, n_labels), sparse if ``X`` is;
        ``label_names``; ``hierarchy``, the star of the labels; ``feature_names``; ``target_form``.

    Examples
    --------
    >>> read_rda("ng20.rda").y.shape  # doctest: +SKIP
    (19300, 20)
    >>> read_rda("nowhere.rda")
    Traceback (most recent call last):
    ...
    palmette.exceptions.ReadError: nowhere.rda: the file does not exist
    """
    content = read_bytes(path, limit=MAX_UNPACKED)  # decompressed by its first bytes
    if not content.startswith(_SAVED_BY_R):
        raise ReadError("this is not a file that R's save() wrote", path=path)
    frame, label_columns, feature_columns = _mldr_parts(_parse(content, path), path)
    names = object_array(str(name) for name in frame.columns)
    features = _matrix(frame, feature_columns, path)
    labels = _matrix(frame, label_columns, path)
    if not ((labels == 0) | (labels == 1)).all():
        raise ReadError("a label column has values other than 0 and 1", path=path)
    indicator: Any = labels.astype(np.int8)
    matrix: Any = features
    if np.count_nonzero(features) < _SPARSE_BELOW * features.size:
        matrix, indicator = sparse.csr_array(features), sparse.csr_array(indicator)
    try:
        hierarchy = Hierarchy.star(names[label_columns].tolist())
    except PalmetteError as error:
        raise ReadError(f"the label columns have no distinct names ({error})", path=path) from error
    return Bunch(
        X=matrix,
        y=indicator,
        label_names=names[label_columns],
        hierarchy=hierarchy,
        feature_names=names[feature_columns],
        target_form=INDICATOR,
    )


def _parse(content: bytes, path: str | os.PathLike[str]) -> Mapping[str, Any]:
    try:
        import rdata
    except ImportError as error:
        raise ReadError(
            "reading .rda files needs the package rdata: pip install 'palmette[rda]'", path=path
        ) from error

    expanders = dict(rdata.parser.DEFAULT_ALTREP_MAP)
    for name in (b"compact_intseq", b"compact_realseq"):
        expanders[name] = _bounded(expanders[name])
    classes = {**rdata.conversion.DEFAULT_CLASS_MAP, "mldr": lambda content, _: content}
    try:
        parsed = rdata.parser.parse_data(content, altrep_constructor_dict=expanders)
        objects = rdata.conversion.convert(parsed, classes)
    except Exception as error:  # rdata raises many kinds of errors for damaged files
        raise ReadError(f"the file is damaged or truncated ({error!r})", path=path) from error
    if not isinstance(objects, Mapping):
        raise ReadError("the file has no named objects", path=path)
    return objects


def _bounded(expand: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def expand_within_bounds(state: Any) -> Any:
        if not 0 <= float(state.value[0]) <= _MAX_SEQUENCE:
            raise ValueError(f"a sequence of {state.value[0]} numbers")
        return expand(state)

    return expand_within_bounds


def _mldr_parts(
    objects: Mapping[str, Any], path: str | os.PathLike[str]
) -> tuple[Any, list[int], list[int]]:
    """Find data frame, label columns and feature columns of the first mldr object."""
    for value in objects.values():
        if isinstance(value, Mapping) and {"dataset", "labels", "attributesIndexes"} <= set(value):
            frame, labels = value["dataset"], value["labels"]
            if not hasattr(frame, "columns") or "index" not in getattr(labels, "columns", ()):
                break
            features = _columns(value["attributesIndexes"], frame.shape[1], path)
            return frame, _columns(labels["index"], frame.shape[1], path), features
    raise ReadError(
        f"expected an mldr object (dataset, labels, attributesIndexes), found "
        f"{', '.join(map(repr, list(objects)[:5])) or 'nothing'}",
        path=path,
    )


def _columns(indices: Any, width: int, path: str | os.PathLike[str]) -> list[int]:
    """Convert R's column numbers, which start at 1."""
    try:
        columns = [int(index) - 1 for index in np.asarray(indices).ravel().tolist()]
    except (TypeError, ValueError, OverflowError) as error:
        raise ReadError(f"a column number is not an integer ({error})", path=path) from error
    if not all(0 <= column < width for column in columns):
        raise ReadError(f"a column number is not between 1 and {width}", path=path)
    return columns


def _matrix(frame: Any, columns: list[int], path: str | os.PathLike[str]) -> NDArray[np.float64]:
    try:
        return np.asarray(frame.iloc[:, columns].to_numpy(dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ReadError(f"a column of the data set is not numeric ({error})", path=path) from error
