"""Four methods over one weak learner."""

from __future__ import annotations

import pytest

from palmette.compare import describe_estimator
from palmette.exceptions import PalmetteError
from papers.adaboost_bhc.methods import find_methods


@pytest.mark.parametrize(("learner", "features"), [("few", "sqrt"), ("all", None)])
def test_all_grow_full_trees_of_drawn_rows(learner, features):
    made = {method.name: method.make(7, 3, 2) for method in find_methods(learner)}
    assert list(made) == ["MH", "MI", "ECC", "BHC"]
    for name, classifier in made.items():
        assert type(classifier).__name__ == f"AdaBoost{name}Classifier"
        settings = classifier.get_params(deep=False)
        assert (settings["n_estimators"], settings["random_state"], settings["n_jobs"]) == (7, 3, 2)
        weak = classifier if name == "BHC" else settings["weak_learner"]
        assert (weak.max_features, weak.max_depth, weak.resample) == (features, None, True)


def test_the_published_tree_starts_from_the_first_class():
    *_, published = find_methods("all")
    *_, ours = find_methods("few")
    assert "first_class" in describe_estimator(published.make(1, 0, 1))
    assert "first_class" not in describe_estimator(ours.make(1, 0, 1))


def test_an_unknown_learner():
    with pytest.raises(PalmetteError, match="learner='stump': expected one of few, all"):
        find_methods("stump")
