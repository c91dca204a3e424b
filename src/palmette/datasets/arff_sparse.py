"""Sparse ARFF rows, ``{index value, ...}``, to a CSR array of numbers and codes, and texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.datasets.arff_fields import FieldError, split_sparse_fields
from palmette.datasets.arff_rows import ArffRows, RowSource, code_of
from palmette.datasets.number_block import chunks_of_rows, parse_numbers
from palmette.exceptions import ReadError

__all__ = ["read_sparse_rows"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.floating]
_Entries = tuple[IntArray, IntArray, FloatArray]  # row, attribute, value of every stored entry


def read_sparse_rows(source: RowSource, dtype: type[np.floating]) -> ArffRows:
    """Read rows that list the values other than zero.

    What a row leaves out is 0, for a nominal attribute the first declared value, and for a text
    the empty string.
    """
    for row, line in enumerate(source.lines):
        if line[0] != "{" or line[-1] != "}":
            source.fail(row, "expected a sparse row {index value, ...} like the first one", 0)
    texts: dict[int, NDArray[np.object_]] = {}
    for i in source.others:
        texts[i] = np.full(len(source.lines), "", dtype=object)
    parts = [
        _read_plain_rows(source, rows) or _read_any_rows(source, rows, texts)
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


def _read_plain_rows(source: RowSource, rows: slice) -> _Entries | None:
    """Read rows where every entry is two numbers; None where the slow reader must have a look."""
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
