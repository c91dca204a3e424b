"""Dense ARFF rows to numbers, codes and texts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.datasets.arff_fields import Field, FieldError, split_fields
from palmette.datasets.arff_header import ArffAttribute
from palmette.datasets.number_block import chunks_of_rows, parse_number, parse_numbers
from palmette.exceptions import ReadError

__all__ = ["ArffRows", "RowSource", "code_of", "read_dense_rows"]

FloatArray = NDArray[np.floating]


@dataclass(frozen=True)
class ArffRows:
    """The data section: a matrix of numbers and codes, and the texts that have none.

    Attributes
    ----------
    numbers : array or CSR array of shape (n_rows, n_coded)
        The numeric and nominal attributes in their order; NaN where missing.
    texts : dict of attribute index to object array of shape (n_rows,)
        The other attributes; None where missing.
    """

    numbers: FloatArray | sparse.csr_array
    texts: dict[int, NDArray[np.object_]]


@dataclass(frozen=True)
class RowSource:
    """The rows of the data section as text, and what is needed to speak of them."""

    path: str | os.PathLike[str]
    attributes: tuple[ArffAttribute, ...]
    lines: list[str]  # stripped, without blank lines and comments
    line_numbers: NDArray[np.int64]

    def fail(self, row: int, message: str, column: int | None = None) -> NoReturn:
        """Raise the error that points at a row."""
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
    """Turn a written value into its number or code."""
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
            row,
            f"expected a number for {attribute.name!r}, found {field.text!r}",
            field.column,
        )
    if attribute.is_binary and number not in (0.0, 1.0):
        source.fail(row, f"expected 0 or 1 for {attribute.name!r}", field.column)
    return number


def read_dense_rows(source: RowSource, dtype: type[np.floating]) -> ArffRows:
    """Read rows of one value for each attribute.

    Rows without quotes are counted and parsed by the million; any other, and any that is wrong,
    goes through the field by field reader, which is slow and knows what to say.
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
    """Refuse rows of a wrong width before the matrix is made, so that its size is earned."""
    expected = len(source.attributes) - 1
    for row, line in enumerate(source.lines):
        commas = line.count(",")
        if commas < expected or (commas > expected and not quoted[row]):
            _fail_on_width(source, row, commas + 1)


def _fail_on_width(source: RowSource, row: int, found: int) -> NoReturn:
    source.fail(row, f"found {found} values, expected {len(source.attributes)} as declared above")


def _read_plain_rows(
    source: RowSource,
    rows: slice,
    numbers: FloatArray,
    texts: dict[int, NDArray[np.object_]],
) -> bool:
    """Fill in rows that hold no quotes; False where the slow reader must have a look."""
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

    Classes and ids stand at the ends of long rows, which need not be split in the middle.
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
