"""Shared parts of the readers: archives and images."""

from __future__ import annotations

import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from palmette._files import read_bytes
from palmette.datasets._reading import PngError, read_bitmap, tar_members, zip_members
from palmette.exceptions import ReadError


def make_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_zip_gives_its_files_and_no_litter(tmp_path: Path) -> None:
    members = {
        "d/": b"",
        "d/a.PNG": b"1",
        "d/b.txt": b"2",
        "__MACOSX/d/._a.PNG": b"x",
        "d/._c.png": b"",
    }
    path = make_zip(tmp_path / "f.zip", members)
    assert list(zip_members(path)) == [("d/a.PNG", b"1"), ("d/b.txt", b"2")]
    assert list(zip_members(path, suffix=".png")) == [("d/a.PNG", b"1")]


def test_one_file_in_a_zip_is_the_file(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "f.arff.zip", {"f.arff": b"data", "__MACOSX/._f.arff": b"x"})
    assert read_bytes(path) == b"data"
    with pytest.raises(ReadError, match="contains 2 files"):
        read_bytes(make_zip(tmp_path / "two.zip", {"a": b"", "b": b""}))
    with pytest.raises(ReadError, match="contains 0 files"):
        read_bytes(make_zip(tmp_path / "none.zip", {}))


def test_bombs_are_cut_off(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "f.zip", {"a": b"\0" * 10_000, "b": b"\0" * 10_000})
    with pytest.raises(ReadError, match="more than 15,000 bytes"):
        list(zip_members(path, limit=15_000))
    packed = tmp_path / "f.xz"
    packed.write_bytes(lzma.compress(b"\0" * 10_000))
    with pytest.raises(ReadError, match="more than"):
        read_bytes(packed, limit=9_999)


def test_a_tar_gives_plain_files_only(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in (("a/1", b"one"), ("../../etc/evil", b"two")):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("a/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    path = tmp_path / "f.tar.xz"
    path.write_bytes(lzma.compress(stream.getvalue()))
    assert list(tar_members(path)) == [("a/1", b"one"), ("../../etc/evil", b"two")]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f.tar.xz"]


def test_broken_and_missing_archives(tmp_path: Path) -> None:
    (tmp_path / "f.zip").write_bytes(b"junk")
    with pytest.raises(ReadError, match="archive is broken"):
        list(zip_members(tmp_path / "f.zip"))
    with pytest.raises(ReadError, match="the file does not exist"):
        list(zip_members(tmp_path / "g.zip"))
    (tmp_path / "f.tar").write_bytes(b"junk" * 300)
    with pytest.raises(ReadError, match="archive is broken"):
        list(tar_members(tmp_path / "f.tar"))


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
        (image(8, 2, b"\0\1"), "truncated"),
        (image(8, 1, b"\0\1", depth=8), "one bit"),
        (image(8, 1, b"\5\1"), "unknown filter 5"),
        (image(2**31, 2**31, b""), "pixels: expected 1 to"),
        (image(0, 5, b""), "pixels: expected 1 to"),
        (image(8, 1, b"\0\1").replace(b"IDAT", b"JUNK"), "truncated"),
    ],
)
def test_other_files_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(PngError, match=message):
        read_bitmap(content)
