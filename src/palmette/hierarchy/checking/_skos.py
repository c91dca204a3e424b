"""Faults of SKOS thesauri: cycles, orphans, doubtful links, labels and schemes.

A thesaurus with faults can be read, since what is left out is counted: a person should still mend
them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._vocabulary import Languages
from palmette.hierarchy.checking._findings import Findings
from palmette.hierarchy.checking._lines import Links
from palmette.hierarchy.files._source import Source, short
from palmette.hierarchy.files._thesaurus import Thesaurus, read_thesaurus

_SHOWN = 3  # languages or concepts listed in a message


def check_skos(
    source: Source, syntax: str, found: Findings, scheme: str | Sequence[str] | None = None
) -> None:
    """Collect the faults of a thesaurus.

    Parameters
    ----------
    source : Source
    syntax : {"turtle", "rdf-xml", "n-triples", "json-ld", "trig", "n-quads"}
    found : Findings
        Faults of the kinds "cycle", "own parent", "orphan", "undefined concept", "deprecated
        concept", "two preferred labels", "no scheme" and "blank node"; notes on what is unusual.
    scheme : str or sequence of str, optional
        Concept schemes to check; all by default.

    Raises
    ------
    ReadError
        If the file cannot be parsed or has no concepts.
    """
    thesaurus = read_thesaurus(source, syntax)
    kept = thesaurus.choose(scheme)
    _check_cycles(thesaurus, kept, found)
    _check_links(thesaurus, kept, found)
    _check_orphans(thesaurus, kept, found)
    _check_schemes(thesaurus, kept, found)
    _check_labels(thesaurus, kept, found)
    _note_file(thesaurus, found)


def _shown(thesaurus: Thesaurus, concept: str) -> str:
    """Return a URI with a label, the English one if there is one."""
    if concept.startswith("_:"):
        return "a blank node"  # its number differs from run to run
    labels = thesaurus.labels.get(concept, [])
    text = min(labels, key=lambda label: (label.language != "en", label.language, label.text),
               default=None)  # fmt: skip
    return short(concept) if text is None else f"{short(concept)} ({short(text.text)[1:-1]})"


def _check_cycles(thesaurus: Thesaurus, kept: list[str], found: Findings) -> None:
    links = Links(found, notes_repeats=False)
    for concept in kept:
        links.node(concept)
    for broader, narrower in thesaurus.edges(kept):
        links.add(broader, narrower)
    before = len(found.found)
    links.check(one_root=False)
    # without a concept at the top there is a cycle, which is reported already
    found.found[before:] = [each for each in found.found[before:] if each.kind != "no root"]
    for broader, narrower in sorted(thesaurus.cycle_links(thesaurus.edges(kept))):
        if broader != narrower:
            found.note(
                "link of a cycle",
                f"{_shown(thesaurus, narrower)} has the broader concept "
                f"{_shown(thesaurus, broader)}, which is below it. The link is left out: delete "
                "it, or another of the cycle",
            )


def _check_links(thesaurus: Thesaurus, kept: list[str], found: Findings) -> None:
    known, inside = set(thesaurus.concepts), set(kept)
    for broader, narrower in sorted(thesaurus.links, key=lambda link: (link[1], link[0])):
        pair = f"{_shown(thesaurus, narrower)} has the broader concept {_shown(thesaurus, broader)}"
        if narrower in inside and broader not in known:
            found.fault(
                "undefined concept",
                f"{pair}, which is not a concept of this file. The link is left out: define that "
                "concept, or use skos:broadMatch for one of another thesaurus",
            )
        elif broader in inside and narrower not in known:
            found.fault(
                "undefined concept",
                f"{_shown(thesaurus, broader)} has the narrower concept "
                f"{_shown(thesaurus, narrower)}, which "
                "is not a concept of this file. The link is left out: define that concept",
            )
        elif narrower in inside and broader in thesaurus.deprecated:
            found.fault(
                "deprecated concept",
                f"{pair}, which is deprecated. The link is left out: choose another broader "
                "concept",
            )


def _check_orphans(thesaurus: Thesaurus, kept: list[str], found: Findings) -> None:
    tops = thesaurus.top_concepts
    has_broader = {narrower for _, narrower in thesaurus.links}
    alone = [concept for concept in kept if concept not in has_broader and concept not in tops]
    if not tops:
        if alone:
            found.note(
                "no top concepts",
                f"no scheme names its top concepts: the {len(alone):,} concepts without a broader "
                "one are taken for them",
            )
        return
    for concept in alone:
        found.fault(
            "orphan",
            f"{_shown(thesaurus, concept)} has no broader concept and is not a top concept. Add "
            "skos:broader or skos:topConceptOf",
        )


def _check_schemes(thesaurus: Thesaurus, kept: list[str], found: Findings) -> None:
    if not thesaurus.members:
        found.note("no schemes", "the file has no concept scheme (skos:inScheme)")
        return
    inside = {name for names in thesaurus.members.values() for name in names}
    for concept in kept:
        if concept not in inside:
            found.fault(
                "no scheme",
                f"{_shown(thesaurus, concept)} is in no concept scheme. Add skos:inScheme",
            )


def _check_labels(thesaurus: Thesaurus, kept: list[str], found: Findings) -> None:
    users: dict[tuple[str, str], list[str]] = {}
    for concept in kept:
        labels = sorted(set(thesaurus.labels.get(concept, ())))
        for label in labels:
            users.setdefault(label, []).append(concept)
        tags = Counter(label.language for label in labels)
        for tag in sorted(tag for tag, count in tags.items() if count > 1):
            texts = ", ".join(short(label.text) for label in labels if label.language == tag)
            found.fault(
                "two preferred labels",
                f"{short(concept)} has {tags[tag]} preferred labels in "
                f"{repr(tag) if tag else 'no language'}: {texts}. Keep one: the first is used, the "
                "others are taken for alternative labels",
            )
        if not labels:
            found.note("no label", f"{short(concept)} has no preferred label")
        for label in sorted(set(thesaurus.alternatives.get(concept, ())) & set(labels)):
            found.note(
                "repeated label",
                f"{short(concept)} has the preferred label {short(label.text)} as an alternative "
                "one too",
            )
    for (text, tag), concepts in sorted(users.items()):
        if len(concepts) > 1:
            names = ", ".join(short(concept) for concept in concepts[:_SHOWN])
            more = ", ..." if len(concepts) > _SHOWN else ""
            found.note(
                "shared label",
                f"{short(text)}{f' in {tag!r}' if tag else ''} is the preferred label of "
                f"{len(concepts)} concepts: {names}{more}",
            )


def _note_file(thesaurus: Thesaurus, found: Findings) -> None:
    if thesaurus.n_blank:
        found.fault(
            "blank node",
            f"{thesaurus.n_blank:,} concepts are blank nodes, which have no URI to predict. They "
            "are left out: give them URIs",
        )
    if thesaurus.deprecated:
        found.note("deprecated", f"{len(thesaurus.deprecated):,} deprecated concepts are left out")
    if not thesaurus.is_typed:
        found.note(
            "no types",
            "nothing has the type skos:Concept: what has a scheme or a broader or narrower concept "
            "is taken for one",
        )
    if thesaurus.n_implied:
        found.note(
            "sub-properties",
            f"{thesaurus.n_implied:,} links are stated by sub-properties of skos:broader or "
            "skos:narrower only, such as those of ISO 25964. They count as broader ones",
        )
    current = [name for name in thesaurus.replaced if name not in thesaurus.deprecated]
    for concept in sorted(set(current) & set(thesaurus.concepts)):
        found.note(
            "replaced",
            f"{_shown(thesaurus, concept)} is replaced by "
            f"{', '.join(map(short, thesaurus.replaced[concept][:_SHOWN]))} (dct:isReplacedBy), "
            "but not deprecated: it is kept",
        )
    if thesaurus.is_transitive and thesaurus.links:
        found.note(
            "transitive links",
            "the file has transitive broader and narrower links only: those that others imply are "
            "left out",
        )


def note_language(hierarchy: Hierarchy, language: Languages | None, found: Findings) -> None:
    """Note how many labels are missing in a language."""
    words = hierarchy.vocabulary
    if words is None or not words.preferred:
        return
    order = words.fallbacks(language)
    missing = words.n_missing(language)
    if missing:
        found.note(
            "language",
            f"{missing:,} concepts have no label in {order[0] or 'no language'!r}: the next of "
            f"{', '.join(repr(tag) for tag in order[1:]) or 'no other language'} is shown, or the "
            "URI",
        )


def skos_statistics(hierarchy: Hierarchy) -> dict[str, Any]:
    """Return the numbers of a vocabulary: what the file had, and labels by language."""
    words = hierarchy.vocabulary
    if words is None:
        return {}
    labels = {tag or "no language": len(words.preferred[tag]) for tag in words.languages}
    return {"vocabulary": {**words.counts, "labels": labels}}
