"""SKOS in four syntaxes: counts as those of plain queries, and nothing fetched or expanded."""

from __future__ import annotations

import builtins
import lzma
import pickle
import socket
import sys
from pathlib import Path

import numpy as np
import pytest

from palmette import Hierarchy, PalmetteError, Vocabulary, load, save
from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy.files import _rdf, _source, _thesaurus
from palmette.hierarchy.files._registry import SKOS_FORMATS, WRITERS

rdflib = pytest.importorskip("rdflib")

PREFIXES = """@prefix : <http://x.org/c/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix dct: <http://purl.org/dc/terms/> .
"""
# broader and narrower in either direction, two parents, two schemes, collections, languages
ANIMALS = (
    PREFIXES
    + """
:zoo a skos:ConceptScheme ; dct:title "Zoo"@en ; skos:hasTopConcept :animal .
:pets a skos:ConceptScheme ; skos:prefLabel "Pets"@en .
:animal a skos:Concept ; skos:inScheme :zoo ; skos:prefLabel "animal"@en, "eläin"@fi ;
    skos:narrower :cat, :dog .
:pet a skos:Concept ; skos:topConceptOf :pets ; skos:prefLabel "pet"@en, "lemmikki"@fi .
:cat a skos:Concept ; skos:inScheme :zoo, :pets ; skos:broader :animal, :pet ;
    skos:prefLabel "cat"@en, "kissa"@fi ; skos:altLabel "kitty"@en, "katti"@fi, "mirri"@fi ;
    skos:notation "C1" .
:dog a skos:Concept ; skos:inScheme :zoo, :pets ; skos:broader :pet ; skos:prefLabel "dog"@en .
:wolf a skos:Concept ; skos:inScheme :zoo ; skos:broader :animal ; skos:prefLabel "wolf" .
:unicorn a skos:Concept ; skos:inScheme :zoo ; owl:deprecated true ; skos:broader :animal ;
    skos:prefLabel "unicorn"@en .
:group a skos:Collection ; skos:prefLabel "a group"@en ; skos:member :cat, :dog .
"""
)
SUFFIXES = {
    "turtle": ".ttl", "rdf-xml": ".rdf", "n-triples": ".nt", "json-ld": ".jsonld",
    "trig": ".trig", "n-quads": ".nq",
}  # fmt: skip
RDFLIB = {name: name for name in SUFFIXES} | {
    "rdf-xml": "xml",
    "n-triples": "nt",
    "n-quads": "nquads",
}
GRAPHS = ("trig", "n-quads")  # several graphs
WRITTEN = [syntax for syntax in SKOS_FORMATS if syntax not in GRAPHS]
URI = "http://x.org/c/{}".format


def in_syntax(turtle: str, syntax: str) -> bytes:
    """Return a text in Turtle in another syntax, as rdflib writes it."""
    graph = rdflib.Graph().parse(data=turtle, format="turtle")
    if syntax not in GRAPHS:
        return bytes(graph.serialize(format=RDFLIB[syntax], encoding="utf-8"))
    parts: list[list[str]] = [[], [], []]  # two named graphs and the default one
    for number, line in enumerate(sorted(graph.serialize(format="nt").splitlines())):
        parts[number % 3].append(line)
    if syntax == "trig":
        texts = ["\n".join(part) for part in parts]
        text = f"{texts[0]}\n<u:g1> {{\n{texts[1]}\n}}\nGRAPH <u:g2>\n{{ {texts[2]} }}\n"
    else:
        names = ("", "<u:g1> ", "_:g2 ")
        text = "\n".join(
            f"{line.removesuffix('.')}{name}."
            for part, name in zip(parts, names, strict=True)
            for line in part
        )
    return text.encode()


def plain_counts(data: bytes, syntax: str) -> dict[str, object]:
    """Count with queries on the graph of rdflib."""
    from rdflib import OWL, RDF, SKOS

    graph = rdflib.Dataset(default_union=True) if syntax in GRAPHS else rdflib.Graph()
    g = graph.parse(data=data, format=RDFLIB[syntax])
    gone = {s for s, o in g.subject_objects(OWL.deprecated) if o.toPython() is True}
    concepts = set(g.subjects(RDF.type, SKOS.Concept))
    links = {(o, s) for s, o in g.subject_objects(SKOS.broader)}
    links |= set(g.subject_objects(SKOS.narrower))
    tops = set(g.subjects(SKOS.topConceptOf)) | set(g.objects(None, SKOS.hasTopConcept))
    kept = concepts - gone
    labels: dict[str, int] = {}
    for concept in kept:
        for tag in {label.language or "" for label in g.objects(concept, SKOS.prefLabel)}:
            labels[tag] = labels.get(tag, 0) + 1
    return {
        "concepts": len(concepts),
        "deprecated": len(concepts & gone),
        "top_concepts": len(tops & concepts),
        "links": len(links),
        "names": {str(concept) for concept in kept},
        "edges": {(str(a), str(b)) for a, b in links if a in kept and b in kept},
        "labels": labels,
    }


