"""The formats of hierarchy files: names, suffixes, and how to detect each by its content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from palmette.core.html_tree import to_page
from palmette.core.svg import to_svg
from palmette.core.taxonomy import (
    clus_arff,
    code_table,
    edge_list,
    go_sqlite,
    icd10_codes,
    icd10_xml,
    indented,
    json_format,
    mulan_xml,
    newick,
    obo,
    path_lines,
)
from palmette.core.taxonomy.dot import to_dot
from palmette.core.taxonomy.json_rows import to_json
from palmette.core.taxonomy.rows import Rows
from palmette.core.taxonomy.sax import root_element
from palmette.core.taxonomy.source import Source
from palmette.exceptions import PalmetteError, ReadError

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["READERS", "WRITERS", "Reader", "Writer", "detect", "find_reader", "find_writer"]


@dataclass(frozen=True)
class Reader:
    """A format that can be read.

    Parameters
    ----------
    name : str
    shows : str
        A short description of such a file.
    parse : callable
        Returns rows, from which `Hierarchy.read` builds a hierarchy.
    looks_like : callable or None
        Whether the content of a file has this format; None if the format is never detected.
    suffixes : tuple of str
        Suffixes that only this format has.
    """

    name: str
    shows: str
    parse: Callable[[Source], Rows]
    looks_like: Callable[[Source], bool] | None
    suffixes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Writer:
    """A format that can be written."""

    name: str
    to_string: Callable[[Hierarchy], str]
    suffixes: tuple[str, ...]


_PICTURES = ("dot", "svg", "html")  # formats that are only written
_ELEMENTS = (mulan_xml.ELEMENT, icd10_xml.ELEMENT)

# In the order of detection: specific formats first, formats that accept much last.
READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("go-sqlite", "the Gene Ontology as SQLite", go_sqlite.parse, go_sqlite.looks_like,
               (".sqlite", ".sqlite3", ".db")),
        Reader("go-sqlite+part_of", "the same with part of edges", go_sqlite.parse_with_parts,
               None),
        Reader("mulan", "XML of <labels>", mulan_xml.parse, mulan_xml.looks_like),
        Reader("icd10-xml", "XML of ICD-10-CM", icd10_xml.parse, icd10_xml.looks_like),
        Reader("arff", "the ARFF header of Clus-HMC", clus_arff.parse, clus_arff.looks_like,
               (".arff", ".harff")),
        Reader("obo", "an OBO ontology, is_a edges", obo.parse, obo.looks_like, (".obo",)),
        Reader("obo+part_of", "the same with part_of edges", obo.parse_with_parts, None),
        Reader("json", "JSON: rows, nested nodes or objects", json_format.parse,
               json_format.looks_like, (".json",)),
        Reader("newick", "((b,c)a)root;", newick.parse, newick.looks_like,
               (".nwk", ".newick", ".nhx", ".tree", ".tre")),
        Reader("icd10-codes", "the list of codes of ICD-10-CM", icd10_codes.parse,
               icd10_codes.looks_like),
        Reader("indented", "names indented by spaces, tabs or dashes", indented.parse,
               indented.looks_like),
        Reader("paths", "A > B > C", path_lines.parse, path_lines.looks_like),
        Reader("codes", "a table of code and title, nested by prefix", code_table.parse,
               code_table.looks_like),
        Reader("edges", "parent child", edge_list.parse, edge_list.looks_like,
               (".taxonomy", ".edges")),
    )
}  # fmt: skip

WRITERS: dict[str, Writer] = {
    writer.name: writer
    for writer in (
        Writer("json", to_json, (".json",)),
        Writer("newick", newick.to_newick, READERS["newick"].suffixes),
        Writer("dot", to_dot, (".dot", ".gv")),
        Writer("indented", indented.to_text, (".txt",)),
        Writer("edges", edge_list.to_edges, (".edges", ".csv")),
        Writer("svg", to_svg, (".svg",)),
        Writer("html", to_page, (".html", ".htm")),
    )
}


def find_reader(name: str) -> Reader:
    """Return the reader of a format, or raise an error that lists the known formats."""
    if name in READERS:
        return READERS[name]
    known = "\n".join(f"  {reader.name:18} {reader.shows}" for reader in READERS.values())
    hint = f" {name.upper()} can only be written." if name in _PICTURES else ""
    raise ReadError(f"format={name!r} is unknown.{hint} Known formats:\n{known}")


def detect(source: Source) -> Reader:
    """Detect the format of a file by its suffix, then by its content."""
    for reader in READERS.values():
        if source.suffix in reader.suffixes:
            return reader
    for name in _PICTURES:
        if source.suffix in WRITERS[name].suffixes:
            raise source.error(
                f"{name.upper()} can only be written. Read JSON or another format instead"
            )
    element = root_element(source)
    if source.head.startswith("<") and element not in _ELEMENTS:
        raise source.error(
            f"this looks like XML with the root element {element!r}: expected one of "
            + ", ".join(_ELEMENTS)
        )
    if source.suffix == ".csv" and edge_list.has_header(source):
        return READERS["edges"]
    for reader in READERS.values():
        if reader.looks_like is not None and reader.looks_like(source):
            return reader
    raise source.error(
        "the format cannot be detected from suffix or content. Give it, as in format='indented'; "
        "for a plain list of names, use Hierarchy.star. Known formats: " + ", ".join(READERS)
    )


def find_writer(name: str | None, suffix: str) -> Writer:
    """Return the writer of a format, or of a suffix if no format is given."""
    for writer in WRITERS.values():
        if name == writer.name or (name is None and suffix in writer.suffixes):
            return writer
    given = f"the suffix {suffix!r}" if name is None else f"format={name!r}"
    known = ", ".join(f"{w.name} ({' '.join(w.suffixes)})" for w in WRITERS.values())
    raise PalmetteError(f"{given} cannot be written. Known formats: {known}")
