"""The Gene Ontology as SQLite, with the tables of GO.db of Bioconductor.

``go_term`` has the terms, including the root ``all``; ``go_bp_parents``, ``go_mf_parents`` and
``go_cc_parents`` have the edges. Terms are named by identifier. Only ``is a`` edges are read; the
format ``go-sqlite+part_of`` also reads ``part of``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from palmette.core.taxonomy.rows import LinkRows, Tops, short
from palmette.core.taxonomy.source import Source

if TYPE_CHECKING:
    import sqlite3

__all__ = ["looks_like", "parse", "parse_with_parts"]

_MAGIC = b"SQLite format 3\0"
_TABLES = {
    "go_term": ("_id", "go_id"),
    "go_bp_parents": ("_id", "_parent_id", "relationship_type"),
    "go_mf_parents": ("_id", "_parent_id", "relationship_type"),
    "go_cc_parents": ("_id", "_parent_id", "relationship_type"),
}
_IS_A = ("isa", "is_a")  # both spellings occur
_PART_OF = ("part of", "part_of")
# The whole ontology takes about two million steps: a file that needs far more is malicious.
_STEPS_AT_ONCE = 1_000_000
_MAX_CALLS = 200
_MAX_FIELD = 10_000_000  # bytes of a field or a row


def looks_like(source: Source) -> bool:
    """Whether this is an SQLite file."""
    return source.data.startswith(_MAGIC)


def parse(source: Source) -> LinkRows:
    """Read terms and ``is a`` edges."""
    return _read(source, _IS_A)


def parse_with_parts(source: Source) -> LinkRows:
    """Read terms, ``is a`` and ``part of`` edges."""
    return _read(source, _IS_A + _PART_OF)


def _read(source: Source, relations: tuple[str, ...]) -> LinkRows:
    import sqlite3

    if not looks_like(source):
        raise source.error("this is not an SQLite file")
    # ignore_cleanup_errors: Windows may not delete a file that was just closed
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "go.sqlite"
        copy.write_bytes(source.data)
        # immutable: SQLite neither looks for a journal nor writes anything
        connection = sqlite3.connect(f"{copy.as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            _guard(connection)
            _check_tables(source, connection)
            return _link(source, connection, relations)
        except sqlite3.Error as error:
            raise source.error(f"the SQLite file is corrupt ({error})") from None
        finally:
            connection.close()


def _guard(connection: sqlite3.Connection) -> None:
    """Run no code defined by the file, and stop endless queries."""
    import sqlite3

    connection.execute("PRAGMA trusted_schema = OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_FIELD)
    calls = 0

    def too_long() -> bool:
        nonlocal calls
        calls += 1
        return calls > _MAX_CALLS

    connection.set_progress_handler(too_long, _STEPS_AT_ONCE)


def _check_tables(source: Source, connection: sqlite3.Connection) -> None:
    # views and virtual tables, which could run any code, have no root page
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    found = {name for (name,) in connection.execute(query)}
    for table, columns in _TABLES.items():
        if table not in found:
            raise source.error(
                f"this SQLite file has no table {table!r}: expected the tables of GO.db: "
                + ", ".join(_TABLES)
            )
        have = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        missing = [column for column in columns if column not in have]
        if missing:
            raise source.error(f"the table {table!r} has no column {missing[0]!r}")


def _link(source: Source, connection: sqlite3.Connection, relations: tuple[str, ...]) -> LinkRows:
    rows = LinkRows(source, Tops.NEVER)
    terms: dict[object, str] = {}
    for number, name in connection.execute("SELECT _id, go_id FROM go_term ORDER BY _id"):
        if not isinstance(name, str) or not name:
            raise source.error(f"row {number} of 'go_term' has an invalid id: {short(name)}")
        terms[number] = name
        rows.node(name)
    marks = ", ".join("?" * len(relations))
    for table in list(_TABLES)[1:]:
        query = f"SELECT _parent_id, _id FROM {table} WHERE relationship_type IN ({marks})"
        for parent, child in connection.execute(query, relations):
            if parent not in terms or child not in terms:
                missing = parent if parent not in terms else child
                raise source.error(f"{table!r} refers to the missing term {short(missing)}")
            rows.link(terms[parent], terms[child])
    return rows