def require_equal_counts(h: Hierarchy, plain: dict[str, object]) -> None:
    for key in ("concepts", "deprecated", "top_concepts", "links"):
        assert h.vocabulary.counts[key] == plain[key], key
    names = h.names.tolist()
    assert set(names[1:]) == plain["names"]
    assert {(names[a], names[b]) for a, b in h.edges.tolist() if a} == plain["edges"]
    assert {tag: len(table) for tag, table in h.vocabulary.preferred.items()} == plain["labels"]


# ---------------------------------------------------------------------- reading


@pytest.mark.parametrize("syntax", SKOS_FORMATS)
def test_counts_are_those_of_plain_queries(read, syntax):
    data = in_syntax(ANIMALS, syntax)
    h = read(data, f"x{SUFFIXES[syntax]}")
    require_equal_counts(h, plain_counts(data, syntax))
    assert h == read(ANIMALS, "y.ttl")
    assert h.vocabulary == read(ANIMALS, "y.ttl").vocabulary


def test_a_small_thesaurus_by_hand(read):
    h = read(ANIMALS, "x.ttl")
    assert not h.is_tree
    assert h.n_nodes == 1 + 5
    assert h.names[h.parents_of(URI("cat"))].tolist() == [URI("animal"), URI("pet")]
    assert h.names[h.parents_of(URI("dog"))].tolist() == [URI("animal"), URI("pet")]
    assert h.names[h.children(0)].tolist() == [URI("animal"), URI("pet")]
    words = h.vocabulary
    assert words.texts(URI("cat"), "fi") == ("kissa", "katti", "mirri")
    assert words.notations == {URI("cat"): ("C1",)}
    assert words.schemes[URI("pets")] == tuple(map(URI, ("cat", "dog", "pet")))
    assert words.top_concepts == {URI("zoo"): (URI("animal"),), URI("pets"): (URI("pet"),)}
    assert dict(words.counts) == {
        "concepts": 6, "deprecated": 1, "blank_nodes": 0, "other_schemes": 0, "top_concepts": 2,
        "links": 6, "links_left_out": 1, "schemes": 2, "collections": 1,
    }  # fmt: skip


@pytest.mark.parametrize("syntax", SKOS_FORMATS)
@pytest.mark.parametrize("name", ["x.unknown", "x.txt", "x.json", "x.xml"])
def test_content_tells_the_syntax(read, syntax, name):
    assert read(in_syntax(ANIMALS, syntax), name) == read(ANIMALS, "y.ttl")


@pytest.mark.parametrize("suffix", [".xz", ".gz", ".bz2", ".zip"])
def test_compressed(tmp_path, read, suffix):
    import bz2
    import gzip
    import zipfile

    file = tmp_path / f"x.ttl{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("x.ttl", ANIMALS)
    else:
        pack = {".xz": lzma.compress, ".gz": gzip.compress, ".bz2": bz2.compress}[suffix]
        file.write_bytes(pack(ANIMALS.encode()))
    assert Hierarchy.read(file) == read(ANIMALS, "y.ttl")


@pytest.mark.parametrize("scheme", ["http://x.org/c/pets", "Pets", ["Pets"]])
def test_one_scheme(read, scheme):
    h = read(ANIMALS, "x.ttl", scheme=scheme)
    assert sorted(h.names[1:]) == [URI("cat"), URI("dog"), URI("pet")]
    assert h.is_tree
    assert h.vocabulary.counts["other_schemes"] == 2
    assert list(h.vocabulary.schemes) == [URI("pets"), URI("zoo")]
    assert read(ANIMALS, "x.ttl", scheme=["Zoo", "Pets"]) == read(ANIMALS, "x.ttl")


def test_an_unknown_scheme_lists_the_known_ones(read):
    with pytest.raises(
        ReadError, match=r"scheme='Cars' is not a scheme .*c/pets \(Pets, 3 concepts"
    ):
        read(ANIMALS, "x.ttl", scheme="Cars")
    with pytest.raises(ReadError, match="scheme='Cars', but the format is paths: only SKOS"):
        read("a > b\nc > d\n", scheme="Cars")


def test_transitive_links_serve_where_there_are_no_others(read):
    chain = (
        PREFIXES
        + ":a a skos:Concept . :b a skos:Concept . :c a skos:Concept . "
        + (":c skos:broaderTransitive :b, :a, :c . :a skos:narrowerTransitive :b, :c .")
    )
    h = read(chain, "x.ttl")
    assert h.is_tree
    assert h.path(URI("a") + "/" + URI("b") + "/" + URI("c")) == tuple(map(URI, "abc"))
    both = read(chain + ":c skos:broader :a .", "x.ttl")  # others are there: these are not used
    assert both.names[both.parents_of(URI("c"))].tolist() == [URI("a")]
    assert both.names[both.parents_of(URI("b"))].tolist() == ["root"]


