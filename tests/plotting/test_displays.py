"""What all displays share: axes that are given are used, `from_*` and `plot` give the display."""

from __future__ import annotations

import ast
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from palmette import plotting
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.local import LocalPerParentClassifier
from palmette.plotting import (
    CoverageDisplay,
    CriticalDifferenceDisplay,
    HierarchicalConfusionDisplay,
    HierarchicalReliabilityDisplay,
    HierarchyDisplay,
    TrainingCurveDisplay,
)

PATHS = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


@pytest.fixture(scope="module")
def fitted():
    """Return a fitted model with the rows and labels that it was fitted on."""
    rng = np.random.default_rng(0)
    codes = np.arange(80) % 4
    X = rng.normal(0, 0.8, (80, 3)) + 2.0 * np.eye(4, 3)[codes]
    y = [PATHS[code] for code in codes]
    model = LocalPerParentClassifier(LogisticRegression(), hierarchy=Hierarchy.from_paths(PATHS))
    return model.fit(X, y), X, y


MAKERS = {
    "tree": lambda m, X, y, **o: HierarchyDisplay.from_estimator(m, X, y, **o),
    "bare tree": lambda m, X, y, **o: HierarchyDisplay.from_estimator(m, **o),
    "confusion": lambda m, X, y, **o: HierarchicalConfusionDisplay.from_estimator(m, X, y, **o),
    "reliability": lambda m, X, y, **o: HierarchicalReliabilityDisplay.from_estimator(m, X, y, **o),
    "coverage": lambda m, X, y, **o: CoverageDisplay.from_estimator(m, X, y, **o),
    "ranks": lambda m, X, y, **o: CriticalDifferenceDisplay.from_scores(X[:6], **o),
    "training": lambda m, X, y, **o: TrainingCurveDisplay({"training loss": [2.0, 1.0]}).plot(**o),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_given_axes_are_used_and_others_made(fitted, make):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    display = make(*fitted, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.has_data()
    assert display.plot() is display
    assert display.ax_ is not ax
    display.figure_.canvas.draw()  # everything can be drawn


def test_displays_are_named_as_in_scikit_learn():
    assert all(name.endswith("Display") for name in plotting.__all__)


def test_matplotlib_waits_until_it_is_needed():
    for path in Path(plotting.__file__).parent.glob("*.py"):
        outside = ast.parse(path.read_text()).body
        named = [alias.name for node in outside if isinstance(node, ast.Import) for alias in
                 node.names]  # fmt: skip
        named += [node.module for node in outside if isinstance(node, ast.ImportFrom)]
        assert not [name for name in named if name.startswith("matplotlib")], path


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PalmetteError, match=r"pip install 'palmette\[plot\]'"):
        TrainingCurveDisplay({"loss": [1.0]}).plot()


# ---------------------------------------------------------------------- trees


def test_the_scores_of_nodes_are_those_of_the_counts(fitted):
    display = HierarchyDisplay.from_predictions(
        ["a/x", "a/x", "b/y"], ["a/x", "a/y", "b/y"], fitted[0].hierarchy_, value="recall"
    )
    expected = [np.nan, 1.0, 0.5, np.nan, 1.0, np.nan, 1.0]
    np.testing.assert_array_equal(display.values, expected)
    with pytest.raises(PalmetteError, match="value='nix'"):
        HierarchyDisplay.from_predictions(["a"], ["a"], value="nix")
    with pytest.raises(PalmetteError, match=r"shape \(2,\)"):
        HierarchyDisplay(fitted[0].hierarchy_, [1.0, 2.0])


def test_large_trees_are_cut_and_names_are_no_mathematics():
    names = [f"$n_{i}" for i in range(500)]
    display = HierarchyDisplay(Hierarchy.star(names)).plot(max_nodes=20)
    assert display.layout_.n_marks <= 20
    texts = [text.get_text() for text in display.ax_.texts]
    assert "… 482 more" in texts
    assert r"\$n_0" in texts
    display.figure_.canvas.draw()


def test_a_dag_has_dashed_links():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    display = HierarchyDisplay(dag, [1.0, 2.0, np.nan, 3.0], "size").plot()
    assert display.layout_.links.shape == (1, 2)
    assert len(display.figure_.axes) == 2  # the colours are explained


# ---------------------------------------------------------------------- confusion


def test_levels_and_siblings(fitted):
    h = fitted[0].hierarchy_
    true, pred = ["a/x", "a/x", "a/y", "b/x"], ["a/x", "b/x", "a/x", "b/y"]
    level = HierarchicalConfusionDisplay.from_predictions(true, pred, h)
    assert level.row_names == ["a", "b"]
    assert level.matrix.tolist() == [[2.0, 1.0], [0.0, 1.0]]
    siblings = HierarchicalConfusionDisplay.from_predictions(
        true, pred, h, parent="a", normalize="true"
    )
    assert siblings.column_names == ["x", "y", "elsewhere"]
    assert siblings.matrix.tolist() == [[0.5, 0.0, 0.5], [1.0, 0.0, 0.0]]
    deep = HierarchicalConfusionDisplay.from_predictions(true, pred, h, level=2)
    assert deep.row_names == ["a/x", "a/y", "b/x", "b/y"]
    assert deep.matrix.sum() == 4


def test_the_nodes_of_most_rows_are_kept():
    true = ["a"] * 5 + ["b"] * 3 + ["c"]
    display = HierarchicalConfusionDisplay.from_predictions(true, true, max_nodes=2)
    assert display.row_names == ["a", "b", "elsewhere"]
    assert np.diag(display.matrix).tolist() == [5.0, 3.0, 1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1, "parent": "a"}, "expected only one of them"),
        ({"normalize": "rows"}, "normalize='rows'"),
        ({"level": 7}, "level=7"),
        ({"parent": "a/x"}, "is a leaf"),
        ({"parent": "b"}, "no row has a true label among the children of b"),
    ],
)
def test_mistakes_of_confusion(fitted, options, message):
    h = fitted[0].hierarchy_
    with pytest.raises(PalmetteError, match=message):
        HierarchicalConfusionDisplay.from_predictions(["a/x"], ["a/x"], h, **options)


