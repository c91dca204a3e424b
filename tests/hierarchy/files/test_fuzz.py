"""Broken files of every format: an error of ours or a hierarchy, nothing else, and no hang."""

from __future__ import annotations

import lzma
import random
import sqlite3
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.files import to_json, to_newick, to_text
from palmette.hierarchy.files._registry import READERS

# files are written: how long that takes is the machine's affair
unhurried = settings(deadline=None)

TREE = Hierarchy.from_paths([("a b", "c > d"), ("a b", "it's"), ("e", "f", "g")])
DAG = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])


def _sqlite() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "PRAGMA page_size = 512; CREATE TABLE go_term (_id INTEGER PRIMARY KEY, go_id TEXT);"
        + "".join(
            f"CREATE TABLE go_{o}_parents (_id INTEGER, _parent_id INTEGER, relationship_type);"
            for o in ("bp", "mf", "cc")
        )
        + "INSERT INTO go_term VALUES (1, 'all'), (2, 'GO:2'), (3, 'GO:3');"
        "INSERT INTO go_bp_parents VALUES (2, 1, 'isa'), (3, 2, 'isa');"
    )
    return bytes(connection.serialize())


SEEDS: dict[str, bytes] = {
    "paths": b"# c\n1 - a\n2 - a > b\n3 - a > b > c\n4 - d\n",
    "indented": to_text(TREE).encode() + b"\n\ta\n-- b\n---- c\n",
    "edges": b"parent,child\nr,a\nr,b\na,c\nb,c\n",
    "tabs": b"Root\ta\tb\na\tc\td\n",
    "json": to_json(DAG).encode(),
    "nodes": b'{"name": "a", "children": [{"name": "b", "children": []}, {"name": "c"}]}',
    "objects": b'{"a": {"b": {}, "c": ["d", 2]}, "e": null}',
    "adjacency": b'{"r": ["a", "b"], "a": ["c"], "b": ["c"]}',
    "newick": to_newick(TREE).encode() + b" [x]",
    "obo": b"format-version: 1.2\n[Term]\nid: a\n\n[Term]\nid: b\nis_a: a ! x\n[Typedef]\nid: c\n",
    "arff": b"@relation x\n@attribute class hierarchical root/a,root/b,a/c,b/c\n@data\n1,a@b\n",
    "arff-tree": b"@relation x\n@attribute class hierarchical 1,1/2,1/2/3,4\n@data\n",
    "mulan": b'<?xml version="1.0"?><labels><label name="a"><label name="b"/></label></labels>',
    "icd10-xml": b"<ICD10CM.tabular><chapter><name>1</name><section id='A00-A09'><diag>"
    b"<name>A00</name><diag><name>A00.1</name></diag></diag></section></chapter></ICD10CM.tabular>",
    "icd10-codes": b"1\nA00-A09\nA00\nA000\nB20\nB20\nB201\n2\nC00-C96\nC00-C14\n",
    "codes": b'Seq,Code,Title\n1,11,"A, B"\n2,111,C\n3,31-33,D\n4,311,E\n',
    "ipc": b"id\ttitle\nA01B 1\tx\nA01B 3\ty\n",
    "go-sqlite": _sqlite(),
    "turtle": b"@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n<u:a> a s:Concept ; "
    b"s:prefLabel \"a\"@en, 'b' ; s:broader <u:b> .\n<u:b> a s:Concept ; s:notation 1 .\n",
    "n-triples": b"<u:a> <http://www.w3.org/2004/02/skos/core#broader> <u:b> .\n<u:a> "
    b'<http://www.w3.org/2004/02/skos/core#prefLabel> "\\u00e4\\n"@de-at . # c\n',
    "n-quads": b"<u:a> <http://www.w3.org/2004/02/skos/core#broader> <u:b> <u:g> .\n<u:a> "
    b'<http://www.w3.org/2004/02/skos/core#prefLabel> "\\u00e4"@de _:g .\n',
    "trig": b"@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n<u:g> { <u:a> a s:Concept ; "
    b's:broader <u:b> . }\nGRAPH <u:h> {\n<u:b> a s:Concept ; s:prefLabel "b"@en . }\n',
    "rdf-xml": b"<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
    b"xmlns='http://www.w3.org/2004/02/skos/core#'><Concept r:about='u:a'><prefLabel xml:lang='en'>"
    b"a</prefLabel><broader><Concept r:about='u:b'/></broader></Concept></r:RDF>",
    "json-ld": b'{"@context": {"s": "http://www.w3.org/2004/02/skos/core#"}, "@graph": [{"@id": '
    b'"u:a", "@type": "s:Concept", "s:prefLabel": {"@value": "a", "@language": "en"}, '
    b'"s:broader": {"@id": "u:b"}}, {"@id": "u:b", "@type": ["s:Concept"]}]}',
}
# what each syntax is made of
TOKENS = [
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\xc2\x85", b"\n", b"\r", b"\t", b" ", b",", b";", b":",
    b"(", b")", b"[", b"]", b"{", b"}", b'"', b"'", b"<", b">", b" > ", b"&x;", b"<!DOCTYPE x [",
    b"<![CDATA[", b"--", b"#", b"/", b"//", b"\\", b"-1", b"1e999", b"NaN", b"null", b"@data",
    b"@attribute", b"[Term]", b"is_a: ", b"root", b"root/", b"0-999999999", b"A00-A09", b"%", b"!",
    b"<u:a>", b"_:a", b"a:b", b"@en", b"^^", b'"""', b" a ", b"@prefix ", b'"@id"', b'"@context"',
]  # fmt: skip