@pytest.mark.parametrize("seed", range(3))
def test_transitive_links_are_reduced_to_direct_ones(read, seed):
    rng = np.random.default_rng(seed)
    n = 25
    direct = [{int(p) for p in rng.integers(0, max(i, 1), 2) if p < i} for i in range(n)]
    above = []
    for parents in direct:  # all that are above, by parents that come first
        above.append(parents.union(*(above[p] for p in parents)))
    names = [f":c{i}" for i in rng.permutation(n)]
    text = PREFIXES + "".join(
        f"{names[i]} a skos:Concept . "
        + "".join(f"{names[i]} skos:broaderTransitive {names[p]} . " for p in above[i])
        for i in range(n)
    )
    h = read(text, "x.ttl")
    for i in range(n):
        found = set(h.names[h.parents_of(URI(names[i][1:]))]) - {"root"}
        others = {p for p in above[i] if not any(p in above[q] for q in above[i])}
        assert found == {URI(names[p][1:]) for p in others}


def test_a_long_chain_of_transitive_links(read, monkeypatch):
    links = "".join(f":c{i} skos:broaderTransitive :c{i - 1} . " for i in range(1, 2000))
    assert read(PREFIXES + links, "x.ttl").depth.max() == 2000
    monkeypatch.setattr(_thesaurus, "_MAX_STEPS", 100)
    steep = "".join(f":c{i} skos:broaderTransitive :c{i - 1}, :c{i - 2} . " for i in range(2, 30))
    with pytest.raises(ReadError, match=r"56 transitive links .* more than 100 others"):
        read(PREFIXES + steep, "x.ttl")


def test_concepts_without_types(read):
    text = PREFIXES + ":b skos:broader :a . :c skos:inScheme :s . :g a skos:Collection ."
    assert sorted(read(text, "x.ttl").names[1:]) == [URI("a"), URI("b"), URI("c")]


def test_blank_nodes_and_links_to_nowhere_are_left_out_and_counted(read):
    text = PREFIXES + (
        ":a a skos:Concept ; skos:broader :nowhere, :gone . [] a skos:Concept ; skos:broader :a . "
        ":gone a skos:Concept ; owl:deprecated 'true' ."
    )
    h = read(text, "x.ttl")
    assert h.names.tolist() == ["root", URI("a")]
    counts = h.vocabulary.counts
    assert (counts["concepts"], counts["blank_nodes"], counts["deprecated"]) == (3, 1, 1)
    assert (counts["links"], counts["links_left_out"]) == (3, 3)


def test_labels_of_skos_xl(read):
    text = (
        PREFIXES
        + "@prefix xl: <http://www.w3.org/2008/05/skos-xl#> . "
        + "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
        + (
            ':a a skos:Concept ; xl:prefLabel :la ; xl:altLabel [ xl:literalForm "A2"@en ] . '
            ':la xl:literalForm "A"@en . '
            ':b a skos:Concept ; skos:prefLabel "B"@en ; xl:prefLabel :la, :lf . '
            ':lf xl:literalForm "bé"@fr . :c a skos:Concept ; rdfs:label "C"@en . '
            ':b rdfs:label "not preferred"@en . :s a skos:ConceptScheme ; rdfs:label "S"@en .'
        )
    )
    words = read(text, "x.ttl").vocabulary
    assert words.preferred == {
        "en": {URI("a"): "A", URI("b"): "B", URI("c"): "C"},
        "fr": {URI("b"): "bé"},
    }
    assert words.texts(URI("a")) == ("A", "A2")


NOTATIONS = {
    "turtle": '@prefix s: <{s}> . <u:a> a s:Concept ; s:notation "007"^^<{x}integer>, "1.50" .',
    "n-triples": '<u:a> <{r}type> <{s}Concept> .\n<u:a> <{s}notation> "007"^^<{x}integer> .\n'
    '<u:a> <{s}notation> "1.50" .',
    "rdf-xml": '<r:RDF xmlns:r="{r}" xmlns="{s}"><Concept r:about="u:a"><notation r:datatype='
    '"{x}integer">007</notation><notation>1.50</notation></Concept></r:RDF>',
    "json-ld": '{{"@id": "u:a", "@type": "{s}Concept", "{s}notation": [{{"@value": "007", "@type": '
    '"{x}integer"}}, "1.50"]}}',
    "n-quads": '<u:a> <{r}type> <{s}Concept> <u:g> .\n<u:a> <{s}notation> "007"^^<{x}integer> .\n'
    '<u:a> <{s}notation> "1.50" _:h .',
    "trig": '@prefix s: <{s}> . <u:g> {{ <u:a> a s:Concept ; s:notation "007"^^<{x}integer> . }}\n'
    '{{ <u:a> s:notation "1.50" }}',
}


