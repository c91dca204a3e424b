"""A selector that is not fitted says so, whatever is asked of it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from palmette.feature_selection import HierarchicalFeatureSelector


@pytest.mark.parametrize(
    "ask",
    [
        lambda selector: selector.transform(np.zeros((2, 3))),
        lambda selector: selector.transform(np.zeros((2, 3)), node="a"),
        lambda selector: selector.get_support("a"),
        lambda selector: selector.get_feature_names_out(),
        lambda selector: selector.reduced_to(1),
    ],
    ids=["transform", "transform of a node", "get_support", "get_feature_names_out", "reduced_to"],
)
def test_it_is_told_that_fit_comes_first(ask):
    with pytest.raises(NotFittedError, match="HierarchicalFeatureSelector"):
        ask(HierarchicalFeatureSelector())
