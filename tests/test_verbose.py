"""Fits that may take long print their progress if `verbose` says so, and stay the same."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

import palmette as pm

X = np.random.default_rng(0).normal(size=(24, 4))
CODES = np.arange(24) % 3
X[np.arange(24), CODES] += 3.0
ONE_LABEL = np.array(["a", "b", "c"])[CODES]
LABEL_SETS = np.eye(3, dtype=int)[CODES] | np.eye(3, dtype=int)[(CODES + 1) % 3]

# what each prints, on either stream: joblib writes to the standard error
PRINTED = [
    (pm.CalibratedHierarchicalClassifier(GaussianNB(), cv=2, random_state=0), "Done"),
    (pm.ConformalHierarchicalClassifier(GaussianNB(), coverage=0.5, random_state=0), "Done"),
    (pm.DAGSVMClassifier(), "training 3 classifiers of two classes\nclassifiers trained\n"),
    (pm.HierarchicalFeatureSelector("fisher"), "features of 1 of 1 nodes\n"),
    (pm.HierarchicalFeatureSelector("hirr"), "sweep 1: objective "),
    (pm.LinearMultilabel(random_state=0), "3 of 3 labels\n"),
    (pm.ThresholdedMultilabel(pm.MLkNN(3), cv=2, random_state=0), "Done"),
    (pm.IBLR(3), "Done"),
    (pm.CoherentKernelClassifier(random_state=0), "gamma 1, ridge 0.01: "),
    (
        pm.CoherentBlendClassifier(
            [("forest", pm.CoherentForestClassifier(5)), ("kernel", pm.CoherentKernelClassifier())],
            random_state=0,
        ),
        "forest: fitting 16 rows, to choose the weights\n",
    ),
]
SETS = (
    pm.LinearMultilabel,
    pm.ThresholdedMultilabel,
    pm.IBLR,
    pm.CoherentKernelClassifier,
    pm.CoherentBlendClassifier,
)


@pytest.mark.parametrize(("model", "expected"), PRINTED, ids=lambda each: type(each).__name__)
def test_progress_is_printed_and_changes_nothing(model, expected, capsys):
    y = LABEL_SETS if isinstance(model, SETS) else ONE_LABEL
    quiet = clone(model).fit(X, y)
    assert capsys.readouterr() == ("", "")
    loud = clone(model).set_params(verbose=1).fit(X, y)
    assert expected in "".join(capsys.readouterr())
    method = "transform" if isinstance(model, pm.HierarchicalFeatureSelector) else "predict"
    np.testing.assert_array_equal(getattr(loud, method)(X), getattr(quiet, method)(X))


def test_a_selector_prints_about_ten_lines_or_one_per_node(capsys):
    y = [(f"g{i % 12}", f"c{i % 24}") for i in range(24)]
    pm.HierarchicalFeatureSelector("fisher", verbose=1).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) == 13
    selector = pm.HierarchicalFeatureSelector("hirr", verbose=2).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "features of 13 of 13 nodes"
    assert selector.score_.callback is None  # a function is no part of a model file


def test_a_callback_of_the_user_is_called_instead(capsys):
    seen = []
    score = pm.HirrScore(callback=lambda number, objective: seen.append(number))
    pm.HierarchicalFeatureSelector(score, verbose=1).fit(X, ONE_LABEL)
    assert seen
    assert "sweep" not in capsys.readouterr().out


def test_every_estimator_that_fits_models_has_it():
    """Learners of class trees are left out: they are a step of the fits that print their steps."""
    without = {
        name
        for name in pm.__all__
        if inspect.isclass(getattr(pm, name))
        and hasattr(getattr(pm, name), "fit")
        and "verbose" not in inspect.signature(getattr(pm, name)).parameters
    }
    assert {name for name in without if not name.endswith("Tree")} == {
        "GlobalNaiveBayesClassifier",
        "MLkNN",
    }
