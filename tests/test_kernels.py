"""The stored machine code of kernels: which sources it is of, where it is, and what is not read."""

from __future__ import annotations

import ast
import gc
import importlib.util
import logging
import multiprocessing
import os
import pickle
import random
import shutil
import signal
import sys
import time
import types
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numba import TypingError

import palmette as pm
from palmette import _kernel_files, _kernels, _numba_parts
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
    """Forget what was found out about sources and folders, as a new process would."""
    for function in vars(_kernel_files).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder that stands for that of the package, with three modules."""
    folder = tmp_path / "palmette"
    folder.mkdir()
    for name, text in (("caller", CALLER), ("middle", MIDDLE), ("callee", CALLEE)):
        (folder / f"_mini_{name}.py").write_text(text)
    monkeypatch.setattr(_kernel_files, "_PACKAGE", folder)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    forget()
    yield folder
    for name in ("caller", "middle", "callee"):
        sys.modules.pop(f"palmette._mini_{name}", None)
    forget()


def load(folder: Path, optimize: int = 0) -> ModuleType:
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
        code = compile(path.read_text(), str(path), "exec", optimize=optimize)
        exec(code, module.__dict__)
    return module


def stored(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*.kernel")}


def was_loaded(function: object) -> bool:
    """Return whether all variants of a kernel that this process has come from files."""
    stats = function.stats  # type: ignore[attr-defined]
    return bool(stats.cache_hits) and not stats.cache_misses


def test_a_changed_callee_is_compiled_again(package):
    first = load(package).answer
    assert first(1) == 20
    files = stored(package)
    assert len(files) == 1
    again = load(package).answer
    assert again(1) == 20
    assert was_loaded(again)

    callee = package / "_mini_callee.py"
    callee.write_text(CALLEE.replace("x + 1", "x + 2"))
    changed = load(package).answer
    assert changed(1) == 30
    assert not was_loaded(changed)
    assert len(stored(package)) == 1  # those of the old sources are removed
    assert not stored(package) & files

    callee.write_text(CALLEE.replace("FACTOR = 10", "FACTOR = 7"))
    assert load(package).answer(1) == 14


def test_other_modules_do_not_count(package):
    before = _kernel_files.source_hash("_mini_middle")
    (package / "_mini_caller.py").write_text(CALLER + "\nOTHER = 1\n")
    forget()
    assert _kernel_files.source_hash("_mini_middle") == before


def test_a_folder_that_numba_is_told_is_taken(package, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "told"))
    load(package).answer(1)
    assert len(stored(tmp_path / "told")) == 1
    assert not stored(package)


def test_a_folder_that_a_file_tells_numba_is_not_taken(package, tmp_path, monkeypatch):
    """As a .numba_config.yaml in the current folder does: machine code of a stranger would run."""
    monkeypatch.setattr(_numba_parts.config, "CACHE_DIR", str(tmp_path / "strange"))
    load(package).answer(1)
    assert not (tmp_path / "strange").exists()
    assert len(stored(package)) == 1


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


def test_kernels_work_where_nothing_can_be_written(locked, tmp_path, monkeypatch, caplog):
    (tmp_path / "home" / ".cache").write_text("a file where the folder would be")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    answer = load(locked).answer
    assert [answer(1), answer(1.0)] == [20, 20.0]
    (said,) = caplog.messages
    assert "NUMBA_CACHE_DIR" in said
    assert _kernel_files.cache_folder() is None


def test_kernels_in_a_folder_that_is_only_read_are_loaded(package, tmp_path, monkeypatch):
    load(package).answer(1)

    def fail_in_the_package(dir):
        if package in Path(dir).parents:
            raise PermissionError("a folder to read")
        return open(os.devnull)

    monkeypatch.setattr(_kernel_files.tempfile, "TemporaryFile", fail_in_the_package)
    monkeypatch.setattr(_kernel_files.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    answer = load(package).answer
    assert answer(1) == 20
    assert was_loaded(answer)
    assert not (tmp_path / "caches").exists()
    assert answer(1.0) == 20.0
    assert len(stored(tmp_path / "caches")) == 1


def test_python_without_docstrings_reads_the_same_files(package):
    (package / "_mini_caller.py").write_text(
        CALLER.replace("    return", '    """Ten times."""\n    return')
    )
    load(package).answer(1)
    answer = load(package, optimize=2).answer
    assert answer(1) == 20
    assert was_loaded(answer)


def test_no_kernel_depends_on_whether_assertions_are_compiled():
    for path in Path(_kernel_files.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if _kernel_files._MARK.decode() in text:
            for node in ast.walk(ast.parse(text)):
                is_name = isinstance(node, ast.Name) and node.id == "__debug__"
                assert not isinstance(node, ast.Assert), (path, node.lineno)
                assert not is_name, (path, node.lineno)


# ------------------------------------------------------------------ files that are not mixed up

SIMPLE = """
from palmette._kernels import kernel

