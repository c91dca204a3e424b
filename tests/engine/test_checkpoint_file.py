"""Laws of checkpoint files: what was written comes back, and nothing else is ever taken for it."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import tempfile
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from palmette.engine.checkpoint_file import read_checkpoint, read_fingerprint, write_checkpoint
from palmette.exceptions import ReadError

FINGERPRINT = {"estimator": "Toy", "parameters": '{"depth": 3}', "data": "ab12", "größe": "é"}
ARRAYS = {
    "rounds/values": np.linspace(0.0, 1.0, 10).reshape(2, 5),
    "seed": np.array(7),
    "none": np.empty((0, 3), np.uint8),
}
HEADER = "palmette-checkpoint.json"


def same(found, expected):
    """Whether arrays are equal bit by bit, in type, shape and layout too."""
    return found.keys() == expected.keys() and all(
        a.dtype == b.dtype
        and a.shape == b.shape
        and a.flags.f_contiguous == b.flags.f_contiguous
        and a.tobytes() == b.tobytes()
        for a, b in ((found[name], expected[name]) for name in expected)
    )


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """Bytes of a good checkpoint."""
    path = tmp_path_factory.mktemp("good") / "a.ckpt"
    write_checkpoint(path, FINGERPRINT, ARRAYS)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.ckpt"


# ---------------------------------------------------------------------- round trip

NUMBERS = st.one_of(
    arrays_of.boolean_dtypes(),
    arrays_of.integer_dtypes(endianness="?"),
    arrays_of.unsigned_integer_dtypes(endianness="?"),
    arrays_of.floating_dtypes(endianness="?"),
    arrays_of.complex_number_dtypes(endianness="?"),
)


@st.composite
def laid_out(draw):
    shapes = arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    array = draw(arrays_of.arrays(draw(NUMBERS), shapes))
    layout = draw(st.sampled_from(["C", "F", "gaps"]))
    if layout == "gaps" and array.ndim:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    return np.asarray(array, order="F" if layout == "F" else "C")


@settings(deadline=None, max_examples=50)
@given(
    fingerprint=st.dictionaries(st.text(), st.text(), max_size=3),
    arrays=st.dictionaries(
        st.text("abcXYZ019_./-", min_size=1, max_size=8), laid_out(), max_size=4
    ),
)
def test_what_was_written_comes_back_bit_by_bit(fingerprint, arrays):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.ckpt")
        write_checkpoint(path, fingerprint, arrays)
        found, read = read_checkpoint(path)
        assert read_fingerprint(path) == found == fingerprint
    # an array with gaps comes back without them
    packed = {name: a if a.flags.forc else a.copy() for name, a in arrays.items()}
    assert same(read, packed)
    for array in read.values():
        assert array.flags.writeable
        assert array.flags.aligned


def test_the_same_state_gives_the_same_bytes(content, path):
    write_checkpoint(path, FINGERPRINT, ARRAYS)
    assert path.read_bytes() == content


def test_numpy_opens_it_as_any_archive_of_arrays(content, path):
    path.write_bytes(content)
    with np.load(path, allow_pickle=False) as archive:
        assert np.array_equal(archive["rounds/values"], ARRAYS["rounds/values"])


def test_an_older_file_is_replaced_and_nothing_else_is_left(path):
    write_checkpoint(path, FINGERPRINT, ARRAYS)
    write_checkpoint(path, {}, {})
    assert read_checkpoint(path) == ({}, {})
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "array", "error"),
    [
        ("a", np.array(["text"]), TypeError),
        ("a", np.array([None]), TypeError),
        ("a", np.zeros(2, [("x", int)]), TypeError),
        ("a", np.zeros(2, "datetime64[s]"), TypeError),
        ("a b", np.zeros(2), ValueError),
        ("", np.zeros(2), ValueError),
    ],
)
def test_only_named_numbers_are_written_and_an_older_file_stays(path, name, array, error):
    write_checkpoint(path, FINGERPRINT, ARRAYS)
    with pytest.raises(error, match="expected"):
        write_checkpoint(path, FINGERPRINT, {name: array})
    assert same(read_checkpoint(path)[1], ARRAYS)


# ---------------------------------------------------------------------- broken files


def test_a_file_cut_short_anywhere_is_refused(content, path):
    for length in {*range(0, len(content), 3), *range(len(content) - 30, len(content))}:
        path.write_bytes(content[:length])
        named = length >= 30 + len(HEADER)
        with pytest.raises(ReadError, match="cut short" if named else "no checkpoint"):
            read_checkpoint(path)


def test_a_byte_changed_anywhere_is_refused_or_changes_nothing(content, path):
    refused = 0
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 0x55
        path.write_bytes(changed)
        refused += not reads_the_same_or_is_refused(path)
    assert refused > 0.8 * len(content)  # dates and rights in the zip, say, are nobody's business


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_any_change_is_refused_or_changes_nothing(content, data):
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(changed)))
        stop = data.draw(st.integers(start, min(start + 8, len(changed))))
        changed[start:stop] = data.draw(st.binary(max_size=8))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.ckpt")
        path.write_bytes(changed)
        reads_the_same_or_is_refused(path)


def reads_the_same_or_is_refused(path):
    """Return whether a file can be read, and see that it then says what was written."""
    try:
        fingerprint, arrays = read_checkpoint(path)
    except ReadError as error:
        reason = str(error)
    else:
        assert fingerprint == FINGERPRINT
        assert same(arrays, ARRAYS)
        return True
    assert str(path) in reason
    return False


# ---------------------------------------------------------------------- foreign files


@settings(deadline=None, max_examples=50)
@given(content=st.binary(max_size=200))
@example(content=b"")
@example(content=b"a,b\n1,2\n" * 20)
def test_other_bytes_are_no_checkpoint(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.ckpt")
        path.write_bytes(content)
        for read in (read_checkpoint, read_fingerprint):
            with pytest.raises(ReadError, match="no checkpoint of Palmette"):
                read(path)


def test_other_zip_files_are_no_checkpoint(path):
    np.savez(path.with_suffix(".npz"), a=np.arange(3))
    with pytest.raises(ReadError, match="some other zip file"):
        read_checkpoint(path.with_suffix(".npz"))


def test_what_is_no_file_cannot_be_opened(tmp_path):
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(ReadError, match="cannot be opened"):
            read_checkpoint(path)


# ---------------------------------------------------------------------- made by hand


def npy(array, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, **options)
    return stream.getvalue()


def build(path, members, compression=zipfile.ZIP_STORED, **changes):
    """Write a file whose digests are right, whatever its members are."""
    listed = {n: [len(c), hashlib.sha256(c).hexdigest()] for n, c in members.items()}
    header = {"format": "palmette checkpoint", "version": 1, "fingerprint": {}, "arrays": listed}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(HEADER, json.dumps({**header, **changes}))
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content, compression)


def test_a_file_made_by_hand_is_read(path):
    build(path, {"a": npy(np.arange(3))})
    assert same(read_checkpoint(path)[1], {"a": np.arange(3)})


@pytest.mark.parametrize("read", [read_checkpoint, read_fingerprint])
@pytest.mark.parametrize("version", [2, 99, "2"])
def test_another_version_of_the_format_is_named(path, version, read):
    build(path, {}, version=version, fingerprint="of another kind", arrays=7)
    with pytest.raises(ReadError, match=rf"version {version!r} of the format.*version 1"):
        read(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "palmette model"},
        {"fingerprint": ["a"]},
        {"arrays": {"a": 3}},
        {"arrays": {"a": [3, "x", "y"]}},
        {"arrays": {"a": ["three", "x"]}},
        {"arrays": {"a": [10**15, "00"]}},
        {"arrays": {}},
        {"arrays": {"a": [3, "00"], "b": [3, "00"]}},
        {"arrays": []},
    ],
)
def test_a_header_that_lies_is_refused(path, changes):
    build(path, {"a": npy(np.arange(3))}, **changes)
    with pytest.raises(ReadError, match="cut short or was changed"):
        read_checkpoint(path)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "[" * 10**5, '{"format": 1}', "\udcff"])
def test_a_header_that_is_none_is_refused(path, text):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(HEADER, text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ReadError, match="cut short or was changed"):
        read_fingerprint(path)


class Bomb:
    """Runs code where it is unpickled."""

    def __reduce__(self):
        return pytest.fail, ("code of a file was run",)


def lying_npy(shape, dtype="<f8"):
    stream = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + bytes(16)


@pytest.mark.parametrize(
    "content",
    [
        npy(np.array([Bomb()], dtype=object)),
        lying_npy((1,), "|O") + pickle.dumps(Bomb()),
        lying_npy((10**12,)),
        lying_npy((10**30, 10**30)),
        lying_npy((3,)),
        lying_npy((-1,)),
        lying_npy((-1, -2)),
        lying_npy((-2, -1)),
        lying_npy((2,), "<U2"),
        lying_npy((2,), [("x", "<f8")]),
        lying_npy((2,)).replace(b"\x93NUMPY\x01", b"\x93NUMPY\x02"),
        b"",
        b"\x93NUMPY",
        pickle.dumps(Bomb()),
    ],
)
def test_what_is_no_array_of_numbers_is_refused_and_never_run(path, content):
    build(path, {"a": content})
    with pytest.raises(ReadError, match="cut short or was changed"):
        read_checkpoint(path)


def test_compressed_arrays_are_refused_before_they_are_unpacked(path):
    build(path, {"a": npy(np.zeros(2**24, np.uint8))}, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 2**20
    assert peak_while_refused(path, "is compressed") < 2**20


def test_sizes_that_the_file_cannot_hold_are_refused_before_memory_is_taken(path):
    member = npy(np.zeros(4))
    build(path, {"a": member}, arrays={"a": [2**40, "00"]})
    content = path.read_bytes()
    # the sizes of the member in the directory of the zip: 4 GB less one byte
    size = len(member).to_bytes(4, "little")
    at = content.rindex(size + size)
    path.write_bytes(content[:at] + b"\xfe\xff\xff\xff" * 2 + content[at + 8 :])
    assert peak_while_refused(path, "more bytes than it has") < 2**20


def test_a_header_without_end_is_refused_before_it_is_read(path, monkeypatch):
    monkeypatch.setattr("palmette.engine.checkpoint_file._MAX_HEADER", 2**10)
    build(path, {}, fingerprint={"data": "x" * 2**10})
    with pytest.raises(ReadError, match="header has"):
        read_fingerprint(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_the_header_does_not_list_are_refused(path):
    for name in ("a.npy", "b.npy", HEADER):  # a second one of a name, or another
        build(path, {"a": npy(np.arange(3))})
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(name, npy(np.arange(4)))
        with pytest.raises(ReadError, match="cut short or was changed"):
            read_checkpoint(path)


def peak_while_refused(path, reason):
    """Most memory that is taken while a file is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(ReadError, match=reason):
            read_checkpoint(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
