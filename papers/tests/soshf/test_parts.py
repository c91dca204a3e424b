"""Variants of structured forests, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from palmette.compare import ResultStore
from palmette.exceptions import PalmetteError
from palmette.forest import StructuredForestClassifier
from papers.registry import run
from papers.soshf import parts
from papers.soshf.methods import Method, Options, even_split
from papers.soshf.outcome import Answer, work
from papers.soshf.part_claims import judge_clusters, smaller_clusters
from papers.soshf.parts import PARTS, judge_parts, make_parts
from papers.soshf.single_features import CRITERIA, LabelTrees, best_cut


def test_each_variant_changes_something():
    texts = {str(one.make(Options("x")).get_params()) for one in PARTS}
    assert len(texts) == len(PARTS) == len({one.key for one in PARTS})


def test_formulas_are_judged_without_any_fit():
    found = {claim.where: claim.holds for claim in judge_parts([])}
    assert found == {"Eq. 8": False, "Eq. 2": True, "Eq. 7": True}


def test_the_base_forest_is_judged_beside_print(outcome_of):
    scores = {"sf": (0.79, 0.79, 0.97), "one": (0.46, 0.46, 0.92)}
    made = outcome_of("medical", **scores)
    made.answers["sf, one feature"] = made.answers.pop("one")
    found = {claim.where: claim for claim in judge_parts([made])}
    claim = found["Table 2, SF, medical"]
    assert not claim.holds
    assert "0.790/0.970, printed 0.454/0.916" in claim.words
    assert "the nearest variant is 'sf, one feature' with 0.460/0.920 (splits: 2)" in claim.words
    assert "a setting that reproduces it" in claim.words
    one = made.answers["sf, one feature"]
    for split in one.splits:
        split["auc"] -= 0.05  # F is near, AUC is not
    (claim,) = (c for c in judge_parts([made]) if c.where == "Table 2, SF, medical")
    assert "none of 2 variants is within 0.03 of both, unexplained" in claim.words


def test_logistic_splits_and_trees_of_single_features_are_judged(outcome_of):
    made = outcome_of("enron", **{"sf_lr": (0.252, 0.252, 0.655)})
    depths = {"trees, gain": 8.0, "trees, Hellinger": 9.0, "sf-lr": 5.0, "sf": 7.0}
    for key, depth in depths.items():
        splits = [{**one, "depth": depth} for one in made.answers["sf-lr"].splits]
        made.answers[key] = Answer(key, splits)
    found = {claim.where: claim.holds for claim in judge_parts([made])}
    assert found["Table 2, logistic, enron"]
    assert found["Hellinger depth, enron"]
    assert found["Depth, enron"]


def test_batches_are_judged_where_trees_have_more_rows(outcome_of):
    for name, expected in (("corel5k", True), ("yeast", False)):
        made = outcome_of(name, sf_h_cs=0.5)
        made.answers["full batch"] = Answer("full batch", made.answers["sf-h-cs"].splits)
        found = {claim.where for claim in judge_parts([made])}
        assert (f"Published batches, {name}" in found) == expected


def test_sizes_of_clusters(problem):
    labels = np.zeros((120, 4), dtype=np.int8)
    labels[:12] = 1
    shares = smaller_clusters(replace(problem, y_train=labels), 2, 0)
    assert shares.shape == (20,)
    assert (shares < 0.25).all()
    holds = [c.holds for c in judge_clusters({"a": shares, "b": np.full(4, 0.4)})]
    assert holds == [True, False]


def test_trees_by_both_criteria():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, :1] + 0.1 * rng.normal(size=(200, 1)) > 0.8).astype(int)
    for criterion in CRITERIA:
        model = LabelTrees(criterion).fit(X, y)
        assert (model.predict(X) == y).mean() > 0.9
        assert model.shape_["depth"] >= 1
    counts = np.bincount((X[:, 0] > 0.8).astype(int))
    assert best_cut(X, y[:, 0] == 1, "hellinger", 3)[0] == 0
    assert counts.min() > 3
    assert best_cut(np.ones((9, 2)), np.arange(9) < 3, "gain", 1) is None
    with pytest.raises(PalmetteError, match="criterion='gini': expected one of gain, hellinger"):
        LabelTrees("gini").fit(X, y)


def test_claims_about_parts(outcome_of):
    keys = {
        "sf-h-cs": 0.60, "prior": 0.605, "beta 0.0": 0.62, "beta 1.0": 0.58, "beta learned": 0.61,
        "no penalty": 0.55, "30 iterations": 0.595, "batches of 100": 0.5, "65%": 0.6, "sf": 0.5,
    }  # fmt: skip
    made = outcome_of("emotions", **{f"m{i}": score for i, score in enumerate(keys.values())})
    answers = {}
    for i, key in enumerate(keys):
        shape = {"depth": 9.0 if key == "sf" else 5.0, "weights": 8.0 if key == "sf-h-cs" else 9.0}
        seconds = {"fit_s": 2.0 if key == "sf-h-cs" else 1.0}
        splits = [{**one, **shape, **seconds} for one in made.answers[f"m{i}"].splits]
        answers[key] = Answer(key, splits)
    made.answers.clear()
    made.answers.update(answers)
    found = {claim.where: claim.holds for claim in judge_parts([made])}
    assert found == {
        "Eq. 8": False,
        "Eq. 2": True,
        "Eq. 7": True,
        "Table 2, SF, emotions": False,
        "Depth, emotions": True,
        "Sparsity, emotions": False,
        "Beta, emotions": False,
        "Future work, beta, emotions": True,
        "Penalty, emotions": True,
        "Scalability, batches, emotions": False,
        "Scalability, iterations, emotions": True,
        "Scalability, 65%, emotions": True,
        "Prior, emotions": True,
    }


def small_forest(options: Options) -> StructuredForestClassifier:
    return StructuredForestClassifier.preset("sf", n_estimators=4, **options.shared)


def test_depth_and_weights_of_a_forest(problem):
    split = even_split(problem, 0, 0)
    found = work(Method("sf", "few trees", small_forest, 0), split, Options("toy", 0))
    assert found["weights"] == 1.0  # one feature per split
    model = small_forest(Options("toy", 0)).fit(split.X_train, split.y_train)
    path, starts = model.decision_path(split.X_train)
    depths = np.diff(path.indptr) / (len(starts) - 1) - 1
    assert found["depth"] == pytest.approx(depths.mean(), rel=0.1)  # there of all rows


def test_from_end_to_end_within_the_time(problem, monkeypatch, tmp_path):
    monkeypatch.setattr(parts, "check_problem", lambda name: None)
    monkeypatch.setattr(parts, "read_set", lambda name: problem)
    methods = [Method("sf", "few trees", small_forest, 0), Method("x", "none", small_forest, 0)]
    store = ResultStore(tmp_path / "r.jsonl")
    first = make_parts(["toy"], store=store, splits=1, methods=methods[:1])
    result = make_parts(["toy"], store=store, splits=2, methods=methods, minutes=0)
    assert result.scores["toy"].keys() == {"sf"}
    assert result.scores["toy"]["sf"]["auc"] == first.scores["toy"]["sf"]["auc"]
    assert "(1) |" in result.tables[0].to_markdown()
    assert [path.name for path in result.write(tmp_path / "out")] == ["tables.md", "results.json"]
    with pytest.raises(PalmetteError, match="soshf-parts boosts nothing"):
        make_parts(["toy"], rounds=3)


def test_a_limit_is_only_for_papers_whose_tables_may_have_gaps():
    with pytest.raises(PalmetteError, match=r"minutes=5\.0 was given, but the tables of h-ada-mh"):
        run("h-ada-mh", minutes=5.0)