# ---------------------------------------------------------------------- confidence


def test_confidence_by_level(fitted):
    model, X, y = fitted
    display = HierarchicalReliabilityDisplay.from_estimator(model, X, y, levels=[2], n_bins=5)
    assert list(display.curves) == [2]
    assert display.curves[2].weight.sum() == len(y)
    with pytest.raises(PalmetteError, match="expected depths from 1 to 2"):
        HierarchicalReliabilityDisplay.from_estimator(model, X, y, levels=[3])
    coverage = CoverageDisplay.from_estimator(model, X, y)
    assert coverage.curves[1].coverage[-1] == 1.0


def test_pipelines_have_probabilities_too(fitted):
    model, X, y = fitted
    piped = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    expected = piped[-1].predict_node_proba(piped[:-1].transform(X))
    curves = CoverageDisplay.from_predictions(y, expected, model.hierarchy_).curves
    search = GridSearchCV(piped, {}, cv=2).fit(X, y)
    for estimator in (piped, search):
        found = CoverageDisplay.from_estimator(estimator, X, y).curves
        np.testing.assert_array_equal(found[2].accuracy, curves[2].accuracy)


def test_class_probabilities_of_a_flat_classifier_are_used(fitted):
    _, X, y = fitted
    labels = ["/".join(label) for label in y]
    flat = GaussianNB().fit(X, labels)
    proba = np.column_stack([np.ones(len(y)), flat.predict_proba(X)])
    star = Hierarchy.star(flat.classes_.tolist())
    expected = CoverageDisplay.from_predictions(labels, proba, star).curves
    found = CoverageDisplay.from_estimator(flat, X, labels).curves
    np.testing.assert_array_equal(found[1].accuracy, expected[1].accuracy)


def test_models_without_probabilities_or_labels_are_refused(fitted):
    _, X, y = fitted
    labels = ["/".join(label) for label in y]
    flat = Perceptron().fit(X, labels)
    with pytest.raises(PalmetteError, match="Perceptron has no probabilities"):
        CoverageDisplay.from_estimator(flat, X, labels)
    with pytest.raises(PalmetteError, match="y is missing"):
        CoverageDisplay.from_estimator(fitted[0], X)
    assert HierarchyDisplay.from_estimator(flat).hierarchy.n_nodes == 5
    with pytest.raises(PalmetteError, match="Call `fit` first"):
        HierarchyDisplay.from_estimator(GaussianNB())


# ---------------------------------------------------------------------- nothing covers anything


def boxes(texts):
    return [text.get_window_extent() for text in texts]


@pytest.mark.parametrize("name", ["reliability", "coverage", "training"])
def test_legends_stand_outside_and_name_curves_only(fitted, name):
    display = MAKERS[name](*fitted)
    if name == "training":
        display = TrainingCurveDisplay.from_estimator(Remembering(), [[0.0]], [1])
    display.figure_.canvas.draw()
    legend = display.ax_.get_legend()
    assert legend.get_window_extent().y0 >= display.ax_.get_window_extent().y1 - 1
    words = [text.get_text() for text in legend.get_texts()]
    assert len(words) >= 2
    assert not [word for word in words if word.startswith("_")]


