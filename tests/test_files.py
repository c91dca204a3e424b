"""Files: packed or plain, bounded, whole or not at all."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import re
import stat
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import quick

from palmette import _files as files
from palmette._files import atomic_write, decode_text, open_bytes, plain_suffix, read_bytes
from palmette.exceptions import ReadError


def packed(content, suffix):
    if suffix == ".zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/inside.txt", content)
        return buffer.getvalue()
    pack = {".xz": lzma.compress, ".gz": gzip.compress, ".bz2": bz2.compress, ".txt": bytes}
    return pack[suffix](content)


SUFFIXES = [".txt", ".xz", ".gz", ".bz2", ".zip"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_was_packed_is_read(tmp_path, suffix):
    content = "ärger\n".encode() * 1000
    path = tmp_path / f"data{suffix}"
    path.write_bytes(packed(content, suffix))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no handle may be left open
        assert read_bytes(path) == content
        assert read_bytes(str(path), limit=len(content)) == content
        with open_bytes(path) as stream:
            assert stream.read(3) == content[:3]


@pytest.mark.parametrize("suffix", [".xz", ".gz", ".bz2"])
def test_the_first_bytes_tell_the_compression_where_the_name_does_not(tmp_path, suffix):
    path = tmp_path / "data.ttl"
    path.write_bytes(packed(b"a b\n" * 100, suffix))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_bytes(path) == b"a b\n" * 100
    with pytest.raises(ReadError, match="more than 99 bytes when decompressed"):
        read_bytes(path, limit=99)
    path.write_bytes(packed(b"a b\n" * 100, suffix)[:-10])
    with pytest.raises(ReadError, match="corrupt or truncated"):
        read_bytes(path)
    path.write_bytes(b"BZh is a name\n")
    assert read_bytes(path) == b"BZh is a name\n"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_bomb_is_refused(tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    path.write_bytes(packed(b"\0" * 10**6, suffix))
    with pytest.raises(ReadError, match=r"more than 1,000 bytes when decompressed") as caught:
        read_bytes(path, limit=1000)
    assert str(path) in str(caught.value)


def test_no_more_is_read_than_the_limit_and_a_piece(monkeypatch):
    class Endless(io.BytesIO):
        n_read = 0

        def read(self, size):
            self.n_read += size
            assert self.n_read < 10**9
            return bytes(size)

    stream = Endless()
    monkeypatch.setattr(files, "open_bytes", lambda path: stream)
    with pytest.raises(ReadError, match="more than 5 bytes"):
        read_bytes("a.gz", limit=5)
    assert stream.n_read <= 2**20


def test_a_zip_that_declares_too_much_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_UNPACKED", 100)
    path = tmp_path / "a.zip"
    path.write_bytes(packed(b"x" * 101, ".zip"))
    with pytest.raises(ReadError, match="more than 100 bytes"):
        open_bytes(path)


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
@quick
@given(data=st.data())
def test_broken_packings_are_named(tmp_path_factory, suffix, data):
    path = tmp_path_factory.mktemp("broken") / f"data{suffix}"
    whole = packed(b"some content, " * 30, suffix)
    start = data.draw(st.integers(0, len(whole) - 1))
    junk = data.draw(st.binary(max_size=5))
    path.write_bytes(whole[:start] + junk)
    with contextlib.suppress(ReadError):
        # a cut at the end of a stream, or nothing at all, may go unseen
        assert (b"some content, " * 30).startswith(read_bytes(path))
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReadError, match=re.escape(str(path))):
        read_bytes(path)


def test_zips_of_other_than_one_file(tmp_path):
    path = tmp_path / "a.zip"
    for n_files in (0, 2):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("folder/", "")
            for i in range(n_files):
                archive.writestr(f"{i}.txt", "x")
        with pytest.raises(ReadError, match=f"contains {n_files} files: expected one"):
            open_bytes(path)


def test_a_zip_of_a_later_version(tmp_path):
    path = tmp_path / "a.zip"
    content = bytearray(packed(b"text", ".zip"))
    content[content.index(b"PK\x01\x02") + 6] = 228  # the version that is needed, times ten
    path.write_bytes(content)
    with pytest.raises(ReadError, match=r"a\.zip: the archive cannot be extracted .*version 22.8"):
        read_bytes(path)


def test_an_encrypted_zip(tmp_path):
    path = tmp_path / "a.zip"
    content = bytearray(packed(b"secret", ".zip"))
    central = content.index(b"PK\x01\x02")
    content[6] |= 1  # the flag of encryption, in both headers
    content[central + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(ReadError, match=r"a\.zip: the archive cannot be extracted .*encrypted"):
        open_bytes(path)


def test_no_file(tmp_path):
    for suffix in SUFFIXES:
        with pytest.raises(ReadError, match="the file does not exist"):
            open_bytes(tmp_path / f"none{suffix}")
    with pytest.raises(ReadError, match="this is a directory"):
        open_bytes(tmp_path)
    with pytest.raises(ReadError, match="cannot be opened"):
        open_bytes("a\0b")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ReadError, match="cannot be opened"):
        open_bytes(tmp_path / "file" / "below")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_no_right_to_read(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(ReadError, match="cannot be opened"):
        open_bytes(path)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a\nä\n".encode(), "a\nä\n"),
        (b"\xef\xbb\xbfa\n", "a\n"),
        (b"\xe4\n", "ä\n"),
        (b"\xef\xbb\xbf\xe4", "ä"),
        (b"", ""),
    ],
    ids=["utf-8", "mark", "latin-1", "latin-1 with a mark", "empty"],
)
def test_text(content, text):
    assert decode_text(content, "a.txt") == text


def test_binary_files_are_no_text():
    far = b"a\n" * 100_000 + b"b\0c"
    with pytest.raises(ReadError, match=r"a\.txt:100001: .*binary file: expected text"):
        decode_text(far, "a.txt")


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a.txt", ".txt"),
        ("go.OBO.xz", ".obo"),
        ("a.tar.gz", ".tar"),
        ("a.zip", ""),
        ("a", ""),
        ("x.y/b.JSON", ".json"),
    ],
)
def test_plain_suffixes(name, suffix):
    assert plain_suffix(name) == suffix


# ---------------------------------------------------------------------- writing


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "a.txt"
    with atomic_write(path) as stream:
        stream.write("ä\n")
        assert not path.exists()
    assert path.read_bytes() == "ä\n".encode()
    with atomic_write(path, "wb") as stream:
        stream.write(b"\0")
    assert path.read_bytes() == b"\0"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_or_not_at_all(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("before")

    def write_half():
        with atomic_write(path) as stream:
            stream.write("half")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.skipif(os.name == "nt", reason="modes of files are those of POSIX")
def test_modes_are_kept_or_those_of_the_user(tmp_path):
    path = tmp_path / "a.txt"
    plain = tmp_path / "plain.txt"
    plain.write_text("x")
    with atomic_write(path) as stream:
        stream.write("x")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    with atomic_write(path) as stream:
        stream.write("y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_places_that_cannot_be_written(tmp_path):
    with (
        pytest.raises(IsADirectoryError, match="it is a folder"),
        atomic_write(tmp_path),
    ):
        pass
    with (
        pytest.raises(FileNotFoundError, match="Create it"),
        atomic_write(tmp_path / "no" / "a"),
    ):
        pass


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there are no devices as files")
def test_devices_pipes_and_open_streams_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for path in ("/dev/null", tmp_path / "pipe.csv"):
        with pytest.raises(OSError, match="expected a regular file"), atomic_write(path):
            pass
    log = tmp_path / "log.csv"
    log.write_text("before\n")
    with log.open("a") as stream:  # as by >> log.csv, which must not be replaced
        (tmp_path / "link.csv").symlink_to(f"/dev/fd/{stream.fileno()}")
        for path in (f"/dev/fd/{stream.fileno()}", tmp_path / "link.csv"):
            with pytest.raises(OSError, match="open stream of a process"), atomic_write(path):
                pass
    assert log.read_text() == "before\n"


@pytest.mark.skipif(os.name == "nt", reason="links need rights")
def test_links_are_written_through(tmp_path):
    far = tmp_path / "far"
    far.mkdir()
    (far / "old.csv").write_text("before")
    (far / "old.csv").chmod(0o640)
    links = {"a": "far/old.csv", "b": far / "new.csv", "c": "a", "d": "far/../far/more.csv"}
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
        with atomic_write(tmp_path / name) as stream:
            stream.write(name)
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / name).read_text() == name
    assert (far / "old.csv").read_text() == "c"
    assert stat.S_IMODE((far / "old.csv").stat().st_mode) == 0o640
    assert {path.name for path in far.iterdir()} == {"old.csv", "new.csv", "more.csv"}
    assert {path.name for path in tmp_path.iterdir()} == {*links, "far"}


@pytest.mark.skipif(os.name == "nt", reason="links need rights")
def test_links_that_lead_nowhere(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "c").symlink_to("no/where")
    with pytest.raises(OSError, match="lead back to themselves"), atomic_write(tmp_path / "a"):
        pass
    with (
        pytest.raises(FileNotFoundError, match="there is no folder"),
        atomic_write(tmp_path / "c"),
    ):
        pass


def test_the_umask_is_never_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("other threads write files, too"))
    with atomic_write(tmp_path / "a.txt") as stream:
        stream.write("x")


@pytest.mark.skipif(os.name == "nt", reason="open files are never removed there")
def test_only_temporary_files_of_dead_processes_are_swept(tmp_path):
    def name(part):
        return tmp_path / f"{files._OURS}{part}.tmp"

    dead, foreign = name("1-00"), tmp_path / ".palmette-elsewhere-1-00.tmp"
    others = [foreign, tmp_path / "a.tmp", tmp_path / ".a.txt.tmp"]
    for path in (dead, *others):
        path.write_text("x")
    name("2-00").symlink_to(foreign)
    os.mkfifo(name("3-00"))
    with atomic_write(tmp_path / "a.txt") as stream:
        assert not dead.exists()
        stream.write("first")
        with atomic_write(tmp_path / "b.txt") as second:  # must not sweep what is being written
            second.write("second")
    assert (tmp_path / "a.txt").read_text() == "first"
    assert (tmp_path / "b.txt").read_text() == "second"
    assert all(path.exists() for path in others)
    assert name("3-00").is_fifo()
    assert name("2-00").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="open files are never removed there")
def test_a_temporary_file_swept_before_its_lock_is_made_again(tmp_path, monkeypatch):
    lock, swept = files._lock, []

    def sweep_first(handle, wait=True):
        if not swept:
            (path,) = tmp_path.glob(".palmette-*")
            swept.append(path.name)
            path.unlink()
        lock(handle, wait)

    monkeypatch.setattr(files, "_lock", sweep_first)
    with atomic_write(tmp_path / "a.txt") as stream:
        stream.write("x")
    assert len(swept) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_many_threads_write_one_file(tmp_path):
    def write(number):
        with atomic_write(tmp_path / "a.txt") as stream:
            stream.write(f"{number}" * 1000)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    assert len(set((tmp_path / "a.txt").read_text())) <= 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_named_and_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("before")

    def fill(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fill)
    with (
        pytest.raises(OSError, match="No space left on device") as caught,
        atomic_write(path) as stream,
    ):
        stream.write("after")
    assert caught.value.filename == str(path)
    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]
