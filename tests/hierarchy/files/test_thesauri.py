"""Thesauri as publishers shape them, each in a few concepts: counts as those of plain queries."""

from __future__ import annotations

import pytest

from palmette.hierarchy.checking import check_hierarchy

rdflib = pytest.importorskip("rdflib")

PREFIXES = """@prefix : <http://x.org/c/> .
@prefix own: <http://x.org/ontology#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix iso: <http://purl.org/iso25964/skos-thes#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
SHAPES = {
    # descriptors below categories of subjects, which are concepts too; deprecated ones are replaced
    "subject categories": """
:stw a skos:ConceptScheme ; skos:hasTopConcept :v .
own:Category rdfs:subClassOf skos:Concept .
:v a skos:Concept, own:Category ; skos:inScheme :stw ; skos:topConceptOf :stw ;
    skos:notation "V"^^xsd:string ; skos:prefLabel "Economics"@en, "Volkswirtschaft"@de .
:v.01 a own:Category ; skos:broader :v ; skos:inScheme :stw ; skos:prefLabel "Prices"@en .
:1 a skos:Concept, own:Descriptor ; skos:broader :v.01, :2 ; skos:prefLabel "Price"@en .
:2 a skos:Concept, own:Descriptor ; skos:broader :v.01 ; skos:narrower :1 ;
    skos:prefLabel "Value"@en .
:3 a skos:Concept, own:Descriptor ; owl:deprecated "true"^^xsd:boolean ; dct:isReplacedBy :1 ;
    skos:broader :v.01 .
""",
    # labels of SKOS-XL only, with labels that several concepts share; no top concept is declared
    "extended labels": """
:agro a skos:ConceptScheme .
:c_1 a skos:Concept ; skos:inScheme :agro ; xl:prefLabel :xl_en_1, :xl_fr_1 ; own:affects :c_2 .
:c_2 a skos:Concept ; skos:inScheme :agro ; skos:broader :c_1 ; xl:prefLabel :xl_en_2 ;
    xl:altLabel :xl_en_3, [ a xl:Label ; xl:literalForm "maize"@en ] .
:xl_en_1 a xl:Label ; xl:literalForm "cereals"@en .
:xl_fr_1 a xl:Label ; xl:literalForm "céréales"@fr .
:xl_en_2 a xl:Label ; xl:literalForm "corn"@en ; skos:notation "not of a concept" .
:xl_en_3 a xl:Label ; xl:literalForm "Indian corn"@en .
""",
    # one scheme for all and one per microthesaurus, in which most concepts are at the top
    "microthesauri": """
:all a skos:ConceptScheme . :mt1 a skos:ConceptScheme, own:MicroThesaurus ; dct:subject :dom .
:mt2 a skos:ConceptScheme ; skos:hasTopConcept :p .
:dom a skos:Concept, own:Domain ; skos:inScheme :domains ; skos:topConceptOf :domains ;
    skos:prefLabel "04 POLITICS"@en ; skos:notation "04" .
:p a skos:Concept ; skos:inScheme :all, :mt1 ; skos:topConceptOf :mt1 ;
    skos:prefLabel "party"@en, "Partei"@de ; xl:prefLabel [ xl:literalForm "party"@en ] .
:q a skos:Concept ; skos:inScheme :all, :mt1, :mt2 ; skos:broader :p ; skos:prefLabel "wing"@en ;
    own:status <http://x.org/status/CURRENT> .
:r a skos:Concept ; skos:inScheme :all ; owl:deprecated "1"^^xsd:boolean ; skos:prefLabel "old"@en .
""",
    # groups of concepts are collections, which have collections of their own
    "collections": """
:s a skos:ConceptScheme ; skos:hasTopConcept :a .
own:Domain rdfs:subClassOf iso:ConceptGroup . iso:ConceptGroup rdfs:subClassOf skos:Collection .
:g1 a own:Domain, iso:ConceptGroup, skos:Collection ; skos:prefLabel "Education"@en ;
    skos:member :g2 ; iso:subGroup :g2 ; skos:inScheme :s .
