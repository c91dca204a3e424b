"""Pictures without a screen; every figure is closed."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_screen():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")
