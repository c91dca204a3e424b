"""RDF syntaxes, read with rdflib: Turtle, RDF/XML, N-Triples, JSON-LD, TriG and N-Quads.

The first four are also written, without it. TriG and N-Quads may have several graphs: the triples
of all of them are read.

Nothing is fetched and nothing expands: JSON-LD with a context elsewhere is refused, and so are XML
files that refer to other files or whose entities are more than short texts. Triples are handed on
one at a time, so that texts that are not needed take no memory. The private parts of rdflib that
this module uses are named in `_graph_class` and `_xml_handler` only."""

from __future__ import annotations

import codecs
import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import feature_namespaces
from xml.sax.saxutils import escape, quoteattr

from palmette._arrays import free_memory
from palmette.exceptions import ReadError
from palmette.hierarchy.files._json import decode
from palmette.hierarchy.files._source import Source, short

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
# Relative addresses depend on where a file is found; this domain never exists.
BASE = "http://relative.invalid/"
MAX_RDF = 256 * 1024**2  # bytes that are read in any case; more need the memory for it
# bytes of memory per byte of a file with many labels; triples that are not needed take none
_MEMORY = {
    "n-triples": 6, "n-quads": 6, "rdf-xml": 8, "turtle": 12, "trig": 12, "json-ld": 16,
}  # fmt: skip

_MAX_ENTITY = 500  # characters of an entity, which are prefixes of addresses
_MAX_EXPANDED = 256 * 1024**2
_MAX_PREFIXES = 1_000  # open at the same time


class Text(NamedTuple):
    """A literal: its text and its language in lower case, "" if it has none."""

    text: str
    language: str


Add = Callable[
    [str, str, str | Text], None
]  # subject, predicate, object; blank nodes start with _:


def read_triples(source: Source, syntax: str, wanted: frozenset[str], add: Add) -> None:
    """Parse a file and hand on the triples whose predicate is wanted.

    Parameters
    ----------
    source : Source
    syntax : {"turtle", "rdf-xml", "n-triples", "json-ld", "trig", "n-quads"}
    wanted : frozenset of str
        Predicates.
    add : callable
        Called with subject, predicate and object of each triple.

    Raises
    ------
    ReadError
        If the file is malformed or unsafe, or rdflib is not installed.
    """
    size, free = len(source.data), free_memory()
    limit = max(MAX_RDF, int(free / _MEMORY[syntax]))
    if size > limit:
        raise source.error(
            f"the file has {size:,} bytes: expected at most {limit:,} in {TITLES[syntax]} with "
            f"{free / 2**30:.1f} GiB of free memory. Write only the triples of SKOS, such as by "
            "grep -E 'skos|deprecated|isReplacedBy' from N-Triples, which also needs the least "
            "memory and time"
        )
    if syntax != "rdf-xml":
        _require_utf8(source)
    try:
        graph = _graph_class()(wanted, add)
    except ImportError as error:
        raise source.error(
            f"RDF is read with rdflib, which is not installed ({error}): "
            "pip install 'palmette[skos]'"
        ) from None
    with _quiet():
        try:
            _PARSERS[syntax](source, graph)
        except (ReadError, MemoryError):
            raise
        except RecursionError:
            raise source.error("the RDF is nested too deeply to be read") from None
        except Exception as error:  # rdflib raises errors of many kinds for malformed files
            raise source.error(
                f"this is not {TITLES[syntax]} ({_one_line(error)}). Check the file, or give its "
                "format"
            ) from None


TITLES = {
    "turtle": "Turtle",
    "rdf-xml": "RDF/XML",
    "n-triples": "N-Triples",
    "json-ld": "JSON-LD",
    "trig": "TriG",
    "n-quads": "N-Quads",
}


def _require_utf8(source: Source) -> None:
    place = source.data.find(b"\0")
    if place >= 0:
        source.require_text()
    for number, message in source.not_utf8[0][:1]:
        start = message.partition(" is not UTF-8")[0]
        message = f"{start} is not UTF-8, as RDF must be. Save the file as UTF-8"
        raise _error_in_line(source, message, number)


def _error_in_line(source: Source, message: str, number: int, column: int = 0) -> ReadError:
    # from the bytes: `Source.lines` has a lower limit of size
    text = next(islice(source.data.split(b"\n"), number - 1, None), b"")[:100_000]
    return source.error(message, number, text.decode("utf-8", "replace"), column)


