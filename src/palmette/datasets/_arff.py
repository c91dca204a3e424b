"""ARFF, the text format of Weka: dense or sparse rows with typed attributes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.datasets._arff_header import (
    ArffAttribute,
    Field,
    FieldError,
    read_header,
    split_fields,
    split_sparse_fields,
)
from palmette.datasets._reading import (
    chunks_of_rows,
    object_array,
    parse_number,
    parse_numbers,
    read_text,
)
from palmette.exceptions import ReadError

__all__ = [
    "ArffAttribute",
    "ArffData",
    "ArffRows",
    "RowSource",
    "code_of",
    "read_arff",
    "read_dense_rows",
    "read_sparse_rows",
]

FloatArray = NDArray[np.floating]
IntArray = NDArray[np.int64]
_Entries = tuple[IntArray, IntArray, FloatArray]  # row, attribute, value of every stored entry


@dataclass(frozen=True)
class ArffData:
    """The content of an ARFF file.

    Attributes
    ----------
    path : str
        The file, for error messages.
    relation : str
    attributes : tuple of ArffAttribute
    numbers : float array or CSR array of shape (n_rows, n_coded)
        The numeric and nominal attributes in their order; NaN for missing values. A nominal
        value is coded by its position in the declaration, so that ``{0,1}`` is unchanged.
    texts : dict of int to object array of shape (n_rows,)
        The string, date and hierarchical attributes by their index; None for missing values.
    line_numbers : int array of shape (n_rows,)
        Line of each row in the file.
    header_text : str
        The lines before the rows, as written.
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

        Each nominal attribute is one column of codes. So the number of features is the published
        one, missing values stay missing, and an estimator with ``categorical_features`` takes the
        mask without changes. For one-hot columns use ``OneHotEncoder``.

        Returns
        -------
        names : object array of shape (n_columns,)
        categorical : bool array of shape (n_columns,)
            Whether the numbers are codes of a nominal attribute other than ``{0,1}``.
        categories : dict of name to tuple of str
            The values for the codes 0, 1, ... of each of them.
        """
        coded = self.coded
        chosen = [coded[i] for i in (range(len(coded)) if columns is None else columns)]
        names = object_array(a.name for a in chosen)
        categorical = np.array([a.is_categorical for a in chosen], dtype=bool)
        return names, categorical, {a.name: a.values for a in chosen if a.is_categorical}


def read_arff(path: str | os.PathLike[str], dtype: type[np.floating] = np.float64) -> ArffData:
    """Read an ARFF file, dense or sparse.

    Keywords may be in upper or lower case; values may be quoted with ``'`` or ``"``; ``%`` begins a
    comment line; a bare ``?`` is missing. The reader is strict: a row with a wrong number of
    values, an undeclared nominal value or a text in a numeric column is an error that names file,
    line and column.

    Parameters
    ----------
    path : path-like
        May be compressed as .xz, .gz, .bz2 or .zip.
    dtype : type, default=float64
        Type of the numbers; float32 halves the memory of wide files.

    Returns
    -------
    ArffData

    Raises
    ------
    ReadError
        If the file is not a valid ARFF file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> text = "@relation r\\n@attribute a real\\n@attribute c {x,y}\\n@data\\n.5,y\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "r.arff").write_text(text)
    ...     read_arff(Path(folder, "r.arff")).numbers
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


# ---------------------------------------------------------------------- rows


@dataclass(frozen=True)
class ArffRows:
    """The data section: a matrix of numbers and codes, and the texts.

    Attributes
    ----------
    numbers : array or CSR array of shape (n_rows, n_coded)
        The numeric and nominal attributes in their order; NaN for missing values.
    texts : dict of attribute index to object array of shape (n_rows,)
        The other attributes; None for missing values.
    """

    numbers: FloatArray | sparse.csr_array
    texts: dict[int, NDArray[np.object_]]


@dataclass(frozen=True)
class RowSource:
    """The rows of the data section as text, with what error messages need."""

    path: str | os.PathLike[str]
    attributes: tuple[ArffAttribute, ...]
    lines: list[str]  # stripped, without blank lines and comments
    line_numbers: NDArray[np.int64]

    def fail(self, row: int, message: str, column: int | None = None) -> NoReturn:
        """Raise an error that points at a row."""
        raise ReadError(
            message,
            path=self.path,
            line=int(self.line_numbers[row]),
            text=self.lines[row],
            column=column,
        )

    @property
    def coded(self) -> list[int]:
        """Attributes that become columns of the matrix."""
        return [i for i, attribute in enumerate(self.attributes) if attribute.is_coded]

    @property
    def others(self) -> list[int]:
        """Attributes that stay text."""
        return [i for i, attribute in enumerate(self.attributes) if not attribute.is_coded]


