"""Tables and models that several tests use."""

from __future__ import annotations

import pytest
from tests.table.goods import make_goods

from palmette.table import fit_table


@pytest.fixture
def goods():
    return make_goods()


@pytest.fixture(scope="session")
def model():
    """Return a linear model of the goods, with texts, numbers, categories and dates."""
    return fit_table(make_goods(), "kind", model="class-tree", folds=0)
