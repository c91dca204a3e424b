"""The zip file around a model: what is written, what is refused."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest
from tests.persistence.mutations import packed

from palmette.persistence._archive import Archive, Damaged, sha256_of, write_members

MEMBERS = {"state.json": b"{}" * 500, "arrays/f8.npy": bytes(5000)}


def written(members=MEMBERS) -> io.BytesIO:
    stream = io.BytesIO()
    write_members(stream, members)
    return stream


def opened(content: bytes) -> Archive:
    return Archive(io.BytesIO(content))


def test_members_come_back_in_order():
    archive = Archive(written())
    assert archive.names == list(MEMBERS)
    assert {name: bytes(archive.read(name)) for name in archive.names} == MEMBERS
    assert archive.size("arrays/f8.npy") == 5000


def test_the_same_members_give_the_same_bytes():
    assert written().getvalue() == written().getvalue()


def test_what_cannot_be_compressed_is_left_as_it_is():
    noise = np.random.default_rng(0).bytes(3000)
    stream = written({"arrays/noise.npy": noise, "arrays/zeros.npy": bytes(3000)})
    with zipfile.ZipFile(stream) as archive:
        methods = {info.filename: info.compress_type for info in archive.infolist()}
    assert methods["arrays/noise.npy"] == zipfile.ZIP_STORED
    assert methods["arrays/zeros.npy"] == zipfile.ZIP_DEFLATED


def test_a_checksum_that_does_not_fit_is_refused():
    archive = Archive(written())
    content = archive.read("state.json", sha256_of(MEMBERS["state.json"]))
    assert bytes(content) == MEMBERS["state.json"]
    with pytest.raises(Damaged, match=r"state\.json does not have the checksum"):
        archive.read("state.json", "0" * 64)
    with pytest.raises(Damaged, match=r"hierarchy\.json is missing"):
        archive.read("hierarchy.json")


@pytest.mark.parametrize(
    "name",
    [
        "../state.json",
        "/state.json",
        "arrays/../../x.npy",
        "arrays/a b.npy",
        "x.py",
        "arrays\\x.npy",
    ],
)
def test_names_that_lead_elsewhere_are_refused(name):
    with pytest.raises(Damaged, match="is not a valid name of a member"):
        opened(packed({name: b""}))


def test_a_member_that_stands_twice_is_refused():
    with (
        pytest.warns(UserWarning, match="Duplicate"),
        pytest.raises(Damaged, match="occurs twice"),
    ):
        opened(packed([("state.json", b"1"), ("state.json", b"2")]))


def test_too_many_members_are_refused(monkeypatch):
    monkeypatch.setattr("palmette.persistence._archive.MAX_MEMBERS", 1)
    with pytest.raises(Damaged, match="2 members, expected at most 1"):
        Archive(written())


def test_the_size_of_all_members_is_known_before_they_are_read():
    content = packed({"arrays/a.npy": bytes(10**6), "hierarchy.json": b"{}"}, zipfile.ZIP_DEFLATED)
    assert len(content) < 3000
    assert opened(content).n_bytes == 10**6 + 2


def test_a_small_file_does_not_hold_a_long_text():
    with pytest.raises(Damaged, match=r"expands from .* to 2,000,000 bytes, expected at most 100"):
        opened(packed({"state.json": b"0," * 10**6}, zipfile.ZIP_DEFLATED))


def test_a_long_text_of_equal_values_is_written_so_that_it_can_be_read():
    stream = io.BytesIO()
    write_members(stream, {"state.json": b"0," * 10**6})
    assert not Archive(stream).is_compressed
    assert len(Archive(stream).read("state.json")) == 2 * 10**6


def test_an_archive_tells_whether_a_member_is_compressed():
    assert Archive(written()).is_compressed
    stream = io.BytesIO()
    write_members(stream, MEMBERS, compress=False)
    assert not Archive(stream).is_compressed
    assert bytes(Archive(stream).read("state.json")) == MEMBERS["state.json"]


def test_a_size_that_compression_cannot_reach_is_refused():
    with pytest.raises(Damaged, match="cannot be as large as it states"):
        opened(with_directory_field(packed({"state.json": b"{}"}), 24, 10**9))


def test_a_member_shorter_than_it_says_is_refused():
    content = packed({"state.json": b"{}" * 50})
    archive = opened(with_directory_field(content, 24, 150))
    with pytest.raises((Damaged, zipfile.BadZipFile, EOFError)):
        archive.read("state.json")


def test_encrypted_members_and_unknown_compression_are_refused():
    with pytest.raises(Damaged, match="encrypted"):
        opened(with_directory_field(packed({"state.json": b"{}"}), 8, 1, "<H"))
    with pytest.raises(Damaged, match="compressed by an unknown method"):
        opened(packed({"state.json": b"{}"}, zipfile.ZIP_BZIP2))


def with_directory_field(content: bytes, offset: int, value: int, form: str = "<I") -> bytes:
    """Return a zip file whose directory tells something else of its only member."""
    place = content.rfind(b"PK\x01\x02") + offset
    changed = bytearray(content)
    struct.pack_into(form, changed, place, value)
    return bytes(changed)
