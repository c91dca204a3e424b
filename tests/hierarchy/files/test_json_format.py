"""Decoding JSON safely."""

from __future__ import annotations

import contextlib

import pytest

from palmette.exceptions import PalmetteError, ReadError


def test_broken_json_is_pointed_at(read):
    with pytest.raises(ReadError, match="not JSON") as e:
        read('{"a": {},\n "b": ]}', "x.json")
    assert (e.value.line, e.value.column) == (2, 6)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 100_000,
        '{"a":' * 100_000 + "{}" + "}" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '{"name": "a", "children": [' * 100_000,
        '{"a": NaN}',
        '{"a": [' + "9" * 5000 + "]}",
        "",
        '{"a": "\\ud800',
    ],
    ids=["open", "deep", "lists", "nodes", "nan", "digits", "empty", "cut"],
)
def test_adversaries(read, text):
    with pytest.raises(PalmetteError):
        read(text, "x.json")


@pytest.mark.parametrize("depth", [300, 450, 470, 480, 490, 495, 900, 980, 990])
def test_near_the_limit_of_recursion(read, depth):
    """Whatever is decoded must be walked, and shown in a message, without recursion."""
    for text in ('{"a":' * depth + "[2.5]" + "}" * depth, '{"a":' * depth + "{}" + "}" * depth):
        with contextlib.suppress(PalmetteError):
            assert read(text, "x.json").max_depth == depth - 1
    names = "[" * depth + "]" * depth
    text = f'{{"format": "palmette.hierarchy", "version": 1, "names": [{names}], "parents": [-1]}}'
    with pytest.raises(PalmetteError):
        read(text, "x.json")
