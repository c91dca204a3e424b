"""What is wrong with a file is said: each kind of damage has an error that tells what to do."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.persistence.mutations import members_of, packed, sealed
from tests.persistence.round_trips import bytes_of

import palmette
from palmette import ReadError
from palmette.persistence import inspect, load

CLF = palmette.FlatClassifier(DecisionTreeClassifier(random_state=0)).fit(np.eye(4), list("abab"))
CONTENT = bytes_of(CLF)


def loaded(content: bytes, tmp_path, **settings):
    file = tmp_path / "model.palmette"
    file.write_bytes(content)
    return load(file, **settings)


def changed(name: str, change, seal: bool = True) -> bytes:
    members = members_of(CONTENT)
    decoded = json.loads(members[name])
    change(decoded)
    members[name] = json.dumps(decoded).encode()
    return sealed(members) if seal else packed(members)


def test_the_file_itself_is_good(tmp_path):
    assert loaded(CONTENT, tmp_path).predict(np.eye(4)).tolist() == list("abab")
    assert loaded(sealed(members_of(CONTENT)), tmp_path).predict(np.eye(4)).tolist() == list("abab")


def test_no_file(tmp_path):
    with pytest.raises(ReadError, match=r"none\.palmette: the file does not exist"):
        load(tmp_path / "none.palmette")
    with pytest.raises(ReadError, match="cannot be opened"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"\x80\x04\x95pickle", "it begins with .* expected a zip archive"),
        (b"PK\x03\x04 not a zip", "truncated or was changed"),
        (CONTENT[:200], "truncated or was changed"),
        (CONTENT[:-30], "truncated or was changed"),
        (packed({"state.json": b"{}"}), r"manifest\.json is missing"),
        (packed({"manifest.json": b"{}"}), "not a model file of Palmette"),
        (packed({"manifest.json": b"[1]"}), "not a model file of Palmette"),
        (packed({"manifest.json": b"\xff\xfe{"}), "cannot be read"),
        (packed({"manifest.json": b'{"a": 1, "a": 2}'}), "a key occurs twice"),
        (packed({"manifest.json": b'{"a": NaN}'}), "NaN is not valid JSON"),
        (packed({"manifest.json": b"[" * 100_000}), "nested too deeply"),
        (packed({"manifest.json": b"9" * 10_000}), "cannot be read"),
    ],
)
def test_what_is_no_model_file(content, message, tmp_path):
    with pytest.raises(ReadError, match=message) as caught:
        loaded(content, tmp_path)
    assert "model.palmette" in str(caught.value)


def test_a_changed_byte_is_found_wherever_it_is(tmp_path):
    with zipfile.ZipFile(io.BytesIO(CONTENT)) as archive:
        infos = {info.filename: info.header_offset for info in archive.infolist()}
    for name, start in infos.items():
        place = start + 30 + len(name) + 10
        spoilt = CONTENT[:place] + bytes([CONTENT[place] ^ 1]) + CONTENT[place + 1 :]
        with pytest.raises(ReadError, match=r"Use another copy of it|not a model file"):
            loaded(spoilt, tmp_path)


def test_members_that_were_exchanged_are_found_by_their_checksums(tmp_path):
    members = members_of(CONTENT)
    members["state.json"] = members["state.json"].replace(b"local", b"Local", 1)
    with pytest.raises(ReadError, match=r"state\.json does not have the checksum of the manifest"):
        loaded(packed(members), tmp_path)


def test_missing_and_extra_members_are_named(tmp_path):
    members = members_of(CONTENT)
    missing = {n: c for n, c in members.items() if n != "state.json"}
    with pytest.raises(ReadError, match=r"it lacks state\.json"):
        loaded(packed(missing), tmp_path)
    with pytest.raises(ReadError, match=r"it has arrays/more\.npy, which is not listed"):
        loaded(packed({**members, "arrays/more.npy": b""}), tmp_path)
    with pytest.raises(ReadError, match=r"the member arrays/\w+\.npy is missing"):
        loaded(sealed({n: c for n, c in members.items() if not n.startswith("arrays")}), tmp_path)


def test_a_later_version_names_the_palmette_that_wrote_it(tmp_path):
    def later(manifest):
        manifest.update(version=2, libraries={"palmette": "9.1"})

    with pytest.raises(ReadError, match=r"version 2 .* reads versions up to 1.* Palmette 9\.1"):
        loaded(changed("manifest.json", later, seal=False), tmp_path)


@pytest.mark.parametrize("version", [0, -1, "1", 1.0, True, None])
def test_a_version_that_is_none_is_refused(version, tmp_path):
    content = changed("manifest.json", lambda m: m.update(version=version), seal=False)
    with pytest.raises(ReadError, match="its format has the version"):
        loaded(content, tmp_path)


def test_a_class_that_is_unknown_is_named(tmp_path):
    def rename(state):
        first = next(each for each in state["objects"] if "object" in each)
        first["object"]["class"] = "local.GoneClassifier"

    with pytest.raises(ReadError, match=r"'local\.GoneClassifier' is not a class .*later version"):
        loaded(changed("state.json", rename), tmp_path)


def test_a_file_that_decompresses_to_too_much_is_refused(tmp_path):
    with pytest.raises(ReadError, match="load it with max_bytes="):
        loaded(CONTENT, tmp_path, max_bytes=1000)


def test_a_part_that_is_compressed_inside_is_refused(tmp_path):
    members = members_of(CONTENT)
    inside = members_of(members["foreign/0000.skops"])
    inside["bomb.npy"] = bytes(10**6)
    members["foreign/0000.skops"] = packed(inside, zipfile.ZIP_DEFLATED)
    with pytest.raises(ReadError, match=r"\w+\.\w+ is compressed"):
        loaded(sealed(members), tmp_path)


def test_a_file_that_names_what_runs_code_is_refused(tmp_path, monkeypatch):
    called = []
    monkeypatch.setattr("os.system", called.append)
    schema = {
        "__class__": "partial",
        "__module__": "functools",
        "__loader__": "PartialNode",
        "content": {
            "func": {"__class__": "system", "__module__": "os", "__loader__": "FunctionNode"},
            "args": [],
            "kwds": {},
            "namespace": None,
        },
    }

    def swap(decoded):
        decoded["content"] = [schema]

    members = members_of(CONTENT)
    inside = members_of(members["foreign/0000.skops"])
    decoded = json.loads(inside["schema.json"])
    swap(decoded)
    inside["schema.json"] = json.dumps(decoded).encode()
    members["foreign/0000.skops"] = packed(inside)
    with pytest.raises(ReadError):
        loaded(sealed(members), tmp_path)
    assert not called


def test_errors_do_not_come_in_a_flood(tmp_path):
    def long(state):
        state["root"] = {"x" * 10_000: 1}

    with pytest.raises(ReadError) as caught:
        loaded(changed("state.json", long), tmp_path)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("name", ["manifest.json", "state.json"])
@pytest.mark.parametrize("values", [b"[],", b'{"a":0},', b"[[[[0]]]],", b'"",'])
def test_json_of_too_many_values_is_refused_before_it_is_read(name, values, tmp_path):
    members = members_of(CONTENT)
    bomb = b'{"root":[' + values * 30_000 + b"0]}"
    members[name] = bomb
    content = packed(members) if name == "manifest.json" else sealed(members)
    with pytest.raises(ReadError, match=r"values, for which .* max_bytes=\d+"):
        loaded(content, tmp_path, max_bytes=10**6 + len(content))
    with pytest.raises(ReadError, match=r"max_bytes"):
        inspect(tmp_path / "model.palmette", max_bytes=10**6 + len(content))


def test_json_of_a_part_of_another_library_is_bounded_too(tmp_path):
    members = members_of(CONTENT)
    [name] = [each for each in members if each.startswith("foreign/")]
    parts = members_of(members[name])
    parts["schema.json"] = b'{"content":[' + b"[]," * 10**6 + b"0]}"
    members[name] = packed(parts)
    with pytest.raises(ReadError, match=r"about 2,000,00\d values.* max_bytes=\d+"):
        loaded(sealed(members), tmp_path, max_bytes=5 * 10**8)


@pytest.mark.parametrize("wrong", ["3", "null", '["cat"]', '{"ref":0}'])
def test_a_vocabulary_that_was_changed_is_refused(tmp_path, wrong):
    words = palmette.Vocabulary({"en": {"a": "cat"}})
    members = members_of(bytes_of(palmette.Hierarchy.star("ab").with_vocabulary(words)))
    assert b'"cat"' in members["state.json"]
    members["state.json"] = members["state.json"].replace(b'"cat"', wrong.encode())
    with pytest.raises(palmette.PalmetteError):
        loaded(sealed(members), tmp_path)