@pytest.mark.parametrize("syntax", SKOS_FORMATS)
def test_notations_are_kept_as_they_are_written(read, syntax):
    before = rdflib.NORMALIZE_LITERALS
    text = NOTATIONS[syntax].format(
        s="http://www.w3.org/2004/02/skos/core#",
        r="http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        x="http://www.w3.org/2001/XMLSchema#",
    )
    words = read(text, f"x{SUFFIXES[syntax]}").vocabulary
    assert words.notations == {"u:a": ("007", "1.50")}
    assert rdflib.NORMALIZE_LITERALS is before


def test_simple_triples_are_read_as_rdflib_reads_them(read, monkeypatch):
    import re

    lines = in_syntax(ANIMALS, "n-triples").decode() + (
        '<http://x.org/c/cat>\t<http://www.w3.org/2004/02/skos/core#altLabel> "a \\"b\\" '
        '\\u00e4"@EN-gb . # c\n'
        '<http://x.org/c/cat>  <http://www.w3.org/2004/02/skos/core#altLabel>   "a #b ."@en-GB  .\n'
        "# comment\n\n_:x <http://y> _:z .\r\n"
        '<http://x.org/c/cat> <http://www.w3.org/2004/02/skos/core#notation> "ä"^^<http://z> .'
    )
    fast = read(lines, "x.nt")
    assert len(fast.vocabulary.alternative["en-gb"][URI("cat")]) == 2
    monkeypatch.setattr(_rdf, "_PLAIN_TRIPLE", re.compile("(?!)"))
    slow = read(lines, "y.nt")
    assert fast == slow
    assert fast.vocabulary == slow.vocabulary


def test_two_preferred_labels_become_one_and_an_alternative(read):
    text = PREFIXES + ':a a skos:Concept ; skos:prefLabel "z"@en, "b"@en ; skos:altLabel "c"@en .'
    words = read(text, "x.ttl").vocabulary
    assert words.label(URI("a")) == "b"
    assert words.texts(URI("a"), "en") == ("b", "z", "c")


# ---------------------------------------------------------------------- languages


def test_drawings_in_a_language(read):
    h = read(ANIMALS, "x.ttl")
    assert h.draw(language="fi").splitlines() == [
        "root",
        "├─ eläin",
        "│  ├─ wolf",  # a label without a language
        "│  ├─ kissa",
        "│  └─ dog",  # no Finnish label
        "└─ lemmikki",
        "   ├─ kissa",
        "   └─ dog",
    ]
    assert "cat" in h.draw()  # most labels are English
    assert "kissa" in str(read(ANIMALS, "x.ttl", language=["sv", "fi-FI"]))
    assert "kissa" in h.with_language("fi")._repr_html_()
    assert h.in_language("en").names.tolist() == ["root", "animal", "pet", "wolf", "cat", "dog"]
    assert h.with_vocabulary(None).draw().count("http://x.org/c/cat") == 2


def test_fallbacks():
    labels = {tag: {"u:a": f"a {tag}"} for tag in ("en", "en-gb", "fi", "")} | {
        "de": {"u:a": "a de", "u:b": "b de"}
    }
    words = Vocabulary(labels)
    assert words.languages == ("de", "", "en", "en-gb", "fi")
    assert words.fallbacks("fi,en") == ("fi", "en", "en-gb", "", "de")
    assert words.fallbacks(["en-US"]) == ("en", "en-gb", "", "de", "fi")
    assert [words.label("u:b", tag) for tag in ("fi", None)] == ["b de", "b de"]
    assert words.label("u:c") is None
    assert (words.n_missing("fi"), words.n_missing("de"), words.n_missing()) == (1, 0, 0)
    with pytest.raises(HierarchyError, match=r"language='sv': no label has it.*'de', '', 'en'"):
        words.fallbacks("sv")
    for wrong in ("f i", 3, ["fi", None]):
        with pytest.raises(HierarchyError, match="expected a language tag"):
            words.fallbacks(wrong)


def test_a_hierarchy_without_labels_has_no_language(read):
    h = Hierarchy.star("ab")
    assert h.in_language() is h
    for call in (h.draw, h.in_language, h.with_language):
        with pytest.raises(HierarchyError, match="language='fi', but the nodes"):
            call(language="fi")
    with pytest.raises(HierarchyError, match="language='fi', but the nodes"):
        read("a > b\nc\n", language="fi")


def test_equal_labels_are_told_apart_by_notation_or_uri():
    words = Vocabulary(
        {"en": {"http://x/1": "bank", "http://x/2": "bank", "http://x/3": "shore"}},
        notations={"http://x/2": ["B2"]},
    )
    h = Hierarchy.star([f"http://x/{i}" for i in (1, 2, 3, 4)]).with_vocabulary(words)
    shown = h.in_language().names.tolist()
    assert shown == ["root", "bank (1)", "bank (B2)", "shore", "http://x/4"]


