"""Black and white PNG images, read with the standard library alone."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["PngError", "read_bitmap"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MAX_PIXELS = 2**24


class PngError(Exception):
    """The bytes are not an image that can be read; the caller knows the file."""


def read_bitmap(content: bytes) -> NDArray[np.uint8]:
    """Read an image of one bit a pixel, as scans of writing are kept.

    Parameters
    ----------
    content : bytes
        A PNG file: grey, one bit deep, not interlaced.

    Returns
    -------
    array of shape (height, width)
        1 where the image is white.
    """
    if not content.startswith(_SIGNATURE):
        raise PngError("it has no PNG signature")
    header = b""
    pieces: list[bytes] = []
    place = len(_SIGNATURE)
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
        raise PngError(f"its pixels are broken ({error})") from error
    if len(raw) != height * row_bytes:
        raise PngError("it is cut short")
    rows = np.frombuffer(raw, dtype=np.uint8).reshape(height, row_bytes)
    return np.unpackbits(_unfilter(rows), axis=1)[:, :width]


def _unfilter(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Undo the prediction of bytes from their neighbours; mostly there is none to undo."""
    filters, filtered = rows[:, 0], rows[:, 1:]
    if not filters.any():
        return filtered
    if filters.max() > 4:
        raise PngError(f"it has rows of the unknown filter {filters.max()}")
    plain = np.zeros((len(rows) + 1, filtered.shape[1] + 1), dtype=np.uint8)  # edges count as 0
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
        raise PngError("it is not a plain black and white image of one bit a pixel")
    if not 0 < width * height <= _MAX_PIXELS:
        raise PngError(f"its size of {width} x {height} pixels is out of bounds")
    return width, height
