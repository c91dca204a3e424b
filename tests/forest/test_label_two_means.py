"""LabelTwoMeans: its tree settings and its errors."""

from __future__ import annotations

import pytest

from palmette import PalmetteError
from palmette.forest._tree_kernel import TreeSettings
from palmette.partition import LabelTwoMeans


def test_by_default_it_says_what_the_kernel_does_by_default():
    settings = LabelTwoMeans().tree_settings()
    assert TreeSettings(**settings) == TreeSettings()
    for name, value in settings.items():
        assert type(value) is type(getattr(TreeSettings(), name)), name


def test_parameters_reach_the_kernel():
    settings = LabelTwoMeans("none", beta=1, n_starts=2, max_iter=7).tree_settings()
    assert settings == {"idf": False, "beta": 1.0, "n_starts": 2, "cluster_iterations": 7}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weights": "tfidf"}, "weights='tfidf': expected 'idf' or 'none'"),
        ({"beta": 1.1}, r"beta=1\.1: expected a number from 0 to 1"),
        ({"n_starts": 0}, "n_starts=0: expected a positive integer"),
        ({"max_iter": 0}, "max_iter=0: expected a positive integer"),
    ],
)
def test_what_cannot_be_is_refused(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        LabelTwoMeans(**parameters).tree_settings()
