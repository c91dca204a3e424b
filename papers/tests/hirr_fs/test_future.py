"""Several parents, several paths and the logistic loss; features in common; chosen strengths."""

from __future__ import annotations

from dataclasses import replace

import pytest

from papers.cells import Cells, Options
from papers.hirr_fs import chosen as chosen_module
from papers.hirr_fs import couplings as couplings_module
from papers.hirr_fs.chosen import ChosenStrengths
from papers.hirr_fs.future import (
    Extension,
    extension_table,
    find_extensions,
    judge_extensions,
    read_digits,
)
from papers.hirr_fs.methods import make_parts
from papers.hirr_fs.outcome import work
from papers.hirr_fs.overlap import PAIRS, Overlap, find_overlap, judge_overlaps, overlap_table


def test_digits_have_two_parents_each():
    tree = read_digits().hierarchy
    assert not tree.is_tree
    assert (tree.n_nodes, len(tree.leaves)) == (15, 10)


def test_extensions_are_measured():
    digits = read_digits()
    small = replace(digits, X_train=digits.X_train[:300], y_train=digits.y_train[:300])
    found = find_extensions([small], Cells(None, {}))
    assert len(found) == len({each.name for each in found}) == 2
    for each in found:
        assert (each.k, each.n_features) == (13, 64)
        assert 0.5 < each.f1 < each.every + 5 * each.error


def test_extensions_are_judged_by_errors():
    less = Extension("toy", "paths", 2, 10, 0.78, 0.8, 0.005, 1.0)
    near = replace(less, error=0.02)
    assert [claim.holds for claim in judge_extensions([less, near])] == [False, True]
    row = extension_table([less]).rows[0]
    assert row == ("toy: paths", 2, 10, "0.7800", "0.8000", "-0.0200 ± 0.0050", "1.00")


def test_features_in_common(problem):
    found = find_overlap(problem, Cells(None, {}))
    assert len(found.family) == len(PAIRS)
    assert found.siblings is not None
    assert all(0.0 <= share <= 1.0 for share in found.family + found.siblings)
    assert len(overlap_table([found]).rows) == len(PAIRS)


def test_overlaps_are_judged():
    more = [0.1, 0.2, 0.3, 0.1, 0.1, 0.2, 0.4]
    found = Overlap("toy", 2, more, more[::-1])
    assert [claim.holds for claim in judge_overlaps([found])] == [True, True, True]
    assert [claim.holds for claim in judge_overlaps([replace(found, siblings=more)])][2] is False
    alone = replace(found, siblings=None)
    assert [claim.where for claim in judge_overlaps([alone])] == ["Section 3.2, toy"]
    assert overlap_table([alone]).rows[0][-1] is None


@pytest.mark.parametrize("candidates", [(0.0,), (1.0,)])
def test_strengths_of_a_part_are_among_the_candidates(problem, monkeypatch, candidates):
    monkeypatch.setattr(couplings_module, "CANDIDATES", candidates)
    monkeypatch.setattr(chosen_module, "CANDIDATES", candidates)
    chooser = ChosenStrengths(problem, 3)
    (part,) = make_parts(problem, 0)
    score = chooser.score_of(part)
    assert (score.parent, score.sibling) == (candidates[0], candidates[0])
    assert chooser.strengths == [[candidates[0]] * 2]
    assert chooser.settings()["candidates"] == list(candidates)


def test_chosen_strengths_are_scored_like_other_methods(problem, monkeypatch):
    monkeypatch.setattr(couplings_module, "CANDIDATES", (0.0, 1.0))
    halves = replace(problem, X_test=None, y_test=None)
    found = work(ChosenStrengths(halves, 5), halves, (1, 5), Options())
    assert found["k"] == [1, 5]
    assert found["f1"][-1] > 0.75
    assert len(found["strengths"]) == found["n_parts"] == 3
