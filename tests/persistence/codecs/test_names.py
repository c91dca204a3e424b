"""Types and functions, which a file holds by name."""

from __future__ import annotations

import inspect
import os

import numpy as np
import pytest
from scipy import sparse, special
from sklearn.feature_selection import f_classif
from tests.persistence.round_trips import again

import palmette
from palmette import PalmetteError, metrics
from palmette.persistence import _types, names

TYPES = [int, str, tuple, list, set, type(None), np.ndarray, np.float32, sparse.csr_array, dict]


@pytest.mark.parametrize("kind", [*TYPES, palmette.Hierarchy], ids=lambda kind: kind.__name__)
def test_types_come_back(kind):
    assert again((kind,))[0] is kind


def test_types_of_tables_come_back():
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    for kind in (pandas.DataFrame, pandas.Series, polars.DataFrame, polars.Series, pyarrow.Table):
        assert again(kind) is kind


@pytest.mark.parametrize(
    "function",
    [np.log1p, special.expit, f_classif, metrics.hierarchical_f1_score, np.mean],
    ids=lambda f: f.__name__,
)
def test_listed_functions_come_back(function):
    assert again({"f": function})["f"] is function


@pytest.mark.parametrize(
    "value",
    [os.system, eval, open, len, lambda x: x, np.save, np.load, "".join, test_types_come_back],
)
def test_other_functions_are_refused_by_name(value):
    with pytest.raises(PalmetteError, match=r"score_func.* cannot be saved.*: it is the function"):
        again({"score_func": value})


@pytest.mark.parametrize("kind", [os.PathLike, type("Made", (), {}), Exception, property])
def test_other_types_are_refused_by_name(kind):
    with pytest.raises(PalmetteError, match=r"kind.* cannot be saved.*: it is the class"):
        again({"kind": kind})


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "numpy.load",
        "numpy.save",
        "builtins.eval",
        "eval",
        "",
        None,
        "palmette.metrics.os",
    ],
)
def test_names_of_other_functions_lead_to_nothing(name):
    with pytest.raises(ValueError, match="is not a function that a file may name"):
        _types.find_function(name)


@pytest.mark.parametrize(
    "name", ["eval", "os.PathLike", "numpy.load", "builtins.int", "pandas.read_pickle", "", None]
)
def test_names_of_other_types_lead_to_nothing(name):
    with pytest.raises(ValueError, match="is not a class that a file may contain"):
        _types.find_type(name)


def test_every_listed_function_is_there_and_is_a_function():
    for module, listed in _types._FUNCTIONS.items():
        for name in listed:
            function = _types.find_function(f"{module}.{name}")
            assert callable(function)
            assert not inspect.isclass(function)


def test_a_class_is_found_only_in_the_module_that_defines_it():
    assert names.import_class("sklearn.pipeline.Pipeline").__name__ == "Pipeline"
    assert names.import_class("sklearn.pipeline.StandardScaler") is None
    assert names.import_class("sklearn.pipeline.make_pipeline") is None
    assert names.import_class("sklearn.nothing.Pipeline") is None
    assert names.import_class("no such.name") is None
