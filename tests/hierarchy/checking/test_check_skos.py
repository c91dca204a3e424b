"""Faults of thesauri: found, named, and no obstacle to reading."""

from __future__ import annotations

from collections import Counter

import pytest

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.checking import check_hierarchy

pytest.importorskip("rdflib")

PREFIXES = """@prefix : <http://x.org/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:s a skos:ConceptScheme ; skos:hasTopConcept :top .
:top a skos:Concept ; skos:inScheme :s ; skos:prefLabel "top"@en, "ylin"@fi .
"""


@pytest.fixture
def check(tmp_path):
    def check_text(text, prefixes=PREFIXES, **options):
        file = tmp_path / "x.ttl"
        file.write_text(prefixes + text, encoding="utf-8")
        return check_hierarchy(file, **options)

    return check_text


def concept(name: str, more: str = "") -> str:
    return f':{name} a skos:Concept ; skos:inScheme :s ; skos:prefLabel "{name}"@en {more} .\n'


def test_a_sound_thesaurus(check):
    found = check(concept("a", "; skos:broader :top") + concept("b", "; skos:broader :top"))
    assert found.faults == ()
    assert [note.kind for note in found.notes] == []
    counts = found.statistics["vocabulary"]
    assert (counts["concepts"], counts["top_concepts"], counts["links"]) == (3, 1, 2)
    assert counts["labels"] == {"en": 3, "fi": 1}
    text = found.to_text()
    assert "in the file: 3 concepts, 0 deprecated" in text
    assert "preferred labels: 3 in en, 1 in fi" in text


FAULTS = {
    "orphan": (concept("a"), r"x.org/a' \(a\) has no broader concept and is not a top concept"),
    "two preferred labels": (
        concept("a", '; skos:prefLabel "b"@en ; skos:broader :top'),
        r"2 preferred labels in 'en': 'a', 'b'\. Keep one",
    ),
    "no scheme": (":a a skos:Concept ; skos:broader :top .", "x.org/a' is in no concept scheme"),
    "undefined concept": (
        concept("a", "; skos:broader :top, :gone"),
        "has the broader concept 'http://x.org/gone', which is not a concept of this file",
    ),
    "deprecated concept": (
        concept("a", "; skos:broader :top, :old")
        + concept("old", "; skos:broader :top ; owl:deprecated true"),
        r"has the broader concept 'http://x.org/old' \(old\), which is deprecated",
    ),
    "blank node": ("[] a skos:Concept .", "1 concepts are blank nodes"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_faults_with_which_a_thesaurus_can_be_read(check, kind):
    text, words = FAULTS[kind]
    found = check(text)
    assert [fault.kind for fault in found.faults] == [kind]
    assert found.hierarchy == Hierarchy.read(found.path)
    import re

    assert re.search(words, found.faults[0].message)
    assert "cannot be read" not in found.to_text()


def test_undefined_narrower_concepts(check):
    found = check(concept("a", "; skos:broader :top ; skos:narrower :gone"))
    assert "has the narrower concept 'http://x.org/gone'" in found.faults[0].message


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (
            concept("a", "; skos:broader :b, :top")
            + concept("b", "; skos:broader :c")
            + concept("c", "; skos:narrower :b ; skos:broader :a"),
            "cycle",
            "a cycle of 3 nodes",
        ),
        (concept("a", "; skos:broader :a, :top"), "own parent", "is its own parent"),
    ],
)
def test_cycles_are_faults_and_the_link_that_is_left_out_is_named(check, text, kind, words):
    found = check(text)
    assert [fault.kind for fault in found.faults] == [kind]
    assert words in found.faults[0].message
    assert found.hierarchy == Hierarchy.read(found.path)
    assert found.statistics["vocabulary"]["links_in_cycles"] == 1
    notes = [note.message for note in found.notes if note.kind == "link of a cycle"]
    # the search comes from the top to a, then to c and b, which would lead back to a
    expected = "'http://x.org/a' (a) has the broader concept 'http://x.org/b' (b), which is below"
    assert [expected in note for note in notes] == ([True] if kind == "cycle" else [])


def test_several_faults_at_once(check):
    text = "".join(FAULTS[kind][0].replace(":a ", f":a{i} ") for i, kind in enumerate(FAULTS))
    kinds = Counter(fault.kind for fault in check(text).faults)
    assert kinds == dict.fromkeys(FAULTS, 1)


def test_notes(check):
    text = (
        concept("a", '; skos:broader :top ; skos:altLabel "a"@en')
        + concept("old", "; owl:deprecated true")
        + ':b a skos:Concept ; skos:inScheme :s ; skos:broader :top ; skos:prefLabel "a"@en .'
        + ":c a skos:Concept ; skos:inScheme :s ; skos:broader :top ."
    )
    found = check(text, language="fi")
    assert found.faults == ()
    notes = {note.kind: note.message for note in found.notes}
    assert notes["deprecated"] == "1 deprecated concepts are left out"
    assert "as an alternative one too" in notes["repeated label"]
    assert "is the preferred label of 2 concepts" in notes["shared label"]
    assert "has no preferred label" in notes["no label"]
    assert notes["language"].startswith("2 concepts have no label in 'fi': the next of 'en'")


def test_files_without_schemes_top_concepts_or_types(check):
    prefixes = PREFIXES.partition(":s a")[0]
    found = check(":a a skos:Concept . :b a skos:Concept ; skos:broader :a .", prefixes)
    assert found.faults == ()
    assert {"no schemes", "no top concepts"} <= {note.kind for note in found.notes}
    found = check(":b skos:broaderTransitive :a .", prefixes)
    assert {"no types", "transitive links"} <= {note.kind for note in found.notes}


def test_what_is_replaced_but_kept_and_links_of_sub_properties_are_noted(check):
    prefixes = PREFIXES + (
        "@prefix dct: <http://purl.org/dc/terms/> . "
        "@prefix iso: <http://purl.org/iso25964/skos-thes#> .\n"
    )
    text = concept("a", "; iso:broaderGeneric :top ; dct:isReplacedBy :b") + concept(
        "b", "; skos:broader :top"
    )
    found = check(text, prefixes)
    assert found.faults == ()
    notes = {note.kind: note.message for note in found.notes}
    assert notes["sub-properties"].startswith("1 links are stated by sub-properties")
    assert "(a) is replaced by 'http://x.org/b'" in notes["replaced"]


def test_one_scheme(check):
    text = ":t a skos:ConceptScheme . :z a skos:Concept ; skos:inScheme :t ."
    assert [fault.kind for fault in check(text).faults] == ["orphan"]
    assert check(text, scheme="http://x.org/s").faults == ()
    [fault] = check(text, scheme="Cars").faults
    assert "is not a scheme of this file" in fault.message


@pytest.mark.parametrize("text", ["", ":a a owl:Class .", ":a a skos:Concept ; broken"])
def test_what_cannot_be_read(check, text):
    found = check(text, PREFIXES.partition(":s a")[0])
    assert [fault.kind for fault in found.faults] == ["content"]
    assert found.hierarchy is None


@pytest.mark.data
def test_a_real_thesaurus(data_home):
    file = data_home.parent / "subjects/silknow_thesaurus.ttl.xz"
    if not file.exists():
        pytest.skip("the thesaurus is not beside the data home")
    found = check_hierarchy(file)
    assert Counter(fault.kind for fault in found.faults) == {"undefined concept": 133}
    assert found.hierarchy.n_nodes == 667
