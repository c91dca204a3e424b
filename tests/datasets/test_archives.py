from __future__ import annotations

import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest

from palmette.core.files import read_bytes
from palmette.datasets.archives import tar_members, zip_members
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
    with pytest.raises(ReadError, match="holds 2 files"):
        read_bytes(make_zip(tmp_path / "two.zip", {"a": b"", "b": b""}))
    with pytest.raises(ReadError, match="holds 0 files"):
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
    with pytest.raises(ReadError, match="no such file"):
        list(zip_members(tmp_path / "g.zip"))
    (tmp_path / "f.tar").write_bytes(b"junk" * 300)
    with pytest.raises(ReadError, match="archive is broken"):
        list(tar_members(tmp_path / "f.tar"))
