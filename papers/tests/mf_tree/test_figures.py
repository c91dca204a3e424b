"""Facts of figures are plain, and pictures are made from nothing else."""

from __future__ import annotations

import json

import pytest

from palmette.hierarchy._hierarchy import Hierarchy
from papers.mf_tree.figures import draw_figures, figure_facts

EDGES = [
    ("root", "g1"), ("root", "g2"), ("g1", "p/a"), ("g1", "p/b"), ("g2", "q/c"), ("g2", "g3"),
    ("g3", "r/e"), ("g3", "g4"), ("g4", "q/d"), ("g4", "r/f"),
]  # fmt: skip


@pytest.fixture
def facts(outcome_of, tells):
    answers = [
        tells("MF-Tree", us=5.0, macro_f1=0.7),
        tells("RDM", "greedy", us=4.0),
        tells("RDM, p=3", "beam 5", us=9.0),
        tells("MF-Tree, tau=3", "beam 5"),
    ]
    trees = {"MF-Tree, binary": Hierarchy.from_edges(EDGES)}
    return figure_facts([outcome_of(answers, trees)])


def test_facts_survive_json(facts):
    assert json.loads(json.dumps(facts)) == facts
    assert list(facts) == ["figure-2", "figure-3", "figure-4", "figure-5"]


def test_variants_are_points_of_their_method(facts):
    (panel,) = facts["figure-2"]["panels"]
    assert [(p["method"], p["setting"], p["way"]) for p in panel["points"]] == [
        ("MF-Tree", "MF-Tree", ""),
        ("RDM", "RDM", "greedy"),
        ("RDM", "RDM, p=3", "beam 5"),
    ]


def test_a_branch_has_the_group_of_all_its_classes(facts):
    nodes = {node["name"]: node for node in facts["figure-5"]["nodes"]}
    assert nodes["g1"]["group"] == "p"
    assert nodes["g4"]["group"] is None
    assert nodes["q/d"]["group"] == "q"
    assert sum(node["is_class"] for node in nodes.values()) == 6


def test_no_branch_crosses_another(facts):
    nodes = facts["figure-5"]["nodes"]
    leaves = [node["place"] for node in nodes if node["is_class"]]
    assert sorted(leaves) == list(range(6))
    for node in nodes:
        below = [n["place"] for n in nodes if n["parent"] == node["node"]]
        if below:
            assert node["place"] == (min(below) + max(below)) / 2


def test_what_is_not_there_is_not_drawn(outcome_of):
    assert list(figure_facts([outcome_of([])])) == ["figure-3"]


def test_pictures_need_the_facts_alone(facts):
    pictures = draw_figures(json.loads(json.dumps(facts)))
    assert list(pictures) == [f"figure-{n}.png" for n in (2, 3, 4, 5)]
    assert all(content.startswith(b"\x89PNG") for content in pictures.values())
    again = draw_figures({"figure-3": facts["figure-3"]})
    assert again["figure-3.png"] == pictures["figure-3.png"]