def code_of(source: RowSource, row: int, attribute: ArffAttribute, field: Field) -> float:
    """Convert a value to its number or code."""
    if field.is_missing:
        return float("nan")
    if attribute.kind == "nominal":
        try:
            return float(attribute.values.index(field.text))
        except ValueError:
            pass
        if not attribute.is_binary:
            shown = ", ".join(map(repr, attribute.values[:8]))
            source.fail(
                row,
                f"{field.text!r} is not a declared value of {attribute.name!r} ({shown}"
                f"{', ...' if len(attribute.values) > 8 else ''})",
                field.column,
            )
    try:
        number = parse_number(field.text)
    except ValueError:
        source.fail(
            row, f"expected a number for {attribute.name!r}, found {field.text!r}", field.column
        )
    if attribute.is_binary and number not in (0.0, 1.0):
        source.fail(row, f"expected 0 or 1 for {attribute.name!r}", field.column)
    return number


# ---------------------------------------------------------------------- dense rows


def read_dense_rows(source: RowSource, dtype: type[np.floating]) -> ArffRows:
    """Read rows of one value for each attribute.

    Rows without quotes are parsed in large blocks. All other rows, and blocks with an error, are
    read field by field, which is slower and gives exact error messages.
    """
    quoted = np.array(["'" in line or '"' in line for line in source.lines], dtype=bool)
    _check_widths(source, quoted)
    numbers = np.empty((len(source.lines), len(source.coded)), dtype=dtype)
    texts = {i: np.empty(len(source.lines), dtype=object) for i in source.others}
    for rows in chunks_of_rows(source.lines):
        if quoted[rows].any() or not _read_plain_rows(source, rows, numbers, texts):
            for row in range(rows.start, rows.stop):
                _read_row(source, row, numbers, texts)
    return ArffRows(numbers, texts)


def _check_widths(source: RowSource, quoted: NDArray[np.bool_]) -> None:
    """Check the width of all rows before the matrix is allocated, so that its size is bounded."""
    expected = len(source.attributes) - 1
    for row, line in enumerate(source.lines):
        commas = line.count(",")
        if commas < expected or (commas > expected and not quoted[row]):
            _fail_on_width(source, row, commas + 1)


def _fail_on_width(source: RowSource, row: int, found: int) -> NoReturn:
    source.fail(row, f"found {found} values, expected {len(source.attributes)} as declared above")


def _read_plain_rows(
    source: RowSource, rows: slice, numbers: FloatArray, texts: dict[int, NDArray[np.object_]]
) -> bool:
    """Read rows without quotes; False if they need the slower reader."""
    lines = source.lines[rows]
    coded = source.coded
    places = {i: place for place, i in enumerate(coded)}
    numeric = [i for i in coded if not source.attributes[i].is_categorical]
    if numeric:
        columns = None if len(numeric) == len(source.attributes) else numeric
        parsed = parse_numbers(lines, ",", columns, dtype=numbers.dtype.type)
        binary = [k for k, i in enumerate(numeric) if source.attributes[i].is_binary]
        if parsed is None or not _all_binary(parsed[:, binary]):
            return False
        numbers[rows, [places[i] for i in numeric]] = parsed
    if len(numeric) == len(source.attributes):
        return True
    categorical = [i for i in coded if source.attributes[i].is_categorical]
    words = _pick_columns(lines, [*texts, *categorical], len(source.attributes))
    for i in texts:
        texts[i][rows] = [None if word == "?" else word for word in words[i]]
    for i in categorical:
        codes: dict[str, float] = {v: k for k, v in enumerate(source.attributes[i].values)}
        codes["?"] = float("nan")
        column = [codes.get(word, -1.0) for word in words[i]]
        if -1.0 in column:
            return False
        numbers[rows, places[i]] = column
    return True


def _pick_columns(lines: list[str], columns: list[int], width: int) -> dict[int, list[str]]:
    """Return some columns as text.

    Classes and ids are at the ends of long rows, so the middle of a row is not split.
    """
    middle = width // 2
    head = max((i + 1 for i in columns if i < middle), default=0)
    tail = max((width - i for i in columns if i >= middle), default=0)
    heads = [line.split(",", head) for line in lines] if head else []
    tails = [line.rsplit(",", tail) for line in lines] if tail else []
    return {
        i: [row[i].strip() for row in heads]
        if i < middle
        else [row[i - width].strip() for row in tails]
        for i in columns
    }


def _all_binary(numbers: FloatArray) -> bool:
    return bool(((numbers == 0) | (numbers == 1) | np.isnan(numbers)).all())


