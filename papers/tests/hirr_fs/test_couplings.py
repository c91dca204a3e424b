"""Couplings that act: chosen on training rows, tried on a grid, judged by intervals."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from palmette.metrics import hierarchical_f1_score
from papers.cells import Cells
from papers.hirr_fs import couplings as module
from papers.hirr_fs.coupling_claims import coupling_tables, judge_couplings
from papers.hirr_fs.couplings import (
    Chosen,
    Couplings,
    choose,
    divided,
    f1_of,
    find_couplings,
    interval,
    row_counts,
    strength,
)
from papers.hirr_fs.methods import STRENGTHS

CHOSEN = Chosen(100, 0.5, 0.6, 1.0, 0.1, 0.25, 0.55, 0.65, 0.02, 0.18)
GRID = {(a, b): 0.7 for a in STRENGTHS for b in STRENGTHS}
FOUND = Couplings("toy", CHOSEN, GRID, 0.7, 0.01, {})


@pytest.fixture
def few(monkeypatch):
    """One candidate besides none, and a grid of two strengths."""
    monkeypatch.setattr(module, "CANDIDATES", (0.0, 1.0))
    monkeypatch.setattr(module, "STRENGTHS", (0.01, 1.0))


def test_counts_give_the_f1_of_the_metrics(problem):
    truth = problem.y_test
    guess = np.roll(truth, 1)
    counts = row_counts(problem.hierarchy, truth, guess)
    expected = hierarchical_f1_score(truth, guess, hierarchy=problem.hierarchy)
    assert f1_of(counts) == pytest.approx(expected)


def test_the_interval_of_equal_answers_is_zero(problem):
    counts = row_counts(problem.hierarchy, problem.y_test, problem.y_test)
    assert interval({"none": counts, "chosen": counts}, 10) == (0.0, 0.0)


def test_test_rows_are_not_chosen_on(problem):
    X, y, X_test, y_test = divided(replace(problem, X_test=None, y_test=None))
    assert (len(X), len(X_test), len(y), len(y_test)) == (33, 17, 33, 17)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-9)
    raw, _, _, _ = divided(problem, raw=True)
    np.testing.assert_array_equal(raw, problem.X_train)


def test_strengths_are_chosen_and_scored(problem, few):
    found = Chosen(**choose(problem, 3, 40))
    assert found.n_rows == 40
    assert {found.parent, found.sibling} <= {0.0, 1.0}
    assert found.cv_best >= found.cv_none
    assert found.low <= found.chosen - found.none <= found.high
    # the same without couplings, with the root
    scores = strength(problem, 3, {})
    assert scores["f1"] > found.none
    assert 0 < scores["error"] < 0.1


def test_everything_is_kept_in_cells(problem, few, monkeypatch):
    monkeypatch.setattr(module, "choose", lambda *args: vars(CHOSEN).copy())
    monkeypatch.setattr(module, "_F194", "toy")
    seen = []
    cells = Cells(None, {}, lambda *names: seen.append(names[1]))
    found = find_couplings(problem, cells)
    assert found.chosen == CHOSEN
    assert (
        found.grid.keys()
        == found.published.keys()
        == {(a, b) for a in (0.01, 1.0) for b in (0.01, 1.0)}
    )
    assert len(seen) == 2 + 4 + 4


def test_cells_that_did_not_converge_are_known(problem, few, monkeypatch):
    def warns(problem, n_features, settings):
        if settings.get("parent") == 1.0:
            warnings.warn("bcd did not converge within max_iter=100 sweeps", stacklevel=2)
        return {"f1": 0.5, "error": 0.1}

    monkeypatch.setattr(module, "choose", lambda *args: vars(CHOSEN).copy())
    monkeypatch.setattr(module, "strength", warns)
    found = find_couplings(problem, Cells(None, {}))
    assert found.unsettled == {(1.0, 0.01), (1.0, 1.0)}


def test_what_did_not_converge_is_marked_and_not_judged():
    odd = replace(FOUND, grid={**GRID, (1.0, 1.0): 0.2}, unsettled=frozenset({(1.0, 1.0)}))
    _, table = coupling_tables([odd])
    assert table.rows[2][3] == "0.2000*"
    assert sum("*" in cell for row in table.rows for cell in row[1:]) == 1
    *_, depends = judge_couplings([odd])
    assert depends.holds
    assert "over 24 relative strengths (1 that did not converge are left out)" in depends.words
    none = replace(FOUND, unsettled=frozenset(GRID))
    assert [claim.where for claim in judge_couplings([none])] == ["Couplings, toy"] * 2


def test_tables_and_verdicts():
    titles = [table.title for table in coupling_tables([replace(FOUND, published=GRID)])]
    assert [title[:8] for title in titles] == ["Coupling", "Table 8 ", "Table 8("]
    chosen, gain, depends = judge_couplings([FOUND])
    assert chosen.holds
    assert gain.holds
    assert depends.holds
    assert "gain +0.1000 (95% +0.0200 to +0.1800); couplings gain." in gain.words
    none = replace(FOUND, chosen=replace(CHOSEN, low=-0.1), grid={**GRID, (1.0, 1.0): 0.6})
    assert [claim.holds for claim in judge_couplings([none])] == [True, False, False]
    strong = replace(FOUND, published={**GRID, (100.0, 0.01): 0.6})
    assert list(judge_couplings([strong]))[3].holds


def test_where_no_couplings_are_chosen_their_gain_is_not_judged():
    without = replace(FOUND, chosen=replace(CHOSEN, parent=0.0, sibling=0.0, low=0.0))
    chosen, depends = judge_couplings([without])
    assert not chosen.holds
    assert "not tested there" in chosen.words
    assert depends.where == "Table 8, toy"


def test_the_edge_of_the_candidates_is_told():
    inside = replace(FOUND, chosen=replace(CHOSEN, parent=0.1))
    notes = [next(coupling_tables([each])).notes for each in (FOUND, inside)]
    assert [len(each) for each in notes] == [2, 1]
    assert "The largest candidate, 1, is chosen on toy" in notes[0][1]


def test_no_tables_of_nothing():
    assert list(coupling_tables([])) == []