def _one_line(error: Exception) -> str:
    return short(" ".join(str(error).split()) or type(error).__name__).strip("'\"")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep rdflib from printing a warning for every odd address, and from rewriting numbers."""
    import rdflib

    logger = logging.getLogger("rdflib")
    before = logger.level, rdflib.NORMALIZE_LITERALS
    logger.setLevel(logging.CRITICAL)
    rdflib.NORMALIZE_LITERALS = False  # the notation 007 is not 7
    try:
        yield
    finally:
        logger.setLevel(before[0])
        rdflib.NORMALIZE_LITERALS = before[1]


_CLASSES: list[Any] = []


def _graph_class() -> Any:
    """Return a class of graphs that hand on triples in the place of storing them."""
    if _CLASSES:
        return _CLASSES[0]
    import rdflib

    class Passing(rdflib.Graph):
        """Hands on every triple that is wanted."""

        def __init__(self, wanted: frozenset[str], add: Add) -> None:
            super().__init__(bind_namespaces="none")
            self.wanted, self.hand_on = wanted, add
            self._wanted = frozenset(map(rdflib.URIRef, wanted))  # they differ from strings

        def add(self, triple: Any) -> Any:
            subject, predicate, found = triple
            if predicate in self._wanted:
                value: str | Text
                if isinstance(found, rdflib.Literal):
                    value = Text(str(found), (found.language or "").lower())
                else:
                    value = _node(found)
                self.hand_on(_node(subject), str(predicate), value)
            return self

        def bind(self, *args: Any, **settings: Any) -> None:  # prefixes are of no use here
            pass

    def _node(term: Any) -> str:
        return f"_:{term}" if isinstance(term, rdflib.BNode) else str(term)

    _CLASSES.append(Passing)
    return Passing


# ---------------------------------------------------------------------- reading


def _parse_turtle(source: Source, graph: Any) -> None:
    from rdflib.plugins.parsers.notation3 import BadSyntax

    try:
        data = source.data.removeprefix(codecs.BOM_UTF8)
        graph.parse(data=data, format="turtle", publicID=BASE)
    except BadSyntax as error:
        raise _bad_turtle(source, "Turtle", error) from None


def _bad_turtle(source: Source, title: str, error: Any) -> ReadError:
    why = " ".join(str(error._why).split())
    return _error_in_line(source, f"this is not {title}: {short(why)[1:-1]}", error.lines + 1)


def _parse_trig(source: Source, graph: Any) -> None:
    from rdflib.plugins.parsers.notation3 import BadSyntax, RDFSink
    from rdflib.plugins.parsers.trig import TrigSinkParser

    class Sink(RDFSink):
        """Hands on the triples of all graphs."""

        def newGraph(self, identifier: Any) -> Any:
            return self.graph

    parser = TrigSinkParser(Sink(graph), baseURI=BASE, turtle=True)
    try:
        parser.loadStream(io.BytesIO(source.data.removeprefix(codecs.BOM_UTF8)))
    except BadSyntax as error:
        raise _bad_turtle(source, "TriG", error) from None


_PLAIN_IRI = r'<([^<>"{}|^`\\\x00-\x20]+)>'
# without escapes and blank nodes
_PLAIN_TRIPLE = re.compile(
    rf"{_PLAIN_IRI}\s+{_PLAIN_IRI}\s+(?:{_PLAIN_IRI}|"
    r'"([^"\\\n\r]*)"(?:@([a-zA-Z]+(?:-[a-zA-Z0-9]+)*)|\^\^<[^<>"{}|^`\\\x00-\x20]+>)?)'
)
_END = re.compile(r"\s*\.")
_END_OF_QUAD = re.compile(r'(?:\s*<[^<>"{}|^`\\\x00-\x20]+>)?\s*\.')


def _parse_n_triples(source: Source, graph: Any) -> None:
    from rdflib.plugins.parsers.ntriples import W3CNTriplesParser

    _parse_lines(source, graph, W3CNTriplesParser, _END, "<subject> <predicate> <object> .")


def _parse_n_quads(source: Source, graph: Any) -> None:
    from rdflib.plugins.parsers.nquads import NQuadsParser

    _parse_lines(
        source, graph, NQuadsParser, _END_OF_QUAD, "<subject> <predicate> <object> <graph> ."
    )


def _parse_lines(
    source: Source, graph: Any, kind: Any, end: re.Pattern[str], expected: str
) -> None:
    from rdflib.exceptions import ParserError

    class Sink:
        """Hands on the triples, of all graphs."""

        def triple(self, subject: Any, predicate: Any, found: Any) -> None:
            graph.add((subject, predicate, found))

        def get_context(self, identifier: Any) -> Any:
            return graph

        default_context = graph

    parser = kind(sink=Sink())
    title = TITLES["n-triples" if end is _END else "n-quads"]
    # line by line: rdflib would search a long line again for every piece that it reads
    for number, line in enumerate(io.BytesIO(source.data), start=1):
        parser.line = line.decode("utf-8").strip("\r\n\ufeff \t")
        plain = _PLAIN_TRIPLE.match(parser.line)
        if plain is not None and end.fullmatch(parser.line, plain.end()):  # ten times as fast
            subject, predicate, address, text, language = plain.groups()
            if predicate in graph.wanted:
                value = Text(text, (language or "").lower()) if address is None else address
                graph.hand_on(subject, predicate, value)
            continue
        try:
            parser.parseline()
        except ParserError:
            raise _error_in_line(
                source, f"this is not {title}: expected {expected!r}", number
            ) from None


def _parse_rdf_xml(source: Source, graph: Any) -> None:
    from defusedxml import DefusedXmlException

    parser = _xml_parser(source)
    parser.start_namespace_decl("xml", "http://www.w3.org/XML/1998/namespace")
    parser.setFeature(feature_namespaces, 1)
    handler = _xml_handler(source, graph)
    parser.setContentHandler(handler)
    handler.setDocumentLocator(_Place(parser))
    try:
        parser.feed(source.data)
        parser.close()
    except DefusedXmlException as error:
        raise source.error(
            "the XML refers to other files or declares entities that are not short texts, which is "
            f"not allowed ({_one_line(error)}). Replace them by their texts"
        ) from None
    except SAXParseException as error:
        message = f"this is not well-formed XML ({error.getMessage()})"
        place = error.getLineNumber() or 1, error.getColumnNumber() or 0
        raise _error_in_line(source, message, *place) from None
    except (SAXException, LookupError) as error:  # an unknown encoding
        raise source.error(f"the XML cannot be read ({_one_line(error)})") from None


class _Place:
    """Where the parser is; the address of the file is `BASE`."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser

    def getPublicId(self) -> str:
        return BASE

    def getSystemId(self) -> str:
        return BASE

    def getLineNumber(self) -> Any:
        return self._parser.getLineNumber()

    def getColumnNumber(self) -> Any:
        return self._parser.getColumnNumber()


