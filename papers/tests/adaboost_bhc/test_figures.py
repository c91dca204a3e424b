"""Facts of figures are plain, and pictures are made from nothing else."""

from __future__ import annotations

import json

import pytest

from papers.adaboost_bhc.figures import draw_figures, figure_facts


@pytest.fixture
def facts(outcome_of, glass):
    return figure_facts([outcome_of("landsat", BHC=[0.3, 0.2])], glass)


def test_facts_survive_json(facts):
    assert json.loads(json.dumps(facts)) == facts
    assert list(facts) == ["figure-1", "figure-6"]


def test_curves_are_means_over_fits(facts):
    (row,) = facts["figure-6"]["rows"]
    assert row["learner"] == "sqrt(d) features per split"
    curve = next(curve for curve in row["curves"] if curve["name"] == "BHC")
    assert curve["test"] == pytest.approx([0.3, 0.2])
    assert curve["train"] == pytest.approx([0.15, 0.1])


def test_pictures_need_the_facts_alone(facts):
    files = draw_figures(json.loads(json.dumps(facts)))
    assert list(files) == ["figure-1.png", "figure-1.txt", "figure-6.png"]
    pictures = [content for name, content in files.items() if name.endswith("png")]
    assert all(content.startswith(b"\x89PNG") for content in pictures)
    assert files["figure-1.txt"].decode().startswith("start from x\n\nroot\n├─ ...")


def test_no_glass_no_tree(outcome_of):
    facts = figure_facts([outcome_of("iris"), outcome_of("own")])
    assert list(facts) == ["figure-2", "figure-own"]
