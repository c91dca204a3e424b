"""Shared parts of the readers: parts of a Bunch, text, blocks of numbers, archives, images."""

from __future__ import annotations

import io
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._files import MAX_UNPACKED, decode_text, is_litter, read_bytes
from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._forms import sorted_labels

# Values of `target_form`, the form of y.
NODES = "nodes"  # 1-D: one node per row, a name or a path string
NODE_SETS = "node_sets"  # list of frozensets: several nodes per row
INDICATOR = "indicator"  # 0/1 matrix: one column per label

_CHUNK_CHARACTERS = 8_000_000  # text parsed at once
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MAX_PIXELS = 2**24


def object_array(values: Iterable[Any]) -> NDArray[np.object_]:
    """Make a 1-D array of Python objects, without converting them."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def numbered_names(n_features: int) -> NDArray[np.object_]:
    """Names x0, x1, ... for features without names, as in scikit-learn."""
    return object_array(f"x{i}" for i in range(n_features))


def flat_target(*targets: NDArray[Any]) -> Hierarchy:
    """Build the star over the classes of a flat problem.

    So that every estimator and metric takes flat problems without special cases.
    """
    return Hierarchy.star(sorted_labels({label for y in targets for label in y.tolist()}))


def read_text(path: str | os.PathLike[str]) -> str:
    r"""Read a file, compressed or not, as text with ``\n`` as its only line end."""
    text = decode_text(read_bytes(path), path)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


# ---------------------------------------------------------------------- numbers


def parse_numbers(
    lines: Sequence[str],
    delimiter: str | None,
    columns: Sequence[int] | None = None,
    dtype: type[np.floating] = np.float64,
) -> NDArray[np.floating] | None:
    """Read numbers, with NaN for ``?``; None if something is not a number.

    Parameters
    ----------
    lines : sequence of str
        Without blank lines.
    delimiter : str or None
        None means any white space.
    columns : sequence of int, optional
        Columns to read; all by default.
    dtype : type

    Returns
    -------
    array of shape (len(lines), n_columns), or None
        With None the caller looks for the error with its slower, exact parser, because numpy's
        message does not name the file and the line.

    Examples
    --------
    >>> parse_numbers(["1,?", "2,.5"], ",")
    array([[1. , nan],
           [2. , 0.5]])
    >>> parse_numbers(["1,x"], ",") is None
    True
    """
    if not lines:
        return None
    known = [line.replace("?", "nan") if "?" in line else line for line in lines]
    try:
        numbers = np.loadtxt(
            known, dtype=dtype, delimiter=delimiter, usecols=columns, comments=None, ndmin=2
        )
    except (ValueError, OverflowError):
        return None
    return numbers if len(numbers) == len(lines) else None


def parse_number(text: str) -> float:
    """Read one number, with NaN for ``?``; raises ValueError if it is not a number.

    Unlike Python's own grammar, ``1_000`` is not accepted.
    """
    if text == "?":
        return float("nan")
    if "_" in text:
        raise ValueError(text)
    return float(text)


def chunks_of_rows(lines: Sequence[str]) -> Iterator[slice]:
    """Cut the rows into slices of some megabytes of text.

    Examples
    --------
    >>> list(chunks_of_rows(["1,2", "3,4"]))
    [slice(0, 2, None)]
    """
    start = held = 0
    for row, line in enumerate(lines):
        held += len(line)
        if held > _CHUNK_CHARACTERS:
            yield slice(start, row + 1)
            start, held = row + 1, 0
    if start < len(lines):
        yield slice(start, len(lines))


# ---------------------------------------------------------------------- archives


def zip_members(
    path: str | os.PathLike[str], suffix: str = "", limit: int = MAX_UNPACKED
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files in a zip archive, in its order.

    Parameters
    ----------
    path : path-like
    suffix : str
        Only files whose names end in it, in upper or lower case.
    limit : int
        Maximum number of decompressed bytes of all files together.
    """
    left = limit
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.is_dir() or is_litter(member.filename):
                    continue
                if not member.filename.lower().endswith(suffix):
                    continue
                with archive.open(member) as stream:
                    content = stream.read(left + 1)
                left = _spend(left, content, path, limit)
                yield member.filename, content
    except ReadError:
        raise
    except FileNotFoundError:
        raise ReadError("the file does not exist", path=path) from None
    except Exception as error:  # zipfile raises many kinds of errors for damaged files
        raise ReadError(f"the archive is broken ({error!r})", path=path) from error


