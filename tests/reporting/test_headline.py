"""Headline figures are those of `palmette.metrics`, in every resample."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reporting.known_answers import animals, random_case

from palmette import metrics
from palmette.reporting._confidence import read_cell_confidence
from palmette.reporting._evaluation import evaluate
from palmette.reporting._headline import headline_facts
from palmette.reporting._intervals import wilson_interval

CASES = {
    "animals": animals(),
    "paths": random_case(0),
    "sets": random_case(1, several=True),
}


def facts_of(case, n_bootstrap=0):
    return headline_facts(evaluate(*case), None, n_bootstrap=n_bootstrap, seed=0)


def by_name(facts):
    return {each["name"]: each for each in facts["figures"]}


def expected(model, X, y):
    given = {"hierarchy": model.hierarchy_}
    answers = model.predict(X)
    shares = metrics.hierarchical_precision_recall_fscore(y, answers, **given)
    return {
        **dict(zip(("hierarchical_precision", "hierarchical_recall"), shares[:2], strict=True)),
        "hierarchical_f1": shares[2],
        "accuracy": metrics.leaf_accuracy_score(y, answers, **given),
        "tree_induced_error": metrics.tree_induced_error(y, answers, **given),
        "macro_f1": metrics.hierarchical_f1_score(y, answers, average="macro", **given),
    }


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_figures_are_the_metrics(case):
    found = by_name(facts_of(case))
    wanted = expected(*case)
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        assert found[name]["value"] == pytest.approx(value, abs=1e-12), name


def test_the_number_of_predicted_nodes_stands_beside_macro_f1():
    found = by_name(facts_of(CASES["sets"]))
    ratio = found["hierarchical_recall"]["value"] / found["hierarchical_precision"]["value"]
    assert f" {ratio:.2g} nodes are predicted per true one." in found["macro_f1"]["words"]
    assert "per true one" not in by_name(facts_of(CASES["paths"]))["macro_f1"]["words"]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_levels_are_the_metrics(case):
    model, X, y = case
    found = facts_of(case)["levels"]
    given = {"hierarchy": model.hierarchy_}
    accuracy = metrics.level_accuracy_score(y, model.predict(X), **given)
    f1 = metrics.hierarchical_f1_score(y, model.predict(X), level="each", **given)
    np.testing.assert_allclose([each["accuracy"] for each in found], accuracy, atol=1e-12)
    np.testing.assert_allclose([each["f1"] for each in found], f1, atol=1e-12)
    assert [each["level"] for each in found] == list(range(1, len(accuracy) + 1))
    assert [each["nodes"] for each in found] == model.hierarchy_.level_sizes[1:].tolist()


def test_intervals_hold_the_value_and_do_not_depend_on_the_run():
    first, second = (facts_of(CASES["paths"], n_bootstrap=200) for _ in range(2))
    assert first == second
    for each in [*first["figures"], *first["levels"]]:
        value = each.get("value", each.get("accuracy"))
        assert each["low"] <= value <= each["high"]
        assert each["low"] < each["high"]


def test_more_rows_make_narrower_intervals():
    widths = []
    for n_rows in (100, 1600):
        found = by_name(facts_of(random_case(2, n_rows=n_rows), n_bootstrap=300))["accuracy"]
        widths.append(found["high"] - found["low"])
    assert widths[1] < widths[0] / 2.5


def test_area_under_precision_and_recall_of_several_paths():
    model, X, y = CASES["sets"]
    evaluation = evaluate(model, X, y)
    cells = read_cell_confidence(model.predict_node_proba, X, evaluation)
    found = by_name(headline_facts(evaluation, cells, n_bootstrap=100, seed=0))["micro_auprc"]
    wanted = metrics.micro_auprc(y, model.predict_node_proba(X), hierarchy=model.hierarchy_)
    assert found["value"] == pytest.approx(wanted, abs=1e-12)
    assert found["low"] < found["value"] < found["high"]


def test_area_from_scores_in_bins_is_close_to_the_exact_one():
    model, X, y = CASES["sets"]
    cells = read_cell_confidence(model.predict_node_proba, X, evaluate(model, X, y))
    [binned] = cells.average_precision(np.ones((1, len(y)), dtype=np.int64))
    assert binned == pytest.approx(cells.exact_area, abs=0.005)


def test_no_interval_is_a_point_if_all_rows_are_right():
    model, X, _ = CASES["paths"]
    facts = facts_of((model, X, model.predict(X)), n_bootstrap=50)
    found = by_name(facts)
    bound = wilson_interval(len(X), len(X))[0]
    for name in ("hierarchical_f1", "hierarchical_precision", "hierarchical_recall", "accuracy"):
        assert (found[name]["low"], found[name]["high"]) == pytest.approx((bound, 1.0))
    assert found["tree_induced_error"]["low"] == 0.0
    assert found["tree_induced_error"]["high"] > 0.0
    assert found["macro_f1"]["low"] is None  # a mean over nodes, some of which have one row
    for each in facts["levels"]:
        assert each["low"] == pytest.approx(wilson_interval(each["rows"], each["rows"])[0])


def test_accuracy_has_wilson_s_interval():
    case = CASES["animals"]
    found = by_name(facts_of(case, n_bootstrap=50))["accuracy"]
    n_rows = len(case[1])
    expected = wilson_interval(round(found["value"] * n_rows), n_rows)
    assert (found["low"], found["high"]) == pytest.approx(expected)


def test_macro_f1_is_inside_of_its_interval_however_rare_classes_are():
    """Resamples lose rare classes, whose mean F1 is then that of the others."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        model, X, y = random_case(seed)
        rows = rng.choice(len(X), 12, replace=False)
        case = model, X[rows], [y[row] for row in rows]
        found = by_name(facts_of(case, n_bootstrap=50))["macro_f1"]
        if found["low"] is not None:
            assert 0 <= found["low"] <= found["value"] <= found["high"] <= 1
