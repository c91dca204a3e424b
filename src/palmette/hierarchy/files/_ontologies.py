"""Ontologies: OBO files, and the Gene Ontology as SQLite with the tables of GO.db.

Terms are named by identifier; names, exact synonyms and replacements of OBO terms are in the
vocabulary of the hierarchy. Only ``is_a`` edges are read; the formats ``obo+part_of`` and
``go-sqlite+part_of`` also read ``part_of`` edges. Obsolete terms and relationship types of OBO
are left out, and several top terms, one per namespace, become children of an added root. In
SQLite, ``go_term`` has the terms, including the root ``all``; ``go_bp_parents``,
``go_mf_parents`` and ``go_cc_parents`` have the edges."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from palmette.hierarchy._vocabulary import Vocabulary
from palmette.hierarchy.files._source import LinkRows, Source, Tops, short

if TYPE_CHECKING:
    import sqlite3

_STANZA = re.compile(r"\[(\w+)\]\s*$")
_START = re.compile(r"format-version\s*:|\[(?:Term|Typedef)\]")
_EXACT = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s+EXACT\b')
_ESCAPED = re.compile(r"\\(.)")


@dataclass
class _Term:
    line: int
    name: str = ""
    label: str = ""
    synonyms: list[str] = field(default_factory=list)
    replaced_by: list[str] = field(default_factory=list)
    obsolete: bool = False
    parents: list[tuple[str, int]] = field(default_factory=list)  # identifier and line


def looks_like_obo(source: Source) -> bool:
    """Whether the file starts with an OBO version line or a stanza."""
    return bool(source.sample) and _START.match(source.sample[0].strip()) is not None


def parse_obo(source: Source) -> LinkRows:
    """Read terms and ``is_a`` edges."""
    return _link_terms(source, _terms(source, {"is_a"}))


def parse_obo_with_parts(source: Source) -> LinkRows:
    """Read terms, ``is_a`` and ``part_of`` edges."""
    return _link_terms(source, _terms(source, {"is_a", "part_of"}))


def _terms(source: Source, relations: set[str]) -> Iterator[_Term]:
    term: _Term | None = None
    for number, line in source.lines():
        stanza = _STANZA.match(line)
        if stanza:
            if term is not None:
                yield term
            term = _Term(number) if stanza.group(1) == "Term" else None
        elif term is not None and line.strip() and not line.startswith("!"):
            _read_tag(source, number, line, term, relations)
    if term is not None:
        yield term


def _read_tag(source: Source, number: int, line: str, term: _Term, relations: set[str]) -> None:
    tag, colon, value = line.partition(":")
    if not colon:
        raise source.error("the line has no colon: expected 'tag: value'", number, line)
    tag = tag.strip()
    if tag == "id":
        if term.name:
            raise source.error("the term has two 'id:' lines: expected one", number, line)
        term.name = _first_word(source, number, line, value)
    elif tag == "name":
        term.label = _ESCAPED.sub(r"\1", value.strip())
    elif tag == "synonym":
        exact = _EXACT.match(value)
        if exact:
            term.synonyms.append(_ESCAPED.sub(r"\1", exact.group(1)))
    elif tag == "replaced_by":
        term.replaced_by.append(_first_word(source, number, line, value))
    elif tag == "is_obsolete":
        term.obsolete = value.split("!")[0].strip() == "true"
    elif tag == "is_a":
        term.parents.append((_first_word(source, number, line, value), number))
    elif tag == "relationship":
        relation, _, target = value.strip().partition(" ")
        if relation in relations:
            term.parents.append((_first_word(source, number, line, target), number))


def _first_word(source: Source, number: int, line: str, value: str) -> str:
    """Return an identifier without a trailing ``! comment`` or ``{qualifiers}``."""
    words = re.split(r"[\s!{]", value.strip(), maxsplit=1)
    if not words[0]:
        raise source.error("the identifier is missing", number, line, len(line.rstrip()))
    return words[0]


def _link_terms(source: Source, terms: Iterator[_Term]) -> LinkRows:
    kept: dict[str, _Term] = {}
    obsolete: dict[str, _Term] = {}
    for term in terms:
        if not term.name:
            raise source.error("the term has no 'id:' line", term.line)
        if term.name in kept:
            raise source.error(
                f"{short(term.name)} is declared twice, first in line {kept[term.name].line}",
                term.line,
            )
        if term.obsolete:
            obsolete[term.name] = term
        else:
            kept[term.name] = term
    rows = LinkRows(source, Tops.SEVERAL)
    for name, term in kept.items():
        rows.node(name)
        for parent, line in term.parents:
            if parent not in kept:
                kind = "obsolete" if parent in obsolete else "not a term of this file"
                raise source.error(f"the parent {short(parent)} of {short(name)} is {kind}", line)
            rows.link(parent, name, line)
    rows.vocabulary = _vocabulary(kept, obsolete)
    return rows


def _vocabulary(kept: dict[str, _Term], obsolete: dict[str, _Term]) -> Vocabulary | None:
    """Return names and exact synonyms of terms, and what replaces obsolete ones; None if none."""
    labels = {name: term.label for name, term in kept.items() if term.label}
    if not labels:
        return None
    others = {name: term.synonyms for name, term in kept.items() if term.synonyms}
    replaced = {
        name: found
        for name, term in obsolete.items()
        if (found := [new for new in term.replaced_by if new in kept])
    }
    return Vocabulary({"": labels}, {"": others} if others else None, replaced=replaced)


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


def looks_like_go_sqlite(source: Source) -> bool:
    """Whether this is an SQLite file."""
    return source.data.startswith(_MAGIC)


def parse_go_sqlite(source: Source) -> LinkRows:
    """Read terms and ``is a`` edges."""
    return _read(source, _IS_A)


def parse_go_sqlite_with_parts(source: Source) -> LinkRows:
    """Read terms, ``is a`` and ``part of`` edges."""
    return _read(source, _IS_A + _PART_OF)


def _read(source: Source, relations: tuple[str, ...]) -> LinkRows:
    import sqlite3

    if not looks_like_go_sqlite(source):
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
            return _link_rows(source, connection, relations)
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


def _link_rows(
    source: Source, connection: sqlite3.Connection, relations: tuple[str, ...]
) -> LinkRows:
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
