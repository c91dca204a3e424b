"""The private parts of numba that kernels use: a failure here says which one has moved.

The metadata names the versions of numba and llvmlite with which these tests, and those of kernels,
have passed at both ends. A new version may be allowed after they have passed with it.
"""

from __future__ import annotations

import inspect
import pickle
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import llvmlite
import numba
import numpy as np
import pytest
from numba import types
from packaging.requirements import Requirement

from palmette import _numba_parts


@pytest.mark.parametrize("library", [numba, llvmlite])
def test_the_installed_version_is_one_that_is_supported(library):
    project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())
    required = map(Requirement, project["project"]["dependencies"])
    (range_,) = (each.specifier for each in required if each.name == library.__name__)
    assert {each.operator for each in range_} == {">=", "<"}
    assert library.__version__ in range_


def test_private_names_of_numba_are_in_one_file():
    named = re.compile(r"^\s*(from|import) numba\.(core|np|misc)\b", re.MULTILINE)
    files = Path(_numba_parts.__file__).parent.rglob("*.py")
    found = [path.name for path in files if named.search(path.read_text(encoding="utf-8"))]
    assert found == ["_numba_parts.py"]


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_functions_have_the_parameters_with_which_they_are_called_or_overridden():
    parts = _numba_parts
    assert parameters(parts.NullCache.load_overload) == ["sig", "target_context"]
    assert parameters(parts.NullCache.save_overload) == ["sig", "cres"]
    assert parameters(parts.Compiler)[:3] == ["typingctx", "targetctx", "library"]
    assert parameters(parts.lookup_environment) == ["env_name"]
    library = parts.JITCodeLibrary
    for name in ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals"):
        assert parameters(getattr(library, name)) == []
    assert parameters(library.get_pointer_to_function) == ["name"]
    assert isinstance(library.codegen, property)
    assert parameters(parts.event.Listener.on_start) == ["event"]
    assert parameters(parts.event.register) == ["kind", "listener"]


def test_a_result_of_a_compilation_goes_through_bytes():
    @numba.njit
    def add(x, y):
        return x + y

    assert add(1, 2) == 3
    (result,) = add.overloads.values()
    assert _numba_parts.is_storable(result)
    again = _numba_parts.rebuilt(result.target_context, pickle.loads(_numba_parts.reduced(result)))
    assert again.signature == result.signature


def test_what_calls_return_is_made_without_python_code():
    @numba.njit
    def both(x):
        return Pair(1, 2), x + 1

    both(np.zeros(2))
    before = _numba_parts.unpickle.cache_info()
    both(np.zeros(2))
    after = _numba_parts.unpickle.cache_info()
    assert after.hits > before.hits
    assert after.misses == before.misses


def test_settings_are_texts_that_name_the_processor(monkeypatch):
    codegen = _numba_parts.cpu_target.target_context.codegen()
    before = _numba_parts.settings(codegen)
    assert numba.__version__ in before
    assert any(codegen._get_host_cpu_name() in each for each in before)
    assert {type(each) for each in before} == {str}
    monkeypatch.setattr(_numba_parts.config, "BOUNDSCHECK", 1)
    assert _numba_parts.settings(codegen) != before


class Pair(NamedTuple):
    first: int
    second: int


class Other(NamedTuple):
    first: int
    second: int


def kinds():
    """Types of arguments of which many look alike."""
    for dtype in (types.int64, types.float64, types.float32, types.boolean, types.uint8):
        yield dtype
        yield types.Omitted(str(dtype))
        for layout in "CFA":
            for n_dimensions in (1, 2):
                yield types.Array(dtype, n_dimensions, layout)
                yield types.Array(dtype, n_dimensions, layout, readonly=True)
                yield types.Array(dtype, n_dimensions, layout, aligned=False)
        yield types.UniTuple(dtype, 2)
        yield types.Tuple((dtype, types.none))
    for kind in (Pair, Other):
        yield types.NamedTuple((types.int64, types.none), kind)
        yield types.NamedUniTuple(types.int64, 2, kind)
    yield from (types.none, types.Omitted(None), types.Omitted(1), types.Omitted(1.0))
    yield from (types.Omitted(True), types.Omitted("none"))


def test_types_have_one_spelling_each():
    spelled = {}
    for kind in kinds():
        other = spelled.setdefault(_numba_parts.spelled((kind,)), kind)
        assert other == kind
        assert type(other) is type(kind)
    assert len(spelled) == len(set(kinds()))
    signature = types.int64(types.int64)
    assert _numba_parts.spelled(signature) != _numba_parts.spelled(signature.args)


def test_options_are_spelled_in_any_order():
    spelled = _numba_parts.spelled
    assert spelled({"a": {"nsz", "nnan"}, "b": 1}) == spelled({"b": 1, "a": {"nnan", "nsz"}})
    assert spelled({"a": 1}) != spelled({"a": True})
    assert "\n" not in spelled(("\n", b"\n"))


@pytest.mark.parametrize("value", [numba.njit(lambda x: x), np.float64(1.0), Path()])
def test_what_may_look_alike_in_other_processes_is_not_spelled(value):
    with pytest.raises(TypeError, match="no spelling"):
        _numba_parts.spelled((value,))
