"""Reports and plots show labels of classes in a language, and the model predicts names."""

from __future__ import annotations

import numpy as np
import pytest

from palmette import FlatClassifier, Hierarchy, Vocabulary, report
from palmette.exceptions import HierarchyError

WORDS = Vocabulary(
    {
        "en": {"u:animal": "animal", "u:cat": "cat", "u:dog": "dog"},
        "fi": {"u:animal": "eläin", "u:cat": "kissa"},
    }
)


@pytest.fixture(scope="module")
def fitted():
    from sklearn.tree import DecisionTreeClassifier

    tree = Hierarchy.from_edges([("u:animal", "u:cat"), ("u:animal", "u:dog")], root="root")
    X = np.arange(20.0).reshape(-1, 1)
    y = np.where(X[:, 0] < 10, "u:cat", "u:dog")
    model = FlatClassifier(DecisionTreeClassifier(), hierarchy=tree.with_vocabulary(WORDS))
    return model.fit(X, y), X, y


def test_a_report_in_a_language(fitted):
    model, X, y = fitted
    assert set(model.predict(X)) == {"u:cat", "u:dog"}
    found = report(model, X, y, n_bootstrap=0, language="fi")
    assert found.facts["nodes"]["name"] == ["root", "eläin", "kissa", "dog"]
    words = str(found.facts["baselines"])
    assert "eläin > kissa" in words
    assert report(model, X, y, n_bootstrap=0).facts["nodes"]["name"][2] == "cat"


def test_labels_that_the_hierarchy_lacks_keep_their_names(fitted):
    model, X, y = fitted
    found = report(model, X, np.where(X[:, 0] < 2, "u:new", y), n_bootstrap=0, language="fi")
    assert sorted(found.facts["nodes"]["name"]) == ["dog", "eläin", "kissa", "root", "u:new"]


def test_an_unknown_language(fitted):
    model, X, y = fitted
    with pytest.raises(HierarchyError, match="language='sv': no label has it"):
        report(model, X, y, n_bootstrap=0, language="sv")


def test_a_plot_in_a_language(fitted):
    pytest.importorskip("matplotlib").use("Agg")
    from palmette.plotting import HierarchyDisplay

    display = HierarchyDisplay(fitted[0].hierarchy_, language="fi").plot()
    assert {text.get_text() for text in display.ax_.texts} == {"root", "eläin", "kissa", "dog"}
