"""OBO ontologies: terms, named by identifier, and their ``is_a`` edges.

Obsolete terms and relationship types are left out. The format ``obo+part_of`` also reads
``part_of`` relationships as edges. Several top terms, one per namespace in the Gene Ontology,
become children of an added root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from palmette.core.taxonomy.rows import LinkRows, Tops, short
from palmette.core.taxonomy.source import Source

__all__ = ["looks_like", "parse", "parse_with_parts"]

_STANZA = re.compile(r"\[(\w+)\]\s*$")
_START = re.compile(r"format-version\s*:|\[(?:Term|Typedef)\]")


@dataclass
class _Term:
    line: int
    name: str = ""
    obsolete: bool = False
    parents: list[tuple[str, int]] = field(default_factory=list)  # identifier and line


def looks_like(source: Source) -> bool:
    """Whether the file starts with an OBO version line or a stanza."""
    return bool(source.sample) and _START.match(source.sample[0].strip()) is not None


def parse(source: Source) -> LinkRows:
    """Read terms and ``is_a`` edges."""
    return _link(source, _terms(source, {"is_a"}))


def parse_with_parts(source: Source) -> LinkRows:
    """Read terms, ``is_a`` and ``part_of`` edges."""
    return _link(source, _terms(source, {"is_a", "part_of"}))


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


def _link(source: Source, terms: Iterator[_Term]) -> LinkRows:
    kept: dict[str, _Term] = {}
    obsolete: set[str] = set()
    for term in terms:
        if not term.name:
            raise source.error("the term has no 'id:' line", term.line)
        if term.name in kept:
            raise source.error(
                f"{short(term.name)} is declared twice, first in line {kept[term.name].line}",
                term.line,
            )
        if term.obsolete:
            obsolete.add(term.name)
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
    return rows
