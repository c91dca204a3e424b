"""Files of rows with a target: CSV, TSV, Parquet, plain files of the UCI repository, LIBSVM."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from palmette._files import plain_suffix, read_bytes
from palmette.datasets._reading import (
    INDICATOR,
    NODES,
    flat_target,
    object_array,
    parse_number,
    parse_numbers,
    read_text,
)
from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._separators import split_path
from palmette.labels._labels import NodeLabels

if TYPE_CHECKING:
    import pandas as pd


PATHS = "paths"  # target_form: a list of tuples, one path each
MAX_CELLS = 2**28
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = {".parquet", ".pq"}


def read_table(
    path: str | os.PathLike[str],
    target: str | Sequence[str],
    *,
    path_separator: str | None = None,
    features: Sequence[str] | None = None,
) -> Bunch:
    """Read a table with a class, or a path of classes, in some of its columns.

    Needs pandas, and pyarrow for Parquet: ``pip install 'palmette[table]'``.

    Parameters
    ----------
    path : path-like
        A .csv, .tsv or .parquet file with column names; text may be compressed as .xz, .gz, .bz2 or
        .zip.
    target : str or sequence of str
        The column of the class. Several columns are the levels of a path, from the top; an empty
        cell ends a path early.
    path_separator : str, optional
        Splits the cells of a single target column into paths, such as ``" > "``. It is used exactly
        as given; white space around the names is removed. By default `y` is the column, and cells
        that form a tree give the hierarchy, as in `NodeLabels.encode`.
    features : sequence of str, optional
        Columns of `X`; all but the target by default.

    Returns
    -------
    Bunch
        ``X``, a DataFrame; ``y``, a 1-D array of classes (``target_form`` "nodes") or a list of
        tuples, one path each ("paths"); ``hierarchy``, a star or the tree of the paths;
        ``feature_names``; ``target_form``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "goods.csv")
    ...     _ = file.write_text("price,kind\\n2.5,Food > Fruit\\n30,Garden\\n")
    ...     bunch = read_table(file, target="kind", path_separator=" > ")
    >>> bunch.y, bunch.X.price.tolist()
    ([('Food', 'Fruit'), ('Garden',)], [2.5, 30.0])
    """
    levels = [target] if isinstance(target, str) else list(target)
    if not levels:
        raise ReadError("target is empty: expected the name of a column", path=path)
    if path_separator is not None and (len(levels) > 1 or not path_separator.strip()):
        raise ReadError("path_separator needs one target column, and must not be blank", path=path)
    frame = _load(path)
    wanted = [*levels, *(features or ())]
    _require_columns(frame, wanted, path)
    chosen = [c for c in frame.columns if c not in levels] if features is None else list(features)
    if path_separator is not None:
        y: Any = _split_paths(frame[levels[0]], path_separator, path)
    elif len(levels) > 1:
        y = _column_paths(frame[levels], path)
    else:
        y = _classes(frame[levels[0]], path)
    is_path = isinstance(y, list)
    return Bunch(
        X=frame[chosen],
        y=y,
        hierarchy=Hierarchy.from_paths(list(dict.fromkeys(y))) if is_path else _hierarchy_of(y),
        feature_names=object_array(chosen),
        target_form=PATHS if is_path else NODES,
    )


def _load(path: str | os.PathLike[str]) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError as error:
        raise ReadError(
            "reading tables needs pandas: pip install 'palmette[table]'", path=path
        ) from error

    suffix = plain_suffix(path)
    if suffix in _PARQUET:
        return _load_parquet(path)
    separator = _SEPARATORS.get(suffix)
    if separator is None:
        raise ReadError(
            f"the suffix {suffix!r} is unknown: expected .csv, .tsv or .parquet", path=path
        )
    content = read_bytes(path)
    if b"\0" in content:
        raise ReadError("this is a binary file: expected a table in text", path=path)
    _bound_cells(content, separator, path)
    try:
        return pd.read_csv(
            io.BytesIO(content), sep=separator, encoding=_encoding(content), **_exact(pd)
        )
    except (ValueError, OverflowError, MemoryError) as error:
        # "Error tokenizing data. C error: Expected 2 fields in line 3, saw 4"
        line = re.search(r"\bline (\d+)", str(error))
        raise ReadError(
            f"the table cannot be read ({error})", path=path, line=int(line[1]) if line else None
        ) from error


def _exact(pandas: Any) -> dict[str, str]:
    """Return options with which numbers are read by Python's parser, or as well.

    That of pandas misreads long exponents before 3.1, and before 3.0 9e7872688807 ends the process.
    """
    is_exact = tuple(map(int, pandas.__version__.split(".")[:2])) >= (3, 1)
    return {} if is_exact else {"float_precision": "round_trip"}


def _encoding(content: bytes) -> str:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _bound_cells(content: bytes, separator: str, path: str | os.PathLike[str]) -> None:
    """Raise an error for a wide header with many short rows, which pandas would pad with NaN."""
    width = content.partition(b"\n")[0].count(separator.encode()) + 1
    height = content.count(b"\n") + 1
    if width * height > MAX_CELLS:
        raise ReadError(
            f"the table has {height:,} lines of {width:,} columns, more than {MAX_CELLS:,} cells. "
            "Store it as Parquet, or split it",
            path=path,
        )


def _load_parquet(path: str | os.PathLike[str]) -> pd.DataFrame:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ReadError(
            "reading Parquet needs pyarrow: pip install 'palmette[table]'", path=path
        ) from error

    try:
        with pq.ParquetFile(io.BytesIO(read_bytes(path))) as file:
            cells = file.metadata.num_rows * file.metadata.num_columns
            if cells > MAX_CELLS:
                raise ReadError(
                    f"the table has {cells:,} cells: expected at most {MAX_CELLS:,}", path=path
                )
            frame: pd.DataFrame = file.read().to_pandas()
    except ReadError:
        raise
    except (pa.ArrowException, ValueError, OSError, KeyError, TypeError) as error:
        raise ReadError(f"this is not a readable Parquet file ({error})", path=path) from error
    return frame


def _require_columns(
    frame: pd.DataFrame, wanted: Sequence[str], path: str | os.PathLike[str]
) -> None:
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        there = ", ".join(map(str, frame.columns[:20]))
        more = f", ... ({len(frame.columns)} in all)" if len(frame.columns) > 20 else ""
        raise ReadError(
            f"the table has no column {missing[0]!r} (it has: {there}{more})", path=path
        )
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ReadError(f"two columns have the name {twice!r}: rename one", path=path)


def _classes(column: pd.Series[Any], path: str | os.PathLike[str]) -> Any:
    _require_values(column, path)
    # whole numbers stay numbers, text becomes str objects
    values = column.to_numpy()
    return values if values.dtype.kind in "iuf" else object_array(column.tolist())


def _split_paths(
    column: pd.Series[Any], separator: str, path: str | os.PathLike[str]
) -> list[tuple[str, ...]]:
    _require_values(column, path)
    known: dict[str, tuple[str, ...]] = {}
    rows: list[tuple[str, ...]] = []
    for row, cell in enumerate(column.astype(str).tolist()):
        steps = known.get(cell)
        if steps is None:
            steps = split_path(cell, separator)
            if not steps or not all(steps):
                raise ReadError(
                    f"row {row + 1} has the path {cell!r}, in which a name is empty: expected "
                    "names between the separators",
                    path=path,
                )
            known[cell] = steps
        rows.append(steps)
    return rows


def _hierarchy_of(y: NDArray[Any]) -> Hierarchy:
    return NodeLabels.encode(y).hierarchy if y.dtype == object and len(y) else flat_target(y)


def _column_paths(levels: pd.DataFrame, path: str | os.PathLike[str]) -> list[tuple[Any, ...]]:
    for name in levels.columns:
        _require_plain_cells(levels[name], path)
    # pandas reads integers with missing values as floats: 3 must not become 3.0
    cells = levels.convert_dtypes().astype(object)
    missing = levels.isna().to_numpy() | (levels == "").to_numpy()
    ends = np.where(missing.any(axis=1), missing.argmax(axis=1), missing.shape[1])
    wrong = np.flatnonzero((ends == 0) | (missing.sum(axis=1) + ends != missing.shape[1]))
    if len(wrong):
        shown = ", ".join("-" if gone else str(cell) for cell, gone in zip(
            cells.iloc[wrong[0]], missing[wrong[0]], strict=True))  # fmt: skip
        raise ReadError(
            f"row {wrong[0] + 1} has the path ({shown}): expected names from the top, and empty "
            "cells only below the last. Fill in the level that is empty",
            path=path,
        )
    return [
        tuple(row[:end]) for row, end in zip(cells.to_numpy().tolist(), ends.tolist(), strict=True)
    ]


def _require_plain_cells(column: pd.Series[Any], path: str | os.PathLike[str]) -> None:
    if column.dtype == object and not all(isinstance(cell, Hashable) for cell in column):
        raise ReadError(
            f"the target column {column.name!r} has lists: expected one name per cell, or the "
            "levels of a path in separate columns",
            path=path,
        )


def _require_values(column: pd.Series[Any], path: str | os.PathLike[str]) -> None:
    _require_plain_cells(column, path)
    missing = np.flatnonzero(column.isna().to_numpy())
    if len(missing):
        raise ReadError(
            f"row {missing[0] + 1} has no value in the target column {column.name!r}: fill it in "
            "or drop the row",
            path=path,
        )


# ---------------------------------------------------------------------- plain files


def read_delimited(
    path: str | os.PathLike[str],
    *,
    separator: str | None,
    target: int,
    ignored: Sequence[int] = (),
    header: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
    """Read a table of numbers in which one column is a class and some are ids.

    `read_table` reads tables with names and texts; this one needs no pandas.

    Parameters
    ----------
    path : path-like
    separator : str or None
        None means any white space.
    target : int
        The column of the class; negative numbers count from the end.
    ignored : sequence of int
        Columns that are neither features nor class.
    header : bool
        Whether the first line names the columns.

    Returns
    -------
    X : float array of shape (n_samples, n_features)
        NaN for ``?``.
    y : object array of shape (n_samples,)
        The class as written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "letters.data")
    ...     _ = file.write_text("T,2,8\\nI,5,12\\n")
    ...     X, y = read_delimited(file, separator=",", target=0)
    >>> X.tolist(), y.tolist()
    ([[2.0, 8.0], [5.0, 12.0]], ['T', 'I'])
    """
    lines = read_text(path).split("\n")
    numbers = [i for i, line in enumerate(lines) if line.strip()][1 if header else 0 :]
    rows = [lines[i] for i in numbers]
    if not rows:
        raise ReadError("the table has no rows", path=path)
    fields = [row.split(separator) for row in rows]
    width = len(fields[0])
    if not -width <= target < width or width - 1 - len(ignored) < 1:
        raise ReadError(
            f"found {width} columns, too few for a class and a feature", path=path,
            line=numbers[0] + 1, text=rows[0],
        )  # fmt: skip
    left_out = {i % width for i in (target, *ignored)}
    columns = [i for i in range(width) if i not in left_out]
    for place, row in enumerate(fields):
        if len(row) != width:
            raise ReadError(
                f"found {len(row)} columns, expected {width} as in the first row",
                path=path,
                line=numbers[place] + 1,
                text=rows[place],
            )
    features: Any = parse_numbers(rows, separator, columns)
    if features is None:
        _report(fields, columns, numbers, rows, path)
    return features, object_array(row[target].strip() for row in fields)


def _report(
    fields: list[list[str]],
    columns: list[int],
    numbers: list[int],
    rows: list[str],
    path: str | os.PathLike[str],
) -> None:
    for place, row in enumerate(fields):
        for i in columns:
            try:
                parse_number(row[i].strip())
            except ValueError:
                raise ReadError(
                    f"expected a number in column {i + 1}, found {row[i].strip()!r}",
                    path=path,
                    line=numbers[place] + 1,
                    text=rows[place],
                ) from None
    raise ReadError("the table cannot be read as numbers", path=path)


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
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "rows.libsvm")
    ...     _ = file.write_text("3 1:0.5\\n7 2:1\\n")
    ...     bunch = read_libsvm(file)
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
        _report_line(content, several, path, error)
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


def _report_line(
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
