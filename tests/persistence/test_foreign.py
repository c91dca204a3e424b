"""Foreign objects, kept together and read by skops."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer
from tests.persistence.round_trips import again, bytes_of

from palmette import PalmetteError
from palmette.persistence import save
from palmette.persistence._foreign import ForeignReader, untrusted_types
from palmette.persistence._skops import skops_io, tidy

SKOPS = skops_io()


def test_many_objects_are_spread_over_members():
    many = [LogisticRegression(C=i + 1) for i in range(150)]
    made = again(many)
    assert [each.C for each in made] == [each.C for each in many]


def test_numbers_of_no_object_are_refused():
    reader = ForeignReader(lambda name: bytearray(), ())
    for number in (-1, "0", None, True, 1.0):
        with pytest.raises(ValueError, match="there is no foreign object"):
            reader.get(number)


def test_untrusted_types_are_told():
    content = tidy(SKOPS.dumps([FunctionTransformer(np.save)]))
    assert untrusted_types(content) == ["numpy.save"]
    assert untrusted_types(content, ["numpy.save"]) == []


def test_without_skops_the_error_says_what_to_install(monkeypatch):
    real = importlib.import_module

    def without(name, *rest):
        if name.startswith("skops"):
            raise ImportError("No module named 'skops'")
        return real(name, *rest)

    monkeypatch.setattr("palmette.persistence._foreign.importlib.import_module", without)
    with pytest.raises(PalmetteError, match=r"pip install 'skops>=0\.14'"):
        bytes_of([LogisticRegression()])


class Plain:
    """An object that is no model."""


@pytest.mark.parametrize("value", [object(), ValueError("x"), Plain(), [1, object()]])
def test_what_is_no_model_is_refused_when_it_is_saved(value, tmp_path):
    with pytest.raises(PalmetteError, match="expected an estimator, a hierarchy, or lists"):
        save(value, tmp_path / "x.palmette")
    assert not (tmp_path / "x.palmette").exists()