def test_find_by_label_or_notation(read):
    words = read(ANIMALS, "x.ttl").vocabulary
    assert words.find("KATTI") == words.find("c1") == (URI("cat"),)
    assert words.find("cat", "fi") == ()
    assert words.find("nothing") == ()


# ---------------------------------------------------------------------- immutable, kept


def test_vocabularies_are_immutable_and_change_no_identity(read):
    h = read(ANIMALS, "x.ttl")
    with pytest.raises(AttributeError, match="immutable"):
        h.vocabulary.language = "fi"
    with pytest.raises(TypeError):
        h.vocabulary.preferred["en"]["u"] = "v"
    assert h == h.with_vocabulary(None)
    assert hash(h) == hash(h.with_language("fi"))


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        {"colour": 1},
        {"preferred": {"en": {"a": 1}}},
        {"preferred": {"e n": {}}},
        {"alternative": {"en": {"a": "b"}}},
        {"notations": {"a": [1]}},
        {"counts": {"a": -1}},
        {"counts": {"a": True}},
        {"language": 3},
        {"schemes": []},
    ],
)
def test_vocabularies_that_are_none(read, wrong):
    with pytest.raises(HierarchyError, match="expected"):
        Vocabulary.from_dict(wrong)
    import json

    content = {"format": "palmette.hierarchy", "version": 1, "names": ["r", "a"],
               "parents": [-1, 0], "vocabulary": wrong}  # fmt: skip
    if wrong:
        with pytest.raises(ReadError, match="expected"):
            read(json.dumps(content), "x.json")


def test_kept_by_json_files_model_files_and_pickles(read, tmp_path):
    h = read(ANIMALS, "x.ttl", language="fi")
    h.write(tmp_path / "h.json")
    save(h, tmp_path / "h.palmette")
    save(h, tmp_path / "again.palmette")
    found = [
        Hierarchy.read(tmp_path / "h.json"),
        load(tmp_path / "h.palmette"),
        pickle.loads(pickle.dumps(h)),
    ]
    for other in found:
        assert other == h
        assert other.vocabulary == h.vocabulary
        assert str(other) == str(h)
    assert (tmp_path / "h.palmette").read_bytes() == (tmp_path / "again.palmette").read_bytes()


def test_predictions_are_uris(read):
    import numpy as np

    from palmette import LinearMultilabel

    tree = read(ANIMALS, "x.ttl", scheme="Pets")
    for h in (tree, read(ANIMALS, "x.ttl")):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 3))
        y = [{URI("cat")} if row[0] > 0 else {URI("dog")} for row in X]
        y[0] = {URI("cat"), URI("dog")}
        model = LinearMultilabel(hierarchy=h).fit(X, y)
        answers = model.predict(X)
        assert {label for row in answers for label in row} <= set(h.names)
        assert sum(a == b for a, b in zip(answers, y, strict=True)) > 40
        assert model.hierarchy_.vocabulary == h.vocabulary


# ---------------------------------------------------------------------- writing


@pytest.mark.parametrize("syntax", WRITTEN)
def test_written_files_are_read_back(read, tmp_path, syntax):
    h = read(ANIMALS, "x.ttl")
    file = tmp_path / f"out{SUFFIXES[syntax]}"
    h.write(file)
    again = Hierarchy.read(file)
    assert again == h
    for part in ("preferred", "alternative", "notations", "schemes", "top_concepts"):
        assert getattr(again.vocabulary, part) == getattr(h.vocabulary, part)
    require_equal_counts(again, plain_counts(file.read_bytes(), syntax))


def test_all_syntaxes_hold_the_same_triples(read, tmp_path):
    from rdflib.compare import isomorphic

    h = read(ANIMALS, "x.ttl")
    graphs = []
    for syntax in WRITTEN:
        file = tmp_path / f"out{SUFFIXES[syntax]}"
        h.write(file)
        graphs.append(rdflib.Graph().parse(data=file.read_bytes(), format=RDFLIB[syntax]))
    assert all(isomorphic(graphs[0], other) for other in graphs[1:])
    assert len(graphs[0]) > 30


AWKWARD = "a \"quoted\" \\ <tag> & 'x'\ttab\nline ünï \u2028 end"


