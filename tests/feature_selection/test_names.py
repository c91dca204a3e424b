"""Scores by name."""

from __future__ import annotations

import pytest
from sklearn.feature_selection import chi2

from palmette import PalmetteError
from palmette.feature_selection._base import FeatureScore
from palmette.feature_selection._selector import SCORES, resolve_score
from palmette.feature_selection._univariate import FisherScore, UnivariateScore


@pytest.mark.parametrize("name", SCORES)
def test_every_name_stands_for_a_score(name):
    assert isinstance(resolve_score(name), FeatureScore)
    assert type(resolve_score(name.upper())) is type(resolve_score(name))


def test_published_names_are_settings():
    assert isinstance(resolve_score("HierFisher"), FisherScore)
    assert resolve_score("HierMRMR").bins == "round"
    assert not resolve_score("HierFSNM").standardize
    both = resolve_score("HiRRfam-FS")
    assert (both.parent, both.sibling) == (1.0, 1.0)
    none = resolve_score("Hier-FS")
    assert (none.parent, none.sibling) == (0.0, 0.0)


def test_objects_and_functions_are_taken():
    score = FisherScore()
    assert resolve_score(score) is score
    wrapped = resolve_score(chi2)
    assert isinstance(wrapped, UnivariateScore)
    assert wrapped.function is chi2


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("relief", "score='relief' is unknown: expected one of 'hirr', 'fisher'"),
        (FisherScore, r"the class FisherScore: expected an object, FisherScore\(\)"),
        (3, "score=3 is unknown"),
    ],
    ids=str,
)
def test_what_is_no_score_is_described(score, message):
    with pytest.raises(PalmetteError, match=message):
        resolve_score(score)
