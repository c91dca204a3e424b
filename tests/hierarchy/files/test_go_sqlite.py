"""The Gene Ontology as SQLite."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.files import _ontologies as go_sqlite

TERMS = "CREATE TABLE go_term (_id INTEGER PRIMARY KEY, go_id TEXT);"
PARENTS = "".join(
    f"CREATE TABLE go_{o}_parents (_id INTEGER, _parent_id INTEGER, relationship_type TEXT);"
    for o in ("bp", "mf", "cc")
)
ROWS = """
INSERT INTO go_term VALUES (7, 'all'), (1, 'GO:1'), (2, 'GO:2'), (3, 'GO:3');
INSERT INTO go_bp_parents VALUES (1, 7, 'isa'), (2, 1, 'is_a'), (2, 1, 'regulates');
INSERT INTO go_mf_parents VALUES (3, 7, 'isa'), (3, 1, 'part of');
"""


@pytest.fixture
def database(tmp_path: Path):
    def make(*scripts: str, name: str = "go.sqlite") -> Path:
        file = tmp_path / name
        connection = sqlite3.connect(file)
        for script in scripts:
            connection.executescript(script)
        connection.close()
        return file

    return make


def test_is_a_edges(database):
    h = Hierarchy.read(database(TERMS, PARENTS, ROWS))
    assert h == Hierarchy.from_edges([("all", "GO:1"), ("GO:1", "GO:2"), ("all", "GO:3")])


def test_part_of_edges_if_asked(database):
    h = Hierarchy.read(database(TERMS, PARENTS, ROWS), format="go-sqlite+part_of")
    assert set(h.parents_of("GO:3").tolist()) == {h.index("all"), h.index("GO:1")}


def test_known_by_content_and_nothing_is_left_behind(database):
    file = database(TERMS, PARENTS, ROWS, name="go.bin")
    assert Hierarchy.read(file).n_nodes == 4
    assert [f.name for f in file.parent.iterdir()] == ["go.bin"]


@pytest.mark.parametrize(
    ("scripts", "message"),
    [
        (["CREATE TABLE x (y);"], "has no table 'go_term'"),
        ([TERMS], "has no table 'go_bp_parents'"),
        (["CREATE TABLE go_term (_id);", PARENTS], "has no column 'go_id'"),
        ([TERMS, PARENTS], "has no nodes"),
        ([TERMS, PARENTS, "INSERT INTO go_term VALUES (1, NULL);"], "has an invalid id: None"),
        ([TERMS, PARENTS, ROWS, "INSERT INTO go_cc_parents VALUES (1, 99, 'isa');"], "term 99"),
        (
            [
                "CREATE VIEW go_term AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
                " FROM n) SELECT i AS _id, 'x' || i AS go_id FROM n;",
                PARENTS,
            ],
            "has no table 'go_term'",
        ),
        (
            ["CREATE TABLE go_term (_id, go_id AS (printf('%.*c', 100000000, 'x')));", PARENTS],
            "has no column 'go_id'",
        ),
    ],
    ids=["other", "some", "column", "empty", "null", "orphan", "endless view", "generated"],
)
def test_broken(database, scripts, message):
    with pytest.raises(ReadError, match=message):
        Hierarchy.read(database(*scripts))


def test_several_roots(database):
    more = "INSERT INTO go_term VALUES (9, 'GO:9');"
    file = database(TERMS, PARENTS, ROWS, more)
    with pytest.raises(HierarchyError, match="2 nodes without a parent"):
        Hierarchy.read(file)
    assert Hierarchy.read(file, root="top").n_nodes == 6


def test_endless_work_is_stopped(database, monkeypatch):
    monkeypatch.setattr(go_sqlite, "_STEPS_AT_ONCE", 10)
    monkeypatch.setattr(go_sqlite, "_MAX_CALLS", 2)
    with pytest.raises(ReadError, match="interrupted"):
        Hierarchy.read(database(TERMS, PARENTS, ROWS))


@pytest.mark.parametrize("length", [10, 16, 100, 1000, 4096, 5000, 9000])
def test_cut_short(database, length):
    file = database(TERMS, PARENTS, ROWS)
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(ReadError):
        Hierarchy.read(file)


def test_no_sqlite(read):
    with pytest.raises(ReadError, match="not an SQLite file"):
        read("a b", "x.sqlite")
