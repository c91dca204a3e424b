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
    settings = LabelTwoMeans("none", beta=1, n_starts=2, max_iter=7, max_rows=50).tree_settings()
    assert settings == {
        "idf": False,
        "beta": 1.0,
        "n_starts": 2,
        "cluster_iterations": 7,
        "cluster_rows": 50,
    }


def test_candidates_of_beta():
    assert LabelTwoMeans().betas() == (0.5,)
    assert LabelTwoMeans(beta="oob").betas() == (0, 0.25, 0.5, 0.75, 1)
    assert LabelTwoMeans(beta=[0.2, 1]).betas() == (0.2, 1.0)
    assert LabelTwoMeans("none", beta=[0.2, 1]).betas() == (0.2,)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weights": "tfidf"}, "weights='tfidf': expected 'idf' or 'none'"),
        ({"beta": 1.1}, r"beta=1\.1: expected a number from 0 to 1, several of them, or 'oob'"),
        ({"beta": (0.5, 2)}, r"beta=\(0\.5, 2\): expected a number from 0 to 1"),
        ({"beta": ()}, r"beta=\(\): expected a number from 0 to 1"),
        ({"beta": "cv"}, "beta='cv': expected a number from 0 to 1"),
        ({"beta": None}, "beta=None: expected a number from 0 to 1"),
        ({"n_starts": 0}, "n_starts=0: expected a positive integer"),
        ({"n_starts": 1.5}, r"n_starts=1\.5: expected a positive integer"),
        ({"n_starts": "a"}, "n_starts='a': expected a positive integer"),
        ({"max_iter": 0}, "max_iter=0: expected a positive integer"),
        ({"max_rows": 0}, "max_rows=0: expected a positive integer or None"),
        ({"max_rows": 0.5}, r"max_rows=0\.5: expected a positive integer or None"),
    ],
)
def test_what_cannot_be_is_refused(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        LabelTwoMeans(**parameters).tree_settings()
