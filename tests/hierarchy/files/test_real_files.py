"""Every hierarchy file of the data home, against the counts of its manifest."""

from __future__ import annotations

import functools
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.checking import check_hierarchy

pytestmark = pytest.mark.data

# Files, their set, whether the manifest counts the root (it does for lists of edges), and the
# root to join several under. The manifest has 11,939 leaves for Shopify; by its paths, and by its
# own identifiers as well, the file has 11,942.
TAXONOMIES = [
    ("taxonomies/google_product_taxonomy/taxonomy-with-ids.en-US.txt.xz", False, {}),
    ("taxonomies/shopify_product_taxonomy/categories.txt.xz", False, {"n_leaves": 11_942}),
    ("taxonomies/icd10cm/code-list-April-2026.txt.xz", False, {}),
    ("taxonomies/icd10cm/icd10c-tabular-April-1-2026.xml.xz", False, {"n_nodes": 47_200}),
    ("taxonomies/imagenet_wordnet/wordnet.parent-child.mintree.txt.xz", True,
     {"n_nodes": 1785, "n_leaves": 1000}),
    ("taxonomies/cifar100_wordnet/cifar.parent-child.txt.xz", True, {}),
    ("taxonomies/cifar100_wordnet/hierarchy.txt.xz", True, {}),
    ("taxonomies/inaturalist/hierarchy_inat.txt.xz", True, {}),
    ("taxonomies/inaturalist/hierarchy_inat2019.txt.xz", True, {"n_nodes": 1190, "n_leaves": 1010}),
    ("taxonomies/cub200/cub_wikispecies.parent-child.txt.xz", True, {}),
    ("taxonomies/cub200/hierarchy_wikispecies.txt.xz", True, {}),
    ("taxonomies/goslim_generic/goslim_generic.obo.xz", False, {}),
    ("taxonomies/ipc_2022/labels_group_id_6.tsv.xz", False, {}),
    ("taxonomies/ipc_2022/labels_group_id_4.tsv.xz", False, {"n_nodes": 647, "n_leaves": 647}),
    ("taxonomies/naics_2022/naics_2022.csv.xz", False, {}),
    ("taxonomies/naics_2017/naics_2017.csv.xz", False, {}),
    ("taxonomies/rcv1_topics/rcv1.taxonomy.xz", False, {}),
    ("taxonomies/nyt/nyt.taxonomy.xz", False, {}),
    ("hierarchical/clinc150/domains.json.xz", False, {}),
]  # fmt: skip
NO_HIERARCHIES = {
    "taxonomies/imagenet_wordnet/wordnet.parent-child.txt.xz": r"12 nodes .*root='some name'",
    "taxonomies/cifar100_wordnet/class_names.txt.xz": "163 nodes without a parent",
    "taxonomies/cub200/classes_wikispecies.txt.xz": "for a plain list of names, use Hierarchy.star",
}
# a table of 1000 classes that looks like 1000 lists of two children, and is read as such
LOOKS_LIKE_ONE = {"taxonomies/imagenet_wordnet/imagenet_class_index.json.xz"}


def manifest(data_home: Path) -> dict[str, dict[str, Any]]:
    entries = json.loads((data_home / "manifest.json").read_text(encoding="utf-8"))
    return {entry["name"]: entry for entry in entries}


# hierarchies do not change, so that tests can share the large ones
read_once = functools.cache(Hierarchy.read)


def check_counts(h: Hierarchy, expected: dict[str, Any], counts_root: bool) -> None:
    assert h.n_nodes - (not counts_root) == expected["n_nodes"]
    if expected.get("n_leaves") is not None:
        assert h.n_leaves == expected["n_leaves"]
    if expected.get("depth") is not None:
        assert h.max_depth == expected["depth"]


@pytest.mark.parametrize(("name", "counts_root", "other"), TAXONOMIES)
def test_counts(data_home, name, counts_root, other):
    expected = {**manifest(data_home)[name.split("/")[1]], **other}
    if "n_nodes" in other:  # another file of the set than the one the manifest counts
        expected.setdefault("n_leaves", None)
    check_counts(read_once(data_home / name), expected, counts_root)


def test_no_file_is_left_out(data_home):
    files = {
        str(f.relative_to(data_home)) for f in (data_home / "taxonomies").rglob("*") if f.is_file()
    }
    known = {name for name, _, _ in TAXONOMIES} | set(NO_HIERARCHIES) | LOOKS_LIKE_ONE
    assert files <= known | {"taxonomies/gene_ontology/GO.sqlite.xz"}


