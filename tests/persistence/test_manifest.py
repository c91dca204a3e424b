"""What a file says of itself."""

from __future__ import annotations

import json

import pytest

from palmette import ReadError
from palmette.persistence._archive import (
    CHECKPOINT,
    MODEL,
    VERSION,
    library_versions,
    make_manifest,
    parse_json,
    read_manifest,
    sha256_of,
)


def test_a_manifest_comes_back():
    made = make_manifest(MODEL, {"kind": "a.B", "summary": {"rows": 3}}, {"state.json": b"{}"})
    read = read_manifest(made, MODEL, "m.palmette")
    assert read == {
        "format": MODEL,
        "version": VERSION,
        "kind": "a.B",
        "libraries": library_versions(),
        "summary": {"rows": 3},
        "members": {"state.json": [2, sha256_of(b"{}")]},
    }


def test_people_can_read_it():
    text = make_manifest(MODEL, {"summary": {"größe": "ü"}}, {"state.json": b""}).decode()
    assert "größe" in text
    assert text.count("\n") > 8


def test_a_summary_that_is_no_json_does_not_stop_saving():
    loop: list = []
    loop.append(loop)
    assert json.loads(make_manifest(MODEL, {"summary": loop}, {}))["summary"] is None
    made = json.loads(make_manifest(MODEL, {"summary": {"when": {1, 2}}}, {}))
    assert made["summary"] == {"when": "{1, 2}"}


@pytest.mark.parametrize(
    "members",
    [None, [], {"a": 1}, {"a": [1]}, {"a": ["1", "x"]}, {"a": [True, "x"]}, {"a": [1, 2]}],
)
def test_members_must_be_listed_with_size_and_checksum(members):
    manifest = {"format": MODEL, "version": 1, "members": members}
    with pytest.raises(ValueError, match="does not list the members"):
        read_manifest(json.dumps(manifest).encode(), MODEL, "m.palmette")


def test_other_formats_are_refused():
    for found in (b'"other"', b"null", b'["palmette.model"]'):
        with pytest.raises(ReadError, match=r"not a model file .*names another format"):
            read_manifest(b'{"format": %b, "version": 1}' % found, MODEL, "m.palmette")


def test_models_and_checkpoints_are_not_taken_for_each_other():
    for made, other, noun in ((MODEL, CHECKPOINT, "model file"), (CHECKPOINT, MODEL, "checkpoint")):
        with pytest.raises(ReadError, match=rf"m\.palmette.* not a .*it is a {noun}"):
            read_manifest(make_manifest(made, {}, {}), other, "m.palmette")


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": 1, "a": 2}', "", "{", '"\\ud800"x'])
def test_json_is_read_strictly(text):
    with pytest.raises(ValueError, match=r"."):
        parse_json(text.encode())
