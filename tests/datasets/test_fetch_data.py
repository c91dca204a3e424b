"""Every set of the data home loads and is what the manifest says."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from palmette.datasets._fetch import fetch
from palmette.datasets._home import find_dataset
from palmette.labels._labels import NodeLabels

pytestmark = pytest.mark.data

PARTS = {"": "n_train", "_train": "n_train", "_valid": "n_valid", "_test": "n_test"}

# These files write their root as a node, and the manifest counts it; elsewhere it does not count.
COUNTS_ROOT = {"cifar100_wordnet", "inaturalist", "cub200"}

# Word counts and flags that fill less than a tenth of a dense matrix.
THIN = {"news20_951", "ng20", "rcv1subset1_top944", "rcv1subset2_top944"}

# Where the files say otherwise than the manifest, checked by hand.
DIFFERS = {
    # by ids and by paths alike, 11942 of the 14606 categories have no child
    ("shopify_product_taxonomy", "n_leaves"): 11942,
    # distinct pairs of domain and area; the 129 of the manifest are distinct numbers Y, of which
    # 25, 26 and 40 stand for two areas each
    ("wos_1k", "n_classes"): 132,
    # the manifest leaves out the edges from the pseudo-node root; ten terms hang off it and another
    ("phyletic_profiles", "n_nodes_multi_parent"): 658,
}


def manifest_names() -> list[str]:
    manifest = Path(os.environ.get("PALMETTE_DATA", ""), "manifest.json")
    if not manifest.is_file():
        return ["any"]  # skipped by the fixture, with a reason
    return [record["name"] for record in json.loads(manifest.read_text())]


def expected(facts: dict[str, Any], key: str) -> Any:
    return DIFFERS.get((facts["name"], key), facts.get(key))


def targets(bunch: Any) -> dict[str, Any]:
    return {part: bunch[f"y{part}"] for part in PARTS if f"y{part}" in bunch}


def n_rows(values: Any) -> int:
    return int(values.shape[0]) if hasattr(values, "shape") else len(values)


@pytest.mark.parametrize("name", manifest_names())
def test_a_set_is_what_the_manifest_says(name: str, data_home: Path) -> None:
    facts = find_dataset(name, data_home).facts
    bunch = fetch(name, data_home)
    assert bunch.name == name
    assert facts["licence"] in bunch.DESCR
    check_hierarchy(bunch, facts)
    if facts["group"] == "taxonomies":
        assert bunch.target_form is None
        assert not targets(bunch)
    else:
        check_rows(bunch, facts)
        check_features(bunch, facts)
        check_labels(bunch, facts)


def check_hierarchy(bunch: Any, facts: dict[str, Any]) -> None:
    hierarchy = bunch.hierarchy
    counts_root = facts["name"] in COUNTS_ROOT or "MATLAB" in facts["format"]
    if facts["name"] == "rcv1_dev":
        # the manifest counts the topics that occur, with those above them
        closed = NodeLabels.encode(bunch.y, hierarchy).closed
        assert len(np.unique(closed.indices)) - 1 == facts["n_nodes"]
    elif "n_nodes" in facts:
        assert hierarchy.n_nodes - (not counts_root) == facts["n_nodes"]
    found = {
        "n_leaves": hierarchy.n_leaves,
        "depth": hierarchy.max_depth,
        "nodes_per_level": hierarchy.level_sizes[1:].tolist(),
        "n_roots": len(hierarchy.children(0)),
        "n_nodes_multi_parent": int((np.bincount(hierarchy.edges[:, 1]) > 1).sum()),
    }
    assert found == {key: expected(facts, key) or value for key, value in found.items()}


def check_rows(bunch: Any, facts: dict[str, Any]) -> None:
    has_split = facts["n_test"] != 0
    assert ("X" in bunch) is not has_split
    for part, key in PARTS.items():
        if f"X{part}" in bunch:
            assert n_rows(bunch[f"X{part}"]) == n_rows(bunch[f"y{part}"])
            if key in facts:  # clinc150's validation part is in its notes only
                assert n_rows(bunch[f"X{part}"]) == facts[key]
        elif part and has_split:
            assert not facts.get(key)


def check_features(bunch: Any, facts: dict[str, Any]) -> None:
    matrices = [bunch[f"X{part}"] for part in targets(bunch)]
    if facts["n_features"] is None:
        assert bunch.feature_names is None
        assert all(isinstance(text, str) for text in matrices[0])
        return
    assert {matrix.shape[1] for matrix in matrices} == {facts["n_features"]}
    assert len(bunch.feature_names) == facts["n_features"]
    is_thin = "sparse" in facts["format"] or facts["name"] in THIN
    assert {sparse.issparse(matrix) for matrix in matrices} == {is_thin}
    if "n_nominal" in facts:
        assert int(bunch.categorical_features.sum()) == facts["n_nominal"]
    missing = re.search(r"missing values: (\d+)", facts.get("notes", ""))
    if missing:
        assert sum(int(np.isnan(matrix).sum()) for matrix in matrices) == int(missing[1])


def check_labels(bunch: Any, facts: dict[str, Any]) -> None:
    parts = targets(bunch)
    for y in parts.values():
        assert NodeLabels.encode(y, bunch.hierarchy).n_samples == n_rows(y)
    if bunch.target_form == "indicator":
        assert len(bunch.label_names) == facts["n_labels"]
        if "cardinality" in facts:
            ones = sum(int(y.sum()) for y in parts.values())
            rows = sum(n_rows(y) for y in parts.values())
            assert ones / rows == pytest.approx(facts["cardinality"], abs=1e-3)
    elif bunch.target_form == "node_sets":
        rows = [labels for y in parts.values() for labels in y]
        if "n_labels_used" in facts:
            assert len(frozenset().union(*rows)) == facts["n_labels_used"]
        if "cardinality_most_specific" in facts:
            mean = sum(map(len, rows)) / len(rows)
            assert mean == pytest.approx(facts["cardinality_most_specific"], abs=1e-3)
    else:
        if facts["name"] == "omniglot_small":  # the manifest counts those of the first set
            parts.pop("_test")
        classes = {label for y in parts.values() for label in y.tolist()}
        assert len(classes) == expected(facts, "n_classes")


# ---------------------------------------------------------------------- what only some sets have


def test_taxonomies_with_several_files_have_them_all(data_home: Path) -> None:
    imagenet = fetch("imagenet_wordnet", data_home)
    facts = find_dataset("imagenet_wordnet", data_home).facts
    tree = imagenet.alternates["mintree"]
    assert (tree.n_nodes, tree.n_leaves) == (facts["n_nodes_mintree"], facts["n_leaves_mintree"])
    assert len(imagenet.hierarchy.edges) - len(imagenet.hierarchy.children(0)) == facts["n_edges"]
    assert len(imagenet.class_order) == 1000
    assert imagenet.class_names[imagenet.class_order[0]] == "tench"
    assert set(imagenet.class_order) == set(tree.names[tree.leaves])

    icd = fetch("icd10cm", data_home)
    facts = find_dataset("icd10cm", data_home).facts
    assert icd.alternates["xml"].n_nodes - 1 == facts["n_nodes_xml"]

    inat = fetch("inaturalist", data_home).alternates["2019"]
    assert (inat.n_nodes, inat.n_leaves) == (1190, 1010)

    for name in ("cifar100_wordnet", "cub200"):
        bunch = fetch(name, data_home)
        named = bunch.alternates["named"]
        assert named.level_sizes.tolist() == bunch.hierarchy.level_sizes.tolist()
        assert set(bunch.hierarchy.names[bunch.hierarchy.leaves]) <= set(bunch.class_names)


def test_clinc150_has_its_other_parts(data_home: Path) -> None:
    bunch = fetch("clinc150", data_home)
    assert len(bunch.X_valid) == 3000
    assert {part: len(texts) for part, texts in bunch.out_of_scope.items()} == {
        "train": 100,
        "valid": 100,
        "test": 1000,
    }
    assert len(bunch.X_train_imbalanced) == len(bunch.y_train_imbalanced) == 10525


def test_wos_keeps_the_codes_of_its_source(data_home: Path) -> None:
    bunch = fetch("wos_1k", data_home)
    assert len(np.unique(bunch.codes[:, 2])) == 129
    assert len(bunch.hierarchy.children(0)) == 7


def test_omniglot_is_ink_on_paper(data_home: Path) -> None:
    bunch = fetch("omniglot_small", data_home)
    assert bunch.X_train.dtype == np.uint8
    assert bunch.image_shape == (105, 105)
    assert 0 < bunch.X_train.mean() < 0.2  # more paper than ink
    shared = {y.split("/")[0] for y in bunch.y_train} & {y.split("/")[0] for y in bunch.y_test}
    assert shared == {"Greek", "Latin"}


def test_pendigits_agrees_with_its_arff_file(data_home: Path) -> None:
    from palmette.datasets._arff import read_arff

    bunch = fetch("pendigits", data_home)
    whole = read_arff(find_dataset("pendigits", data_home).files()["pendigits.arff.xz"]).numbers
    ours = np.column_stack(
        [np.vstack([bunch.X_train, bunch.X_test]), np.append(bunch.y_train, bunch.y_test)]
    )
    np.testing.assert_array_equal(np.unique(ours, axis=0), np.unique(whole, axis=0))


def test_single_paths_are_path_strings_and_numbers(data_home: Path) -> None:
    imclef = fetch("imclef07a", data_home)
    assert imclef.y_train[0] == "2/1/3"
    saiapr = fetch("saiapr5000", data_home)
    assert saiapr.y.dtype.kind == "i"
    assert saiapr.hierarchy.names[0] == 1
    internal = ~saiapr.hierarchy.is_leaf[saiapr.hierarchy.index(saiapr.y.tolist())]
    assert int(internal.sum()) == 970
    groups = fetch("20newsgroups_bydate", data_home)
    assert groups.hierarchy.names[groups.hierarchy.children(0)].tolist() == [
        "alt", "comp", "misc", "rec", "sci", "soc", "talk",
    ]  # fmt: skip