:g2 a iso:ConceptGroup, skos:Collection ; skos:member :a, :b ; skos:prefLabel "Schools"@en .
:o a skos:OrderedCollection ; skos:memberList ( :a :b ) .
:a a skos:Concept ; skos:inScheme :s ; skos:topConceptOf :s ; skos:prefLabel "school"@en .
:b a skos:Concept ; skos:inScheme :s ; skos:broader :a ; skos:prefLabel "night school"@en .
""",
    # no top concepts, links to concepts that only other files define, a cycle, and no languages
    "headings": """
:sh1 a skos:Concept ; skos:inScheme <http://x.org/subjects> ; skos:prefLabel "Birds" ;
    skos:narrower :sh2 ; skos:broader :sh9 ; skos:closeMatch <http://other.org/1> ;
    skos:broadMatch :sh3 .
:sh2 a skos:Concept ; skos:inScheme <http://x.org/subjects> ; skos:prefLabel "Owls" ;
    skos:altLabel "Owl" ; skos:broader :sh1, :sh3 .
:sh3 a skos:Concept ; skos:inScheme <http://x.org/subjects> ; skos:prefLabel "Night birds"@en ;
    skos:broader :sh2 .
[] a own:ChangeSet ; own:subjectOfChange :sh1 .
""",
    # links of ISO 25964 and of the publisher's own sub-properties, declared last
    "kinds of links": """
