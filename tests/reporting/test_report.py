"""`palmette.report`: facts of any classifier, written whole in three formats."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC
from tests.reporting.known_answers import (
    KnownAnswers,
    animals,
    numbered,
    random_case,
)

import palmette.reporting
from palmette import CoherentForestClassifier, LocalPerParentClassifier, metrics
from palmette.datasets import fetch
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.reporting import Report, report
from palmette.reporting._plain import plain

README = Path(palmette.reporting.__file__).parent / "README.md"


@pytest.fixture(scope="module")
def found():
    return report(*animals(), n_bootstrap=50, title="animals")


# ---------------------------------------------------------------------- facts


def test_facts_are_plain_json(found):
    assert json.loads(json.dumps(found.facts, allow_nan=False)) == found.facts
    assert plain(found.facts) == found.facts


def test_every_section_is_explained(found):
    text = README.read_text(encoding="utf-8")
    assert all(f"`{key}`" in text for key in found.facts)


def test_facts_do_not_depend_on_the_run(found):
    again = report(*animals(), n_bootstrap=50, title="animals")
    assert {**again.facts, "made": None} == {**found.facts, "made": None}


def test_sections_that_do_not_apply_are_none(found):
    assert found.facts["features"] is None
    assert found.facts["training"] is None
    assert found.facts["conformal"] is None


@pytest.mark.parametrize("several", [False, True])
def test_rows_are_counted_once_in_every_section(several):
    facts = report(*random_case(0, several=several), n_bootstrap=0).facts
    n_rows = facts["setting"]["data"]["rows"]
    errors = facts["errors"]
    assert errors["right"] + errors["wrong"] == n_rows == sum(errors["kinds"].values())
    accuracy = next(each for each in facts["figures"] if each["name"] == "accuracy")
    assert accuracy["value"] == pytest.approx(errors["right"] / n_rows)
    if not several:
        assert facts["nodes"]["support"][0] == n_rows
        assert facts["calibration"]["answer"]["count"] == n_rows


def test_a_flat_classifier_without_probabilities():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 5), np.array([7, 7, 9, 9] * 5)
    facts = report(LinearSVC().fit(X, y), X, y, n_bootstrap=0).facts
    assert facts["nodes"]["name"] == ["root", "7", "9"]
    assert facts["calibration"] is None
    assert facts["coverage"] is None
    assert facts["figures"][0]["value"] == 1.0


def test_a_multi_label_model_of_an_indicator_matrix():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    Y = (X[:, :3] > 0).astype(int)
    model = CoherentForestClassifier(n_estimators=5, random_state=0).fit(X[:50], Y[:50])
    facts = report(model, X[50:], Y[50:], n_bootstrap=20).facts
    assert facts["setting"]["data"]["several_paths"]
    wanted = metrics.micro_auprc(
        Y[50:], model.predict_node_proba(X[50:]), hierarchy=model.hierarchy_
    )
    area = next(each for each in facts["figures"] if each["name"] == "micro_auprc")
    assert area["value"] == pytest.approx(wanted)


def test_a_dag():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("b", "d")])
    model = KnownAnswers(dag, [{"c"}, {"d"}, {"a"}], several=True)
    facts = report(model, numbered(3), [{"c"}, {"c"}, {"a", "d"}], n_bootstrap=0).facts
    assert not facts["setting"]["hierarchy"]["is_tree"]
    assert facts["errors"]["wrong"] == 2


def test_a_single_row_and_a_single_class():
    star = Hierarchy.star(["only"])
    facts = report(KnownAnswers(star, ["only"]), numbered(1), ["only"], n_bootstrap=10).facts
    assert facts["figures"][0]["value"] == facts["figures"][0]["high"] == 1.0
    assert facts["figures"][0]["low"] == pytest.approx(1 / (1 + 1.96**2), abs=1e-4)  # Wilson's


# ---------------------------------------------------------------------- writing


@pytest.mark.parametrize("suffix", [".html", ".json", ".md", ".HTML"])
def test_formats_by_suffix(found, tmp_path, suffix):
    path = tmp_path / f"report{suffix}"
    found.write(path)
    assert path.stat().st_size > 1000
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_json_is_the_facts(found, tmp_path):
    path = tmp_path / "report.json"
    found.write(path)
    again = json.loads(path.read_text(encoding="utf-8"))
    assert again == found.facts
    assert repr(Report(again)) == repr(found)


def test_other_suffixes_are_refused(found, tmp_path):
    with pytest.raises(PalmetteError, match=r"expected a name that ends in .html, .json, .md"):
        found.write(tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())


def test_a_report_that_cannot_be_written_leaves_the_old_one(found, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    broken = Report({**found.facts, "nodes": object()})
    with pytest.raises(TypeError):
        broken.write(path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.data
def test_a_text_model_on_real_questions(data_home):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    data = fetch("clinc150")
    base = make_pipeline(TfidfVectorizer(max_features=2000), MultinomialNB(alpha=0.01))
    model = LocalPerParentClassifier(base, hierarchy=data.hierarchy)
    model.fit(data.X_train[::5], data.y_train[::5])
    X, y = data.X_test[::5], data.y_test[::5]
    facts = report(model, X, y, n_bootstrap=100).facts
    answers = model.predict(X)
    wanted = metrics.hierarchical_f1_score(y, answers, hierarchy=data.hierarchy)
    assert facts["figures"][0]["value"] == pytest.approx(wanted)
    assert facts["errors"]["wrong"] == sum(a != b for a, b in zip(y, answers, strict=True))
    assert all(example["text"] == X[example["row"]] for example in facts["examples"])
