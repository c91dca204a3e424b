"""Decorators of compiled functions, and the files in which their machine code is kept.

A function that Python calls is a `kernel`: its machine code is stored on disk, so that the next
process need not compile it. A function that only kernels call is `inner`: it gets neither a wrapper
for Python nor a file, because the machine code of a kernel includes that of the functions it calls.

numba's own cache asks only whether the file of the stored function has changed. A kernel whose
callee changed in another file would go on with the old machine code after an upgrade. Here the name
of a stored file contains a hash of the sources of the function's module and of all modules with
kernels that it imports, directly or through others.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import itertools
import logging
import os
import pickle
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

import numba.core.caching
import numba.core.codegen
import numba.core.compiler
import numba.core.config
import numba.core.environment
import numba.core.event
import numba.core.registry
import numba.extending
import numba.np.linalg
import numpy as np

__all__ = [
    "LapackInt",
    "as_read_only",
    "cache_folder",
    "gesv",
    "inner",
    "int64",
    "kernel",
    "seconds_compiling",
    "source_hash",
]

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parent
_IMPORT = re.compile(rb"^\s*(?:from|import)\s+palmette\.([\w.]+)", re.MULTILINE)
_MARK = b"palmette._kernels"  # in the text of every module with kernels
_LOG = logging.getLogger("palmette.kernels")

# np.int64 in kernels, where a type checker would not take its values for integers; a number that
# starts as a literal, or as int(...), is of one type more, for which callees are compiled again
int64: Any = np.int64

# private parts of numba have no types
_njit: Any = numba.njit
_config: Any = numba.core.config
_caching: Any = numba.core.caching
_codegen: Any = numba.core.codegen
_compiler: Any = numba.core.compiler
_environment: Any = numba.core.environment
_numbers = itertools.count()
_event: Any = numba.core.event
_linalg: Any = numba.np.linalg
_registry: Any = numba.core.registry


# --------------------------------------------------------------------------------- decorators


@overload
def kernel(function: Function, /) -> Function: ...
@overload
def kernel(**options: Any) -> Callable[[Function], Function]: ...
def kernel(function: Any = None, /, **options: Any) -> Any:
    """Compile a function at its first call, and store its machine code.

    Parameters
    ----------
    function : callable, optional
        None if the decorator has options.
    **options
        As of `numba.njit`, for example ``fastmath=True``. The global lock of the interpreter is
        always released.

    Examples
    --------
    >>> @kernel
    ... def double(x):
    ...     return x + x
    >>> double(2)
    4
    """

    def decorate(python_function: Callable[..., Any]) -> Any:
        compiled = _njit(nogil=True, pipeline_class=_KernelCompiler, **options)(python_function)
        if compiled is not python_function:  # as it is where NUMBA_DISABLE_JIT is set
            compiled._cache = _KernelCache(python_function)
        return compiled

    return decorate if function is None else decorate(function)


@overload
def inner(function: Function, /) -> Function: ...
@overload
def inner(**options: Any) -> Callable[[Function], Function]: ...
def inner(function: Any = None, /, **options: Any) -> Any:
    """Compile a function that only kernels call, together with them.

    If Python calls it, it runs uncompiled. A short function compiles fastest with the option
    ``inline="always"``: it becomes a part of its callers before anything is compiled. Callers that
    become long in this way take longer.

    Examples
    --------
    >>> @inner
    ... def square(x):
    ...     return x * x
    >>> @kernel
    ... def sum_of_squares(x, y):
    ...     return square(x) + square(y)
    >>> sum_of_squares(3, 4)
    25
    """

    def decorate(python_function: Callable[..., Any]) -> Any:
        compiled = _njit(
            no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_InnerCompiler, **options
        )(python_function)
        if compiled is not python_function:
            compiled.__class__ = _Inner
        return compiled

    return decorate if function is None else decorate(function)


class _Inner(_registry.CPUDispatcher):  # type: ignore[misc]
    """A compiled function without a wrapper for Python, where a call would end the process."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function that was not compiled."""
        return self.py_func(*arguments, **keywords)


# numba optimises the code of every function, together with that of the functions it calls, and
# translates it to machine code, although a kernel contains its callees: the innermost would be
# optimised once per level of calls. Here only kernels are optimised and translated.