@pytest.mark.parametrize("name", NO_HIERARCHIES)
def test_what_is_no_hierarchy_says_so(data_home, name):
    with pytest.raises(PalmetteError, match=NO_HIERARCHIES[name]):
        Hierarchy.read(data_home / name)


def test_checks_give_the_verdict_of_reading(data_home):
    names = [*(name for name, _, _ in TAXONOMIES), *NO_HIERARCHIES]
    for name in names:
        if (data_home / name).stat().st_size < 60_000:
            found = check_hierarchy(data_home / name)
            assert bool(found.faults) == (name in NO_HIERARCHIES), name


def test_a_thesaurus_in_turtle_is_no_other_format(data_home):
    file = data_home.parent / "subjects/silknow_thesaurus.ttl.xz"
    if not file.exists():
        pytest.skip("the thesaurus is not beside the data home")
    assert Hierarchy.read(file) == Hierarchy.read(file, format="turtle")
    with pytest.raises(ReadError, match="indentation"):
        Hierarchy.read(file, format="indented")


def test_wordnet_with_a_root(data_home):
    file = data_home / "taxonomies/imagenet_wordnet/wordnet.parent-child.txt.xz"
    h = read_once(file, root="entity")
    assert (h.n_nodes - 1, h.n_leaves, len(h.edges)) == (74_401, 57_708, 75_850 + 12)
    assert (np.bincount(h.edges[:, 1]) > 1).sum() == 1422


def test_gene_ontology(data_home):
    h = Hierarchy.read(data_home / "taxonomies/gene_ontology/GO.sqlite.xz")
    check_counts(h, manifest(data_home)["gene_ontology"], counts_root=False)
    assert h.names[0] == "all"
    assert len(h.edges) == 51_415 + 13_759 + 4_887


def test_goslim_edges(data_home):
    h = Hierarchy.read(data_home / "taxonomies/goslim_generic/goslim_generic.obo.xz")
    # of the 152 is_a lines of the file three are between types of relationships
    assert len(h.edges) == 149 + 3
    assert (np.bincount(h.edges[:, 1]) > 1).sum() == 3


def test_icd10_xml_is_part_of_the_list(data_home):
    """Both files of ICD-10-CM put every code in the same place."""
    folder = data_home / "taxonomies/icd10cm"
    xml = read_once(folder / "icd10c-tabular-April-1-2026.xml.xz")
    codes = read_once(folder / "code-list-April-2026.txt.xz")
    known = set(codes.path_strings.tolist())
    assert {path.replace(".", "") for path in xml.path_strings} <= known


@pytest.mark.parametrize(
    ("name", "root"),
    [
        ("icd10cm/code-list-April-2026.txt.xz", None),
        ("imagenet_wordnet/wordnet.parent-child.txt.xz", "entity"),
    ],
)
def test_100k_nodes_within_two_seconds(data_home, name, root):
    started = time.process_time()
    Hierarchy.read(data_home / "taxonomies" / name, root=root)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("group", ["hierarchical", "hierarchical_multilabel"])
def test_clus_headers(data_home, group):
    files = [f for f in sorted((data_home / group).rglob("*.arff.xz")) if "mulan" not in str(f)]
    assert files
    entries = manifest(data_home)
    for file in files:
        h = Hierarchy.read(file)
        check_counts(h, entries[file.parent.name], counts_root=False)
        assert h.is_tree == ("GO" not in file.name), file


def test_phyletic_profiles(data_home, tmp_path):
    packed = data_home / "hierarchical_multilabel/phyletic_profiles/phyletic_profiles.harff.zip"
    with zipfile.ZipFile(packed) as archive, archive.open("phyletic_profiles.harff") as stream:
        header = stream.read(1 << 20)
    (tmp_path / "x.harff").write_bytes(header)
    h = Hierarchy.read(tmp_path / "x.harff")
    check_counts(h, manifest(data_home)["phyletic_profiles"], counts_root=False)


def test_mulan_labels(data_home):
    entries = manifest(data_home)
    files = sorted((data_home / "multilabel").rglob("*.xml.xz"))
    assert files
    for file in files:
        h = Hierarchy.read(file)
        assert h.max_depth == 1
        assert h.n_leaves == entries[file.parent.name]["n_labels"]
    nested = "hierarchical_multilabel/mulan_hierarchical_sample/hierarchical"
    h = Hierarchy.read(data_home / f"{nested}.xml.xz")
    assert h.n_nodes - 1 == 364
    assert h.max_depth == 5
    with pytest.raises(ReadError, match=r"in the \.xml file"):
        Hierarchy.read(data_home / f"{nested}-train.arff.xz")
