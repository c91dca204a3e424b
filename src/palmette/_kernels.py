"""Decorators of compiled functions.

A function that Python calls is a `kernel`: its machine code is stored on disk, so that the next
process need not compile it. A function that only kernels call is `inner`: it gets neither a wrapper
for Python nor a file, because the machine code of a kernel includes that of the functions it calls.
"""

from __future__ import annotations

import gc
import itertools
import logging
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numba
import numba.extending
import numpy as np

from palmette import _numba_parts
from palmette._kernel_files import KernelCache
from palmette._numba_parts import LapackInt

__all__ = [
    "LapackInt",
    "as_read_only",
    "gesv",
    "inner",
    "int64",
    "kernel",
    "seconds_compiling",
]

Function = TypeVar("Function", bound=Callable[..., Any])

_LOG = logging.getLogger("palmette.kernels")

# np.int64 in kernels, where a type checker would not take its values for integers; a number that
# starts as a literal, or as int(...), is of one type more, for which callees are compiled again
int64: Any = np.int64

_njit: Any = numba.njit  # has no types
_numbers = itertools.count()


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
            compiled._cache = KernelCache(python_function, options)
            compiled.__class__ = _Kernel
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


_call: Any = _numba_parts.Dispatcher.__call__


class _Kernel(_numba_parts.Dispatcher):  # type: ignore[misc]
    """A compiled function that is called by Python, and that signals may interrupt."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the machine code; an exception of the handler of a signal is raised as it is."""
        try:
            return _call(self, *arguments, **keywords)
        except SystemError as error:
            # Python code of numba runs while arrays are returned, hence handlers of signals; numba
            # does not look whether they raise, and returns a result all the same
            cause: BaseException = error
            while isinstance(cause, SystemError) and cause.__cause__ is not None:
                cause = cause.__cause__
            if cause is error:
                raise
            raise cause from None


class _Inner(_numba_parts.Dispatcher):  # type: ignore[misc]
    """A compiled function without a wrapper for Python, where a call would end the process."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function that was not compiled."""
        return self.py_func(*arguments, **keywords)


# numba optimizes the code of every function, together with that of the functions it calls, and
# translates it to machine code, although a kernel contains its callees: the innermost would be
# optimized once per level of calls. Here only kernels are optimized and translated.


class _InnerLibrary(_numba_parts.JITCodeLibrary):  # type: ignore[misc]
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
    """A code generator that sets no environments: its functions have no addresses to set them."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _KernelLibrary(_numba_parts.JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel, which sets the environments of its inner functions too."""

    def _finalize_final_module(self) -> None:
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):
                found = _numba_parts.lookup_environment(variable.name)
                if found is not None:
                    self._codegen.set_env(variable.name, found)


class _Compiler(_numba_parts.Compiler):  # type: ignore[misc]
    """numba's compiler, with a kind of code library that is chosen by the subclass."""

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
gesv: Any = _numba_parts.Lapack().numba_xgesv(numba.types.float64)


# ---------------------------------------------------------------------------- while compiling


def _announce() -> None:
    """Say, in a notebook or at the prompt of Python, why the first fit takes seconds."""
    words = "compiling kernels (once per installation), which takes some seconds"
    _LOG.info(words)
    if hasattr(sys, "ps1") or "ipykernel" in sys.modules:
        print(f"palmette: {words}", file=sys.stderr)


class _Listener(_numba_parts.event.Listener):  # type: ignore[misc]
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
            self._began = time.monotonic()  # before the depth: other threads ask for the seconds
        self._depth += 1
        if self._depth == 1:
            self._collects = gc.isenabled()
            gc.disable()
            if not self._announced:
                self._announced = True
                _announce()

    def on_end(self, event: Any) -> None:
        if self._depth == 1:
            now = time.monotonic()
            self._ended += now - self._began  # first, so that the seconds never fall
            self._began = now
            if self._collects:
                gc.enable()
        self._depth = max(self._depth - 1, 0)


_listener = _Listener()
_numba_parts.event.register("numba:compile", _listener)


def seconds_compiling() -> float:
    """Return the seconds for which this process has compiled kernels, up to now.

    Threads that compile at the same time wait for each other, so the seconds of the clock are
    counted. Machine code that is loaded from files does not count.
    """
    return _listener.seconds()
