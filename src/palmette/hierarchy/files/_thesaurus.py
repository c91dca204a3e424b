"""Thesaurus: what a SKOS file says about its concepts, in any syntax of RDF.

Nodes are the URIs of concepts, in the order of URIs; a root is always added above those without a
broader concept. What is read:

================== ===========================================================================
concepts           what has the type ``skos:Concept``, or one that the file declares a subclass of
                   it; in a file without types, what has a scheme or a broader or narrower
                   concept. Deprecated ones (``owl:deprecated``) and blank nodes are left out and
                   counted, collections are ignored.
edges              ``skos:broader`` and the inverse of ``skos:narrower``, with their sub-properties:
                   those of ISO 25964, and what the file declares as such. The transitive ones are
                   used only if there are no others, without those that others imply. Links that
                   close a cycle are left out and counted.
schemes            ``skos:inScheme``, ``skos:topConceptOf``, ``skos:hasTopConcept``
replacements       ``dct:isReplacedBy``; where a deprecated concept has none, ``skos:exactMatch``
labels             ``skos:prefLabel``, ``skos:altLabel``, the same of SKOS-XL in languages in which
                   a concept has no others, ``rdfs:label`` of concepts without a preferred label,
                   ``skos:notation``
================== ===========================================================================

Links to concepts that are deprecated, of another scheme or not in the file are left out and
counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from palmette.hierarchy._names import shown
from palmette.hierarchy._vocabulary import Vocabulary
from palmette.hierarchy.files._rdf import RDF, Text, read_triples
from palmette.hierarchy.files._source import Source, check_size

SKOS = "http://www.w3.org/2004/02/skos/core#"
_XL = "http://www.w3.org/2008/05/skos-xl#"
_OWL = "http://www.w3.org/2002/07/owl#"
DCT = "http://purl.org/dc/terms/"
_ISO = "http://purl.org/iso25964/skos-thes#"
_TITLES = (f"{DCT}title", "http://purl.org/dc/elements/1.1/title", f"{SKOS}prefLabel",
           "http://www.w3.org/2000/01/rdf-schema#label")  # fmt: skip
_LINKS = ("broader", "narrower", "broaderTransitive", "narrowerTransitive")
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_TYPE, _SUBCLASS, _SUBPROPERTY = f"{RDF}type", f"{_RDFS}subClassOf", f"{_RDFS}subPropertyOf"
_KINDS = ("Generic", "Instantial", "Partitive")  # of links, by ISO 25964
# a mapping to another thesaurus is no link of this one, though SKOS makes it a sub-property
_MAPPINGS = frozenset({f"{SKOS}broadMatch", f"{SKOS}narrowMatch"})
_WANTED = frozenset(
    [
        *(f"{SKOS}{name}" for name in (*_LINKS, "topConceptOf", "hasTopConcept", "inScheme")),
        *(f"{SKOS}{name}" for name in ("prefLabel", "altLabel", "notation", "exactMatch")),
        *(f"{_XL}{name}" for name in ("prefLabel", "altLabel", "literalForm")),
        *(_TYPE, _SUBCLASS, f"{_OWL}deprecated", f"{DCT}isReplacedBy"),
        *_TITLES,
    ]
)
_MAX_STEPS = 50_000_000  # concepts above others, in files whose links are all transitive
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
    n_implied : int
        Number of links that only sub-properties of ``skos:broader`` or ``skos:narrower`` state.
    is_transitive, is_typed : bool
        Whether the links are transitive ones, and whether concepts have types.
    members, tops : dict of scheme to dict of concept
    titles : dict of scheme to list of str
    labels, alternatives : dict of concept to list of Text
    notations : dict of concept to list of str
    n_collections : int
    replaced : dict of concept to list of str
        What the file says that concepts are replaced by; for deprecated ones without such a
        statement, those that they match exactly.
    """

    source: Source
    concepts: list[str]
    deprecated: set[str]
    n_blank: int
    links: Pairs
    n_implied: int
    is_transitive: bool
    is_typed: bool
    members: dict[str, dict[str, None]]
    tops: dict[str, dict[str, None]]
    titles: dict[str, list[str]]
    labels: dict[str, list[Text]]
    alternatives: dict[str, list[Text]]
    notations: dict[str, list[str]]
    n_collections: int
    replaced: dict[str, list[str]]

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
            links = _without_implied(self.source, links)
        return sorted(links, key=lambda link: (link[1], link[0]))

    def cycle_links(self, edges: list[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return the links to leave out, so that no concept is above itself.

        They are those that lead back in a search in depth, which begins at the top concepts and at
        those with a broader concept outside of all cycles; concepts come in the order of URIs.
        """
        names = sorted({name for link in edges for name in link})
        number = {name: i for i, name in enumerate(names)}
        ends = np.array([[number[a], number[b]] for a, b in edges], dtype=np.int32).reshape(-1, 2)
        graph = sparse.coo_array(
            (np.ones(len(ends), dtype=np.int8), ends.T), shape=(len(names), len(names))
        )
        _, part = connected_components(graph, directed=True, connection="strong")
        is_inside = part[ends[:, 0]] == part[ends[:, 1]]
        below: dict[int, list[int]] = {}
        for a, b in sorted(ends[is_inside].tolist()):
            below.setdefault(a, []).append(b)
        if not below:
            return set()
        tops = self.top_concepts
        first = {*ends[~is_inside, 1].tolist(), *(number[name] for name in tops if name in number)}
        found, done = set(), set()
        for start in sorted(below, key=lambda node: (node not in first, node)):
            path, stack = {start}, [(start, iter(below[start]))]
            if start in done:
                continue
            while stack:
                node, waiting = stack[-1]
                child = next(waiting, None)
                if child is None:
                    stack.pop()
                    path.remove(node)
                    done.add(node)
                elif child in path:
                    found.add((names[node], names[child]))
                elif child not in done:
                    path.add(child)
                    stack.append((child, iter(below.get(child, ()))))
        return found

    @property
    def top_concepts(self) -> set[str]:
        """Concepts that some scheme calls a top concept."""
        return {name for names in self.tops.values() for name in names}

    def counts(
        self, kept: list[str], edges: list[tuple[str, str]], n_cycles: int = 0
    ) -> dict[str, int]:
        """Return the numbers of what the file has, and of what was left out.

        Parameters
        ----------
        kept : list of str
        edges : list of (broader, narrower)
            Without those of cycles.
        n_cycles : int
            Number of links that would close a cycle.
        """
        odd = {"links_of_subproperties": self.n_implied, "links_in_cycles": n_cycles}
        return {
            "concepts": len(self.concepts) + self.n_blank,
            "deprecated": len(self.deprecated),
            "blank_nodes": self.n_blank,
            "other_schemes": len(self.concepts) - len(self.deprecated) - len(kept),
            "top_concepts": len(self.top_concepts),
            "links": len(self.links),
            "links_left_out": len(self.links) - len(edges) - n_cycles,
            "schemes": len(self.members),
            "collections": self.n_collections,
            **{name: number for name, number in odd.items() if number},
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
        current = set(self.concepts) - self.deprecated
        replaced = {  # some files give deprecated concepts another type
            old: found
            for old in sorted(self.replaced)
            if old not in current and (found := self._now(old, inside))
        }
        more = {"second_labels": n_second, "replaced": len(replaced)}
        counts = counts | {name: number for name, number in more.items() if number}
        return Vocabulary(preferred, others, codes, schemes, tops, counts, replaced=replaced)

    def _now(self, old: str, kept: set[str]) -> list[str]:
        """Return the kept concepts by which a concept is replaced, perhaps in several steps."""
        seen = [old]
        for name in seen:  # grows
            if name not in kept:
                seen += [new for new in self.replaced.get(name, ()) if new not in seen]
        return sorted(name for name in seen if name in kept)


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
        """Pairs of a predicate, and of others whose name starts with "^" from object to subject.

        Names without a colon are those of SKOS.
        """
        found: Pairs = {}
        for each in predicates:
            name = each.removeprefix("^")
            pairs = self.pairs.get(name if ":" in name else SKOS + name, {})
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
        """Labels of a kind, those of SKOS-XL in languages without others; none is empty."""
        found = _cleaned(self.texts.get(SKOS + name, {}))
        forms = _cleaned(self.texts.get(f"{_XL}literalForm", {}))
        more: dict[str, list[Text]] = {}
        for concept, label in self.pairs.get(_XL + name, {}):
            known = {text.language for text in found.get(concept, ())}
            texts = [text for text in forms.get(label, ()) if text.language not in known]
            if texts:
                more.setdefault(concept, []).extend(texts)
        return {c: [*found.get(c, ()), *more.get(c, ())] for c in {**found, **more}}


def _cleaned(texts: dict[str, list[Text]]) -> dict[str, list[Text]]:
    """Return texts with single blanks, without those that are empty."""
    return {
        name: kept
        for name, each in texts.items()
        if (kept := [Text(" ".join(t.split()), tag) for t, tag in each if t.strip()])
    }


def read_thesaurus(source: Source, syntax: str) -> Thesaurus:
    """Read what a file in a syntax of RDF says about SKOS concepts.

    Parameters
    ----------
    source : Source
    syntax : {"turtle", "rdf-xml", "n-triples", "json-ld", "trig", "n-quads"}

    Returns
    -------
    Thesaurus
    """
    if syntax in source.parsed:
        known: Thesaurus = source.parsed[syntax]
        return known
    facts = _Facts(source)
    more = _subproperties(source, syntax)
    read_triples(source, syntax, _WANTED | {each.removeprefix("^") for each in more}, facts.add)
    plain = facts.linked("^broader", "narrower")
    links = plain | facts.linked(*more)
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
            f"the type skos:Concept, <{SKOS}Concept>. OWL and other ontologies cannot be read"
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
    replaced: dict[str, list[str]] = {}
    for old, new in facts.pairs.get(f"{DCT}isReplacedBy", {}):
        replaced.setdefault(old, []).append(new)
    matched: dict[str, dict[str, None]] = {}
    for pair in facts.pairs.get(f"{SKOS}exactMatch", {}):
        for old, new in (pair, pair[::-1]):
            if old in deprecated and old not in replaced and new in is_concept:
                matched.setdefault(old, {})[new] = None
    replaced |= {old: list(found) for old, found in matched.items()}
    labels = facts.written("prefLabel")
    plain_labels = _cleaned(facts.texts.get(f"{_RDFS}label", {}))
    labels |= {name: plain_labels[name] for name in concepts
               if name in plain_labels and name not in labels}  # fmt: skip
    source.parsed[syntax] = thesaurus = Thesaurus(
        source, concepts, deprecated & is_concept, len(named) - len(concepts), links,
        0 if is_transitive else len(links) - len(plain), is_transitive, is_typed, members, top_of,
        found, labels, facts.written("altLabel"), codes, len(collections),
        replaced,
    )  # fmt: skip
    return thesaurus


def _subproperties(source: Source, syntax: str) -> list[str]:
    """Return the sub-properties of skos:broader, marked "^", and of skos:narrower.

    What the file declares is read before the rest, since a declaration may come last.
    """
    found = [f"^{_ISO}broader{kind}" for kind in _KINDS] + [f"{_ISO}narrower{k}" for k in _KINDS]
    if b"subPropertyOf" not in source.data:
        return found
    below: dict[str, list[str]] = {}

    def add(narrow: str, _: str, wide: str | Text) -> None:
        if isinstance(wide, str) and narrow not in _MAPPINGS:
            below.setdefault(wide, []).append(narrow)

    read_triples(source, syntax, frozenset({_SUBPROPERTY}), add)
    for mark, name in (("^", "broader"), ("", "narrower")):
        names = [f"{SKOS}{name}"]
        for each in names:  # grows
            names += [narrow for narrow in below.get(each, ()) if narrow not in names]
        found += [f"{mark}{each}" for each in names[1:]]
    return list(dict.fromkeys(found))


def _without_implied(source: Source, links: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out links to concepts above another broader concept; cycles are kept."""
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for broader, narrower in links:
        above.setdefault(narrower, []).append(broader)
        below.setdefault(broader, []).append(narrower)
    n_left = {narrower: len(each) for narrower, each in above.items()}
    order = [name for name in below if name not in above]
    n_seen = 0
    for concept in order:  # grows: a concept comes after all that are above it
        for narrower in below.get(concept, ()):
            n_left[narrower] -= 1
            if not n_left[narrower]:
                order.append(narrower)
        direct = above.get(concept, [])
        if len(direct) < 2:
            continue
        seen: set[str] = set()
        waiting = [name for each in direct for name in above.get(each, ())]
        while waiting:  # upwards, along links that are left
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += above.get(name, ())
        n_seen += len(seen)
        if n_seen > _MAX_STEPS:
            raise source.error(
                f"the {len(links):,} transitive links of the file imply more than {_MAX_STEPS:,} "
                "others, too many to find the direct ones: expected skos:broader beside them"
            )
        above[concept] = [each for each in direct if each not in seen]
    if any(n_left.values()):
        return links
    return [(broader, narrower) for narrower, each in above.items() for broader in each]
