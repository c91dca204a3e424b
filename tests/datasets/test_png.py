from __future__ import annotations

import io
import struct
import zlib
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from palmette.datasets.png import PngError, read_bitmap


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def image(width: int, height: int, rows: bytes, depth: int = 1) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


@settings(max_examples=30, deadline=None)
@given(
    hnp.arrays(
        np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=20), elements=st.integers(0, 1)
    )
)
def test_pixels_come_back(pixels: np.ndarray) -> None:
    height, width = pixels.shape
    rows = b"".join(b"\0" + np.packbits(row).tobytes() for row in pixels)
    np.testing.assert_array_equal(read_bitmap(image(width, height, rows)), pixels)


@settings(max_examples=30, deadline=None)
@given(st.integers(9, 40), st.lists(st.integers(0, 4), min_size=1, max_size=8), st.randoms())
def test_filtered_rows_are_read_as_pillow_reads_them(
    width: int, filters: list[int], random: Random
) -> None:
    pillow = pytest.importorskip("PIL.Image")
    rows = b"".join(bytes([kind]) + random.randbytes((width + 7) // 8) for kind in filters)
    content = image(width, len(filters), rows)
    theirs = np.asarray(pillow.open(io.BytesIO(content)))
    np.testing.assert_array_equal(read_bitmap(content), theirs)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"GIF89a", "signature"),
        (image(8, 2, b"\0\1" * 2)[:20], "no header"),
        (image(8, 2, b"\0\1"), "cut short"),
        (image(8, 1, b"\0\1", depth=8), "one bit"),
        (image(8, 1, b"\5\1"), "unknown filter 5"),
        (image(2**31, 2**31, b""), "out of bounds"),
        (image(0, 5, b""), "out of bounds"),
        (image(8, 1, b"\0\1").replace(b"IDAT", b"JUNK"), "cut short"),
    ],
)
def test_other_files_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(PngError, match=message):
        read_bitmap(content)
