"""LIBSVM and SVMlight text files: ``label index:value index:value ...``, labels perhaps several."""

from __future__ import annotations

import io
import os
import re
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from palmette._files import read_bytes
from palmette.datasets._reading import INDICATOR, NODES, flat_target, object_array
from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy

__all__ = ["read_libsvm"]


_WORD = re.compile(r"\S+")
_LARGEST_INDEX = 2**31 - 1  # scikit-learn's parser stores an index in 32 bits


def read_libsvm(
    path: str | os.PathLike[str],
    *,
    multilabel: bool | None = None,
    n_features: int | None = None,
    zero_based: bool | str = "auto",
) -> Bunch:
    """Read a LIBSVM or SVMlight file.

    Parameters
    ----------
    path : path-like
        May be compressed as .xz, .gz, .bz2 or .zip.
    multilabel : bool, optional
        Whether a row may have several labels (``1,5``) or none. By default this is
        true if some row has.
    n_features : int, optional
        Number of columns, for a test file that lacks the last features of its training file.
    zero_based : bool or "auto"
        Whether indices start at 0; with "auto", if an index 0 occurs.

    Returns
    -------
    Bunch
        ``X``, a CSR array of shape (n_samples, n_features); ``y``, 1-D labels, integers if all are,
        or a CSR 0/1 matrix whose columns are ``label_names``; ``hierarchy``, the star of the
        labels; ``target_form``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".libsvm") as file:
    ...     _ = file.write("3 1:0.5\\n7 2:1\\n")
    ...     file.flush()
    ...     bunch = read_libsvm(file.name)
    >>> bunch.X.shape, bunch.y.tolist()
    ((2, 2), [3, 7])
    """
    from sklearn.datasets import load_svmlight_file

    content = read_bytes(path)
    several = _has_several_labels(content) if multilabel is None else multilabel
    try:
        matrix, labels = load_svmlight_file(
            io.BytesIO(content), n_features=n_features, multilabel=several, zero_based=zero_based
        )
    except (ValueError, OverflowError) as error:
        _report(content, several, path, error)
    features = sparse.csr_array(matrix)
    if several:
        y, names = _indicator(labels, path)
        hierarchy = Hierarchy.star(names.tolist())
        return Bunch(X=features, y=y, label_names=names, hierarchy=hierarchy, target_form=INDICATOR)
    y = _whole_numbers(labels, path)
    return Bunch(X=features, y=y, hierarchy=flat_target(y), target_form=NODES)


def _has_several_labels(content: bytes) -> bool:
    """Whether some row begins with labels joined by commas, or with a feature."""
    return re.search(rb"^[^\S\n]*+[^\s#:,]*+[,:]", content, re.MULTILINE) is not None


def _whole_numbers(labels: NDArray[np.float64], path: str | os.PathLike[str]) -> NDArray[Any]:
    if np.isnan(labels).any():
        raise ReadError("a label is not a number (nan)", path=path)
    # beyond 2**53 all floats are whole numbers
    if (np.abs(labels) < 2**53).all() and (labels == np.floor(labels)).all():
        return labels.astype(np.int64)
    return labels


def _indicator(
    labels: list[tuple[float, ...]], path: str | os.PathLike[str]
) -> tuple[sparse.csr_array, NDArray[np.object_]]:
    flat = np.array([label for row in labels for label in row], dtype=np.float64)
    names, columns = np.unique(_whole_numbers(flat, path), return_inverse=True)
    rows = np.repeat(np.arange(len(labels)), [len(row) for row in labels])
    ones = np.ones(len(rows), dtype=np.int8)
    matrix = sparse.csr_array((ones, (rows, columns)), shape=(len(labels), len(names)))
    matrix.data[:] = 1  # a label listed twice in a row was counted twice
    return matrix, object_array(names.tolist())


def _report(
    content: bytes, several: bool, path: str | os.PathLike[str], error: Exception
) -> NoReturn:
    """Find the invalid line, which scikit-learn's message does not name."""
    for number, line in enumerate(content.decode("latin-1").split("\n"), start=1):
        found = _check_line(line, several)
        if found is not None:
            message, column = found
            raise ReadError(message, path=path, line=number, text=line, column=column) from error
    raise ReadError(f"the file cannot be read ({error})", path=path) from error


def _check_line(line: str, several: bool) -> tuple[str, int] | None:
    words = list(_WORD.finditer(line.partition("#")[0]))
    if not words:
        return None
    first = words[0][0]
    if not (several and ":" in first):
        for label in first.split(",") if several else [first]:
            if not _is_number(label):
                return f"expected a number as the label, found {label!r}", words[0].start()
        words = words[1:]
    if words and words[0][0].startswith("qid:"):
        words = words[1:]
    last = -1
    for word in words:
        index, colon, value = word[0].partition(":")
        if not colon or not re.fullmatch(r"\+?[0-9]+", index) or not _is_number(value):
            return f"expected index:value, found {word[0]!r}", word.start()
        if len(index) > 10 or int(index) > _LARGEST_INDEX:
            return f"the index is larger than {_LARGEST_INDEX}", word.start()
        if int(index) <= last:
            return f"indices must increase, but {index} comes after {last}", word.start()
        last = int(index)
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