def test_notes_of_equal_curves_do_not_cover_each_other():
    tree = Hierarchy.from_paths([("a", "x"), ("b", "y")])
    sure = np.linspace(0.4, 0.99, 60)
    proba = np.column_stack([np.ones(60), sure, sure, 1 - sure, 1 - sure])
    truth = ["a/x" if row % 5 else "b/y" for row in range(60)]
    display = CoverageDisplay.from_predictions(truth, proba, tree)
    display.figure_.canvas.draw()
    found = boxes(display.ax_.texts)
    assert len(found) == 6  # three thresholds of each of two levels
    for place, box in enumerate(found):
        assert not any(box.overlaps(other) for other in found[place + 1 :])


def test_long_numbers_stay_in_their_cells():
    matrix = np.zeros((12, 12))
    matrix[0] = 1234567.0
    names = [str(k) for k in range(12)]
    display = HierarchicalConfusionDisplay(matrix, names, names).plot()
    display.figure_.canvas.draw()
    row = boxes(display.text_[0])
    assert not any(a.overlaps(b) for a, b in pairwise(row))


# ---------------------------------------------------------------------- ranks


def test_a_diagram_names_all_and_joins_those_that_do_not_differ():
    rng = np.random.default_rng(0)
    scores = rng.random((14, 4)) + np.array([0, 0.1, 0.9, 1.0])
    names = ["poor", "fair", "good", "best"]
    display = CriticalDifferenceDisplay.from_scores(scores, methods=names)
    texts = " ".join(text.get_text() for text in display.ax_.texts)
    assert all(name in texts for name in names)
    assert "critical difference" in texts
    bars = [line for line in display.ax_.lines if line.get_linewidth() > 3]
    assert len(bars) == len(display.result.groups) == 2


def test_wilcoxon_has_no_critical_difference():
    scores = np.random.default_rng(0).random((14, 3))
    display = CriticalDifferenceDisplay.from_scores(scores, posthoc="wilcoxon-holm", control=1)
    assert not any("critical" in text.get_text() for text in display.ax_.texts)


# ---------------------------------------------------------------------- training


class Remembering:
    """Stands for what remembers its training."""

    train_loss_ = np.array([3.0, 2.0, 1.0])
    validation_loss_ = np.array([3.0, 2.5, 2.6])

    def staged_score(self, X, y):
        yield from (0.5, 0.6, 0.7)


def test_losses_and_scores_have_an_axis_each():
    display = TrainingCurveDisplay.from_estimator(Remembering(), [[0.0]], [1])
    assert list(display.curves) == ["training loss", "validation loss", "accuracy on these rows"]
    assert len(display.figure_.axes) == 2
    assert display.ax_.lines[0].get_xdata().tolist() == [1, 2, 3]
    assert display.ax_.get_xlabel() == "round"


def test_curves_of_boosting_and_of_selectors():
    from palmette.boosting import HierarchicalAdaBoostClassifier
    from palmette.feature_selection import HierarchicalFeatureSelector

    rng = np.random.default_rng(0)
    codes = np.arange(40) % 4
    X = rng.normal(0, 0.5, (40, 3)) + 2.0 * np.eye(4, 3)[codes]
    y = [PATHS[code] for code in codes]
    h = Hierarchy.from_paths(PATHS)
    boosted = HierarchicalAdaBoostClassifier(h, n_estimators=4).fit(X, y)
    piped = make_pipeline(StandardScaler(), boosted)
    curves = TrainingCurveDisplay.from_estimator(piped).curves
    assert len(curves["training loss"]) == 4
    selector = HierarchicalFeatureSelector(hierarchy=h, n_features_to_select=2).fit(X, y)
    display = TrainingCurveDisplay.from_estimator(selector)
    assert list(display.curves) == ["objective"]
    assert (np.diff(display.curves["objective"]) <= 1e-9).all()
    assert display.ax_.lines[0].get_xdata()[0] == 0


def test_what_remembers_nothing_is_told():
    with pytest.raises(PalmetteError, match="GaussianNB has no training curve"):
        TrainingCurveDisplay.from_estimator(GaussianNB())
    with pytest.raises(PalmetteError, match="has no staged_score"):
        TrainingCurveDisplay.from_estimator(GaussianNB(), [[0.0]], [1])
