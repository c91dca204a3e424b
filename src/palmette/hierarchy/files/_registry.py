"""The formats of hierarchy files: names, suffixes, and how to detect each by its content."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy._pictures import to_page, to_svg
from palmette.hierarchy.files import _newick as newick
from palmette.hierarchy.files import _ontologies as obo
from palmette.hierarchy.files import _skos as skos
from palmette.hierarchy.files import _text as indented
from palmette.hierarchy.files._json import looks_like_json, parse_json, to_json
from palmette.hierarchy.files._newick import to_dot
from palmette.hierarchy.files._ontologies import (
    looks_like_go_sqlite,
    parse_go_sqlite,
    parse_go_sqlite_with_parts,
)
from palmette.hierarchy.files._source import Rows, Source
from palmette.hierarchy.files._tables import (
    looks_like_clus_arff,
    looks_like_codes,
    parse_clus_arff,
    parse_codes,
)
from palmette.hierarchy.files._text import (
    STRAY_BLANK,
    has_header,
    looks_like_edges,
    looks_like_paths,
    parse_edges,
    parse_paths,
    stray_blanks,
    to_edges,
)
from palmette.hierarchy.files._thesaurus import SKOS
from palmette.hierarchy.files._xml import (
    ICD10_ELEMENT,
    MULAN_ELEMENT,
    looks_like_icd10_codes,
    looks_like_icd10_xml,
    looks_like_mulan,
    parse_icd10_codes,
    parse_icd10_xml,
    parse_mulan,
    root_element,
)

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy


@dataclass(frozen=True)
class Reader:
    """A format that can be read.

    Parameters
    ----------
    name : str
    shows : str
        A short description of such a file.
    parse : callable
        Returns rows, from which `Hierarchy.read` builds a hierarchy. Those of SKOS also take the
        concept schemes to read.
    looks_like : callable or None
        Whether the content of a file has this format; None if the format is never detected.
    suffixes : tuple of str
        Suffixes that only this format has.
    """

    name: str
    shows: str
    parse: Callable[..., Rows]
    looks_like: Callable[[Source], bool] | None
    suffixes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Writer:
    """A format that can be written."""

    name: str
    to_string: Callable[[Hierarchy], str]
    suffixes: tuple[str, ...]


PICTURES = ("dot", "svg", "html")  # formats that are only written
SKOS_FORMATS = ("json-ld", "rdf-xml", "n-triples", "n-quads", "trig", "turtle")  # as detected
_ELEMENTS = (MULAN_ELEMENT, ICD10_ELEMENT)

# In the order of detection: specific formats first, formats that accept much last.
READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("go-sqlite", "the Gene Ontology as SQLite", parse_go_sqlite, looks_like_go_sqlite,
               (".sqlite", ".sqlite3", ".db")),
        Reader("go-sqlite+part_of", "the same with part of edges", parse_go_sqlite_with_parts,
               None),
        Reader("json-ld", "SKOS in JSON-LD", skos.parse_json_ld, skos.looks_like_json_ld,
               (".jsonld", ".json-ld")),
        Reader("rdf-xml", "SKOS in RDF/XML", skos.parse_rdf_xml, skos.looks_like_rdf_xml,
               (".rdf",)),
        Reader("n-triples", "SKOS in N-Triples", skos.parse_n_triples, skos.looks_like_n_triples,
               (".nt",)),
        Reader("n-quads", "SKOS in N-Quads, all graphs", skos.parse_n_quads,
               skos.looks_like_n_quads, (".nq",)),
        Reader("trig", "SKOS in TriG, all graphs", skos.parse_trig, skos.looks_like_trig,
               (".trig",)),
        Reader("turtle", "SKOS in Turtle", skos.parse_turtle, skos.looks_like_turtle, (".ttl",)),
        Reader("mulan", "XML of <labels>", parse_mulan, looks_like_mulan),
        Reader("icd10-xml", "XML of ICD-10-CM", parse_icd10_xml, looks_like_icd10_xml),
        Reader("arff", "the ARFF header of Clus-HMC", parse_clus_arff, looks_like_clus_arff,
               (".arff", ".harff")),
        Reader("obo", "an OBO ontology, is_a edges", obo.parse_obo, obo.looks_like_obo, (".obo",)),
        Reader("obo+part_of", "the same with part_of edges", obo.parse_obo_with_parts, None),
        Reader("json", "JSON: rows, nested nodes or objects", parse_json,
               looks_like_json, (".json",)),
        Reader("newick", "((b,c)a)root;", newick.parse_newick, newick.looks_like_newick,
               (".nwk", ".newick", ".nhx", ".tree", ".tre")),
        Reader("icd10-codes", "the list of codes of ICD-10-CM", parse_icd10_codes,
               looks_like_icd10_codes),
        Reader("indented", "names indented by spaces, tabs or dashes", indented.parse_indented,
               indented.looks_indented),
        Reader("paths", "A > B > C", parse_paths, looks_like_paths),
        Reader("codes", "a table of code and title, nested by prefix", parse_codes,
               looks_like_codes),
        Reader("edges", "parent child", parse_edges, looks_like_edges,
               (".taxonomy", ".edges")),
    )
}  # fmt: skip

WRITERS: dict[str, Writer] = {
    writer.name: writer
    for writer in (
        Writer("json", to_json, (".json",)),
        Writer("newick", newick.to_newick, READERS["newick"].suffixes),
        Writer("dot", to_dot, (".dot", ".gv")),
        Writer("indented", indented.to_indented, (".txt",)),
        Writer("edges", to_edges, (".edges", ".csv")),
        Writer("svg", to_svg, (".svg",)),
        Writer("html", to_page, (".html", ".htm")),
        Writer("turtle", skos.to_turtle, READERS["turtle"].suffixes),
        Writer("rdf-xml", skos.to_rdf_xml, READERS["rdf-xml"].suffixes),
        Writer("n-triples", skos.to_n_triples, READERS["n-triples"].suffixes),
        Writer("json-ld", skos.to_json_ld, READERS["json-ld"].suffixes),
    )
}


def find_reader(name: str) -> Reader:
    """Return the reader of a format, or raise an error that lists the known formats."""
    if name in READERS:
        return READERS[name]
    known = "\n".join(f"  {reader.name:18} {reader.shows}" for reader in READERS.values())
    hint = f" {name.upper()} can only be written." if name in PICTURES else ""
    raise ReadError(f"format={name!r} is unknown.{hint} Known formats:\n{known}")


def detect(source: Source) -> Reader:
    """Detect the format of a file by its suffix, then by its content.

    What is recognizably another format is an error: read as indented text or as edges, it would
    become a hierarchy of its syntax.
    """
    _refuse_foreign(source, source.head.splitlines())
    for name in SKOS_FORMATS:  # the suffix may be .json or .xml
        reader = READERS[name]
        if reader.looks_like is not None and reader.looks_like(source):
            return reader
    for reader in READERS.values():
        if source.suffix in reader.suffixes:
            return reader
    for name in PICTURES:
        if source.suffix in WRITERS[name].suffixes:
            raise source.error(
                f"{name.upper()} can only be written. Read JSON or another format instead"
            )
    element = root_element(source)
    if source.head.startswith("<") and element not in _ELEMENTS:
        raise source.error(
            f"this looks like {_XML_KINDS.get(element or '', 'XML')} with the root element "
            f"{element!r}: expected one of " + ", ".join(_ELEMENTS)
        )
    if b"\0" not in source.data and element is None:
        _refuse_foreign(source, source.sample)
    if source.suffix == ".csv" and has_header(source):
        return READERS["edges"]
    for reader in READERS.values():
        if reader.looks_like is not None and reader.looks_like(source):
            if reader.name == "indented":
                for number in stray_blanks(source)[:1]:
                    raise source.error(STRAY_BLANK, number)
                if _is_yaml(source):
                    raise source.error(
                        "this looks like YAML, which cannot be read. Convert it to JSON, or give "
                        "the format 'indented' if the colons are parts of names"
                    )
            return reader
    raise source.error(
        "the format cannot be detected from suffix or content. Give it, as in format='indented'; "
        "for a plain list of names, use Hierarchy.star. Known formats: " + ", ".join(READERS)
    )


# First bytes of binary formats.
_BINARY = {
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "a ZIP archive or a document in one (XLSX, DOCX, ODS)",
    b"PAR1": "a Parquet table",
    b"ARROW1": "an Arrow table",
    b"\xd0\xcf\x11\xe0": "a document of an old office program (XLS, DOC)",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"{\\rtf": "a rich text document (RTF)",
    b"version https://git-lfs": "a Git LFS pointer instead of the file itself",
}
_LONGEST = 1000  # characters of a line that patterns look at
_RDF = f"; a SKOS thesaurus can be read, but the file does not name {SKOS}"
# How lines of text formats begin, among the first ones; comments are skipped.
_LINES = {
    f"RDF in Turtle{_RDF}": skos.PREFIX_LINE,
    f"RDF triples (N-Triples, Turtle){_RDF}": skos.TRIPLE_LINE,
    "an OWL ontology; OWL itself is not read, only SKOS": re.compile(
        r"(?:Prefix|Ontology)(?:\(|:\s*(?:[\w.-]*:\s*)?<)"
    ),
    "an SQL dump": re.compile(
        r"(?:(?:CREATE|DROP) TABLE (?:IF (?:NOT )?EXISTS )?|INSERT INTO )"
        r'[\w.`"]+\s*(?:[(;]|VALUES|$)'
    ),
    "a graph in DOT; DOT can only be written": re.compile(
        r'(?:strict\s+)?(?:di)?graph\s*(?:\w+|"[^"]*")?\s*\{'
    ),
}
_JSON_LD = re.compile(r'"@(?:context|graph)"\s*:')
_XML_KINDS = {  # by root element
    "html": "an HTML page",
    "RDF": f"RDF in XML ({_RDF[2:]})",
    "Ontology": "an OWL ontology in XML (OWL itself is not read, only SKOS)",
}


def _refuse_foreign(source: Source, lines: list[str]) -> None:
    """Raise an error if the first bytes or some first lines are of a format that is not read."""
    kind = _foreign_kind(source, lines)
    if kind is not None:
        raise source.error(
            f"this looks like {kind}. It cannot be read. Convert it to a supported format, or give "
            "the format if it is one of these: " + ", ".join(READERS)
        )


def _foreign_kind(source: Source, lines: list[str]) -> str | None:
    for start, kind in _BINARY.items():
        if source.data.startswith(start):
            return kind
    is_skos = skos.names_skos(source) or any(
        source.suffix in READERS[name].suffixes for name in SKOS_FORMATS
    )
    if source.head.startswith(("{", "[")) and _JSON_LD.search(source.head) and not is_skos:
        return f"JSON-LD{_RDF}"
    for line in lines:
        for kind, pattern in _LINES.items():
            if pattern.match(line[:_LONGEST].lstrip()) and not (is_skos and kind.endswith(_RDF)):
                return kind
    return None


_YAML_KEY = re.compile(r"(?:- +)*[^\s>][^>]*:(?:\s|$)")


def _is_yaml(source: Source) -> bool:
    """Whether indented lines are keys and items: all parents end with a colon or start an item."""
    if source.raw_text.startswith(indented.HEADER):
        return False  # written by Palmette: colons are parts of names
    lines = [line[:_LONGEST].rstrip() for line in source.sample]
    if lines and (lines[0] == "---" or lines[0].startswith("%YAML")):
        return True
    indents = [len(line) - len(line.lstrip()) for line in lines]
    is_parent = [a < b for a, b in pairwise([*indents, 0])]
    for line, parent in zip(map(str.strip, lines), is_parent, strict=True):
        key = _YAML_KEY.match(line) is not None
        if not (line.startswith("- ") or (key and (line.endswith(":") or not parent))):
            return False
    return any(line.endswith(":") for line in lines)


def find_writer(name: str | None, suffix: str) -> Writer:
    """Return the writer of a format, or of a suffix if no format is given."""
    for writer in WRITERS.values():
        if name == writer.name or (name is None and suffix in writer.suffixes):
            return writer
    given = f"the suffix {suffix!r}" if name is None else f"format={name!r}"
    known = ", ".join(f"{w.name} ({' '.join(w.suffixes)})" for w in WRITERS.values())
    raise PalmetteError(f"{given} cannot be written. Known formats: {known}")