def tar_members(
    path: str | os.PathLike[str], limit: int = MAX_UNPACKED
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the plain files in a tar archive, which may be compressed.

    Links and devices are left out. Nothing is written to disk.
    """
    content = io.BytesIO(read_bytes(path, limit))
    try:
        with tarfile.open(fileobj=content, mode="r:") as archive:
            for member in archive:
                if member.isreg() and not member.issparse() and not is_litter(member.name):
                    stream = archive.extractfile(member)
                    yield member.name, stream.read() if stream is not None else b""
    except Exception as error:  # tarfile raises many kinds of errors for damaged files
        raise ReadError(f"the archive is broken ({error!r})", path=path) from error


def _spend(left: int, content: bytes, path: str | os.PathLike[str], limit: int) -> int:
    if len(content) > left:
        raise ReadError(f"the archive has more than {limit:,} bytes when decompressed", path=path)
    return left - len(content)


# ---------------------------------------------------------------------- images


class PngError(Exception):
    """The bytes are not a readable image. The caller adds the file name."""


def read_bitmap(content: bytes) -> NDArray[np.uint8]:
    """Read a black and white PNG image.

    Parameters
    ----------
    content : bytes
        A PNG file: greyscale, one bit per pixel, not interlaced.

    Returns
    -------
    array of shape (height, width)
        1 for white pixels.
    """
    if not content.startswith(_PNG_SIGNATURE):
        raise PngError("it has no PNG signature")
    header = b""
    pieces: list[bytes] = []
    place = len(_PNG_SIGNATURE)
    while place + 8 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, place)
        body = content[place + 8 : place + 8 + length]
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            pieces.append(body)
        place += 12 + length
    width, height = _size(header)
    row_bytes = 1 + (width + 7) // 8
    try:
        raw = zlib.decompressobj().decompress(b"".join(pieces), height * row_bytes)
    except zlib.error as error:
        raise PngError(f"its pixels are damaged ({error})") from error
    if len(raw) != height * row_bytes:
        raise PngError("it is truncated")
    rows = np.frombuffer(raw, dtype=np.uint8).reshape(height, row_bytes)
    return np.unpackbits(_unfilter(rows), axis=1)[:, :width]


def _unfilter(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Undo the prediction of bytes from their neighbours; most images use none."""
    filters, filtered = rows[:, 0], rows[:, 1:]
    if not filters.any():
        return filtered
    if filters.max() > 4:
        raise PngError(f"it has the unknown filter {filters.max()}")
    # pixels beyond the edge are 0
    plain = np.zeros((len(rows) + 1, filtered.shape[1] + 1), dtype=np.uint8)
    for y, (kind, row) in enumerate(zip(filters.tolist(), filtered, strict=True), start=1):
        if kind in (0, 2):
            plain[y, 1:] = row + (plain[y - 1, 1:] if kind else 0)
        elif kind == 1:
            plain[y, 1:] = np.cumsum(row, dtype=np.uint8)
        else:
            for x, byte in enumerate(row.tolist(), start=1):
                left, up, corner = map(int, (plain[y, x - 1], plain[y - 1, x], plain[y - 1, x - 1]))
                guess = (left + up) // 2 if kind == 3 else _paeth(left, up, corner)
                plain[y, x] = (byte + guess) % 256
    return plain[1:, 1:]


def _paeth(left: int, up: int, corner: int) -> int:
    """Return the neighbour nearest to left + up - corner; the first of equally near ones."""
    aim = left + up - corner
    return min((left, up, corner), key=lambda value: abs(value - aim))


def _size(header: bytes) -> tuple[int, int]:
    if len(header) != 13:
        raise PngError("it has no header")
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", header)
    if (depth, colour, interlace) != (1, 0, 0):
        raise PngError("expected a black and white image of one bit per pixel without interlacing")
    if not 0 < width * height <= _MAX_PIXELS:
        raise PngError(f"it has {width} x {height} pixels: expected 1 to {_MAX_PIXELS:,} pixels")
    return width, height
