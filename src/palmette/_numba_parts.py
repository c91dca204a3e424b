"""The private parts of numba that compiled functions use, all in one place.

numba promises nothing about them: pyproject.toml names the versions of numba and llvmlite with
which they were tested, and `tests/test_numba_parts.py` fails where one of them has moved. They have
no types.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
import numba.core.caching
import numba.core.cgutils
import numba.core.codegen
import numba.core.compiler
import numba.core.config
import numba.core.environment
import numba.core.event
import numba.core.registry
import numba.core.serialize
import numba.core.typing
import numba.np.linalg
import numpy as np

__all__ = [
    "Compiler",
    "Dispatcher",
    "JITCodeLibrary",
    "Lapack",
    "LapackInt",
    "NullCache",
    "cgutils",
    "config",
    "cpu_target",
    "event",
    "is_storable",
    "lookup_environment",
    "rebuilt",
    "reduced",
    "settings",
    "spelled",
    "unpickle",
]

_typed: Any = numba  # for a type checker, whose numba has no attributes

NullCache: Any = _typed.core.caching.NullCache
JITCodeLibrary: Any = _typed.core.codegen.JITCodeLibrary
Compiler: Any = _typed.core.compiler.Compiler
Dispatcher: Any = _typed.core.registry.CPUDispatcher
Lapack: Any = _typed.np.linalg._LAPACK
LapackInt: Any = _typed.np.linalg.F_INT_nptype
cgutils: Any = _typed.core.cgutils
config: Any = _typed.core.config
cpu_target: Any = _typed.core.registry.cpu_target
event: Any = _typed.core.event
lookup_environment: Any = _typed.core.environment.lookup_environment

# -------------------------------------------------------------------------------- results of calls

# A call that returns arrays or named tuples asks this function for their classes. It is written in
# Python, so that handlers of signals run in it; numba does not expect that they raise, as that of
# Ctrl-C does, and goes on with a null pointer. What is known already is found without Python code.
unpickle: Any = functools.lru_cache(maxsize=None)(_typed.core.serialize._numba_unpickle)
_typed.core.serialize._numba_unpickle = unpickle

# ------------------------------------------------------------------------- results of compilation


def is_storable(result: Any) -> bool:
    """Return whether the result of a compilation may be used in other processes."""
    return not result.library.has_dynamic_globals and not result.lifted


def reduced(result: Any) -> bytes:
    """Return the result of a compilation as bytes, which `pickle` reads."""
    data: bytes = _typed.core.serialize.dumps(result._reduce())
    return data


def rebuilt(context: Any, parts: Any) -> Any:
    """Return the result of a compilation, from what was pickled."""
    return _typed.core.compiler.CompileResult._rebuild(context, *parts)


# ------------------------------------------------------------------- what machine code depends on

_SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
_types: Any = _typed.types
# numba compares types by class and key
_SPELLED_BY_KEY = (
    *(_types.Boolean, _types.Integer, _types.Float, _types.Complex, _types.NoneType),
    *(_types.Array, _types.Tuple, _types.UniTuple),
)


def settings(codegen: Any) -> tuple[Any, ...]:
    """Return versions, the processor, and the settings of numba that change machine code."""
    return (
        *(numba.__version__, llvmlite.__version__, np.__version__),
        *(sys.implementation.cache_tag, getattr(sys, "abiflags", "")),
        *map(str, codegen.magic_tuple()),
        *(str(getattr(config, name, None)) for name in (*_SETTINGS, "USING_SVML")),
    )


def spelled(value: Any) -> str:
    """Return a text in one line that stands for a value or type, and for no other.

    Raises
    ------
    TypeError
        If there is no such text that is the same in all processes: a function as an argument.
    """
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, str, bytes):
        return repr(value)
    if kind in (tuple, list):
        return f"{kind.__name__}({', '.join(map(spelled, value))})"
    if kind in (set, frozenset):
        return f"set({', '.join(sorted(map(spelled, value)))})"
    if kind is dict:
        return f"dict({', '.join(sorted(spelled(item) for item in value.items()))})"
    if kind in _SPELLED_BY_KEY:
        return f"{kind.__name__}({spelled(value.key)})"
    if kind in (_types.NamedTuple, _types.NamedUniTuple):
        parts = (_place(value.instance_class), *value.fields, *value.types)
        return f"{kind.__name__}{spelled(parts)}"
    if kind is _types.Omitted:  # whose key is an address if the default cannot be hashed
        return f"Omitted({spelled(value.value)})"
    if kind is _typed.core.typing.Signature:
        return f"Signature({spelled(value.args)}, {spelled(value.return_type)})"
    raise TypeError(f"{value!r} is a {kind.__name__}, which has no spelling")


def _place(named: type) -> str:
    """Return where a class is, for other processes to find it."""
    if "<" in named.__qualname__:
        raise TypeError(f"{named!r} is made by a function and has no spelling")
    return f"{named.__module__}.{named.__qualname__}"
