"""`palmette compile`: small models are fitted, so that their kernels are stored."""

from __future__ import annotations

import numpy as np
import pytest

import palmette as pm
from palmette import _kernel_files
from palmette.cli import compile as module


class Noting:
    """A model that notes what it is fitted to, and takes one label per row only."""

    def __init__(self):
        self.seen = []

    def fit(self, X, y):
        self.seen.append((isinstance(X, np.ndarray), isinstance(y, np.ndarray)))
        if not isinstance(y, np.ndarray):
            raise pm.exceptions.PalmetteError("several labels")
        return self

    def predict(self, X):
        return X


@pytest.fixture
def model(monkeypatch):
    noting = Noting()
    for part in module.PARTS:
        models = [noting] if part == "others" else []
        monkeypatch.setitem(module.FITS, part, lambda models=models: module._named(*models))
    return noting


def test_models_are_fitted_to_every_kind_of_rows(model, capsys):
    module.command()
    dense, one = True, True
    assert model.seen == [(dense, one), (dense, False), (False, one), (False, False)]
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Noting: ")
    assert str(_kernel_files.cache_folder()) in last


def test_it_fails_where_nothing_can_be_stored(model, monkeypatch):
    monkeypatch.setattr(_kernel_files, "cache_folder", lambda: None)
    with pytest.raises(pm.exceptions.PalmetteError, match="NUMBA_CACHE_DIR"):
        module.command()
    assert not model.seen


def test_every_part_gives_models():
    for part in ("forests", "others", "texts", "large"):
        assert list(module.FITS[part]())
