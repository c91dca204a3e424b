"""Fetching from a miniature data home that has one set of every family."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import io
import json
import lzma
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from palmette.datasets._fetch import fetch
from palmette.datasets._home import OWN_COPIES, find_dataset, list_datasets
from palmette.exceptions import DataHomeError, PalmetteError
from palmette.labels._labels import NodeLabels

CLUS = "@relation r\n@attribute a {w,n}\n@attribute class hierarchical 1,1/2,3\n@data\n"
MULAN = "@relation r\n@attribute a numeric\n@attribute y1 {0,1}\n@attribute y2 {0,1}\n@data\n"
FLAT = "@relation r\n@attribute a numeric\n@attribute class {x,y}\n@data\n1,y\n2,x\n"
TREE = np.array([[3], [3], [0]], dtype=np.uint8)


def mat(**variables: Any) -> bytes:
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables)
    return stream.getvalue()


def tar() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, text in [
            ("20news-bydate-train/comp.graphics/1", b"pixels"),
            ("20news-bydate-train/comp.sys.mac/2", b"caf\xe9"),
            ("20news-bydate-test/rec.autos/3", b"cars"),
        ]:
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return stream.getvalue()


def drawings(*paths: str) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", 0)

    png = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 2, 1, 0, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(b"\0\xff\0\x0f"))
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path in paths:
            archive.writestr(path, png)
    return stream.getvalue()


CLINC = {
    "train": [["hi", "greet"]],
    "val": [["hey", "greet"]],
    "test": [["bye", "part"]],
    "oos_train": [["what", "oos"]],
    "oos_val": [],
    "oos_test": [["why", "oos"], ["how", "oos"]],
}
WOS = 'Y1\tY2\tY\tDomain\tarea\tkeywords\tAbstract\n0\t7\t7\tCS \t Vision  \t a; b \t"some\ttext"\n'
RCV1 = {"doc_label": ["A--B", "C"], "doc_token": ["oil", "price"], "doc_keyword": []}

# name: (facts, files)
SETS: dict[str, tuple[dict[str, Any], dict[str, bytes]]] = {
    "clus_set": (
        {"format": "Clus-HMC ARFF, tree of paths", "n_train": 1, "n_valid": 1, "n_test": 1},
        {
            "s.train.arff.xz": lzma.compress((CLUS + "w,1@1/2\n").encode()),
            "s.valid.arff.xz": lzma.compress((CLUS + "?,3\n").encode()),
            "s.test.arff.xz": lzma.compress((CLUS + "n,1\n").encode()),
        },
    ),
    "mulan_set": (
        {"format": "MULAN ARFF dense + XML", "n_train": 1, "n_test": 1},
        {
            "m-train.arff": (MULAN + "1,0,1\n").encode(),
            "m-test.arff": (MULAN + "2,1,1\n").encode(),
            "m.arff": (MULAN + "1,0,1\n2,1,1\n").encode(),
            "m.xml": b'<labels><label name="y2"/><label name="y1"/></labels>',
        },
    ),
    "mat_test_only": (
        {"format": "MATLAB v5, data_array + tree", "n_train": None, "n_test": 1},
        {"Test.mat": mat(data_array=[[0.5, 2]], tree=TREE)},
    ),
    "mat_whole": (
        {"format": "MATLAB v5, data_array + tree", "n_train": 1, "n_test": 0},
        {"NamedTest.mat": mat(data_array=[[0.5, 2]], tree=TREE)},
    ),
    "flat_set": ({"format": "ARFF", "n_train": 2, "n_test": 0}, {"f.arff": FLAT.encode()}),
    "glass": (
        {"format": "CSV", "n_train": 2, "n_test": 0},
        {"glass.data": b"1,.5,7,2\n2,.6,8,1\n", "glass.names": b"words"},
    ),
    "pendigits": (
        {"format": "CSV", "n_train": 2, "n_test": 1},
        {"p.tra": b"1,0010\n2,1000\n", "p.tes": b"3,0100\n", "p.arff": FLAT.encode()},
    ),
    "clinc150": (
        {"format": "JSON", "n_train": 1, "n_test": 1},
        {
            "data_full.json": json.dumps(CLINC).encode(),
            "data_imbalanced.json": json.dumps({"train": CLINC["train"]}).encode(),
            "domains.json": b'{"talk": ["greet", "part"]}',
        },
    ),
    "20newsgroups_bydate": ({"format": "tar"}, {"n.tar.xz": lzma.compress(tar())}),
    "wos_1k": ({"format": "TSV"}, {"w.txt": WOS.encode()}),
    "rcv1_dev": (
        {"format": "JSON lines"},
        {"d.json": json.dumps(RCV1).encode(), "rcv1.taxonomy": b"Root\tA\tC\nA\tB\n"},
    ),
    "omniglot_small": (
        {"format": "zip of PNG"},
        {
            "small1.zip": drawings("s/Greek/c1/1.png", "s/Latin/c1/2.png"),
            "small2.zip": drawings("s/Greek/c2/1.png"),
        },
    ),
    "inaturalist": (
        {"format": "text", "group": "taxonomies"},
        {"hierarchy_inat.txt": b"a b\na c\n", "hierarchy_inat2019.txt": b"a b\n"},
    ),
    "cub200": (
        {"format": "text", "group": "taxonomies"},
        {
            "x.parent-child.txt": b"3 1\n3 2\n",
            "classes_wikispecies.txt": b"1 Corvus corax\n2 Pica pica\n",
            "hierarchy_wikispecies.txt": b"Aves\n-- Corvus corax\n-- Pica pica\n",
        },
    ),
    "some_tree": (
        {"format": "text: A > B", "group": "taxonomies"},
        {"t.txt.gz": gzip.compress(b"a > b\na > c\n")},
    ),
    "odd_format": ({"format": "parchment"}, {}),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    records = []
    for name, (facts, files) in SETS.items():
        (folder / name).mkdir()
        for file, content in files.items():
            (folder / name / file).write_bytes(content)
        listed = [
            {"path": f"{name}/{file}", "sha256": hashlib.sha256(content).hexdigest()}
            for file, content in files.items()
        ]
        records.append({"name": name, "group": "some", **facts, "files": listed})
    (folder / "manifest.json").write_text(json.dumps(records))
    return folder


@pytest.mark.parametrize("name", [name for name in SETS if name != "odd_format"])
def test_labels_are_those_of_the_hierarchy(home: Path, name: str) -> None:
    bunch = fetch(name, home)
    assert bunch.name == name
    for part in ("", "_train", "_valid", "_test"):
        if f"y{part}" in bunch:
            labels = NodeLabels.encode(bunch[f"y{part}"], bunch.hierarchy)
            X = bunch[f"X{part}"]
            assert labels.n_samples == (X.shape[0] if hasattr(X, "shape") else len(X))


def test_clus_sets_have_one_form_in_all_parts(home: Path) -> None:
    bunch = fetch("clus_set", home)
    assert bunch.target_form == "nodes"
    assert [bunch.y_train.tolist(), bunch.y_valid.tolist(), bunch.y_test.tolist()] == [
        ["1/2"],
        ["3"],
        ["1"],
    ]
    assert bunch.categories == {"a": ("w", "n")}


@pytest.mark.parametrize("name", [name for name in SETS if name != "odd_format"])
def test_labels_carry_a_hierarchy_that_is_not_a_star(home: Path, name: str) -> None:
    bunch = fetch(name, home)
    for key in [key for key in bunch if key.split("_")[0] == "y"]:
        found = NodeLabels.encode(bunch[key])
        given = NodeLabels.encode(bunch[key], bunch.hierarchy)
        if bunch.hierarchy.max_depth > 1:
            assert found.hierarchy is bunch.hierarchy
            assert np.array_equal(found.closed.toarray(), given.closed.toarray())
        else:
            assert found.hierarchy.max_depth == 1


def test_mulan_sets_use_the_published_split_and_not_the_whole_file(home: Path) -> None:
    bunch = fetch("mulan_set", home)
    assert bunch.y_train.tolist() == [[1, 0]]
    assert bunch.y_test.tolist() == [[1, 1]]
    assert "X" not in bunch


def test_a_set_of_one_part_has_only_that(home: Path) -> None:
    bunch = fetch("mat_test_only", home)
    assert bunch.y_test.tolist() == [2]
    assert "X_train" not in bunch


def test_a_set_without_a_split_is_x_and_y_whatever_its_file_is_called(home: Path) -> None:
    assert fetch("mat_whole", home).y.tolist() == [2]


def test_flat_sets_have_a_star(home: Path) -> None:
    bunch = fetch("flat_set", home)
    assert bunch.y.tolist() == ["y", "x"]
    assert bunch.hierarchy.names.tolist() == ["root", "x", "y"]
    glass = fetch("glass", home)
    assert glass.X.tolist() == [[0.5, 7], [0.6, 8]]
    assert glass.y.tolist() == [2, 1]


def test_one_hot_classes_become_digits(home: Path) -> None:
    bunch = fetch("pendigits", home)
    assert bunch.y_train.tolist() == [2, 0]
    assert bunch.y_test.tolist() == [1]
    assert bunch.hierarchy.names.tolist() == ["root", 0, 1, 2]


def test_texts_are_lists_of_strings(home: Path) -> None:
    clinc = fetch("clinc150", home)
    assert (clinc.X_train, clinc.y_train.tolist()) == (["hi"], ["talk/greet"])
    assert clinc.out_of_scope == {"train": ["what"], "valid": [], "test": ["why", "how"]}
    groups = fetch("20newsgroups_bydate", home)
    assert groups.X_train == ["pixels", "café"]
    assert groups.y_train.tolist() == ["comp.graphics", "comp.sys.mac"]
    assert groups.hierarchy.path("comp.sys.mac") == ("comp", "comp.sys.mac")
    wos = fetch("wos_1k", home)
    assert (wos.X, wos.y.tolist()) == (["some\ttext"], ["CS/Vision"])
    assert wos.keywords == [["a", "b"]]
    rcv1 = fetch("rcv1_dev", home)
    assert (rcv1.X, rcv1.y) == (["oil price"], [frozenset({"A/B", "C"})])


def test_drawings_are_rows_of_pixels(home: Path) -> None:
    bunch = fetch("omniglot_small", home)
    assert bunch.X_train.tolist()[0] == [0] * 8 + [1] * 4 + [0] * 4
    assert bunch.y_test.tolist() == ["Greek/c2"]
    assert bunch.image_shape == (2, 8)
    assert bunch.hierarchy.n_leaves == 3


def test_taxonomies_are_a_hierarchy_alone(home: Path) -> None:
    tree = fetch("some_tree", home)
    assert tree.target_form is None
    assert tree.hierarchy.path_strings.tolist() == ["root", "a", "a/b", "a/c"]
    assert fetch("inaturalist", home).alternates["2019"].n_nodes == 2
    cub = fetch("cub200", home)
    assert cub.class_names == {"1": "Corvus corax", "2": "Pica pica"}
    assert cub.alternates["named"].names.tolist() == ["Aves", "Corvus corax", "Pica pica"]


def test_the_environment_names_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALMETTE_DATA", str(home))
    assert fetch("flat-set").name == "flat_set"
    monkeypatch.delenv("PALMETTE_DATA")
    with pytest.raises(DataHomeError, match="PALMETTE_DATA"):
        fetch("flat_set")


def test_unknown_names_and_formats_are_errors(home: Path) -> None:
    with pytest.raises(DataHomeError, match="Did you mean 'glass'"):
        fetch("glas", home)
    with pytest.raises(DataHomeError, match="'parchment', for which there is no reader"):
        fetch("odd_format", home)


@pytest.mark.parametrize("name", [name for name in SETS if SETS[name][1]])
def test_altered_files_are_found_out_or_read_in_vain(home: Path, name: str) -> None:
    for file, content in SETS[name][1].items():
        path = home / name / file
        try:
            for damage in (b"", content[: len(content) // 2], b"{}", b"[1]", b"\0\xff" * 40):
                path.write_bytes(damage)
                with pytest.raises(DataHomeError, match="sha256"):
                    fetch(name, home)
                with contextlib.suppress(PalmetteError):
                    fetch(name, home, verify=False)
        finally:
            path.write_bytes(content)


# ---------------------------------------------------------------------- a reader's own copies


@pytest.fixture
def own_home(tmp_path: Path) -> Path:
    """Return a data home without sets in its manifest, and copies of sets in its folders."""
    (tmp_path / "manifest.json").write_text("[]")
    folder = tmp_path / "mine" / "deep"
    folder.mkdir(parents=True)
    rows = mat(data_array=np.array([[0.5, 1], [0.25, 2]]), tree=TREE)
    (folder / "VOCTrain.mat").write_bytes(rows)
    (folder / "VOCTest.mat").write_bytes(rows)
    (folder / "mediamill-train.arff").write_text(MULAN + "1,0,1\n")
    (folder / "Mediamill-test.arff.xz").write_bytes(lzma.compress((MULAN + "2,1,0\n").encode()))
    xml = '<labels><label name="y1"/><label name="y2"/></labels>'
    (folder / "mediamill.xml").write_text(xml)
    (tmp_path / "wiki.train").write_text("3 1:0.5\n7 2:1\n")
    (tmp_path / "wiki.test").write_text("7 3:1\n")
    return tmp_path


def test_own_copies_are_found_by_their_usual_names(own_home: Path) -> None:
    voc = fetch("voc", own_home)
    assert voc.X_train.shape == voc.X_test.shape == (2, 1)
    assert voc.hierarchy.n_leaves == 2
    mediamill = fetch("mediamill", own_home)
    assert [mediamill.y_train.shape, mediamill.y_test.shape] == [(1, 2), (1, 2)]
    wiki = fetch("wiki", own_home)
    assert (wiki.X_train.shape, wiki.X_test.shape) == ((2, 3), (1, 3))
    assert wiki.y_test.tolist() == [7]


def test_own_copies_are_listed(own_home: Path) -> None:
    assert list_datasets(data_home=own_home) == ["voc", "mediamill", "wiki"]
    assert list_datasets("multilabel", own_home) == ["mediamill"]


KINDS = {
    ".mat": mat(data_array=np.array([[0.5, 1], [0.25, 2]]), tree=TREE),
    ".arff": (MULAN + "1,0,1\n").encode(),
    ".xml": b'<labels><label name="y1"/><label name="y2"/></labels>',
    ".train": b"3 1:0.5\n7 2:1\n",
    ".test": b"7 3:1\n",
    ".svm": b"3 1:0.5\n7 2:1\n",
    ".libsvm": b"3 1:0.5\n7 2:1\n",
}
PACKED = {"": bytes, ".xz": lzma.compress, ".gz": gzip.compress, ".bz2": bz2.compress}


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize(
    ("name", "files"), [(name, files) for name, own in OWN_COPIES.items() for files in own.choices]
)
def test_every_set_that_a_reader_may_have_is_read(
    name: str, files: tuple[str, ...], ending: str, tmp_path: Path
) -> None:
    """Also from a folder that has nothing but the reader's files."""
    for file in files:
        (tmp_path / f"{file}{ending}").write_bytes(PACKED[ending](KINDS[Path(file).suffix]))
    bunch = fetch(name, tmp_path)
    if "X_test" in bunch:
        assert bunch.X_train.shape[1] == bunch.X_test.shape[1]
    else:
        assert bunch.X.shape[0] == len(bunch.y)
    assert ("X_test" in bunch) == any("test" in file.lower() for file in files)
    assert bunch.hierarchy.n_leaves == 2
    assert find_dataset(name, tmp_path).group == OWN_COPIES[name].group


@pytest.mark.parametrize(
    ("other", "name"),
    [("Caltech-256", "caltech256"), ("caltech1", "caltech256"), ("Wiki-2", "wiki")],
)
def test_own_copies_have_other_names(own_home: Path, other: str, name: str) -> None:
    for part in (".train", ".test"):
        (own_home / f"Caltech_256{part}").write_bytes(KINDS[part])
    assert fetch(other, own_home).name == name


def test_a_copy_that_is_missing_says_where_it_would_be_found(own_home: Path) -> None:
    (own_home / "mine" / "deep" / "VOCTest.mat").unlink()
    told = r"by the names VOCTrain\.mat, VOCTest\.mat\. Of these VOCTest\.mat is missing"
    with pytest.raises(DataHomeError, match=told):
        fetch("voc", own_home)
    with pytest.raises(DataHomeError, match=r"by the names SUNTrain\.mat, SUNTest\.mat\.$"):
        fetch("sun", own_home)
    told = r"tmc2007-test\.arff, tmc2007\.xml, or tmc2007\.arff, tmc2007\.xml\.$"
    with pytest.raises(DataHomeError, match=told):
        fetch("tmc2007", own_home)
