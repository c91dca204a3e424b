"""SKOS thesauri: concepts, their broader concepts and labels, in any syntax of RDF.

Nodes are the URIs of concepts, in the order of URIs; a root is always added above those without a
broader concept. What is read:

================== ===========================================================================
concepts           what has the type ``skos:Concept``, or one that the file declares a subclass of
                   it; in a file without types, what has a scheme or a broader or narrower
                   concept. Deprecated ones (``owl:deprecated``) and blank nodes are left out and
                   counted, collections are ignored.
edges              ``skos:broader`` and the inverse of ``skos:narrower``. The transitive ones are
                   used only if there are no others, without those that others imply.
schemes            ``skos:inScheme``, ``skos:topConceptOf``, ``skos:hasTopConcept``
labels             ``skos:prefLabel``, ``skos:altLabel``, the same of SKOS-XL where a concept has no
                   others, ``skos:notation``
================== ===========================================================================

Links to concepts that are deprecated, of another scheme or not in the file are left out and
counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from palmette.exceptions import HierarchyError
from palmette.hierarchy._names import shown
from palmette.hierarchy._vocabulary import Vocabulary
from palmette.hierarchy.files._rdf import RDF, Subject, Text, read_triples, write_triples
from palmette.hierarchy.files._source import LinkRows, Source, Tops, check_size, short
from palmette.hierarchy.files._xml import root_element

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

SKOS = "http://www.w3.org/2004/02/skos/core#"
_XL = "http://www.w3.org/2008/05/skos-xl#"
_OWL = "http://www.w3.org/2002/07/owl#"
_DCT = "http://purl.org/dc/terms/"
_TITLES = (f"{_DCT}title", "http://purl.org/dc/elements/1.1/title", f"{SKOS}prefLabel",
           "http://www.w3.org/2000/01/rdf-schema#label")  # fmt: skip
_LINKS = ("broader", "narrower", "broaderTransitive", "narrowerTransitive")
_TYPE, _SUBCLASS = f"{RDF}type", "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_WANTED = frozenset(
    [
        *(f"{SKOS}{name}" for name in (*_LINKS, "topConceptOf", "hasTopConcept", "inScheme")),
        *(f"{SKOS}{name}" for name in ("prefLabel", "altLabel", "notation")),
        *(f"{_XL}{name}" for name in ("prefLabel", "altLabel", "literalForm")),
        *(_TYPE, _SUBCLASS, f"{_OWL}deprecated"),
        *_TITLES,
    ]
)
Pairs = dict[tuple[str, str], None]  # distinct, in the order of the file


@dataclass
class Thesaurus:
    """What a file says about its concepts.

    Attributes
    ----------
    source : Source
    concepts : list of str
        All URIs of concepts, sorted, deprecated ones too, without blank nodes.
    deprecated : set of str
    n_blank : int
        Number of concepts without a URI.
    links : dict of (broader, narrower)
        Distinct pairs of URIs, whatever they name.
    is_transitive, is_typed : bool
        Whether the links are transitive ones, and whether concepts have types.
    members, tops : dict of scheme to dict of concept
    titles : dict of scheme to list of str
    labels, alternatives : dict of concept to list of Text
    notations : dict of concept to list of str
    n_collections : int
    """

    source: Source
    concepts: list[str]
    deprecated: set[str]
    n_blank: int
    links: Pairs
    is_transitive: bool
    is_typed: bool
    members: dict[str, dict[str, None]]
    tops: dict[str, dict[str, None]]
    titles: dict[str, list[str]]
    labels: dict[str, list[Text]]
    alternatives: dict[str, list[Text]]
    notations: dict[str, list[str]]
    n_collections: int

    def choose(self, scheme: str | Sequence[str] | None = None) -> list[str]:
        """Return the concepts to read: not deprecated, and of one of the schemes, if any are given.

        Parameters
        ----------
        scheme : str or sequence of str, optional
            URIs or titles.
        """
        current = [concept for concept in self.concepts if concept not in self.deprecated]
        if scheme is None:
            return current
        wanted = [scheme] if isinstance(scheme, str) else list(scheme)
        inside = {name for each in wanted for name in self.members[self._scheme(each)]}
        return [concept for concept in current if concept in inside]

    def _scheme(self, given: str) -> str:
        if given in self.members:
            return given
        found = [uri for uri in self.members if given in self.titles.get(uri, ())]
        if len(found) == 1:
            return found[0]
        known = [
            f"{uri} ({', '.join([*self.titles.get(uri, [])[:1], f'{len(names):,} concepts'])})"
            for uri, names in list(self.members.items())[:20]
        ]
        what = "is the title of several schemes" if found else "is not a scheme of this file"
        raise self.source.error(
            f"scheme={shown(given)} {what}. Schemes: {'; '.join(known) or 'none'}"
        )

    def edges(self, kept: Iterable[str]) -> list[tuple[str, str]]:
        """Return the links between kept concepts, sorted by narrower, then by broader concept."""
        inside = set(kept)
        links = [(a, b) for a, b in self.links if a in inside and b in inside]
        if self.is_transitive:
            links = _without_implied(links)
        return sorted(links, key=lambda link: (link[1], link[0]))

    @property
    def top_concepts(self) -> set[str]:
        """Concepts that some scheme calls a top concept."""
        return {name for names in self.tops.values() for name in names}

    def counts(self, kept: list[str], edges: list[tuple[str, str]]) -> dict[str, int]:
        """Return the numbers of what the file has, and of what was left out."""
        return {
            "concepts": len(self.concepts) + self.n_blank,
            "deprecated": len(self.deprecated),
            "blank_nodes": self.n_blank,
            "other_schemes": len(self.concepts) - len(self.deprecated) - len(kept),
            "top_concepts": len(self.top_concepts),
            "links": len(self.links),
            "links_left_out": len(self.links) - len(edges),
            "schemes": len(self.members),
            "collections": self.n_collections,
        }

    def vocabulary(self, kept: list[str], counts: dict[str, int]) -> Vocabulary:
        """Return labels, notations and schemes of the kept concepts."""
        inside = set(kept)
        preferred: dict[str, dict[str, str]] = {}
        others: dict[str, dict[str, list[str]]] = {}
        n_second = 0
        for concept in kept:
            for text, language in sorted(set(self.labels.get(concept, ()))):
                labels = preferred.setdefault(language, {})
                if concept in labels:  # SKOS allows one: the others serve as alternatives
                    others.setdefault(language, {}).setdefault(concept, []).append(text)
                    n_second += 1
                labels.setdefault(concept, text)
            for text, language in sorted(set(self.alternatives.get(concept, ()))):
                others.setdefault(language, {}).setdefault(concept, []).append(text)
        codes = {name: sorted(set(self.notations[name])) for name in kept if name in self.notations}
        schemes, tops = (
            {uri: [name for name in sorted(names) if name in inside] for uri, names in each.items()}
            for each in (self.members, self.tops)
        )
        tops = {uri: names for uri, names in tops.items() if names}
        schemes = {uri: names for uri, names in schemes.items() if names}
        counts = counts | ({"second_labels": n_second} if n_second else {})
        return Vocabulary(preferred, others, codes, schemes, tops, counts)


@dataclass
class _Facts:
    """The triples of a file, by predicate."""

    source: Source
    types: dict[str, dict[str, None]] = field(default_factory=dict)  # class -> subjects
    pairs: dict[str, Pairs] = field(default_factory=dict)
    texts: dict[str, dict[str, list[Text]]] = field(default_factory=dict)

    def add(self, subject: str, predicate: str, value: str | Text) -> None:
        if predicate == _TYPE:
            if isinstance(value, str):  # a class of the file may be a subclass of skos:Concept
                self.types.setdefault(value, {})[subject] = None
                check_size(self.source, len(self.types[value]))
        elif isinstance(value, str):
            self.pairs.setdefault(predicate, {})[subject, value] = None
        else:
            self.texts.setdefault(predicate, {}).setdefault(subject, []).append(value)

    def linked(self, *predicates: str) -> Pairs:
        """Pairs of a predicate, and of others whose name starts with "^" from object to subject."""
        found: Pairs = {}
        for each in predicates:
            pairs = self.pairs.get(SKOS + each.removeprefix("^"), {})
            found.update({(b, a): None for a, b in pairs} if each[0] == "^" else pairs)
        return found

    def concepts(self) -> dict[str, None]:
        """What has the type skos:Concept, or that of a subclass which the file declares."""
        below: dict[str, list[str]] = {}
        for narrow, wide in self.pairs.get(_SUBCLASS, {}):
            below.setdefault(wide, []).append(narrow)
        classes = [f"{SKOS}Concept"]
        for each in classes:  # grows: classes below those that were found
            classes += [narrow for narrow in below.get(each, ()) if narrow not in classes]
        return {name: None for each in classes for name in self.types.get(each, {})}

    def written(self, name: str) -> dict[str, list[Text]]:
        """Labels of a kind, those of SKOS-XL for concepts without others; none is empty."""
        found = dict(self.texts.get(SKOS + name, {}))
        forms = self.texts.get(f"{_XL}literalForm", {})
        more: dict[str, list[Text]] = {}
        for concept, label in self.pairs.get(_XL + name, {}):
            if concept not in found:
                more.setdefault(concept, []).extend(forms.get(label, ()))
        joined = {**found, **more}
        return {
            concept: kept
            for concept, texts in joined.items()
            if (kept := [Text(" ".join(t.split()), tag) for t, tag in texts if t.strip()])
        }


def read_thesaurus(source: Source, syntax: str) -> Thesaurus:
    """Read what a file in a syntax of RDF says about SKOS concepts.

    Parameters
    ----------
    source : Source
    syntax : {"turtle", "rdf-xml", "n-triples", "json-ld"}

    Returns
    -------
    Thesaurus
    """
    if syntax in source.parsed:
        known: Thesaurus = source.parsed[syntax]
        return known
    facts = _Facts(source)
    read_triples(source, syntax, _WANTED, facts.add)
    links = facts.linked("^broader", "narrower")
    is_transitive = not links
    if is_transitive:
        links = facts.linked("^broaderTransitive", "narrowerTransitive")
        links = {(a, b): None for a, b in links if a != b}  # some files state the closure
    tops = facts.linked("^topConceptOf", "hasTopConcept")  # scheme, concept
    inside = facts.linked("^inScheme")
    named = facts.concepts()
    is_typed = bool(named)
    collections = {
        *facts.types.get(f"{SKOS}Collection", {}),
        *facts.types.get(f"{SKOS}OrderedCollection", {}),
    }
    if not named:
        ends = (*(end for pair in links for end in pair), *(b for _, b in (*tops, *inside)))
        named = dict.fromkeys(end for end in ends if end not in collections)
    concepts = sorted(name for name in named if not name.startswith("_:"))
    if not concepts:
        raise source.error(
            "the file has no SKOS concepts with a URI: expected a thesaurus, in which things have "
            "the type skos:Concept. OWL and other ontologies cannot be read"
        )
    members: dict[str, dict[str, None]] = {
        scheme: {} for scheme in sorted(facts.types.get(f"{SKOS}ConceptScheme", {}))
    }
    top_of: dict[str, dict[str, None]] = {}
    is_concept = set(concepts)
    for scheme, concept in (*inside, *tops):
        if concept in is_concept:
            members.setdefault(scheme, {})[concept] = None
    for scheme, concept in tops:
        if concept in is_concept:
            top_of.setdefault(scheme, {})[concept] = None
    gone = facts.texts.get(f"{_OWL}deprecated", {})
    deprecated = {c for c in gone if any(t.text.strip().lower() in ("true", "1") for t in gone[c])}
    found = {
        scheme: [t.text for p in _TITLES for t in facts.texts.get(p, {}).get(scheme, ())]
        for scheme in members
    }
    codes = {name: [t.text.strip() for t in each] for name, each in
             facts.texts.get(f"{SKOS}notation", {}).items()}  # fmt: skip
    source.parsed[syntax] = thesaurus = Thesaurus(
        source, concepts, deprecated & is_concept, len(named) - len(concepts), links, is_transitive,
        is_typed, members, top_of, found, facts.written("prefLabel"), facts.written("altLabel"),
        codes, len(collections),
    )  # fmt: skip
    return thesaurus


def _without_implied(links: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out links to concepts above another broader concept; cycles are kept."""
    above: dict[str, set[str]] = {}
    for broader, narrower in links:
        above.setdefault(narrower, set()).add(broader)
    closed: dict[str, set[str]] = {}
    for start in above:
        stack = [start]
        while stack:  # depth first, without recursion
            node = stack[-1]
            waiting = [each for each in above.get(node, ()) if each not in closed]
            if waiting and len(stack) <= len(above):
                stack += waiting[:1]
                continue
            if waiting:
                return links
            own = above.get(node, set())
            closed[node] = own.union(*(closed[each] for each in own))
            stack.pop()
    return [
        (broader, narrower)
        for broader, narrower in links
        if not any(broader in closed[each] for each in above[narrower])
    ]


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
    for broader, narrower in edges:
        if broader == narrower:
            raise source.error(f"{short(broader)} is a broader concept of itself. Delete that link")
        rows.link(broader, narrower)
    rows.vocabulary = thesaurus.vocabulary(kept, thesaurus.counts(kept, edges))
    return rows


# ---------------------------------------------------------------------- detection

_IRI = r"(?:<[^<>\s]*:[^<>\s]*>|_:\S+)"
PREFIX_LINE = re.compile(r"(?i:@?(?:prefix|base)\s+(?:[\w.-]*:\s*)?<[^<>\s]*[:/#][^<>\s]*>)")
TRIPLE_LINE = re.compile(rf'{_IRI}\s+(?:{_IRI}|a)\s+[<_"\w]')
_WHOLE_TRIPLE = re.compile(rf'{_IRI}\s+<[^<>\s]+>\s+(?:{_IRI}|".*)\s*\.\s*(?:#.*)?')
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


def looks_like_n_triples(source: Source) -> bool:
    """Whether all lines are triples, and the file names SKOS."""
    if not names_skos(source):
        return False
    lines = _first_lines(source)
    whole = lines[: max(1, len(lines) - 1)][:50]
    return bool(whole) and all(
        len(line) > _LONGEST or _WHOLE_TRIPLE.fullmatch(line) for line in whole
    )


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

# ---------------------------------------------------------------------- writing

_PREFIXES = {"rdf": RDF, "skos": SKOS, "dct": _DCT}
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
