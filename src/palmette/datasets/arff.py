"""ARFF, the text format of Weka and its kin: dense or sparse rows under typed attributes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.datasets.arff_header import ArffAttribute, read_header
from palmette.datasets.arff_rows import RowSource, read_dense_rows
from palmette.datasets.arff_sparse import read_sparse_rows
from palmette.datasets.bunch_parts import object_array
from palmette.datasets.plain_text import read_text

__all__ = ["ArffAttribute", "ArffData", "read_arff"]


@dataclass(frozen=True)
class ArffData:
    """The content of an ARFF file.

    Attributes
    ----------
    path : str
        The file, for the errors of those who read on.
    relation : str
    attributes : tuple of ArffAttribute
    numbers : float array or CSR array of shape (n_rows, n_coded)
        The numeric and nominal attributes in their order; NaN where missing. A nominal value is
        the number of its place in the declaration, so that ``{0,1}`` stands for itself.
    texts : dict of int to object array of shape (n_rows,)
        The string, date and hierarchical attributes by their index; None where missing.
    line_numbers : int array of shape (n_rows,)
        Where each row stands in the file.
    header_text : str
        The lines above the rows as they are written.
    """

    path: str
    relation: str
    attributes: tuple[ArffAttribute, ...]
    numbers: NDArray[np.floating] | sparse.csr_array
    texts: dict[int, NDArray[np.object_]]
    line_numbers: NDArray[np.int64]
    header_text: str

    @property
    def n_rows(self) -> int:
        """Number of data rows."""
        return len(self.line_numbers)

    @cached_property
    def coded(self) -> tuple[ArffAttribute, ...]:
        """The attributes that have a column in `numbers`."""
        return tuple(a for a in self.attributes if a.is_coded)

    def describe_columns(
        self, columns: Sequence[int] | None = None
    ) -> tuple[NDArray[np.object_], NDArray[np.bool_], dict[str, tuple[str, ...]]]:
        """Describe columns of `numbers`, all by default.

        Nominal attributes stay one column of codes each. So the number of features is the one
        that tables publish, missing values stay missing, and an estimator that knows about
        categories (scikit-learn's ``categorical_features``) takes the mask as it is; one-hot
        columns are one ``OneHotEncoder`` away, the way back from them would not be.

        Returns
        -------
        names : object array of shape (n_columns,)
        categorical : bool array of shape (n_columns,)
            Where the numbers are codes of a nominal attribute other than ``{0,1}``.
        categories : dict of name to tuple of str
            What the codes 0, 1, ... of each of these stand for.
        """
        coded = self.coded
        chosen = [coded[i] for i in (range(len(coded)) if columns is None else columns)]
        names = object_array(a.name for a in chosen)
        categorical = np.array([a.is_categorical for a in chosen], dtype=bool)
        return names, categorical, {a.name: a.values for a in chosen if a.is_categorical}


def read_arff(path: str | os.PathLike[str], dtype: type[np.floating] = np.float64) -> ArffData:
    """Read an ARFF file, dense or sparse.

    Keywords are taken in any case; values may be quoted with ``'`` or ``"``; ``%`` begins a
    comment line; a bare ``?`` is missing. The reader is strict: a row of a wrong width, an
    undeclared nominal value or a text in a numeric column is an error that names file, line
    and column.

    Parameters
    ----------
    path : path-like
        May be packed as .xz, .gz, .bz2 or .zip.
    dtype : type, default=float64
        Of the numbers; float32 halves the memory of wide files.

    Returns
    -------
    ArffData

    Raises
    ------
    ReadError
        Where the file is not a valid ARFF file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".arff") as file:
    ...     _ = file.write("@relation r\\n@attribute a real\\n@attribute c {x,y}\\n@data\\n.5,y\\n")
    ...     file.flush()
    ...     read_arff(file.name).numbers
    array([[0.5, 1. ]])
    """
    lines = read_text(path).split("\n")
    header = read_header(lines, path)
    stripped = [line.strip() for line in lines[header.n_lines :]]
    kept = np.array([bool(line) and line[0] != "%" for line in stripped], dtype=bool)
    source = RowSource(
        path=path,
        attributes=header.attributes,
        lines=[line for line, keep in zip(stripped, kept, strict=True) if keep],
        line_numbers=np.flatnonzero(kept) + header.n_lines + 1,
    )
    is_sparse = bool(source.lines) and source.lines[0][0] == "{"
    rows = (read_sparse_rows if is_sparse else read_dense_rows)(source, dtype)
    return ArffData(
        path=os.fspath(path),
        relation=header.relation,
        attributes=header.attributes,
        numbers=rows.numbers,
        texts=rows.texts,
        line_numbers=source.line_numbers,
        header_text="\n".join(lines[: header.n_lines]),
    )