def check(file: Path, format: str | None = None) -> None:
    """Read a file; anything but a hierarchy or an error of ours goes through and fails the test."""
    try:
        hierarchy = Hierarchy.read(file, format=format)
    except PalmetteError:
        return
    # a valid one: every node but the root has a parent, which comes before it
    parents, children = hierarchy.edges.T
    assert (parents < children).all()
    assert set(children.tolist()) == set(range(1, hierarchy.n_nodes))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "file.txt"


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Cut, insert, repeat, delete or splice, some times over."""
    content = draw(st.sampled_from(list(SEEDS.values())))
    for _ in range(draw(st.integers(1, 4))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(content))] * 2)))
        way = draw(st.sampled_from(["cut", "insert", "repeat", "delete", "splice"]))
        if way == "cut":
            content = content[:start]
        elif way == "insert":
            content = content[:start] + draw(st.sampled_from(TOKENS)) + content[start:]
        elif way == "repeat":
            content = content[:start] + content[start:end] * 3 + content[end:]
        elif way == "delete":
            content = content[:start] + content[end:]
        else:
            other = draw(st.sampled_from(list(SEEDS.values())))
            content = content[:start] + other[start:]
    return content


def test_the_seeds_themselves_are_sound(tmp_path):
    for name, content in SEEDS.items():
        if name in ("indented", "newick"):  # with a tail that breaks them
            continue
        file = tmp_path / "file.txt"
        file.write_bytes(content)
        assert Hierarchy.read(file).n_nodes > 1, name


@pytest.mark.parametrize("seed", SEEDS)
def test_cut_at_every_place(file, seed):
    content = SEEDS[seed]
    step = max(1, len(content) // 50)
    for length in range(0, len(content), step):
        file.write_bytes(content[:length])
        check(file)
        if seed in READERS:
            check(file, seed)


@unhurried
@given(content=damaged())
def test_damaged_files(file, content):
    file.write_bytes(content)
    check(file)


@unhurried
@given(content=damaged(), format=st.sampled_from(list(READERS)))
def test_damaged_files_read_as_any_format(file, content, format):
    file.write_bytes(content)
    check(file, format)


@unhurried
@given(content=st.binary(max_size=200), format=st.sampled_from([None, *READERS]))
@example(content=b"", format=None)
def test_noise(file, content, format):
    file.write_bytes(content)
    check(file, format)


@unhurried
@given(
    st.text(st.sampled_from(" \t\n-#>,ab\"'(){}[]:;/\r"), max_size=60),
    st.sampled_from([None, *READERS]),
)
def test_text_of_marks(file, text, format):
    file.write_text(text, encoding="utf-8")
    check(file, format)


@pytest.mark.parametrize(
    "unit", [*TOKENS, b"a\n", b"a,", b"a>", b"a/", b"(a,", b"a b\n", b'{"a":', b"<a>"]
)
def test_one_thing_many_times(file, unit):
    """Nothing is quadratic, and nothing recurses."""
    file.write_bytes(unit * 4_000)
    for format in READERS:
        check(file, format)


def test_packed_files_cut_short(tmp_path):
    content = lzma.compress(SEEDS["paths"] * 100)
    file = tmp_path / "x.txt.xz"
    for length in range(0, len(content), 7):
        file.write_bytes(content[:length])
        check(file)


REAL = [
    "taxonomies/cifar100_wordnet/hierarchy.txt.xz",
    "taxonomies/goslim_generic/goslim_generic.obo.xz",
    "taxonomies/naics_2022/naics_2022.csv.xz",
    "taxonomies/rcv1_topics/rcv1.taxonomy.xz",
    "taxonomies/cub200/cub_wikispecies.parent-child.txt.xz",
    "hierarchical/clinc150/domains.json.xz",
    "hierarchical/imclef07d/ImCLEF07D_Test.arff.xz",
    "hierarchical_multilabel/pheno_go/pheno_GO.test.arff.xz",
    "hierarchical_multilabel/mulan_hierarchical_sample/hierarchical.xml.xz",
]


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_real_files_cut_at_random_places(data_home, tmp_path, name):
    content = lzma.decompress((data_home / name).read_bytes())
    file = tmp_path / Path(name).with_suffix("").name
    draw = random.Random(0)
    for _ in range(6):
        length = draw.randrange(len(content))
        file.write_bytes(content[:length])
        check(file)
        file.write_bytes(content[:length] + content[length + draw.randrange(1, 50) :])
        check(file)


@pytest.mark.data
def test_large_real_files_cut_at_random_places(data_home, tmp_path):
    draw = random.Random(1)
    for name in ("icd10c-tabular-April-1-2026.xml.xz", "code-list-April-2026.txt.xz"):
        content = lzma.decompress((data_home / "taxonomies/icd10cm" / name).read_bytes())
        file = tmp_path / Path(name).with_suffix("").name
        file.write_bytes(content[: draw.randrange(len(content))])
        check(file)
