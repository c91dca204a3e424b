"""What a file says of itself."""

from __future__ import annotations

import json

import pytest

from palmette import ReadError
from palmette.persistence.manifest import (
    FORMAT,
    VERSION,
    library_versions,
    make_manifest,
    parse_json,
    read_manifest,
)


def test_a_manifest_comes_back():
    made = make_manifest("a.B", {"rows": 3}, {"state.json": [2, "ab"]})
    read = read_manifest(made, "m.palmette")
    assert read == {
        "format": FORMAT,
        "version": VERSION,
        "kind": "a.B",
        "libraries": library_versions(),
        "summary": {"rows": 3},
        "members": {"state.json": [2, "ab"]},
    }


def test_people_can_read_it():
    text = make_manifest("a.B", {"größe": "ü"}, {}).decode()
    assert "größe" in text
    assert text.count("\n") > 8


def test_a_summary_that_is_no_json_does_not_stop_saving():
    loop: list = []
    loop.append(loop)
    assert json.loads(make_manifest("a.B", loop, {}))["summary"] is None
    assert json.loads(make_manifest("a.B", {"when": {1, 2}}, {}))["summary"] == {"when": "{1, 2}"}


@pytest.mark.parametrize(
    "members",
    [None, [], {"a": 1}, {"a": [1]}, {"a": ["1", "x"]}, {"a": [True, "x"]}, {"a": [1, 2]}],
)
def test_members_must_be_listed_with_size_and_checksum(members):
    manifest = {"format": FORMAT, "version": 1, "members": members}
    with pytest.raises(ValueError, match="does not list the members"):
        read_manifest(json.dumps(manifest).encode(), "m.palmette")


def test_other_formats_are_refused():
    with pytest.raises(ReadError, match="no model file"):
        read_manifest(b'{"format": "other", "version": 1}', "m.palmette")


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": 1, "a": 2}', "", "{", '"\\ud800"x'])
def test_json_is_read_strictly(text):
    with pytest.raises(ValueError, match=r"."):
        parse_json(text.encode())
