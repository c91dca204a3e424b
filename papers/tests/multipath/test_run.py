"""The comparison from end to end, on a small set; its measure and its intervals."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score

from palmette.compare import Problem, ResultStore
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.multipath import (
    CoherentBlendClassifier,
    CoherentForestClassifier,
    CoherentKernelClassifier,
    CoherentNetworkClassifier,
)
from papers.multipath import outcome as module
from papers.multipath.judging import judge
from papers.multipath.methods import BLEND, EQUAL, MEMBERS, Method, read_set, set_of
from papers.multipath.outcome import Outcome, prior_score, score_interval
from papers.multipath.run import make, reproduce

EDGES = [
    ("root", "GO0003674"),
    ("root", "GO0008150"),
    ("GO0003674", "x"),
    ("GO0008150", "x"),
    ("GO0008150", "y"),
]


def small(name: str = "toy") -> Problem:
    rng = np.random.default_rng(0)
    sets = [{"x"}, {"y"}, {"x", "y"}, {"GO0003674"}]
    kind = rng.integers(4, size=80)
    X = np.eye(4)[kind] + 0.3 * rng.normal(size=(80, 4))
    X[0, 0] = np.nan
    y = [sets[k] for k in kind]
    return Problem(name, Hierarchy.from_edges(EDGES), X[:50], y[:50], X[50:], y[50:])


def tiny_blend(weights: str):
    def of(hierarchy, seed, n_jobs):
        members = [
            ("forest", CoherentForestClassifier(5)),
            ("kernel", CoherentKernelClassifier(1.0, 2.0)),
            ("network", CoherentNetworkClassifier((4,), n_epochs=2)),
        ]
        return CoherentBlendClassifier(
            members, weights=weights, hierarchy=hierarchy, random_state=seed
        )

    return of


QUICK = [Method(BLEND, tiny_blend("validation")), Method(EQUAL, tiny_blend("equal"))]


def test_a_small_set_from_end_to_end(tmp_path):
    seen = []
    store = ResultStore(tmp_path / "r.jsonl")
    options = {"store": store, "watch": lambda *names: seen.append(names), "methods": QUICK}
    result = reproduce([set_of(small("derisi_go"))], **options)
    assert seen == [("derisi_go", BLEND), ("derisi_go", EQUAL)]
    scores = result.scores["derisi_go"]
    assert set(scores) == {BLEND, EQUAL, *MEMBERS}
    assert all(found["low"] <= found["auprc"] <= found["high"] for found in scores.values())
    assert all(found["incoherence"] <= 1e-12 for found in scores.values())
    files = [path.name for path in result.write(tmp_path / "out")]
    assert files == ["tables.md", "results.json", "margins.png"]
    assert json.loads((tmp_path / "out" / "results.json").read_text())["name"] == "multipath"
    again = reproduce([set_of(small("derisi_go"))], **options)
    assert len(seen) == 2  # the store had it all
    assert again.to_markdown() == result.to_markdown()


def test_roots_of_the_ontology_are_left_out_and_named():
    data = set_of(small())
    assert data.left_out == ("GO0003674", "GO0008150")
    names = {str(data.hierarchy.names[node]) for node in data.nodes}
    assert names == {"x", "y"}
    assert data.truth.shape == (30, 2)


def test_categories_become_columns_and_missing_ones_are_none_of_them():
    problem = small()
    X_train, X_test = problem.X_train.copy(), problem.X_test.copy()
    X_train[:, 1], X_test[:, 1] = np.arange(50) % 2, 5.0
    X_train[0, 1] = np.nan
    categorical = np.array([False, True, False, False])
    data = set_of(replace(problem, X_train=X_train, X_test=X_test, categorical=categorical)).problem
    assert data.X_train.shape == (50, 5)
    assert data.X_train[:4, 3:].tolist() == [[0, 0], [0, 1], [1, 0], [0, 1]]
    assert (data.X_test[:, 3:] == 0).all()
    assert np.array_equal(data.X_train[:, :3], X_train[:, [0, 2, 3]], equal_nan=True)


def test_the_prior_is_the_share_of_the_training_rows():
    data = set_of(small())
    labels = data.problem.y_train
    shares = [np.mean([name in row for row in labels]) for name in ("x", "y")]
    order = [str(data.hierarchy.names[node]) for node in data.nodes]
    table = np.tile([shares[("x", "y").index(name)] for name in order], (30, 1))
    expected = average_precision_score(data.truth.toarray().ravel(), table.ravel())
    assert prior_score(data) == pytest.approx(expected)


def test_an_interval_is_that_of_rows_drawn_anew():
    rng = np.random.default_rng(1)
    truth, scores = rng.random((40, 5)) < 0.3, rng.integers(6, size=(40, 5)) / 6
    low, high = score_interval(sparse.csr_array(truth), scores, seed=7, n_draws=50)
    draws, found = np.random.default_rng(7), []
    for _ in range(50):
        rows = draws.integers(40, size=40)
        found.append(average_precision_score(truth[rows].ravel(), scores[rows].ravel()))
    assert [low, high] == pytest.approx(np.quantile(found, [0.025, 0.975]), abs=1e-12)


def outcome(name: str, score: float) -> Outcome:
    told = {"auprc": score, "low": score - 0.01, "high": score + 0.01, "incoherence": 0.0}
    return Outcome(name, 1, 1, 1, 1, (), 0.1, {BLEND: told})


def h_ada_among_others(name: str, low: float, high: float, is_dag: bool = False) -> Outcome:
    told = {"auprc": 0.3, "low": low, "high": high, "incoherence": 0.0}
    scores = {"H-Ada.MH": told}
    scores |= {"boosting": {**told, "auprc": 0.5}, "logistic per node": {**told, "auprc": 0.35}}
    return Outcome(name, 1, 1, 1, 1, (), 0.1, scores, is_dag=is_dag)


@pytest.mark.parametrize(("low", "said"), [(0.11, "is above"), (0.10, "is not above")])
def test_h_ada_mh_is_compared_with_the_prior(low, said):
    found = judge([h_ada_among_others("enron_corr", low, 0.4)])
    (claim,) = (each for each in found if each.where == "H-Ada.MH, prior, enron_corr")
    assert f"H-Ada.MH's 0.300 ({low:.3f} to 0.400) {said} the prior's 0.100." in claim.words
    assert claim.holds == (said == "is above")


@pytest.mark.parametrize(("high", "holds"), [(0.5, True), (0.49, False)])
def test_h_ada_mh_is_compared_with_the_better_of_two(high, holds):
    found = judge([h_ada_among_others("spo_go", 0.2, high, is_dag=True)])
    (claim,) = (each for each in found if each.where == "H-Ada.MH, competitive, spo_go")
    assert claim.words.startswith("spo_go (DAG): H-Ada.MH 0.300 (0.200 to ")
    assert "logistic per node 0.350, boosting 0.500: " in claim.words
    assert claim.holds == holds


def test_the_mean_rank_of_h_ada_mh_is_told_with_the_number_of_sets():
    sets = [h_ada_among_others(name, 0.2, 0.4) for name in ("enron_corr", "spo_go")]
    (claim,) = (each for each in judge(sets) if each.where == "H-Ada.MH, competitive, ranks")
    # C-HMCNN has .756 and .382, so that the ranks of H-Ada.MH are 4 and 4
    assert "the mean rank 4.00 of 4 methods over 2 sets (the middle is 2.5)" in claim.words
    assert not claim.holds
    sets[0].scores["H-Ada.MH"]["auprc"] = sets[1].scores["H-Ada.MH"]["auprc"] = 0.9
    (claim,) = (each for each in judge(sets) if each.where == "H-Ada.MH, competitive, ranks")
    assert claim.holds


def test_claims_say_above_level_and_below():
    told = [outcome("derisi_fun", 0.250), outcome("spo_fun", 0.2180), outcome("spo_go", 0.37)]
    claims = judge(told)
    words = [claim.words for claim in claims]
    assert "is above C-HMCNN's 0.195" in words[0]
    assert "is level with C-HMCNN's 0.215" in words[1]  # .208 to .228
    assert "is below C-HMCNN's 0.382" in words[2]
    assert "above C-HMCNN on 1, level with C-HMCNN on 1, below C-HMCNN on 1" in words[3]
    assert "larger on 2, and at worst -0.0120 (spo_go)" in words[3]
    assert words[4] == "Coherence: the most by which a node exceeds a parent on 3 sets is 0."
    assert [claim.holds for claim in claims] == [True, False, False, False, True]
    assert [claim.holds for claim in judge(told[:1])] == [True, True, True]


def test_what_does_not_apply_is_refused():
    with pytest.raises(PalmetteError, match="no rounds"):
        make(["eisen_fun"], rounds=3)
    with pytest.raises(PalmetteError, match="no test part"):
        set_of(Problem("p", Hierarchy.star(["a", "b"]), np.eye(2), ["a", "b"]))


@pytest.mark.data
@pytest.mark.usefixtures("data_home")
def test_probabilities_on_the_gene_ontology_are_coherent(monkeypatch):
    monkeypatch.setattr(module, "score_interval", lambda *_: (0.0, 1.0))  # draws take their time
    data = read_set("pheno_go")
    assert data.left_out == ("GO0003674", "GO0005575", "GO0008150")
    result = reproduce([data], methods=QUICK[1:])
    scores = result.scores["pheno_go"]
    assert max(found["incoherence"] for found in scores.values()) <= 1e-12
