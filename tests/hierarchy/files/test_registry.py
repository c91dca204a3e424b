"""Formats by name, suffix and content."""

from __future__ import annotations

import pytest

from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.checking import check_hierarchy
from palmette.hierarchy.files._registry import READERS, WRITERS

# one small file of each format, which no suffix gives away
SKOS = "http://www.w3.org/2004/02/skos/core#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
EXAMPLES = {
    "turtle": f"@prefix s: <{SKOS}> .\n<u:a> a s:Concept ;\n  s:broader <u:b>.\n<u:b> a s:Concept.",
    "n-triples": f"<u:a> <{RDF}type> <{SKOS}Concept> .\n<u:b> <{RDF}type> <{SKOS}Concept> .\n",
    "n-quads": f"<u:a> <{RDF}type> <{SKOS}Concept> <u:g> .\n<u:b> <{RDF}type> <{SKOS}Concept> .\n",
    "trig": f"@prefix s: <{SKOS}> .\n<u:g> {{\n<u:a> a s:Concept }}\nGRAPH <u:h> {{ }}",
    "rdf-xml": f"<r:RDF xmlns:r='{RDF}' xmlns='{SKOS}'>\n<Concept r:about='u:a'/>\n</r:RDF>",
    "json-ld": f'{{"@context": {{"s": "{SKOS}"}},\n"@id": "u:a", "@type": "s:Concept"}}',
    "mulan": "<labels><label name='a'/></labels>",
    "icd10-xml": "<ICD10CM.tabular><chapter><name>1</name></chapter></ICD10CM.tabular>",
    "arff": "@relation x\n@attribute class hierarchical a/b\n@data\n",
    "obo": "[Term]\nid: a\n",
    "json": '{"a": {"b": {}}}',
    "newick": "(a,b)c;",
    "icd10-codes": "1\nA00-A09\nA00\n",
    "indented": "a\n  b > c\n",
    "paths": "a > b\na, b > c\n",
    "codes": "code,title\nA,x\nA1,y\n",
    "edges": "a b\na c\n",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_content_tells_the_format(read, name):
    assert read(EXAMPLES[name], "x.unknown") == read(EXAMPLES[name], "y.unknown", format=name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(read, name):
    content = b"\xef\xbb\xbf" + EXAMPLES[name].replace("\n", "\r\n").encode()
    assert read(content, "x.unknown") == read(EXAMPLES[name], "y.unknown")


def test_every_format_that_content_tells_has_an_example():
    by_content = {r.name for r in READERS.values() if r.looks_like is not None}
    assert by_content - {"go-sqlite"} == set(EXAMPLES)


def test_a_suffix_stands_for_one_format():
    suffixes = [suffix for reader in READERS.values() for suffix in reader.suffixes]
    assert len(set(suffixes)) == len(suffixes)


def test_unknown_format_lists_the_known_ones(read):
    with pytest.raises(ReadError, match="format='yaml' is unknown") as e:
        read("a b", format="yaml")
    assert all(name in str(e.value) for name in READERS)


def test_unknown_content_lists_the_known_ones(read):
    with pytest.raises(ReadError, match="cannot be detected") as e:
        read("a\nb\n")
    assert all(name in str(e.value) for name in READERS)


FOREIGN = {
    "Turtle": "# c\n@prefix s: <http://x#> .\n:a a s:Concept ;\n    s:broader :b .\n",
    "Turtle; a SKOS": "PREFIX s: <http://x#>\n:a a s:Concept ;\n    s:broader :b .\n",
    "RDF triples": '<http://a> <http://b> <http://c> .\n_:x <http://b> "d" .\n',
    "RDF in XML": "<?xml version='1.0'?><!-- c -->\n<rdf:RDF xmlns:rdf='http://x'></rdf:RDF>",
    "ontology in XML": "<Ontology xmlns='x'><Declaration/></Ontology>",
    "an OWL ontology;": "Prefix(:=<http://a>)\nOntology(<http://b>\n Declaration(Class(:A))\n)",
    "OWL": "Prefix: : <http://a>\nOntology: <http://b>\nClass: A\n    SubClassOf: B\n",
    "JSON-LD": '{"@graph": [{"@id": "a"}], "@context": {}}',
    "JSON-LD; a": '[{"@context": "x", "name": "a", "children": []}]',
    "HTML": "<!DOCTYPE html>\n<html><body><ul><li>a</ul></body></html>",
    "PDF": "%PDF-1.4\n1 0 obj\n",
    "SQL": "-- dump\nCREATE TABLE `a` (\n  id int\n);\nINSERT INTO a VALUES (1);\n",
    "YAML": "animal:\n  cat:\n  dog:\n",
    "YAML,": "a:\n  - b\n  - name: c\n    children:\n      - d\n",
    "DOT": "digraph x {\n  a -> b;\n}\n",
    "Git LFS": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n",
    "XLSX": b"PK\x03\x04\x14\0",
    "Parquet": b"PAR1\x15\0",
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_other_formats_are_refused_by_their_content(read, tmp_path, kind):
    with pytest.raises(ReadError, match=f"this looks like .*{kind}"):
        read(FOREIGN[kind], "x.unknown")
    found = check_hierarchy(tmp_path / "x.unknown")
    assert [fault.kind for fault in found.faults] == ["format"]


@pytest.mark.parametrize(
    "text",
    [
        "Animals:\n  cat\n  dog\nPlants:\n  oak\n",
        "01: Crops\n  01.1: Wheat\n02: Coal\n  02.1: Mines\n",
        "Create table runners (DIY)\n  Graph paper {A4}\n  Base <x>\nPrefix\n  a\n",
        "Insert into walls > Dowels\nDrop table; folding > Wood\n@prefix > a\n",
    ],
)
def test_names_that_resemble_other_formats_are_read(read, text):
    assert read(text, "x.unknown").n_nodes == len(text.split("\n")) + text.count(" > ")


def test_a_given_format_is_used(read):
    assert read(FOREIGN["YAML"], format="indented").names.tolist() == ["animal:", "cat:", "dog:"]


def test_unknown_suffix_for_writing(tmp_path):
    for file, options in (("x.yaml", {}), ("x.txt", {"format": "obo"})):
        with pytest.raises(PalmetteError, match="cannot be written") as e:
            Hierarchy.star(["a"]).write(tmp_path / file, **options)
        assert all(name in str(e.value) for name in WRITERS)
