"""Where the arrays of a model lie."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.persistence._arrays import ArrayReader, ArrayWriter


def stored(arrays):
    writer = ArrayWriter()
    places = [writer.add(array) for array in arrays]
    members = writer.members()
    return places, members, ArrayReader(lambda name: bytearray(members[name]))


def test_small_arrays_of_a_kind_lie_together_and_large_ones_alone():
    small = [np.arange(3), np.arange(4.0), np.arange(12, dtype=np.int64).reshape(3, 4)]
    large = np.arange(10_000.0)
    _, members, _ = stored([*small, large])
    assert sorted(members) == ["arrays/a00000.npy", "arrays/f8.npy", "arrays/i8.npy"]


def test_arrays_come_back_each_by_itself():
    arrays = [
        np.arange(3, dtype=np.int32),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6.0)[::2],
        np.array(5.0),
        np.zeros((0, 2)),
        np.array(["a"]),
        np.arange(5_000.0),
    ]
    places, _, reader = stored(arrays)
    for array, place in zip(arrays, places, strict=True):
        again = reader.get(place)
        assert again.dtype == array.dtype
        assert np.array_equal(again, array)
        assert again.flags.f_contiguous == array.flags.f_contiguous or array.ndim < 2
        again[...] = again  # no view of another
    first = stored(arrays)[2].get(places[0])
    assert first.base is None or first.base.size == 3


@pytest.mark.parametrize("array", [np.arange(3), np.arange(10_000)])
def test_every_item_of_a_file_is_of_one_array(array):
    [place], _, reader = stored([array])
    assert np.array_equal(reader.get(place), array)
    with pytest.raises(ValueError, match="share items"):
        reader.get(place)


@pytest.mark.parametrize(
    "change", [{"at": 1}, {"at": -1}, {"shape": [4]}, {"shape": [-3]}, {"shape": [2**40, 2**40]}]
)
def test_a_place_outside_is_refused(change):
    (place,), _, reader = stored([np.arange(3)])
    with pytest.raises(ValueError, match="is outside"):
        reader.get({**place, **change})
