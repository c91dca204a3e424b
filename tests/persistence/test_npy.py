"""Arrays as .npy files."""

from __future__ import annotations

import io

import numpy as np
import pytest

from palmette.persistence._arrays import from_npy, to_npy

ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(6).reshape(2, 3)),
    np.arange(10)[::3],
    np.array(7, dtype=np.int8),
    np.zeros((0, 4), dtype=np.float32),
    np.array(["a", "größer"]),
    np.array([b"x", b"yz"]),
    np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
    np.array([3, 4], dtype="timedelta64[s]"),
    np.array([1 + 2j]),
    np.array([True, False]),
    np.array([(1, 2.5)], dtype=[("a", "i1"), ("b", "f8")]),
    np.array([1, 2], dtype=">i4"),
    np.array([], dtype="U"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_arrays_of_every_kind_come_back(array):
    again = from_npy(bytearray(to_npy(array)))
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes()
    assert again.flags.writeable
    assert again.flags.f_contiguous == np.ascontiguousarray(array).flags.f_contiguous or (
        array.flags.f_contiguous
    )


def test_numpy_reads_what_is_written():
    assert np.load(io.BytesIO(to_npy(np.arange(3)))).tolist() == [0, 1, 2]


def test_gaps_between_the_fields_of_records_do_not_tell_what_memory_held():
    kind = np.dtype([("a", "i1"), ("b", "f8")], align=True)
    raw = bytearray(b"\xab" * 2 * kind.itemsize)
    dirty = np.frombuffer(raw, kind)
    dirty["a"], dirty["b"] = 1, 2.0
    clean = np.zeros(2, kind)
    clean["a"], clean["b"] = 1, 2.0
    assert to_npy(dirty) == to_npy(clean)
    assert b"\xab" not in to_npy(dirty)


def test_arrays_of_objects_are_neither_written_nor_read():
    objects = np.array([{}, None], dtype=object)
    with pytest.raises(ValueError, match=r"(?i)object"):
        to_npy(objects)
    stream = io.BytesIO()
    np.save(stream, objects, allow_pickle=True)
    with pytest.raises(ValueError, match="has objects"):
        from_npy(bytearray(stream.getvalue()))


@pytest.mark.parametrize("shape", ["(10000000000,)", "(2,)", "(-3,)", "(-1, -3)", "(4,)"])
def test_a_shape_that_the_bytes_do_not_bear_out_is_refused(shape):
    content = to_npy(np.arange(3))
    header = content[10:128].rstrip().replace(b"(3,)", shape.encode()).ljust(117) + b"\n"
    with pytest.raises(ValueError, match=r"another shape|negative"):
        from_npy(bytearray(content[:10] + header + content[128:]))


def test_an_unknown_version_is_refused():
    content = bytearray(to_npy(np.arange(3)))
    content[6] = 9
    with pytest.raises(ValueError, match="version"):
        from_npy(content)


def test_empty_strings_without_number_are_refused():
    content = to_npy(np.array([""] * 3, dtype="U1")).replace(b"<U1", b"<U0")[:128]
    assert from_npy(bytearray(content)).tolist() == ["", "", ""]
    header = content[10:].rstrip().replace(b"(3,)", b"(3000000000,)").ljust(117) + b"\n"
    with pytest.raises(ValueError, match="has no bytes"):
        from_npy(bytearray(content[:10] + header))