@pytest.mark.parametrize("syntax", WRITTEN)
def test_awkward_labels_and_names(tmp_path, syntax):
    h = Hierarchy.from_paths([("a b", "c/d"), ("ä<ö>", 'e"f'), (3,)])
    words = Vocabulary({"en": {"u:x y": AWKWARD}, "": {"u:z": "\\"}})
    odd = Hierarchy.star(["u:x y", "u:z"]).with_vocabulary(words)
    file = tmp_path / f"out{SUFFIXES[syntax]}"
    h.write(file)
    back = Hierarchy.read(file)
    assert (back.n_nodes, len(back.edges)) == (h.n_nodes, len(h.edges))
    assert sorted(back.in_language().names.tolist()) == sorted(map(str, h.names))
    assert all(name.startswith("urn:palmette:") for name in back.names[1:])
    if syntax == "rdf-xml":
        with pytest.raises(HierarchyError, match="control character"):
            odd.write(file)
        words = Vocabulary({"en": {"u:x y": AWKWARD.replace("\u2028", "")}})
        odd = odd.with_vocabulary(words)
    odd.write(file)
    back = Hierarchy.read(file)
    assert back.names.tolist() == ["root", "u:x%20y", "u:z"]
    assert back.vocabulary.label("u:x%20y", "en") == " ".join(
        odd.vocabulary.label("u:x y", "en").split()
    )


def test_files_in_a_language(read, tmp_path):
    h = read(ANIMALS, "x.ttl", scheme="Pets")
    h.write(tmp_path / "a.txt", language="fi")
    assert (tmp_path / "a.txt").read_text().endswith("root\n  lemmikki\n    kissa\n    dog\n")
    h.write(tmp_path / "b.txt")
    assert "http://x.org/c/cat" in (tmp_path / "b.txt").read_text()
    for suffix in (".svg", ".html", ".dot"):
        h.write(tmp_path / f"a{suffix}", language="fi")
        assert "kissa" in (tmp_path / f"a{suffix}").read_text()
        h.write(tmp_path / f"a{suffix}")
        assert "cat" in (tmp_path / f"a{suffix}").read_text()
    h.write(tmp_path / "c.json", language="fi")
    assert "kissa" in str(Hierarchy.read(tmp_path / "c.json"))
    assert set(WRITERS) >= set(WRITTEN)


# ---------------------------------------------------------------------- errors


MALFORMED = {
    "turtle": ":a a skos:Concept ; skos:broader .\n",
    "n-triples": "<http://a> <http://b> nothing .\n",
    "rdf-xml": "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><a></b></rdf:RDF>",
    "json-ld": '{"@graph": [',
    "trig": "<http://g> { <http://a> <http://b> }\n",
    "n-quads": "<http://a> <http://b> <http://c> nothing .\n",
}


@pytest.mark.parametrize("syntax", SKOS_FORMATS)
def test_malformed_files(read, syntax):
    text = (PREFIXES if syntax == "turtle" else "") + MALFORMED[syntax]
    with pytest.raises(ReadError, match="this is not ") as e:
        read(text, f"x{SUFFIXES[syntax]}", format=syntax)
    assert e.value.line == (5 if syntax == "turtle" else 1)


@pytest.mark.parametrize("syntax", SKOS_FORMATS)
def test_truncated_files(read, syntax):
    data = in_syntax(ANIMALS, syntax)
    for length in range(0, len(data), 97):
        try:
            h = read(data[:length], f"x{SUFFIXES[syntax]}")
        except PalmetteError:
            continue
        assert h.n_nodes > 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PREFIXES + ":a a owl:Class .", "no SKOS concepts with a URI.*skos:Concept"),
        (PREFIXES, "no SKOS concepts"),
        (PREFIXES + "[] a skos:Concept .", "no SKOS concepts with a URI"),
        (PREFIXES + ":a a skos:Concept ; owl:deprecated true .", "all 1 concepts .* deprecated"),
    ],
)
def test_what_is_no_thesaurus(read, text, words):
    with pytest.raises(ReadError, match=words):
        read(text, "x.ttl")


def test_links_that_close_a_cycle_are_left_out_and_counted(read):
    text = PREFIXES + (
        ":a a skos:Concept ; skos:broader :b, :a . :b a skos:Concept ; skos:broader :c . "
        ":c a skos:Concept ; skos:broader :a . :d a skos:Concept ; skos:broader :b . "
    )
    h = read(text, "x.ttl")
    names = h.names.tolist()
    edges = [(names[a][-1], names[b][-1]) for a, b in h.edges.tolist()]
    assert sorted(edges) == [("a", "c"), ("b", "d"), ("c", "b"), ("t", "a")]  # t: the root
    counts = h.vocabulary.counts
    assert (counts["links"], counts["links_in_cycles"], counts["links_left_out"]) == (5, 2, 0)
    assert h.vocabulary.repairs() == [
        "2 links that would put a concept above itself are left out (`palmette hierarchy check` "
        "lists the cycles)"
    ]
    # a top concept stays at the top, whatever its URI
    h = read(text + ":s skos:hasTopConcept :c .", "x.ttl")
    assert h.names[h.children(0)].tolist() == [URI("c")]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_left_of_cycles_has_all_concepts_and_no_needless_gap(read, seed):
    import random

    draw = random.Random(seed)
    links = {(draw.randrange(8), draw.randrange(8)) for _ in range(14)}
    text = "".join(f":n{i} a skos:Concept . " for i in range(8))
    text += "".join(f":n{b} skos:broader :n{a} . " for a, b in sorted(links))
    h = read(PREFIXES + text, "x.ttl")
    names = h.names.tolist()
    kept = {(int(names[a][-1]), int(names[b][-1])) for a, b in h.edges.tolist() if a}
    assert h.n_nodes == 9
    assert kept <= links
    assert h.vocabulary.counts.get("links_in_cycles", 0) == len(links) - len(kept)
    for a, b in links - kept:  # the other end is above: with it there would be a cycle
        nodes = {i: h.index(URI(f"n{i}")) for i in (a, b)}
        assert nodes[b] in h.ancestors(nodes[a], include_self=True)


