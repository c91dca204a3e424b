"""SKOS thesauri as hierarchy files: detecting, reading and writing them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from palmette.exceptions import HierarchyError
from palmette.hierarchy._vocabulary import Vocabulary
from palmette.hierarchy.files._rdf import RDF, Subject, Text, write_triples
from palmette.hierarchy.files._source import LinkRows, Source, Tops
from palmette.hierarchy.files._thesaurus import DCT, SKOS, read_thesaurus
from palmette.hierarchy.files._xml import root_element

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy


def _parse(syntax: str, source: Source, scheme: str | Sequence[str] | None = None) -> LinkRows:
    thesaurus = read_thesaurus(source, syntax)
    kept = thesaurus.choose(scheme)
    if not kept:
        raise source.error(
            f"all {len(thesaurus.concepts):,} concepts of the file are deprecated or in other "
            "schemes: expected at least one to read"
        )
    rows = LinkRows(source, Tops.ALWAYS)
    for concept in kept:
        rows.node(concept)
    edges = thesaurus.edges(kept)
    closing = thesaurus.cycle_links(edges)
    edges = [link for link in edges if link not in closing]
    for broader, narrower in edges:
        rows.link(broader, narrower)
    rows.vocabulary = thesaurus.vocabulary(kept, thesaurus.counts(kept, edges, len(closing)))
    return rows


# ---------------------------------------------------------------------- detection

_IRI = r"(?:<[^<>\s]*:[^<>\s]*>|_:\S+)"
PREFIX_LINE = re.compile(r"(?i:@?(?:prefix|base)\s+(?:[\w.-]*:\s*)?<[^<>\s]*[:/#][^<>\s]*>)")
TRIPLE_LINE = re.compile(rf'{_IRI}\s+(?:{_IRI}|a)\s+[<_"\w]')
_LITERAL = r'"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^<>\s]+>)?'
_WHOLE_TRIPLE = re.compile(rf"{_IRI}\s+<[^<>\s]+>\s+(?:{_IRI}|{_LITERAL})\s*\.\s*(?:#.*)?")
_WHOLE_QUAD = re.compile(
    rf"{_IRI}\s+<[^<>\s]+>\s+(?:{_IRI}|{_LITERAL})(?:\s*{_IRI})?\s*\.\s*(?:#.*)?"
)
_GRAPH_LINE = re.compile(r"(?i:graph\s)?\s*(?:<[^<>\s]*>|[\w.-]*:[\w.-]*|_:\S+)?\s*=?\s*\{")
_KEYWORD = re.compile(r'"@(?:context|graph|id|type)"\s*:')
_HEAD = 1 << 16  # bytes
_LONGEST = 1_000  # characters of a line that patterns look at


def names_skos(source: Source) -> bool:
    """Whether the address of SKOS occurs in a file."""
    return SKOS.encode() in source.data


def _first_lines(source: Source) -> list[str]:
    """Lines among the first ones that are neither blank nor comments; the last may be cut."""
    lines = source.data[:_HEAD].decode("utf-8", "replace").lstrip("\ufeff").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def looks_like_turtle(source: Source) -> bool:
    """Whether a line declares a prefix or begins a triple, and the file names SKOS."""
    return names_skos(source) and any(
        PREFIX_LINE.match(line[:_LONGEST]) or TRIPLE_LINE.match(line[:_LONGEST])
        for line in _first_lines(source)
    )


def looks_like_trig(source: Source) -> bool:
    """Whether the file looks like Turtle, and a line opens a graph."""
    return looks_like_turtle(source) and any(
        _GRAPH_LINE.match(line[:_LONGEST]) for line in _first_lines(source)
    )


def looks_like_n_triples(source: Source) -> bool:
    """Whether all lines are triples, and the file names SKOS."""
    return _are_lines(source, _WHOLE_TRIPLE)


def looks_like_n_quads(source: Source) -> bool:
    """Whether all lines are triples, some perhaps with a graph, and the file names SKOS."""
    return _are_lines(source, _WHOLE_QUAD)


def _are_lines(source: Source, pattern: re.Pattern[str]) -> bool:
    if not names_skos(source):
        return False
    lines = _first_lines(source)
    whole = lines[: max(1, len(lines) - 1)][:50]
    return bool(whole) and all(len(line) > _LONGEST or pattern.fullmatch(line) for line in whole)


def looks_like_rdf_xml(source: Source) -> bool:
    """Whether the root element is ``<rdf:RDF>``, and the file names SKOS."""
    return root_element(source) == "RDF" and names_skos(source)


def looks_like_json_ld(source: Source) -> bool:
    """Whether the file starts like JSON with keywords of JSON-LD, and names SKOS."""
    is_json = source.head.startswith(("{", "["))
    return is_json and _KEYWORD.search(source.head) is not None and names_skos(source)


parse_turtle = partial(_parse, "turtle")
parse_rdf_xml = partial(_parse, "rdf-xml")
parse_n_triples = partial(_parse, "n-triples")
parse_json_ld = partial(_parse, "json-ld")
parse_trig = partial(_parse, "trig")
parse_n_quads = partial(_parse, "n-quads")

# ---------------------------------------------------------------------- writing

_PREFIXES = {"rdf": RDF, "skos": SKOS, "dct": DCT}
_SCHEME = "urn:palmette:scheme"
_HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S")


def _write(syntax: str, hierarchy: Hierarchy) -> str:
    """Return the thesaurus of a hierarchy: its root is the scheme, the other nodes are concepts."""
    words = hierarchy.vocabulary or Vocabulary()
    names = hierarchy.names.tolist()
    uris = _uris(hierarchy)
    schemes = {uri: set(members) for uri, members in words.schemes.items()}
    tops = {uri: set(members) for uri, members in words.top_concepts.items()}
    if not schemes:
        below = {names[node] for node in hierarchy.children(0).tolist()}
        schemes, tops = {_SCHEME: set(names[1:])}, {_SCHEME: below}
    subjects: list[Subject] = []
    for scheme in schemes:
        titles = [] if words.schemes else [("dct:title", Text(str(names[0]), ""))]
        listed = [n for n in range(1, len(names)) if names[n] in tops.get(scheme, ())]
        subjects.append((scheme, [
            ("rdf:type", f"{SKOS}ConceptScheme"), *titles,
            *(("skos:hasTopConcept", uris[node]) for node in listed),
        ]))  # fmt: skip
    for node in range(1, len(names)):
        facts: list[tuple[str, str | Text]] = [("rdf:type", f"{SKOS}Concept")]
        facts += [("skos:inScheme", uri) for uri in schemes if names[node] in schemes[uri]]
        facts += [("skos:topConceptOf", u) for u in tops if names[node] in tops[u]]
        above = hierarchy.parents_of(node).tolist()
        facts += [("skos:broader", uris[parent]) for parent in above if parent]
        facts += _texts(names[node], words, hierarchy.vocabulary is None)
        subjects.append((uris[node], facts))
    return write_triples(subjects, syntax, _PREFIXES)


def _texts(name: object, words: Vocabulary, is_plain: bool) -> list[tuple[str, str | Text]]:
    if is_plain:
        return [("skos:prefLabel", Text(str(name), ""))]
    key = str(name)
    found: list[tuple[str, str | Text]] = []
    for tag, labels in words.preferred.items():
        found += [("skos:prefLabel", Text(labels[key], tag))] if key in labels else []
    for tag, lists in words.alternative.items():
        found += [("skos:altLabel", Text(text, tag)) for text in lists.get(key, ())]
    found += [("skos:notation", Text(code, "")) for code in words.notations.get(key, ())]
    return found


def _uris(hierarchy: Hierarchy) -> list[str]:
    """Return the URI of every node: its name if that is one, else one made of its path."""
    uris = []
    seen: set[str] = set()
    for node, name in enumerate(hierarchy.names.tolist()):
        if isinstance(name, str) and _HAS_SCHEME.match(name):
            uri = name
        else:
            uri = f"urn:palmette:{quote(str(hierarchy.path_strings[node]))}"
        if node and uri in seen:
            raise HierarchyError(
                f"two nodes would have the URI {uri!r} in SKOS. Rename one, or write JSON."
            )
        seen |= {uri} if node else set()
        uris.append(uri)
    return uris


to_turtle = partial(_write, "turtle")
to_rdf_xml = partial(_write, "rdf-xml")
to_n_triples = partial(_write, "n-triples")
to_json_ld = partial(_write, "json-ld")