:a a skos:Concept ; skos:prefLabel "body"@en . :b a skos:Concept ; iso:broaderPartitive :a .
:c a skos:Concept ; iso:broaderGeneric :b ; skos:broader :b . :a iso:narrowerInstantial :d .
:d a skos:Concept . :e a skos:Concept ; own:partOf :d . :f a skos:Concept ; own:below :e .
:f skos:broadMatch :a .
own:below rdfs:subPropertyOf own:partOf . own:partOf rdfs:subPropertyOf skos:broader .
skos:broadMatch rdfs:subPropertyOf skos:broader . skos:broader rdfs:subPropertyOf own:anything .
""",
}
EDGES = {
    "subject categories": "v>v.01 v.01>1 2>1 v.01>2",
    "extended labels": "c_1>c_2",
    "microthesauri": "p>q",
    "collections": "a>b",
    "headings": "sh1>sh2 sh2>sh3",
    "kinds of links": "a>b b>c a>d d>e e>f",
}
EXTRA_LINKS = {"kinds of links": 4}  # those of sub-properties, which a plain query does not know


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("syntax", ["turtle", "rdf-xml", "n-triples", "json-ld"])
def test_counts_of_published_shapes_are_those_of_plain_queries(read, shape, syntax):
    from rdflib import OWL, RDF, RDFS, SKOS

    graph = rdflib.Graph().parse(data=PREFIXES + SHAPES[shape], format="turtle")
    name = {"turtle": "ttl", "rdf-xml": "rdf", "n-triples": "nt", "json-ld": "jsonld"}[syntax]
    kind = {"rdf-xml": "xml", "n-triples": "nt"}.get(syntax, syntax)
    h = read(graph.serialize(format=kind, encoding="utf-8"), f"x.{name}")

    classes = set(graph.transitive_subjects(RDFS.subClassOf, SKOS.Concept))
    concepts = {c for each in classes for c in graph.subjects(RDF.type, each)}
    gone = {c for c, flag in graph.subject_objects(OWL.deprecated) if flag.toPython() is True}
    links = {(o, s) for s, o in graph.subject_objects(SKOS.broader)}
    links |= set(graph.subject_objects(SKOS.narrower))
    tops = set(graph.subjects(SKOS.topConceptOf)) | set(graph.objects(None, SKOS.hasTopConcept))
    collections = {
        c
        for each in (SKOS.Collection, SKOS.OrderedCollection)
        for c in graph.subjects(RDF.type, each)
    }
    counts = h.vocabulary.counts
    assert counts["concepts"] == len(concepts)
    assert counts["deprecated"] == len(concepts & gone)
    assert counts["top_concepts"] == len(tops & concepts)
    assert counts["collections"] == len(collections)
    assert counts["links"] == len(links) + EXTRA_LINKS.get(shape, 0)
    assert set(h.names[1:]) == {str(c) for c in concepts - gone}
    names = [str(each).rpartition("/")[2] for each in h.names]
    assert {f"{names[a]}>{names[b]}" for a, b in h.edges.tolist() if a} == set(EDGES[shape].split())


@pytest.mark.parametrize(
    ("shape", "name", "language", "labels"),
    [
        ("subject categories", "v", "de", ("Volkswirtschaft",)),
        ("extended labels", "c_2", "en", ("corn", "Indian corn", "maize")),
        ("microthesauri", "p", "en", ("party",)),
        ("headings", "sh2", None, ("Owls", "Owl")),
    ],
)
def test_labels_of_published_shapes(read, shape, name, language, labels):
    words = read(PREFIXES + SHAPES[shape], "x.ttl").vocabulary
    assert words.texts(f"http://x.org/c/{name}", language) == labels


def test_a_microthesaurus_by_its_address(read):
    h = read(PREFIXES + SHAPES["microthesauri"], "x.ttl", scheme="http://x.org/c/mt1")
    assert [name.rpartition("/")[2] for name in h.names[1:]] == ["p", "q"]


@pytest.mark.parametrize(
    ("shape", "faults", "notes"),
    [
        ("subject categories", {"no scheme"}, {"deprecated"}),
        ("extended labels", set(), {"no top concepts"}),
        ("microthesauri", set(), {"deprecated"}),
        ("collections", set(), set()),
        ("headings", {"cycle", "undefined concept"}, {"link of a cycle", "language"}),
        ("kinds of links", set(), {"sub-properties", "no schemes", "no label"}),
    ],
)
def test_what_a_check_says_of_published_shapes(tmp_path, shape, faults, notes):
    file = tmp_path / "x.ttl"
    file.write_text(PREFIXES + SHAPES[shape], encoding="utf-8")
    found = check_hierarchy(file)
    assert {each.kind for each in found.faults} == faults
    assert notes <= {each.kind for each in found.notes}
    assert found.hierarchy is not None


def test_links_of_sub_properties_are_told(read):
    h = read(PREFIXES + SHAPES["kinds of links"], "x.ttl")
    assert h.vocabulary.repairs() == [
        "4 links are stated by sub-properties of skos:broader or skos:narrower only"
    ]


def test_exact_matches_replace_deprecated_concepts(read):
    text = PREFIXES + (
        ":a a skos:Concept . :b a skos:Concept ; owl:deprecated true ; skos:exactMatch :a, :else . "
        ":c a skos:Concept ; owl:deprecated true ; dct:isReplacedBy :a ; skos:exactMatch :d . "
        ":d a skos:Concept ; skos:exactMatch :e, :a . :e a skos:Concept ; owl:deprecated true . "
        ":f a skos:Concept ; owl:deprecated true ; skos:exactMatch :b ; skos:closeMatch :d ."
    )
    words = read(text, "x.ttl").vocabulary
    names = {old.rpartition("/")[2]: new for old, new in words.replaced.items()}
    last = {old: [each.rpartition("/")[2] for each in new] for old, new in names.items()}
    assert last == {"b": ["a"], "c": ["a"], "e": ["d"], "f": ["a"]}


def test_deprecated_concepts_are_replaced_in_several_steps(read):
    text = PREFIXES + (
        ":a a skos:Concept . :b a skos:Concept ; owl:deprecated true ; dct:isReplacedBy :c, :z . "
        ":c a skos:Concept ; owl:deprecated true ; dct:isReplacedBy :a, :b . :z a own:Thing . "
        ":d a skos:Concept ; owl:deprecated true ; dct:isReplacedBy :z . "
        ":e a skos:Concept ; dct:isReplacedBy :a . :f a own:Deprecated ; dct:isReplacedBy :a ."
    )
    words = read(text, "x.ttl").vocabulary
    a, b, c, f = (f"http://x.org/c/{name}" for name in "abcf")
    assert words.replaced == {b: (a,), c: (a,), f: (a,)}
    assert words.repairs() == [
        "3 deprecated concepts are left out",
        "3 deprecated concepts are replaced: where rows have them, the others count",
    ]
    assert type(words).from_dict(words.to_dict()) == words
