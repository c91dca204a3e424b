"""Files as a whole: packed, binary, too large."""

from __future__ import annotations

import gzip
import lzma

import pytest

from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy.files import _source as source_module
from palmette.hierarchy.files._source import Source


def test_packed_files(read):
    assert read(gzip.compress(b"a b\n"), "x.txt.gz").n_nodes == 2
    assert read(lzma.compress(b'{"a": ["b"]}'), "x.json.xz").n_nodes == 2


@pytest.mark.parametrize("suffix", ["xz", "gz", "bz2", "zip"])
def test_broken_packing(read, suffix):
    with pytest.raises(PalmetteError):
        read(b"a b\n", f"x.txt.{suffix}")


def test_no_such_file(tmp_path):
    with pytest.raises(ReadError, match="does not exist"):
        _ = Source(tmp_path / "x.txt").data
    with pytest.raises(ReadError, match="directory"):
        _ = Source(tmp_path).data


@pytest.mark.parametrize("content", [b"a b\nc\0d e\n", b"\0", b"a b\n" * 50_000 + b"\0"])
def test_binary_files(read, content):
    with pytest.raises(ReadError, match="binary file"):
        read(content)


def test_latin_1(read):
    assert read("café thé\n".encode("latin-1")).names.tolist() == ["café", "thé"]


def test_only_line_ends_end_a_line(read):
    h = read("a\x0bb\tc\x85d\u2028e\r\na\x0bb\tf\rf\tg", format="edges")
    assert h.names.tolist() == ["a\x0bb", "c\x85d\u2028e", "f", "g"]


def test_large_files_are_refused(read, monkeypatch):
    monkeypatch.setattr(source_module, "MAX_TEXT", 100)
    with pytest.raises(ReadError, match="expected at most 100"):
        read("a b\n" * 26)


def test_a_packed_bomb_is_refused(read, monkeypatch):
    monkeypatch.setattr(source_module, "MAX_BYTES", 1_000_000)
    with pytest.raises(ReadError, match="more than 1,000,000 bytes when decompressed"):
        read(lzma.compress(b"\0" * 10_000_000), "x.txt.xz")


def test_long_lines_are_refused(read, monkeypatch):
    monkeypatch.setattr(source_module, "MAX_LINE", 100)
    with pytest.raises(ReadError, match="the line has 203 characters"):
        read("a b\n" + "a" * 100 + " " + "b" * 101 + "\n", format="edges")


def test_an_empty_file(read):
    with pytest.raises(ReadError, match="cannot be detected"):
        read("")
    with pytest.raises(ReadError, match="has no nodes"):
        read("# nothing\n\n", format="edges")
