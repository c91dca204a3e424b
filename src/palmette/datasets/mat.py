"""MATLAB files: a data matrix with a tree of classes, or with a matrix of labels."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from palmette.core.files import read_bytes
from palmette.core.hierarchy import Hierarchy
from palmette.datasets.bunch_parts import INDICATOR, NODES, numbered_names, object_array
from palmette.datasets.mat5 import Mat5Error, read_mat5
from palmette.exceptions import HierarchyError, ReadError

__all__ = ["MAX_CELLS", "read_mat"]

MAX_CELLS = 2**28  # 2 GiB of doubles: a header of some bytes can claim any size
_SPARSE_BELOW = 0.1  # share of nonzero cells under which CSR is smaller and quicker
_READ = {"data_array", "tree", "data", "target"}
_HDF5 = b"\x89HDF\r\n\x1a\n"


def read_mat(path: str | os.PathLike[str]) -> Bunch:
    """Read a MATLAB file (version 5 to 7) in one of two layouts.

    ``data_array`` and ``tree``
        Rows of features with the class, a node number from 1, in the last column; ``tree`` holds
        the parent of every node, 0 for the root, in its first column. A second column with
        levels is not looked at: where it disagrees, the parents are right.
    ``data`` and ``target``
        Rows of features, and 0/1 (or -1/1) labels of shape (n_labels, n_samples).

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features), a CSR array where fewer than a tenth of its cells
        are nonzero; ``y``, 1-D node numbers, which are the names in ``hierarchy``, or a 0/1
        matrix with ``label_names``; ``feature_names`` x0, x1, ...; ``target_form``.

    Examples
    --------
    >>> import scipy.io, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".mat") as file:
    ...     content = {"data_array": [[0.5, 1], [0.7, 2]], "tree": [[3, 1], [3, 1], [0, 0]]}
    ...     scipy.io.savemat(file.name, content)
    ...     bunch = read_mat(file.name)
    >>> bunch.y.tolist(), bunch.hierarchy.names.tolist()
    ([1, 2], [3, 1, 2])
    """
    content = read_bytes(path)
    if content[:8] == _HDF5 or content[512:520] == _HDF5:
        raise ReadError(
            "this is a MATLAB 7.3 file (HDF5), which is not read here. Save it again in MATLAB "
            "with save(..., '-v7'), or load it with h5py (arrays are transposed there)",
            path=path,
        )
    try:
        variables = read_mat5(content, _READ, MAX_CELLS)
    except Mat5Error as error:
        raise ReadError(
            f"this is no MATLAB file of version 5 to 7, or it is damaged: {error}", path=path
        ) from error
    values = {name: variable.value for name, variable in variables.items()}
    if values.keys() >= {"data_array", "tree"}:
        return _with_tree(values["data_array"], values["tree"], path)
    if values.keys() >= {"data", "target"}:
        return _with_labels(values["data"], values["target"], path)
    raise ReadError(
        "expected the variables data_array and tree, or data and target; found "
        + (", ".join(sorted(variables)) or "none"),
        path=path,
    )


def _with_tree(data: Any, tree: Any, path: str | os.PathLike[str]) -> Bunch:
    if data.shape[1] < 2 or tree.shape[1] < 1 or not tree.shape[0]:
        raise ReadError(
            f"data_array has the shape {data.shape} and tree {tree.shape}: expected features and "
            "a class, and a parent for every node",
            path=path,
        )
    hierarchy = _hierarchy(tree, path)
    y = _whole_numbers(_dense(data[:, [-1]])[:, 0], "classes", path)
    wrong = np.flatnonzero((y < 1) | (y > hierarchy.n_nodes))
    if len(wrong):
        raise ReadError(
            f"row {wrong[0] + 1} of data_array has the class {y[wrong[0]]}, expected a node from "
            f"1 to {hierarchy.n_nodes}",
            path=path,
        )
    features = _compact(data[:, :-1])
    return Bunch(
        X=features,
        y=y,
        hierarchy=hierarchy,
        feature_names=numbered_names(features.shape[1]),
        target_form=NODES,
    )


def _hierarchy(tree: Any, path: str | os.PathLike[str]) -> Hierarchy:
    # The trees are uint8, where 0 - 1 is 255: widen before anything is computed.
    parents = _whole_numbers(_dense(tree)[:, 0], "parents in tree", path)
    if len(parents) and not ((parents >= 0) & (parents <= len(parents))).all():
        raise ReadError(
            f"a parent in tree is not a node from 1 to {len(parents)}, nor 0 for the root",
            path=path,
        )
    try:
        return Hierarchy.from_parents(parents - 1, names=list(range(1, len(parents) + 1)))
    except HierarchyError as error:
        raise HierarchyError(f"{os.fspath(path)}: {error}") from error


def _with_labels(data: Any, target: Any, path: str | os.PathLike[str]) -> Bunch:
    if target.shape[1] != data.shape[0] or not data.shape[1]:
        raise ReadError(
            f"data has the shape {data.shape} and target {target.shape}: expected rows x features "
            "and labels x rows",
            path=path,
        )
    labels = _dense(target).T
    values = set(np.unique(labels).tolist())
    if not (values <= {0, 1} or values <= {-1, 1}):
        raise ReadError(f"target holds {sorted(values)[:5]}, expected 0 and 1", path=path)
    names = object_array(f"y{i}" for i in range(labels.shape[1]))
    features = _compact(data)
    return Bunch(
        X=features,
        y=np.ascontiguousarray(labels > 0, dtype=np.int8),
        label_names=names,
        hierarchy=Hierarchy.star(names.tolist()),
        feature_names=numbered_names(features.shape[1]),
        target_form=INDICATOR,
    )


def _compact(features: Any) -> Any:
    """Return float64 features, sparse where that is smaller."""
    if sparse.issparse(features):
        return sparse.csr_array(features.astype(np.float64))
    if np.count_nonzero(features) < _SPARSE_BELOW * features.size:
        # MATLAB's matrices lie column by column, and are searched that way
        by_column = sparse.csr_array(features.T, dtype=np.float64)
        return sparse.csr_array(by_column.T)
    return np.ascontiguousarray(features, dtype=np.float64)


def _dense(matrix: Any) -> NDArray[Any]:
    if not sparse.issparse(matrix):
        return np.asarray(matrix)
    return np.asarray(matrix.toarray())


def _whole_numbers(
    values: NDArray[Any], what: str, path: str | os.PathLike[str]
) -> NDArray[np.int64]:
    numbers = values.astype(np.float64)
    # NaN and infinities fail the second test
    if not ((numbers == np.floor(numbers)) & (np.abs(numbers) < 2**53)).all():
        raise ReadError(f"the {what} are not whole numbers", path=path)
    return numbers.astype(np.int64)