@kernel
def answer(x):
    return 10 * (x + 1)
"""
VARIANTS = (1, 1.0, True, 1j)


def fresh(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    (folder / "_mini_caller.py").write_text(SIMPLE)
    return load(folder)


def test_variants_share_no_file_wherever_they_are_compiled(package, tmp_path, monkeypatch):
    names = set()
    for number, value in enumerate(VARIANTS):
        cache = tmp_path / str(number)
        assert fresh(package, cache, monkeypatch).answer(value) == 10 * (value + 1)
        (name,) = stored(cache)
        names.add(name)
    assert len(names) == len(VARIANTS)


def compile_variants(folder: Path, at_once: object, first: int) -> None:
    """Call a kernel with arguments of all kinds, in a process of its own."""
    answer = load(folder).answer
    at_once.wait()  # type: ignore[attr-defined]
    for value in VARIANTS[first:] + VARIANTS[:first]:
        assert answer(value) == 10 * (value + 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="spawned processes import numba for seconds")
def test_processes_that_compile_at_once_leave_what_one_leaves(package, tmp_path, monkeypatch):
    answer = fresh(package, tmp_path / "one", monkeypatch).answer
    for value in VARIANTS:
        answer(value)

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "many"))
    forks = multiprocessing.get_context("fork")
    at_once = forks.Barrier(8)
    processes = [
        forks.Process(target=compile_variants, args=(package, at_once, number // 2))
        for number in range(8)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert stored(tmp_path / "many") == stored(tmp_path / "one")
    assert not list(tmp_path.rglob("*.tmp"))

    answer = load(package).answer
    for value in VARIANTS:
        assert answer(value) == 10 * (value + 1)
    assert was_loaded(answer)


def test_variants_with_all_kinds_of_arguments_are_stored():
    X = np.random.default_rng(0).normal(size=(30, 4))
    few = {"n_estimators": 2, "random_state": 0}
    for model in (pm.StructuredForestClassifier(**few), pm.HierarchicalBoostingClassifier(**few)):
        model.fit(X, list("abc") * 10).predict(X)
    found = set()
    for name in [name for name in sys.modules if name.startswith("palmette.")]:
        for each in vars(sys.modules[name]).values():
            if isinstance(getattr(each, "_cache", None), _kernel_files.KernelCache):
                found.update(each.signatures)
    assert len(found) > 5
    for signature in found:
        assert _numba_parts.spelled(signature)


def test_files_that_are_swapped_or_renamed_are_compiled_again(package, caplog):
    answer = load(package).answer
    assert [answer(1), answer(1.5)] == [20, 25.0]
    first, second = sorted(package.rglob("*.kernel"))
    contents = [first.read_bytes(), second.read_bytes()]
    first.write_bytes(contents[1])
    second.write_bytes(contents[0])
    with caplog.at_level(logging.DEBUG, "palmette.kernels"):
        answer = load(package).answer
        assert [answer(1), answer(1.5)] == [20, 25.0]
    assert caplog.text.count("is of another kernel") == 2
    again = load(package).answer
    assert [again(1), again(1.5)] == [20, 25.0]
    assert was_loaded(again)


class Alarm:
    """An object whose pickle says that it was read."""

    def __reduce__(self):
        return warnings.warn, ("a file was unpickled",)


def test_damaged_files_are_compiled_again_and_never_unpickled(package):
    load(package).answer(1)
    (path,) = package.rglob("*.kernel")
    whole = path.read_bytes()
    draw = random.Random(0)
    at = draw.randrange(len(whole))
    damaged = [whole[: draw.randrange(len(whole))] for _ in range(3)]
    damaged += [b"", whole + b"\0", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]]
    damaged += [pickle.dumps(Alarm()), whole[: whole.index(b"\n", 99) + 1] + pickle.dumps(Alarm())]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for content in damaged:
            path.write_bytes(content)
            answer = load(package).answer
            assert answer(1) == 20
            assert not was_loaded(answer)
            assert load(package).answer(1) == 20  # replaced
    assert len(stored(package)) == 1


def test_a_folder_of_numbered_files_heals(package):
    """numba's index may lead to the code of another variant, for good."""
    load(package).answer(1)
    (good,) = package.rglob("*.kernel")
    stem = good.name.removesuffix(".kernel")
    for name in (
        f"{stem}.nbi",
        f"{stem}.1.nbc",
        f"{stem}.2.nbc",
        "_mini_caller.answer-1.py311.nbi",
    ):
        good.with_name(name).write_bytes(pickle.dumps(Alarm()))
    good.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(package).answer(1) == 20
    assert [path.name for path in good.parent.iterdir()] == [good.name]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the killed process is a fork")