def _xml_parser(source: Source) -> Any:
    from defusedxml.common import EntitiesForbidden
    from defusedxml.expatreader import DefusedExpatParser

    n_references = source.data.count(b"&")

    class Parser(DefusedExpatParser):  # type: ignore[misc]
        """Allows entities that abbreviate addresses, as many editors write them."""

        def defused_entity_decl(
            self,
            name: str,
            is_parameter_entity: bool,
            value: str | None,
            base: Any,
            sysid: Any,
            pubid: Any,
            notation_name: Any,
        ) -> None:
            is_short = value is not None and len(value) <= _MAX_ENTITY
            is_plain = value is not None and "&" not in value and "%" not in value
            total = n_references * len(value or "")
            if is_parameter_entity or not (is_short and is_plain) or total > _MAX_EXPANDED:
                raise EntitiesForbidden(name, value, base, sysid, pubid, notation_name)

    parser = Parser()
    parser.forbid_dtd = False  # a document type alone is harmless
    parser.forbid_entities = parser.forbid_external = True
    return parser


def _xml_handler(source: Source, graph: Any) -> Any:
    from rdflib.plugins.parsers.rdfxml import RDFXMLHandler

    class Handler(RDFXMLHandler):
        """Refuses prefixes that would take quadratic time."""

        def startPrefixMapping(self, prefix: str | None, namespace: str) -> None:
            if len(self._ns_contexts) > _MAX_PREFIXES:
                raise source.error(
                    f"more than {_MAX_PREFIXES:,} prefixes are declared at the same time"
                )
            super().startPrefixMapping(prefix, namespace)

    return Handler(graph)


def _parse_json_ld(source: Source, graph: Any) -> None:
    from rdflib.plugins.parsers.jsonld import to_rdf

    content = decode(source)
    if not isinstance(content, list | dict):
        raise source.error(f"this is not JSON-LD: found {short(content)}, expected objects")
    _refuse_remote_contexts(source, content)
    to_rdf(content, graph, base=BASE)


