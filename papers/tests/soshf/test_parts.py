"""Variants of structured forests, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.compare import ResultStore
from palmette.exceptions import PalmetteError
from palmette.forest import StructuredForestClassifier
from papers.registry import run
from papers.soshf import parts
from papers.soshf.methods import Method, Options, even_split
from papers.soshf.outcome import Answer, work
from papers.soshf.parts import PARTS, judge_parts, make_parts


def test_each_variant_changes_something():
    texts = {str(one.make(Options("x")).get_params()) for one in PARTS}
    assert len(texts) == len(PARTS) == len({one.key for one in PARTS})


def test_formulas_are_judged_without_any_fit():
    found = {claim.where: claim.holds for claim in judge_parts([])}
    assert found == {"Eq. 8": False, "Eq. 2": True}


def test_the_base_forest_is_judged_beside_print(outcome_of):
    scores = {"sf": (0.79, 0.79, 0.97), "one": (0.46, 0.46, 0.92)}
    made = outcome_of("medical", **scores)
    made.answers["sf, one feature"] = made.answers.pop("one")
    found = {claim.where: claim for claim in judge_parts([made])}
    claim = found["Table 2, SF, medical"]
    assert not claim.holds
    assert "0.790/0.970, printed 0.454/0.916" in claim.words
    assert "the nearest variant is 'sf, one feature' with 0.460/0.920 (splits: 2)" in claim.words


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
        "Table 2, SF, emotions": False,
        "Depth, emotions": True,
        "Sparsity, emotions": False,
        "Beta, emotions": False,
        "Future work, beta, emotions": True,
        "Penalty, emotions": True,
        "Scalability, batches of 100, emotions": False,
        "Scalability, 30 iterations, emotions": True,
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
