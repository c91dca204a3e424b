"""Results on disk survive a kill, and files of others are left alone."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette.compare._store import ResultStore
from palmette.exceptions import ReadError

CELLS = [
    {"dataset": "d", "split": "s", "model": name, "made_with": {"numpy": "2"}}
    for name in ("m0", "m1", "m2")
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.jsonl"
    store = ResultStore(path)
    for i, cell in enumerate(CELLS):
        store.put(cell, {"score": i})
    return path


def test_kept_in_memory_without_a_file():
    store = ResultStore()
    assert store.get(CELLS[0]) is None
    store.put(CELLS[0], {"score": 1.5})
    assert store.get(dict(reversed(CELLS[0].items()))) == {"score": 1.5}
    assert len(store) == 1


def test_found_again_in_the_file(path):
    store = ResultStore(path)
    assert [store.get(cell) for cell in CELLS] == [{"score": 0}, {"score": 1}, {"score": 2}]


numbers = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.text(), numbers), st.dictionaries(st.text(), numbers))
def test_anything_written_is_read(tmp_path_factory, cell, results):
    path = tmp_path_factory.mktemp("store") / "run.jsonl"
    ResultStore(path).put(cell, results)
    assert ResultStore(path).get(cell) == results


def test_a_kill_at_any_byte_loses_at_most_the_last_cell(path):
    whole = path.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1  # of the last line
    for end in range(start, len(whole)):
        path.write_bytes(whole[:end])
        store = ResultStore(path)
        assert [store.get(cell) is None for cell in CELLS] == [False, False, True]
        store.put(CELLS[2], {"score": 2})
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"name,price\napple,3\n", 1),
        (b"one line of notes without an end", 1),
        (b'{"cell": {}, "results": {}}\nnonsense\n{"cell": {}, "results": {}}\n', 2),
        (b'{"cell": {}}\n', 1),
        (b'{"cell": 3, "results": {}}\n', 1),
        (b"[1]\n", 1),
        (b"\xff\xfe\x00\n", 1),
        (b"\n", 1),
        (b"[" * 100_000 + b"\n", 1),
        (b"PAR1 binary without a line", 1),
    ],
)
def test_other_files_are_refused_and_left_alone(tmp_path, content, line):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(
        ReadError, match=rf"notes.txt:{line}: this is not a line of comparison results"
    ):
        ResultStore(path)
    assert path.read_bytes() == content


def test_a_name_that_cannot_be_written_shows_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        ResultStore(tmp_path / "nowhere" / "run.jsonl")
    with pytest.raises(IsADirectoryError):
        ResultStore(tmp_path)


def test_more_scores_of_a_cell_are_kept_beside_the_first(path):
    ResultStore(path).put(CELLS[0], {"more": 5})
    assert ResultStore(path).get(CELLS[0]) == {"score": 0, "more": 5}


def test_what_has_changed_is_named(path):
    store = ResultStore(path)
    assert store.changes(CELLS[0]) == []
    assert store.changes({**CELLS[0], "model": "new"}) == []
    changed = {**CELLS[0], "seed": 3, "made_with": {"numpy": "3"}}
    assert store.get(changed) is None
    assert store.changes(changed) == ["numpy", "seed"]


def test_lines_are_plain_json(path):
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["cell"] for record in records] == CELLS


@pytest.mark.skipif(
    os.name == "nt",
    reason="Windows has no limit on the size of files",
)
def test_a_full_disk_loses_no_finished_cell(path):
    import resource

    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    store = ResultStore(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
    try:
        with pytest.raises(OSError, match="What was written before is unchanged") as caught:
            store.put(CELLS[2], {"score": 2})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    store.put(CELLS[2], {"score": 2})
    assert ResultStore(path).get(CELLS[2]) == {"score": 2}


def test_cells_that_differ_in_what_is_ignored_are_found(path):
    elsewhere = {**CELLS[1], "made_with": {"numpy": "3"}}
    assert ResultStore(path).get(elsewhere) is None
    store = ResultStore(path, ignored=("made_with",))
    assert store.get(elsewhere) == {"score": 1}
    assert store.find(elsewhere) == CELLS[1]
    store.put(elsewhere, {"score": 7})  # an equal cell comes first
    assert store.get(elsewhere) == {"score": 7}
    assert store.get(CELLS[1]) == {"score": 1}
    assert store.find({**CELLS[1], "model": "other"}) is None