def _refuse_remote_contexts(source: Source, content: Any) -> None:
    """Raise an error if any context stands elsewhere, from where rdflib would fetch it."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
            continue
        if not isinstance(value, dict):
            continue
        contexts = value.get("@context")
        contexts = contexts if isinstance(contexts, list) else [contexts]
        remote = [each for each in (*contexts, value.get("@import")) if isinstance(each, str)]
        if remote:
            raise source.error(
                f"the JSON-LD takes its context from {short(remote[0])}, and nothing is fetched. "
                "Write the context itself into the file, or convert it to Turtle"
            )
        waiting += value.values()


_PARSERS: dict[str, Callable[[Source, Any], None]] = {
    "turtle": _parse_turtle,
    "rdf-xml": _parse_rdf_xml,
    "n-triples": _parse_n_triples,
    "json-ld": _parse_json_ld,
    "trig": _parse_trig,
    "n-quads": _parse_n_quads,
}

# ---------------------------------------------------------------------- writing

# A subject, and its predicates (prefix and local name) with their objects.
Subject = tuple[str, list[tuple[str, str | Text]]]
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\\x7f-\x9f]')
_ESCAPED = re.compile(
    '[\x00-\x1f"\\\\\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]'
)
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def write_triples(subjects: list[Subject], syntax: str, prefixes: dict[str, str]) -> str:
    """Return triples as text.

    Parameters
    ----------
    subjects : list of (str, list of (str, str or Text))
        Addresses, and their predicates as "prefix:name", with addresses or literals.
    syntax : {"turtle", "rdf-xml", "n-triples", "json-ld"}
    prefixes : dict of str to str
        ``rdf`` must be among them.
    """
    return _WRITERS[syntax](subjects, prefixes)


def _iri(address: str) -> str:
    """Return an address in which what may not stand there is percent-encoded."""
    return _NOT_IN_IRI.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found.group().encode()), address
    )


def _quoted(value: str | Text) -> str:
    if isinstance(value, str):
        return f"<{_iri(value)}>"
    text = _ESCAPED.sub(_escape, value.text)
    return f'"{text}"' + (f"@{value.language}" if value.language else "")


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    return _SHORT.get(character, f"\\u{ord(character):04X}")


def _to_turtle(subjects: list[Subject], prefixes: dict[str, str]) -> str:
    parts = [f"@prefix {name}: <{address}> .\n" for name, address in prefixes.items()]
    for subject, facts in subjects:
        lines = [
            f"{'a' if predicate == 'rdf:type' else predicate} {_object(predicate, value, prefixes)}"
            for predicate, value in facts
        ]
        parts.append(f"\n<{_iri(subject)}> " + " ;\n    ".join(lines) + " .\n")
    return "".join(parts)


def _object(predicate: str, value: str | Text, prefixes: dict[str, str]) -> str:
    if predicate == "rdf:type" and isinstance(value, str):
        for name, address in prefixes.items():
            if value.startswith(address):
                return f"{name}:{value.removeprefix(address)}"
    return _quoted(value)


def _to_n_triples(subjects: list[Subject], prefixes: dict[str, str]) -> str:
    lines = []
    for subject, facts in subjects:
        for predicate, value in facts:
            name, _, local = predicate.partition(":")
            lines.append(f"<{_iri(subject)}> <{prefixes[name]}{local}> {_quoted(value)} .\n")
    return "".join(lines)


def _to_rdf_xml(subjects: list[Subject], prefixes: dict[str, str]) -> str:
    spaces = "".join(f"\n    xmlns:{name}={quoteattr(a)}" for name, a in prefixes.items())
    parts = [f'<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF{spaces}>\n']
    for subject, facts in subjects:
        parts.append(f"  <rdf:Description rdf:about={quoteattr(_iri(subject))}>\n")
        for predicate, value in facts:
            if isinstance(value, str):
                parts.append(f"    <{predicate} rdf:resource={quoteattr(_iri(value))}/>\n")
            else:
                mark = f' xml:lang="{value.language}"' if value.language else ""
                text = escape(value.text, {"\r": "&#13;"})
                parts.append(f"    <{predicate}{mark}>{text}</{predicate}>\n")
        parts.append("  </rdf:Description>\n")
    return "".join([*parts, "</rdf:RDF>\n"])


def _to_json_ld(subjects: list[Subject], prefixes: dict[str, str]) -> str:
    context = json.dumps(prefixes, ensure_ascii=False)
    nodes = []
    for subject, facts in subjects:
        node: dict[str, Any] = {"@id": _iri(subject)}
        for predicate, value in facts:
            if predicate == "rdf:type":
                node.setdefault("@type", []).append(value)
            elif isinstance(value, str):
                node.setdefault(predicate, []).append({"@id": _iri(value)})
            else:
                told = {"@value": value.text}
                node.setdefault(predicate, []).append(
                    {**told, "@language": value.language} if value.language else told
                )
        nodes.append(json.dumps(node, ensure_ascii=False))
    body = ",\n".join(nodes)
    # what JSON may hold but a terminal should not see is escaped, as everywhere
    from palmette._text import visible

    return visible(f'{{"@context": {context},\n"@graph": [\n{body}\n]}}\n')


_WRITERS: dict[str, Callable[[list[Subject], dict[str, str]], str]] = {
    "turtle": _to_turtle,
    "rdf-xml": _to_rdf_xml,
    "n-triples": _to_n_triples,
    "json-ld": _to_json_ld,
}