def test_what_a_killed_process_leaves_is_neither_read_nor_kept(package, monkeypatch):
    load(package)
    child = os.fork()
    if not child:
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        sys.modules["palmette._mini_caller"].answer(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    (left,) = (package / "__pycache__" / "kernels").iterdir()
    assert left.suffix == ".tmp"
    answer = load(package).answer
    assert answer(1) == 20
    assert not was_loaded(answer)
    assert left.exists()  # for all that this process knows, another one writes it now

    os.utime(left, (time.time() - 7200.0,) * 2)
    load(package).answer(1.0)
    assert not left.exists()


# ------------------------------------------------------------------------- whose files are read


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_a_folder_that_others_can_write_to_is_refused(package, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    load(package).answer(1)
    folder = package / "__pycache__" / "kernels"
    before = stored(folder)
    folder.chmod(0o777)
    answer = load(package).answer
    assert [answer(1), answer(1.5)] == [20, 25.0]
    (said,) = caplog.messages
    assert "others can write" in said
    assert not was_loaded(answer)
    assert stored(folder) == before

    folder.chmod(0o755)
    shutil.rmtree(tmp_path / "caches")
    (path,) = folder.iterdir()
    path.chmod(0o666)
    answer = load(package).answer
    assert answer(1) == 20
    assert not was_loaded(answer)
    assert path.stat().st_mode & 0o777 == 0o644  # it was replaced


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_who_may_change_the_package_may_change_its_machine_code(package):
    package.chmod(0o775)
    of_package = package.stat()
    me, group, other = os.geteuid(), of_package.st_gid, of_package.st_gid + 1

    def is_safe(mode, user=me, group=group):
        return _kernel_files._is_safe(
            types.SimpleNamespace(st_mode=mode, st_uid=user, st_gid=group)
        )

    assert is_safe(0o755)
    assert is_safe(0o755, user=0)
    assert is_safe(0o775)  # as the package itself
    assert not is_safe(0o777)
    assert not is_safe(0o775, group=other)
    assert not is_safe(0o755, user=me + 4321)
    package.chmod(0o755)
    assert not is_safe(0o775)


@pytest.mark.skipif(os.name != "posix", reason="users of POSIX")
def test_users_who_share_a_folder_store_in_folders_of_their_own(package, tmp_path, monkeypatch):
    monkeypatch.setattr(_kernel_files, "_is_safe", lambda found: found.st_mode & 0o777 != 0o750)
    fresh(package, tmp_path / "shared", monkeypatch)
    first = _kernel_files.cache_folder()
    first.chmod(0o750)  # stands for a folder of another user
    forget()
    second = _kernel_files.cache_folder()
    assert second.name == f"{first.name}-{os.geteuid()}"


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