class _InnerLibrary(_codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of an inner function, which becomes a part of that of kernels."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return _NoEnvironments(self._codegen)


class _NoEnvironments:
    """A code generator for functions that have no addresses, and so none of environments."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _KernelLibrary(_codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel, which sets the environments of its inner functions too."""

    def _finalize_final_module(self) -> None:
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):
                found = _environment.lookup_environment(variable.name)
                if found is not None:
                    self._codegen.set_env(variable.name, found)


class _Compiler(_compiler.Compiler):  # type: ignore[misc]
    _library_class: Any = None

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = self._library_class(target.codegen(), f"palmette.{next(_numbers)}")
            library.enable_object_caching()
        super().__init__(typing, target, library, *rest)


class _InnerCompiler(_Compiler):
    _library_class = _InnerLibrary


class _KernelCompiler(_Compiler):
    _library_class = _KernelLibrary


def _as_read_only(_: Any, array: Any) -> Any:
    """Return an array, as a read-only one: a callee is then compiled for one kind only."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        context.nrt.incref(builder, signature.args[0], arguments[0])
        return arguments[0]

    return array.copy(readonly=True)(array), build


as_read_only: Any = numba.extending.intrinsic(_as_read_only)

# LAPACK's gesv for float64, as `np.linalg.solve` calls it, and the integers that it takes: kind of
# the numbers, order, number of right sides, matrix by columns (overwritten), its stride, pivots
# (out), right sides (in and out), their stride
gesv: Any = _linalg._LAPACK().numba_xgesv(numba.types.float64)
LapackInt: Any = _linalg.F_INT_nptype


# ------------------------------------------------------------------------------- stored files


@cache
def _source(module: str) -> bytes:
    """Return the source of a module of the package, if it has kernels; otherwise nothing."""
    path = _PACKAGE.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            text = file.read_bytes()
            return text if _MARK in text else b""
    return b""


@cache
def source_hash(module: str) -> str:
    """Return a hash of the sources of a module and of the modules with kernels that it imports.

    Parameters
    ----------
    module : str
        Dotted name below `palmette`, such as ``"boosting._votes"``.

    Returns
    -------
    str
        Twelve hexadecimal digits.

    Examples
    --------
    >>> len(source_hash("trees._random"))
    12
    """
    waiting, texts = [module], {}
    while waiting:
        name = waiting.pop()
        if name not in texts:
            texts[name] = _source(name)
            waiting += [found.decode() for found in _IMPORT.findall(texts[name])]
    summary = hashlib.blake2b(digest_size=6)
    for name in sorted(texts):
        summary.update(name.encode() + b"\0" + texts[name] + b"\0")
    return summary.hexdigest()


def _user_folder() -> Path | None:
    """Return the folder for caches of the user; None where there is no home."""
    if sys.platform == "win32":
        given, rest = os.environ.get("LOCALAPPDATA", ""), ("AppData", "Local")
    elif sys.platform == "darwin":
        given, rest = "", ("Library", "Caches")
    else:
        given, rest = os.environ.get("XDG_CACHE_HOME", ""), (".cache",)
    if os.path.isabs(given):  # an empty or relative path would be in the current folder
        return Path(given)
    try:
        return Path.home().joinpath(*rest)
    except RuntimeError:
        return None


def _candidates() -> Iterator[Path]:
    """Give the folders for machine code, best first."""
    # several installations may share a folder of the user; each has a folder of its own in it
    own = "palmette-" + hashlib.blake2b(str(_PACKAGE).encode(), digest_size=4).hexdigest()
    given = str(_config.CACHE_DIR or "")
    if given:
        yield Path(given, own)
        return
    yield _PACKAGE / "__pycache__" / "kernels"
    user = _user_folder()
    if user is not None:
        yield user / "palmette" / own


@cache
def cache_folder() -> Path | None:
    """Return the folder for machine code; None where no folder is writable.

    It is the one that the environment variable ``NUMBA_CACHE_DIR`` names, or else
    ``__pycache__/kernels`` in the folder of the package, or else a folder ``palmette`` in the
    user's folder for caches.
    """
    for folder in _candidates():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    return None


class _Locator(_caching._CacheLocator):  # type: ignore[misc]
    """Tells numba where the machine code of a function is, and which sources it is of."""

    def __init__(self, function: Any, file: str, folder: Path) -> None:
        self._py_file = file
        self._folder = folder
        self._module = function.__module__.removeprefix("palmette.")

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return source_hash(self._module)

    def get_disambiguator(self) -> str:
        # the hash is in the name too: processes of two versions never share a file
        return f"{self._module.rpartition('.')[0]}-{source_hash(self._module)}"

    @classmethod
    def from_function(cls, function: Any, file: str) -> _Locator | None:
        folder = cache_folder()
        return None if folder is None else cls(function, file, folder)


class _Stored(_caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [_Locator]  # noqa: RUF012


class _KernelCache(_caching.FunctionCache):  # type: ignore[misc]
    """The stored machine code of one kernel; files are touched at its first call only."""

    _impl_class = _Stored

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function
        self._state = "new"

    @property
    def cache_path(self) -> str | None:
        return self._cache_path if self._opened() else None

    def _opened(self) -> bool:
        """Prepare the files at the first use; return whether there are any."""
        if self._state == "new":
            module = self._py_func.__module__
            is_ours = module.startswith("palmette.") and bool(
                _source(module.removeprefix("palmette."))
            )
            self._state = "open" if is_ours and cache_folder() is not None else "none"
            if self._state == "open":
                super().__init__(self._py_func)
        return self._state == "open"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context) if self._opened() else None
        except (OSError, EOFError, pickle.UnpicklingError) as error:  # it is compiled again
            _LOG.info("stored machine code is not readable: %s", error)
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._opened():
            return
        try:
            super().save_overload(sig, data)
            self._remove_others()
        except OSError as error:  # the disk is full, or the folder was removed or locked
            self._state = "none"
            _LOG.info("machine code is not stored: %s", error)

    def _remove_others(self) -> None:
        """Remove the machine code of this function for other sources.

        A process that has loaded it does not need the files any more; one that has not compiles
        the function again.
        """
        base = self._impl.filename_base
        stamp = source_hash(self._impl.locator._module)
        for path in Path(self._cache_path).glob(base.replace(stamp, "*") + ".*nb[ic]"):
            if stamp not in path.name:
                with contextlib.suppress(OSError):
                    path.unlink()


# ---------------------------------------------------------------------------- while compiling


def _announce() -> None:
    """Say, in a notebook or at the prompt of Python, why the first fit takes seconds."""
    words = "compiling kernels (once per installation), which takes some seconds"
    _LOG.info(words)
    if hasattr(sys, "ps1") or "ipykernel" in sys.modules:
        print(f"palmette: {words}", file=sys.stderr)


def _codegen_of_kernels() -> Any:
    return _registry.cpu_target.target_context.codegen()


class _Listener(_event.Listener):  # type: ignore[misc]
    """Announces the first compilation, counts seconds, and compiles without garbage collection.

    numba makes millions of objects that live on, and the collector looks through all of them again
    and again.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._collects = False
        self._announced = False
        self._began = 0.0
        self._ended = 0.0  # seconds of all compilations that have ended

    def seconds(self) -> float:
        now = time.monotonic()
        return self._ended + (now - self._began if self._depth else 0.0)

    def on_start(self, event: Any) -> None:
        # numba compiles in one thread at a time: this is called with its lock held
        ours = getattr(event.data["dispatcher"].py_func, "__module__", "")
        if not self._depth and not str(ours).startswith("palmette."):
            return
        if not self._depth:
            self._began = time.monotonic()
        self._depth += 1
        if self._depth == 1:
            self._collects = gc.isenabled()
            gc.disable()
            # functions of numba that kernels call are no kernels either
            _codegen_of_kernels()._library_class = _InnerLibrary
            if not self._announced:
                self._announced = True
                _announce()

    def on_end(self, event: Any) -> None:
        if self._depth:
            self._depth -= 1
            if self._depth == 0:
                self._ended += time.monotonic() - self._began
                del _codegen_of_kernels()._library_class  # that of its class is used again
                if self._collects:
                    gc.enable()


_listener = _Listener()
_event.register("numba:compile", _listener)


def seconds_compiling() -> float:
    """Return the seconds for which this process has compiled kernels, up to now.

    Threads that compile at the same time wait for each other, so the seconds of the clock are
    counted. Machine code that is loaded from files does not count.
    """
    return _listener.seconds()
