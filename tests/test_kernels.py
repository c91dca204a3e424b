"""The stored machine code of kernels: which sources it is of, and where it is."""

from __future__ import annotations

import gc
import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numba import TypingError

from palmette import _kernel_files, _kernels
from palmette._kernels import as_read_only, inner, kernel

CALLER = """
from palmette._kernels import kernel
from palmette._mini_middle import middle

@kernel
def answer(x):
    return middle(x)
"""
MIDDLE = """
from palmette._kernels import inner
from palmette._mini_callee import FACTOR, callee

@inner
def middle(x):
    return FACTOR * callee(x)
"""
CALLEE = """
from palmette._kernels import inner

FACTOR = 10

@inner
def callee(x):
    return x + 1
"""


def forget() -> None:
    for function in (_kernel_files._source, _kernel_files.source_hash, _kernel_files.cache_folder):
        function.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder that stands for that of the package, with three modules."""
    folder = tmp_path / "palmette"
    folder.mkdir()
    for name, text in (("caller", CALLER), ("middle", MIDDLE), ("callee", CALLEE)):
        (folder / f"_mini_{name}.py").write_text(text)
    monkeypatch.setattr(_kernel_files, "_PACKAGE", folder)
    monkeypatch.setattr(_kernel_files._config, "CACHE_DIR", "")
    forget()
    yield folder
    for name in ("caller", "middle", "callee"):
        sys.modules.pop(f"palmette._mini_{name}", None)
    forget()


def load(folder: Path) -> ModuleType:
    """Import the modules as a new process would."""
    forget()
    for name in ("callee", "middle", "caller"):
        path = folder / f"_mini_{name}.py"
        spec = importlib.util.spec_from_file_location(f"palmette._mini_{name}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        # not from the bytecode of an earlier text of the same second
        exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return module


def stored(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*.nb[ic]")}


def test_a_changed_callee_is_compiled_again(package):
    first = load(package).answer
    assert first(1) == 20
    files = stored(package)
    assert len(files) == 2
    again = load(package).answer
    assert again(1) == 20
    assert sum(again.stats.cache_hits.values()) == 1

    callee = package / "_mini_callee.py"
    callee.write_text(CALLEE.replace("x + 1", "x + 2"))
    changed = load(package).answer
    assert changed(1) == 30
    assert not changed.stats.cache_hits
    assert len(stored(package)) == 2  # those of the old sources are removed
    assert not stored(package) & files

    callee.write_text(CALLEE.replace("FACTOR = 10", "FACTOR = 7"))
    assert load(package).answer(1) == 14


def test_other_modules_do_not_count(package):
    before = _kernel_files.source_hash("_mini_middle")
    (package / "_mini_caller.py").write_text(CALLER + "\nOTHER = 1\n")
    forget()
    assert _kernel_files.source_hash("_mini_middle") == before


def test_a_folder_that_numba_is_told_is_taken(package, tmp_path, monkeypatch):
    monkeypatch.setattr(_kernel_files._config, "CACHE_DIR", str(tmp_path / "told"))
    load(package).answer(1)
    assert len(stored(tmp_path / "told")) == 2
    assert not stored(package)


@pytest.fixture
def locked(package, tmp_path, monkeypatch):
    """A package in whose folder nothing can be written, and an empty home."""
    (package / "__pycache__").write_text("a file where the folder would be")
    (tmp_path / "home").mkdir()
    monkeypatch.setattr(_kernel_files.sys, "platform", "linux")
    monkeypatch.setattr(_kernel_files.Path, "home", lambda: tmp_path / "home")
    return package


@pytest.mark.parametrize("given", ["", "relative", None])
def test_a_folder_of_the_user_is_taken_where_that_of_the_package_is_locked(
    locked, tmp_path, monkeypatch, given
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches") if given is None else given)
    folder = _kernel_files.cache_folder()
    expected = tmp_path / "caches" if given is None else tmp_path / "home" / ".cache"
    assert folder is not None
    assert folder.parent == expected / "palmette"


def test_kernels_work_where_nothing_can_be_written(locked, tmp_path, monkeypatch):
    (tmp_path / "home" / ".cache").write_text("a file where the folder would be")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert load(locked).answer(1) == 20
    assert _kernel_files.cache_folder() is None


def test_files_that_are_cut_short_are_compiled_again(package):
    load(package).answer(1)
    for path in package.rglob("*.nb[ic]"):
        path.write_bytes(path.read_bytes()[:10])
    assert load(package).answer(1) == 20


def test_inner_functions_run_uncompiled_in_python():
    square = inner(lambda x: x * x)
    assert square(3) == 9
    assert not square.overloads
    assert kernel(lambda x: square(x) + 1)(3) == 10


def test_a_read_only_view_in_a_kernel_keeps_its_array():
    total = inner(lambda values: values[0] + values[1])

    @kernel
    def both(size):
        values = np.empty(size, np.int64)
        values[0], values[1] = 3, 4
        return total(as_read_only(values)), as_read_only(values)

    found, values = both(2)
    assert found == 7
    assert values.tolist() == [3, 4]
    assert not values.flags.writeable


def test_garbage_is_collected_again_after_a_compilation(package):
    load(package).answer(1)
    assert gc.isenabled()
    (package / "_mini_callee.py").write_text(CALLEE.replace("x + 1", "x.nothing"))
    with pytest.raises(TypingError):
        load(package).answer(1)
    assert gc.isenabled()


def test_seconds_of_compilation_are_counted_and_those_of_loading_are_not(package):
    before, start = _kernels.seconds_compiling(), time.monotonic()
    load(package).answer(1)
    passed = time.monotonic() - start
    compiled = _kernels.seconds_compiling() - before
    assert 0.2 * passed < compiled < passed
    load(package).answer(1)  # from the file
    assert _kernels.seconds_compiling() - before == compiled


NESTED = """
from palmette._kernels import kernel

@kernel
def callee(x):
    return [x, x + 1][x % 2]

FACTOR = 10
"""


def test_a_kernel_that_another_one_calls_can_be_called_too(package):
    (package / "_mini_callee.py").write_text(NESTED)
    load(package).answer(1)  # stores the callee
    (package / "_mini_caller.py").write_text(CALLER + "\n# other sources\n")
    assert load(package).answer(1) == 20  # is compiled, with a callee that is loaded
    assert sys.modules["palmette._mini_callee"].callee(1) == 2


def test_errors_of_inner_functions_are_raised_by_kernels_compiled_or_loaded(package):
    failing = CALLEE.replace(
        "return x + 1", "if x < 0:\n        raise ValueError('below', x)\n    return x"
    )
    (package / "_mini_callee.py").write_text(failing)
    for _ in range(2):
        with pytest.raises(ValueError, match="below"):
            load(package).answer(-1)
