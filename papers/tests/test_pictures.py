"""Figures: the state of pyplot does not change, equal data give equal files."""

from __future__ import annotations

import sys

import pytest

from palmette.exceptions import PalmetteError
from papers.drawing import new_figure, png_of, require_matplotlib


def test_equal_figures_are_equal_files():
    first, second = (png_of(new_figure(2, 1, "title")) for _ in range(2))
    assert first == second
    assert first.startswith(b"\x89PNG")


def test_pyplot_knows_nothing_of_it():
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    new_figure(2, 1, "title")
    assert pyplot.get_fignums() == before


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PalmetteError, match=r"pip install 'palmette\[plot\]'"):
        require_matplotlib()