def test_rdf_is_utf8(read):
    with pytest.raises(ReadError, match="is not UTF-8, as RDF must be") as e:
        read(ANIMALS.encode("latin-1"), "x.ttl")
    assert e.value.line == 8
    xml = in_syntax(ANIMALS, "rdf-xml").decode().replace('"utf-8"', '"latin-1"', 1)
    assert read(xml.encode("latin-1"), "x.rdf") == read(ANIMALS, "y.ttl")


def test_without_rdflib(read, monkeypatch):
    plain = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == "rdflib":
            raise ImportError("No module named 'rdflib'")
        return plain(name, *args, **kwargs)

    monkeypatch.setattr(_rdf, "_CLASSES", [])
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ReadError, match=r"pip install 'palmette\[skos\]'"):
        read(ANIMALS, "x.ttl")


# ---------------------------------------------------------------------- safety


@pytest.fixture
def offline(monkeypatch):
    """Fail where anything opens a connection or a file by its address."""
    import urllib.request

    def refuse(*args, **kwargs):
        raise AssertionError(f"tried to connect: {args}")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(urllib.request, "urlopen", refuse)


REMOTE = [
    '{"@context": "http://example.org/context.jsonld", "@id": "http://a", "@type": "Concept"}',
    '{"@context": ["http://example.org/c", {}], "@graph": []}',
    '{"@context": {"@import": "http://example.org/c"}, "@graph": []}',
    '{"@context": {"x": {"@id": "http://x", "@context": "http://example.org/c"}}, "@graph": []}',
    '[{"@id": "http://a", "http://p": [{"@context": "file:///etc/passwd", "@id": "http://b"}]}]',
    '{"@context": "context.json", "@graph": []}',
]


@pytest.mark.parametrize("text", REMOTE)
def test_json_ld_fetches_no_context(read, offline, text):
    with pytest.raises(ReadError, match=r"nothing is fetched\. Write the context itself"):
        read(text, "x.jsonld")


DTD = '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [{}]>\n'
RDF_XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"\n'
    ' xmlns:skos="http://www.w3.org/2004/02/skos/core#">'
    '<skos:Concept rdf:about="http://x/1"><skos:prefLabel>{}</skos:prefLabel></skos:Concept>'
    "</rdf:RDF>"
)
BOMBS = {
    "nested": '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
    "long": f'<!ENTITY a "{"a" * 100_000}">',
    "external": '<!ENTITY a SYSTEM "file:///etc/passwd">',
    "remote": '<!ENTITY a SYSTEM "http://example.org/a">',
    "parameter": '<!ENTITY % a SYSTEM "http://example.org/a.dtd"> %a;',
    "plain parameter": '<!ENTITY % a "b"> %a;',
}


@pytest.mark.parametrize("kind", BOMBS)
def test_entities_are_refused(read, offline, kind):
    with pytest.raises(ReadError, match="declares entities that are not short texts"):
        read(DTD.format(BOMBS[kind]) + RDF_XML.format("&a;"), "x.rdf")


def test_many_references_to_a_short_entity_are_refused(read, offline, monkeypatch):
    text = DTD.format(f'<!ENTITY a "{"a" * 400}">') + RDF_XML.format("&a;" * 1000)
    assert len(read(text, "x.rdf").vocabulary.label("http://x/1")) == 400_000
    monkeypatch.setattr(_rdf, "_MAX_EXPANDED", 100_000)
    with pytest.raises(ReadError, match="declares entities"):
        read(text, "y.rdf")


def test_an_external_document_type_is_not_fetched(read, offline):
    text = '<!DOCTYPE rdf:RDF SYSTEM "http://example.org/x.dtd">' + RDF_XML.format("x")
    with pytest.raises(ReadError, match="the XML refers to other files"):
        read(text, "x.rdf")


def test_entities_that_abbreviate_addresses_are_read(read, offline):
    text = DTD.format('<!ENTITY x "http://x/">') + RDF_XML.replace("http://x/", "&x;").format("y")
    assert read(text, "x.rdf").names[1] == "http://x/1"


def test_addresses_in_turtle_are_not_opened(read, offline):
    text = (
        "@base <http://example.org/> .\n"
        + PREFIXES
        + ("<http://example.org/x> owl:imports <http://example.org/y> . <#z> a skos:Concept .")
    )
    assert read(text, "x.ttl").names.tolist() == ["root", "http://example.org/#z"]


