"""Coverage of conformal answers, counted on the rows of the report."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from tests.reporting.clouds import LEAVES, clouds
from tests.reporting.known_answers import ANIMALS, CAT, KnownAnswers, numbered

from palmette import LocalPerNodeClassifier, LocalPerParentClassifier
from palmette.calibration import ConformalHierarchicalClassifier
from palmette.reporting._evaluation import evaluate
from palmette.reporting._training import _size_table, conformal_facts

X, Y = clouds()


def conformal(**options):
    train, labels = clouds(400, noise=0.5, seed=1)
    base = LocalPerParentClassifier(LogisticRegression())
    return ConformalHierarchicalClassifier(base, random_state=0, **options).fit(train, labels)


def facts_of(model, rows, labels):
    return conformal_facts(model, rows, evaluate(model, rows, labels), n_bootstrap=100, seed=0)


def test_coverage_is_counted_on_the_rows_of_the_report():
    model = conformal(coverage=0.8)
    found = facts_of(model, X, Y)
    by_set, by_node = found["answers"]
    sets = model.predict_set(X)
    assert by_set["coverage"] == pytest.approx(
        np.mean([y in s for y, s in zip(Y, sets, strict=True)])
    )
    assert by_set["mean_size"] == pytest.approx(np.mean([len(each) for each in sets]))
    nodes = model.predict_node(X)
    holds = [y[: len(node)] == node for y, node in zip(Y, nodes, strict=True)]
    assert by_node["coverage"] == pytest.approx(np.mean(holds))
    assert by_node["mean_depth"] == pytest.approx(np.mean([len(node) for node in nodes]))
    assert by_set["target"] == by_node["target"] == 0.8
    assert by_set["low"] <= by_set["coverage"] <= by_set["high"]
    assert sum(each["rows"] for each in found["sizes"]) == len(Y)


def test_a_pipeline_around_a_conformal_classifier():
    train, labels = clouds(400, seed=1)
    model = make_pipeline(PolynomialFeatures(1), conformal()).fit(train, labels)
    assert facts_of(model, X, Y)["answers"][0]["target"] == 0.9


def test_labels_of_several_paths():
    train, labels = clouds(400, seed=1)
    sets = [{label, LEAVES[k % 4]} for k, label in enumerate(labels[::-1])]
    base = LocalPerNodeClassifier(LogisticRegression())
    for control in ("row", "label"):
        model = ConformalHierarchicalClassifier(
            base, coverage=0.7, control=control, random_state=0
        ).fit(train, sets)
        [answer] = facts_of(model, train, sets)["answers"]
        told = model.predict_set_nodes(train).toarray()
        truth = evaluate(model, train, sets).pair.true.closed.toarray()
        share = (told & truth)[:, 1:].sum(axis=1) / truth[:, 1:].sum(axis=1)
        wanted = share.mean() if control == "label" else (share == 1).mean()
        assert answer["coverage"] == pytest.approx(wanted)


def test_no_conformal_answers_no_section():
    model = KnownAnswers(ANIMALS, [CAT])
    assert facts_of(model, numbered(1), [CAT]) is None


def test_sizes_are_counted_once():
    sizes = np.array([0, 1, 1, 2, 7, 8, 15, 16, 31, 40])
    table = _size_table(sizes)
    assert sum(each["rows"] for each in table) == len(sizes)
    assert [(each["low"], each["high"]) for each in table[-3:]] == [(8, 15), (16, 31), (32, 63)]