def _read_row(
    source: RowSource, row: int, numbers: FloatArray, texts: dict[int, NDArray[np.object_]]
) -> None:
    try:
        fields = split_fields(source.lines[row])
    except FieldError as error:
        source.fail(row, error.message, error.column)
    if len(fields) != len(source.attributes):
        _fail_on_width(source, row, len(fields))
    place = 0
    for i, (attribute, field) in enumerate(zip(source.attributes, fields, strict=True)):
        if attribute.is_coded:
            numbers[row, place] = code_of(source, row, attribute, field)
            place += 1
        else:
            texts[i][row] = None if field.is_missing else field.text


# ---------------------------------------------------------------------- sparse rows


def read_sparse_rows(source: RowSource, dtype: type[np.floating]) -> ArffRows:
    """Read rows that list the values other than zero.

    A value that is not listed is 0, for a nominal attribute the first declared value, and for a
    text the empty string.
    """
    for row, line in enumerate(source.lines):
        if line[0] != "{" or line[-1] != "}":
            source.fail(row, "expected a sparse row {index value, ...} like the first one", 0)
    texts: dict[int, NDArray[np.object_]] = {}
    for i in source.others:
        texts[i] = np.full(len(source.lines), "", dtype=object)
    parts = [
        _read_plain_sparse_rows(source, rows) or _read_any_rows(source, rows, texts)
        for rows in chunks_of_rows(source.lines)
    ]
    rows_of, attributes, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    _check_repeats(source, rows_of, attributes)
    place = np.full(len(source.attributes), -1)
    place[source.coded] = np.arange(len(source.coded))
    shape = (len(source.lines), len(source.coded))
    entries = (values.astype(dtype), (rows_of, place[attributes]))
    numbers = sparse.csr_array(entries, shape=shape)
    return ArffRows(numbers, texts)


def _read_plain_sparse_rows(source: RowSource, rows: slice) -> _Entries | None:
    """Read rows whose entries are all numbers; None if they need the slower reader."""
    inner = [line[1:-1].strip() for line in source.lines[rows]]
    widths = np.array([line.count(",") + 1 if line else 0 for line in inner])
    if not widths.any():
        return None
    pairs = parse_numbers(",".join(line for line in inner if line).split(","), None)
    if pairs is None or pairs.shape[1] != 2:
        return None
    index, value = pairs[:, 0], pairs[:, 1]
    inside = (index >= 0) & (index < len(source.attributes)) & (index == np.floor(index))
    if not inside.all():
        return None
    attribute = index.astype(np.int64)
    plain = np.array([a.is_coded and not a.is_categorical for a in source.attributes])
    binary = np.array([a.is_binary for a in source.attributes])
    wrong = binary[attribute] & (value != 0) & (value != 1) & ~np.isnan(value)
    if not plain[attribute].all() or wrong.any():
        return None
    return np.repeat(np.arange(rows.start, rows.stop), widths), attribute, value


def _read_any_rows(
    source: RowSource, rows: slice, texts: dict[int, NDArray[np.object_]]
) -> _Entries:
    entries: list[tuple[int, int, float]] = []
    for row in range(rows.start, rows.stop):
        line = source.lines[row]
        try:
            fields = split_sparse_fields(line, 1, len(line) - 1)
        except FieldError as error:
            source.fail(row, error.message, error.column)
        for digits, field in fields:
            # an index of thousands of digits must not become a number
            index = int(digits) if len(digits) < 10 else len(source.attributes)
            if index >= len(source.attributes):
                source.fail(
                    row,
                    f"index {digits[:20]} is too large: {len(source.attributes)} attributes are "
                    "declared, numbered from 0",
                    field.column,
                )
            attribute = source.attributes[index]
            if attribute.is_coded:
                entries.append((row, index, code_of(source, row, attribute, field)))
            else:
                texts[index][row] = None if field.is_missing else field.text
    row_of, attribute_of, value = zip(*entries, strict=True) if entries else ((), (), ())
    return (
        np.array(row_of, dtype=np.int64),
        np.array(attribute_of, dtype=np.int64),
        np.array(value, dtype=np.float64),
    )


def _check_repeats(source: RowSource, row: IntArray, attribute: IntArray) -> None:
    key = row * len(source.attributes) + attribute
    key.sort()
    twice = np.flatnonzero(key[1:] == key[:-1])
    if len(twice):
        where, index = divmod(int(key[twice[0]]), len(source.attributes))
        raise ReadError(
            f"index {index} occurs twice in this row",
            path=source.path,
            line=int(source.line_numbers[where]),
            text=source.lines[where],
        )
