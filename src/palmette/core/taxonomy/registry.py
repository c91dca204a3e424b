"""The formats of hierarchy files: names, suffixes, and how each is known by its content."""

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
        What such a file looks like, in a few words.
    parse : callable
        Gives rows, of which `Hierarchy.read` builds a hierarchy.
    looks_like : callable or None
        Whether a file's content is of this format; None: only where it is asked for by name.
    suffixes : tuple of str
        Suffixes that stand for this format and no other.
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


_PICTURES = ("dot", "svg", "html")  # written, never read
_ELEMENTS = (mulan_xml.ELEMENT, icd10_xml.ELEMENT)

# In the order in which contents are looked at: what is sure first, what accepts much last.
READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("go-sqlite", "the Gene Ontology as SQLite", go_sqlite.parse, go_sqlite.looks_like,
               (".sqlite", ".sqlite3", ".db")),
        Reader("go-sqlite+part_of", "the same, part of as edges too", go_sqlite.parse_with_parts,
               None),
        Reader("mulan", "XML of <labels>", mulan_xml.parse, mulan_xml.looks_like),
        Reader("icd10-xml", "XML of ICD-10-CM", icd10_xml.parse, icd10_xml.looks_like),
        Reader("arff", "the header of Clus-HMC's ARFF", clus_arff.parse, clus_arff.looks_like,
               (".arff", ".harff")),
        Reader("obo", "an OBO ontology, is_a edges", obo.parse, obo.looks_like, (".obo",)),
        Reader("obo+part_of", "the same, part_of as edges too", obo.parse_with_parts, None),
        Reader("json", "JSON: rows, nested nodes or objects", json_format.parse,
               json_format.looks_like, (".json",)),
        Reader("newick", "((b,c)a)root;", newick.parse, newick.looks_like,
               (".nwk", ".newick", ".nhx", ".tree", ".tre")),
        Reader("icd10-codes", "ICD-10-CM's list of codes", icd10_codes.parse,
               icd10_codes.looks_like),
        Reader("indented", "names indented by blanks, tabs or dashes", indented.parse,
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
    """Return the reader of that name, or raise an error that lists the known ones."""
    if name in READERS:
        return READERS[name]
    known = "\n".join(f"  {reader.name:18} {reader.shows}" for reader in READERS.values())
    hint = f" {name.upper()} is written, never read." if name in _PICTURES else ""
    raise ReadError(f"format={name!r} is not known.{hint} Known formats:\n{known}")


def detect(source: Source) -> Reader:
    """Find out a file's format by its suffix, then by its content."""
    for reader in READERS.values():
        if source.suffix in reader.suffixes:
            return reader
    for name in _PICTURES:
        if source.suffix in WRITERS[name].suffixes:
            raise source.error(
                f"{name.upper()} is written, never read. Read JSON or another format instead"
            )
    element = root_element(source)
    if source.head.startswith("<") and element not in _ELEMENTS:
        raise source.error(
            f"this looks like XML with the outermost element {element!r}, expected one of "
            + ", ".join(_ELEMENTS)
        )
    if source.suffix == ".csv" and edge_list.has_header(source):
        return READERS["edges"]
    for reader in READERS.values():
        if reader.looks_like is not None and reader.looks_like(source):
            return reader
    raise source.error(
        "the format cannot be told from suffix or content (a plain list of names is no hierarchy: "
        "see Hierarchy.star). Name it, as in format='indented'; known: " + ", ".join(READERS)
    )


def find_writer(name: str | None, suffix: str) -> Writer:
    """Return the writer of that name, or for that suffix where no name is given."""
    for writer in WRITERS.values():
        if name == writer.name or (name is None and suffix in writer.suffixes):
            return writer
    asked = f"the suffix {suffix!r} is" if name is None else f"format={name!r} is"
    known = ", ".join(f"{w.name} ({' '.join(w.suffixes)})" for w in WRITERS.values())
    raise PalmetteError(f"{asked} not known for writing a hierarchy; known formats: {known}")
