"""Properties of the selector that hold for every score."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from tests.laws import laws_of

from palmette.feature_selection import HierarchicalFeatureSelector

SELECTORS = [
    HierarchicalFeatureSelector("fisher"),
    HierarchicalFeatureSelector("fsnm", n_features_to_select=0.25),
    HierarchicalFeatureSelector("mrmr", n_features_to_select=2),
    HierarchicalFeatureSelector("hirr", n_features_to_select=2),
]


@pytest.mark.parametrize("law", list(laws_of(SELECTORS[0])), ids=lambda law: law.__name__)
@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: s.get_params()["score"])
def test_law(selector, law):
    law(clone(selector))
