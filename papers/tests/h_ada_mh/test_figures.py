"""Facts of figures are plain, and pictures are made from nothing else."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from papers.h_ada_mh.figures import _most_disputed, draw_figures, figure_facts

_MADE: dict = {}  # once for all tests: it takes seconds


@pytest.fixture
def facts(outcome_of, tells, stages_to):
    if not _MADE:
        _MADE.update(_facts(outcome_of, tells, stages_to))
    return copy.deepcopy(_MADE)


def _facts(outcome_of, tells, stages_to):
    methods = (
        tells("h-ada-first", "collapsed", 3, method="H-Ada.MH, collapsed", stages=stages_to(0.3)),
        tells("h-ada-best", "collapsed", 2),
        tells("literal-sign", "tree", 4, method="H-Ada.MH", stages=stages_to(0.2)),
        tells("mh-sign", "tree", 2, method="AdaBoost.MH", stages=stages_to(0.1)),
        tells("global-flat", "tree", 0),
    )
    return figure_facts([outcome_of(*methods)])


def test_facts_survive_json(facts):
    assert json.loads(json.dumps(facts)) == facts
    assert list(facts) == ["figure-3", "figure-4", "figure-5", "figure-6", "figure-7"]


def test_curves_are_the_stages(facts, stages_to):
    collapsed, panel = facts["figure-4"]["panels"]
    assert (panel["dataset"], panel["space"], collapsed["space"]) == (
        "toy",
        "tree",
        "collapsed space",
    )
    assert collapsed["curves"] == [{"name": "H-Ada.MH", **stages_to(0.3)}]
    assert panel["curves"] == [
        {"name": "H-Ada.MH", **stages_to(0.2)},
        {"name": "AdaBoost.MH", **stages_to(0.1)},
    ]


def test_rows_of_classes_are_sorted(facts, setting):
    (panel,) = facts["figure-3"]["panels"]
    assert panel["counts"] == [18, 6]  # of three leaves with symbol 0, of one with symbol 3


def test_both_spaces_have_a_panel(facts):
    for number in ("figure-5", "figure-6"):
        spaces = [panel["space"] for panel in facts[number]["panels"]]
        assert spaces == ["collapsed space", "tree"]


def test_a_fit_has_one_top_k(facts):
    names = [s["name"] for s in facts["figure-5"]["panels"][0]["series"]]
    assert names == ["H-Ada.MH"]
    assert len(facts["figure-6"]["panels"][0]["series"]) == 2


def test_the_sample_is_where_answers_differ_most(facts, setting):
    sample = facts["figure-7"]
    assert sample["row"] == 0  # two are silent of it, and one is not
    truth = (np.flatnonzero(setting.tree.truth[0]) + 1).tolist()
    assert sample["said"] == {
        "the truth": truth,
        "Global, forest": truth,
        "H-Ada.MH": [],
        "AdaBoost.MH": [],
    }


def test_the_most_disputed_row():
    predicted = np.zeros((3, 4, 10), dtype=bool)
    predicted[0, 1, 0] = True
    assert _most_disputed(predicted) == 1
    predicted[:, 2] = np.eye(3, 10, dtype=bool)
    predicted[:, 3] = np.eye(3, 10, dtype=bool)
    assert _most_disputed(predicted) == 2


def test_what_is_drawn_of_the_tree(facts, setting):
    h = setting.problem.hierarchy
    nodes = {node["node"]: node for node in facts["figure-7"]["nodes"]}
    # row 0 is 1/1/0: its path, and the children of all on it
    drawn = sorted(h.path_strings[number] for number in nodes)
    assert drawn == ["1", "1/1", "1/1/0", "1/2", "2", "root"]
    assert nodes[h.index("2")]["has_more"]
    assert not nodes[h.index("1/1/0")]["has_more"]
    for node in nodes.values():
        below = [n["x"] for n in nodes.values() if n["parent"] == node["node"]]
        if below:
            assert node["x"] == (min(below) + max(below)) / 2
    leaves = [
        n["x"] for n in nodes.values() if not any(m["parent"] == n["node"] for m in nodes.values())
    ]
    assert leaves == [0, 1, 2]


def test_no_answers_no_sample(outcome_of):
    assert "figure-7" not in figure_facts([outcome_of()])
    assert figure_facts([])["figure-4"]["panels"] == []


def test_pictures_need_the_facts_alone(facts):
    pictures = draw_figures(json.loads(json.dumps(facts)))
    assert list(pictures) == [
        "figure-3.png",
        "figure-4.png",
        "figure-5.png",
        "figure-6.png",
        "figure-7.png",
    ]
    assert all(content.startswith(b"\x89PNG") for content in pictures.values())
    assert draw_figures(facts) == pictures