def test_relative_addresses_do_not_depend_on_the_folder(read, offline):
    text = PREFIXES + "<z> a skos:Concept ; skos:broader <y> . <y> a skos:Concept ."
    found = {read(in_syntax(text.replace("<y>", "<y>"), "turtle"), "x.ttl") for _ in range(2)}
    assert len(found) == 1
    assert read(text, "x.ttl").names.tolist() == ["root", *(_rdf.BASE + c for c in "yz")]


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("turtle", PREFIXES + ":a :b " + "[ :c " * 5_000),
        ("turtle", PREFIXES + ":a :b " + "( " * 5_000),
        ("json-ld", '{"@graph": ' + "[" * 50_000),
        ("json-ld", '{"http://p": ' * 900 + "1" + "}" * 900),
        ("rdf-xml", RDF_XML.replace("{}", "").replace("</rdf:RDF>", "<skos:x>" * 5_000)),
        ("rdf-xml", "<a " + " ".join(f'xmlns:p{i}="http://p{i}/"' for i in range(3_000)) + "/>"),
    ],
)
def test_deep_and_wide_files(read, syntax, text):
    with pytest.raises(ReadError):
        read(text, f"x{SUFFIXES[syntax]}", format=syntax)


def test_a_large_file_is_refused(read, monkeypatch):
    monkeypatch.setattr(_rdf, "MAX_RDF", 100)
    monkeypatch.setattr(_rdf, "free_memory", lambda: 1300.0)
    with pytest.raises(ReadError, match=r"expected at most 108 in Turtle .* Write only .* grep"):
        read(ANIMALS, "x.ttl")
    monkeypatch.setattr(_rdf, "free_memory", lambda: 13.0 * len(ANIMALS.encode()))
    assert read(ANIMALS, "x.ttl").n_nodes > 2


def test_more_memory_allows_larger_files_of_rdf_only(read, monkeypatch):
    monkeypatch.setattr(_source, "MAX_BYTES", 100)
    assert read(ANIMALS, "x.ttl").n_nodes > 2
    with pytest.raises(ReadError, match="more than 100 bytes"):
        read(ANIMALS, "x.txt")


def test_rdflib_prints_nothing(read, caplog, capsys):
    text = PREFIXES + ':a a skos:Concept ; dct:date "x"^^<http://www.w3.org/2001/XMLSchema#date> .'
    read(text, "x.ttl")
    assert not caplog.records
    assert capsys.readouterr() == ("", "")


def test_rdflib_is_imported_only_to_read_rdf():
    import subprocess

    code = (
        "import sys, palmette; h = palmette.Hierarchy.star('ab'); h.write(sys.argv[1]); "
        "assert 'rdflib' not in sys.modules"
    )
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", code, f"{folder}/x.ttl"], check=True)


# ---------------------------------------------------------------------- a real thesaurus


@pytest.mark.data
def test_counts_of_a_real_thesaurus(data_home: Path, tmp_path: Path):
    file = data_home.parent / "subjects/silknow_thesaurus.ttl.xz"
    if not file.exists():
        pytest.skip("the thesaurus is not beside the data home")
    h = Hierarchy.read(file)
    require_equal_counts(h, plain_counts(lzma.decompress(file.read_bytes()), "turtle"))
    for syntax in WRITTEN:
        h.write(tmp_path / f"out{SUFFIXES[syntax]}")
        again = Hierarchy.read(tmp_path / f"out{SUFFIXES[syntax]}")
        assert again == h
        assert again.vocabulary.alternative == h.vocabulary.alternative


def test_things_of_a_subclass_of_concept_are_concepts(read):
    text = PREFIXES + (
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :t a :Term ; skos:broader :a . "
        ":a a skos:Concept . :Special rdfs:subClassOf :Term . :Term rdfs:subClassOf skos:Concept . "
        ":s a :Special ; skos:broader :t . :other a :Person . skos:Concept rdfs:subClassOf :Term ."
    )
    h = read(text, "x.ttl")
    assert h.names.tolist() == ["root", URI("a"), URI("t"), URI("s")]
    assert h.vocabulary.counts["concepts"] == 3


def test_what_was_repaired_is_told(read):
    text = PREFIXES + (
        ":a a skos:Concept ; skos:prefLabel 'one'@en, 'two'@en ; skos:broader :nowhere . "
        ":gone a skos:Concept ; owl:deprecated true ."
    )
    words = read(text, "x.ttl").vocabulary
    assert words.texts(URI("a"), "en") == ("one", "two")
    assert words.repairs() == [
        "1 deprecated concepts are left out",
        "1 links to concepts that are deprecated, undefined or in other schemes are left out",
        "1 second preferred labels of a language serve as alternative ones",
    ]
