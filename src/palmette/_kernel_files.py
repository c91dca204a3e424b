"""The files in which the machine code of kernels is kept, and the sources that they belong to.

numba's own cache asks only whether the file of the stored function has changed. A kernel whose
callee changed in another file would go on with the old machine code after an upgrade. Here the name
of a stored file contains a hash of the sources of the function's module and of all modules with
kernels that it imports, directly or through others.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba.core.caching
import numba.core.config

__all__ = ["KernelCache", "cache_folder", "source_hash"]

_PACKAGE = Path(__file__).parent
_IMPORT = re.compile(rb"^\s*(?:from|import)\s+palmette\.([\w.]+)", re.MULTILINE)
_MARK = b"palmette._kernels"  # in the text of every module with kernels
_LOG = logging.getLogger("palmette.kernels")

# private parts of numba have no types
_config: Any = numba.core.config
_caching: Any = numba.core.caching


@cache
def _source(module: str) -> bytes:
    """Return the source of a module of the package, if it has kernels; otherwise nothing."""
    path = _PACKAGE.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            text = file.read_bytes()
            return text if _MARK in text or module == "_kernels" else b""
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


class KernelCache(_caching.FunctionCache):  # type: ignore[misc]
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
