"""Plain values."""

from __future__ import annotations

import json

import numpy as np

from palmette.reporting._plain import plain, to_json


def test_whatever_comes_can_be_written():
    value = {
        1: np.int64(3),
        "nan": [float("nan"), np.inf, np.float32(0.5)],
        "array": np.array([[True, False]]),
        "tuple": (None, {"deep": {1}}),
        "object": object,
    }
    found = plain(value)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["nan"] == [None, None, 0.5]
    assert found["array"] == [[True, False]]
    assert found["tuple"] == [None, {"deep": [1]}]


def test_a_section_a_line():
    facts = {"title": "two\nlines", "nodes": {"name": ["a"]}, "version": 1}
    text = to_json(facts)
    assert json.loads(text) == facts
    assert len(text.splitlines()) == len(facts) + 2
