"""Cells: one a method and split, kept, found again, failing alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from palmette.compare import ResultStore
from palmette.metrics import multilabel_auc_score, multilabel_f1_score
from papers.cells import Cells
from papers.soshf.methods import (
    METHODS,
    OF_PAPER,
    Method,
    Options,
    describe,
    even_split,
    folds_of,
)
from papers.soshf.outcome import Answer, find_outcome, work
from papers.soshf.published import PAPER_AUC, PAPER_F


def test_means_and_deviations():
    answer = Answer("m", [{"auc": 0.5, "peak_mib": None}, {"auc": 0.7, "peak_mib": 1.0}])
    assert answer.mean("auc") == pytest.approx(0.6)
    assert answer.deviation("auc") == pytest.approx(np.sqrt(0.02))
    assert answer.mean("peak_mib") == 1.0  # of the splits that have it
    assert answer.by_split("peak_mib") == {1: 1.0}
    assert np.isnan(answer.mean("fit_s"))
    assert answer.deviation("peak_mib") is None
    assert Answer("m", [{"auc": 0.5}]).deviation("auc") is None


def test_scores_are_those_of_the_model(problem, trees):
    split = even_split(problem, 0, 0)
    found = work(trees, split, Options("toy", 0))
    model = trees.make(Options("toy", 0)).fit(split.X_train, split.y_train)
    expected = multilabel_f1_score(split.y_test, model.predict(split.X_test))
    assert found["f_own"] == found["f_tuned"] == pytest.approx(expected)
    auc = multilabel_auc_score(split.y_test, model.predict_proba(split.X_test))
    assert found["auc"] == pytest.approx(auc)
    assert found["fit_s"] > 0


def test_tuned_thresholds_stand_beside_the_own_rule(problem):
    split = even_split(problem, 0, 0)
    method = METHODS["ml-knn"]
    found = work(method, split, Options("toy", 0))
    model = method.make(Options("toy", 0)).fit(split.X_train, split.y_train)
    own = multilabel_f1_score(split.y_test, model.predict(split.X_test))
    assert found["f_own"] == pytest.approx(own)
    assert found["f_tuned"] != found["f_own"]
    auc = multilabel_auc_score(split.y_test, model.predict_proba(split.X_test))
    assert found["auc"] == pytest.approx(auc)


def test_cells_are_found_again(problem, trees, tmp_path):
    seen = []

    def run(n_splits):
        cells = Cells(ResultStore(tmp_path / "r.jsonl"), {}, lambda *names: seen.append(names))
        return find_outcome(problem, [trees], cells, n_splits=n_splits)

    first = run(1)
    assert seen == [("toy", "extra-trees")]
    more = run(3)
    assert len(seen) == 3
    assert more.answers["extra-trees"].splits[:1] == first.answers["extra-trees"].splits
    assert run(3).answers == more.answers
    assert len(seen) == 3
    assert more.n_splits == 3


def test_figures_of_the_paper_come_before_tuned_thresholds(problem, tmp_path):
    method, store, seen = METHODS["ml-knn"], ResultStore(tmp_path / "r.jsonl"), []
    own = find_outcome(problem, [replace(method, folds=0)], Cells(store, {}), n_splits=2)
    late = Cells(store, {}, lambda *names: seen.append(names), minutes=0)
    found = find_outcome(problem, [method], late, n_splits=2).answers["ml-knn"]
    assert found.by_split("auc") == own.answers["ml-knn"].by_split("auc")
    assert found.by_split("f_tuned") == {}
    assert "f_tuned" not in found.means()
    assert not seen
    cells = Cells(store, {}, lambda *names: seen.append(names))
    found = find_outcome(problem, [method], cells, n_splits=2).answers["ml-knn"]
    assert len(seen) == 2
    split = even_split(problem, 1, 0)
    expected = work(method, split, Options("toy", 1))
    assert found.by_split("f_tuned")[1] == expected["f_tuned"]
    assert found.by_split("f_own")[1] == expected["f_own"]
    # seconds are those of the method, without our tuning
    assert found.by_split("fit_s") == own.answers["ml-knn"].by_split("fit_s")


def test_a_quick_look_fits_once(problem):
    seen = []
    cells = Cells(None, {}, lambda *names: seen.append(names))
    found = find_outcome(problem, [METHODS["ml-knn"]], cells, n_splits=1, quick=True)
    assert len(seen) == 1
    assert {"f_own", "f_tuned", "auc"} <= found.answers["ml-knn"].means().keys()


def test_a_method_that_fails_stops_no_other_and_is_tried_again(problem, trees, failing, tmp_path):
    cells = Cells(ResultStore(tmp_path / "r.jsonl"), {})
    outcome = find_outcome(problem, [failing, trees], cells, n_splits=2)
    assert list(outcome.answers) == ["extra-trees"]
    assert outcome.failures == {"cocoa": "even-0: ValueError: this cannot be made"}
    working = Method(failing.key, failing.words, trees.make, 0)
    again = find_outcome(problem, [working], cells, n_splits=2)
    assert list(again.answers) == ["cocoa"]


def test_the_methods_are_those_of_the_paper_and_more():
    assert OF_PAPER == tuple(PAPER_F) == tuple(PAPER_AUC)
    assert len(METHODS) == len(OF_PAPER) + 4


@pytest.mark.parametrize("key", METHODS)
def test_every_method_can_be_made_and_described(key):
    options = Options("emotions", 5, 2)
    text = describe(METHODS[key], options)
    assert text == describe(METHODS[key], options)
    assert "verbose" not in text  # a parameter that changes no result
    tuned = key == "rf-cost" or key.startswith("sf")  # by the rule of the paper
    rule = "BestF(beta=1.0, cut='lowest')" if key == "cocoa" else "'f1'" if tuned else "'auto'"
    assert f"decoding={rule}" in text
    estimator = METHODS[key].make(options)
    assert estimator.get_params()["n_jobs"] == 2
    assert estimator.get_params().get("random_state", 5) == 5


def test_quick_looks_and_large_sets_have_smaller_ensembles():
    small, large = Options("emotions"), Options("tmc2007_500")
    quick = Options("emotions", quick=True)
    cocoa, ecc = METHODS["cocoa"], METHODS["ecc"]
    assert [cocoa.make(options).n_models for options in (small, large, quick)] == [50, 10, 3]
    assert [cocoa.make(options).n_couplings for options in (small, large, quick)] == [10, 10, 3]
    assert [ecc.make(options).n_chains for options in (small, large, quick)] == [50, 50, 10]
    sizes = [METHODS["rf-cost"].make(options).estimator.n_estimators for options in (small, quick)]
    assert sizes == [50, 15]
    assert [folds_of(ecc, options) for options in (small, large, quick)] == [3, 3, 2]
    assert folds_of(METHODS["ours"], quick) == 0
