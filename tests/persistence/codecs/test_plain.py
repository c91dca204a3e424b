"""What Python itself offers comes back as it was."""

from __future__ import annotations

import datetime
import math
from pathlib import Path

import pytest
from tests.persistence.round_trips import again, bytes_of

VALUES = [
    *[None, True, False, 0, -5, 2**100, 1.5, -0.0, 1e-320, "", "größer \ud800 \x00", b"\x00\xff"],
    *[1 + 2j, complex(math.inf, -0.0), math.inf, -math.inf],
    *[(), (1, ("a", None)), [], [1, [2]], {1, "a", (2, 3)}, frozenset({1, frozenset()}), set()],
    *[{}, {"a": 1}, {1: "a", None: 2, (1, "x"): [3], 2.5: True, b"k": 1, False: 0}],
    *[slice(1, None, 2), range(3, 9, 2)],
    *[datetime.date(2020, 2, 29), datetime.datetime(2020, 1, 1, 12, 30, 5, 7)],
    *[datetime.timedelta(days=-2, microseconds=3)],
    datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
    Path("folder") / "file.csv",
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back(value):
    made = again(value)
    assert type(made) is type(value)
    assert repr(made) == repr(value) or made == value
    assert again([value, (value,)])[1][0] == value


def test_nan_comes_back():
    assert math.isnan(again(math.nan))
    assert math.isnan(again({"a": (math.nan,)})["a"][0])


def test_the_order_of_a_dictionary_is_kept():
    assert list(again({"b": 1, "a": 2, "c": 3})) == ["b", "a", "c"]
    assert list(again({2: 1, 1: 2})) == [2, 1]


def test_the_file_of_a_set_does_not_depend_on_its_order():
    words = [f"word{i}" for i in range(50)]
    backwards: set[str] = set()
    backwards.update(words[::-1])
    assert bytes_of(set(words)) == bytes_of(backwards)


def test_subclasses_are_not_taken_for_what_they_extend():
    class Words(list):
        pass

    with pytest.raises(ValueError, match="cannot be saved"):
        again({"words": Words()})
