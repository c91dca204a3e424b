"""The files in which the machine code of kernels is kept, and the sources that they belong to.

A file holds one variant of a kernel: the code for one combination of argument types. Its name
follows from the key of the variant, a text of all that the code depends on; processes that compile
the same variant at the same time write the same file. (numba's own cache numbers its files through
an index; two processes that change the index at the same time take the same number, and afterwards
one signature leads to the code of another.) The key and a checksum lie in the file too, and are
compared before anything else of it is used. A file that is not right is compiled again.

numba's own cache also asks only whether the file of the stored function has changed. A kernel whose
callee changed in another file would go on with the old machine code after an upgrade. Here the key
contains a hash of the sources of the function's module and of all modules with kernels that it
imports, directly or through others.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pickle
import re
import secrets
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from palmette import _numba_parts

__all__ = ["KernelCache", "cache_folder", "is_stored", "source_hash"]

_PACKAGE = Path(__file__).parent
_IMPORT = re.compile(rb"^\s*(?:from|import)\s+palmette\.([\w.]+)", re.MULTILINE)
# in the text of every module with kernels; not of this one or `_numba_parts`, whose changes leave
# machine code as it is
_MARK = b"palmette" + b"._kernels"
_LOG = logging.getLogger("palmette.kernels")
_POSIX = os.name == "posix"

_START = b"palmette kernel\n"
_DIGEST = 32  # bytes of the checksum, which follows the start
_STALE = 3600.0  # seconds after which nobody writes to a temporary file any more


# ------------------------------------------------------------------------------------- sources


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
        Sixteen hexadecimal digits.

    Examples
    --------
    >>> len(source_hash("trees._random"))
    16
    """
    waiting, texts = [module], {}
    while waiting:
        name = waiting.pop()
        if name not in texts:
            texts[name] = _source(name)
            waiting += [found.decode() for found in _IMPORT.findall(texts[name])]
    summary = hashlib.blake2b(digest_size=8)
    for name in sorted(texts):
        summary.update(name.encode() + b"\0" + texts[name] + b"\0")
    return summary.hexdigest()


# ------------------------------------------------------------------------------------- folders


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
    # not the setting of numba, which a file .numba_config.yaml in the current folder may change
    given = os.environ.get("NUMBA_CACHE_DIR", "")
    if given:
        yield Path(given, own)
        if _POSIX:  # users may share what the environment variable names
            yield Path(given, f"{own}-{os.geteuid()}")
        return
    yield _PACKAGE / "__pycache__" / "kernels"
    user = _user_folder()
    if user is not None:
        yield user / "palmette" / own


def _is_safe(found: os.stat_result) -> bool:
    """Return whether a folder or file is of somebody who may change the package anyway.

    Machine code that is read runs. It is taken from the user, from root and from the owner of the
    package, and only where nobody else can write; a group can if it can write to the package.
    """
    if not _POSIX:
        return True
    package = _PACKAGE.stat()
    if found.st_uid not in (0, os.geteuid(), package.st_uid):
        return False
    others = stat.S_IWOTH
    if found.st_gid != package.st_gid or not package.st_mode & stat.S_IWGRP:
        others |= stat.S_IWGRP
    return not found.st_mode & others


# A warning of Python that filters make an error would end a fit in the middle of a compilation.


@cache
def _say_refused(folder: Path) -> None:
    _LOG.warning(
        "palmette does not use machine code stored in %s, since others can write to that folder:"
        " they could choose what runs here. Remove it, or make it yours alone; until then kernels"
        " are stored elsewhere, or compiled in every process.",
        folder,
    )


@cache
def _say_not_stored(reason: str) -> None:
    _LOG.warning(
        "palmette cannot store the machine code of kernels (%s): every new process compiles it"
        " again, which takes 4 to 80 seconds. Set the environment variable NUMBA_CACHE_DIR to a"
        " folder that you can write to, or let somebody who can write to the package's run"
        " `palmette compile`.",
        reason,
    )


@cache
def _folders() -> tuple[Path, ...]:
    """Return the folders from which machine code is read, whether they are there yet or not."""
    found = []
    for folder in _candidates():
        with contextlib.suppress(OSError):
            if not _is_safe(folder.stat()):
                _say_refused(folder)
                continue
        found.append(folder)
    return tuple(found)


@cache
def cache_folder() -> Path | None:
    """Return the folder in which machine code is stored; None where no folder is writable.

    It is the one that the environment variable ``NUMBA_CACHE_DIR`` names, or else
    ``__pycache__/kernels`` in the folder of the package, or else a folder ``palmette`` in the
    user's folder for caches.
    """
    for folder in _folders():
        is_shared = _PACKAGE in folder.parents  # by all who use the package
        try:
            folder.mkdir(mode=0o755 if is_shared else 0o700, parents=True, exist_ok=True)
            if not _is_safe(folder.stat()):
                continue
            tempfile.TemporaryFile(dir=folder).close()
            _remove_litter(folder)
        except OSError as error:
            _LOG.debug("machine code is not stored in %s: %s", folder, error)
            continue
        return folder
    return None


def is_stored(kernel: str) -> bool:
    """Return whether machine code of a kernel, of any variant, is there for the present sources.

    Parameters
    ----------
    kernel : str
        Dotted name below `palmette`, such as ``"trees._carts.grow_cart"``.
    """
    start = f"{kernel}-{source_hash(kernel.rpartition('.')[0])}-"
    return any(next(folder.glob(f"{start}*.kernel"), None) for folder in _folders())


def _remove_litter(folder: Path) -> None:
    """Remove what processes that were killed have left, and the files of numba's own cache."""
    long_ago = time.time() - _STALE
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # another process has removed it
            if path.suffix in (".nbi", ".nbc") or (
                path.suffix == ".tmp" and path.stat().st_mtime < long_ago
            ):
                path.unlink()


# --------------------------------------------------------------------------------------- files


def _read(path: Path, key: bytes) -> memoryview | None:
    """Return what is stored in a file for a key; None if it is not there, or not right."""
    try:
        with open(path, "rb") as file:
            is_safe = _is_safe(os.fstat(file.fileno()))
            content = file.read() if is_safe else b""
    except FileNotFoundError:
        return None
    except OSError as error:
        _LOG.debug("%s cannot be read: %s", path, error)
        return None
    checked = memoryview(content)[len(_START) + _DIGEST :]
    if not is_safe:
        wrong = "others can write to it"
    elif not content.startswith(_START + _digest(checked)):
        wrong = "it is damaged"
    elif bytes(checked[: len(key)]) != key:
        wrong = "it is of another kernel"
    else:
        return checked[len(key) :]
    _LOG.debug("%s is not used, its kernel is compiled again: %s", path, wrong)
    return None


def _write(path: Path, key: bytes, data: bytes) -> None:
    """Store bytes for a key, at once or not at all."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        # others may read it, as they may the package
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o644)) as file:
            file.write(_START + _digest(key + data) + key + data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _digest(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


class KernelCache(_numba_parts.NullCache):  # type: ignore[misc]
    """The stored machine code of one kernel; folders are touched at its first call only.

    Parameters
    ----------
    function : callable
        What was compiled. Functions of modules of the package are stored, if they are not made by
        other functions.
    options : dict
        Options of the compilation.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function = function
        self._options = options
        package, _, module = function.__module__.partition(".")
        name = function.__qualname__
        is_stored = package == "palmette" and "<" not in name and _source(module)
        self._name = f"{module}.{name}" if is_stored else ""
        # Sources are read now: at the first call, an upgrade could have replaced them. All files of
        # this kernel and these sources begin so.
        self._start = f"{self._name}-{source_hash(module)}-" if is_stored else ""

    def _file(self, signature: Any, codegen: Any) -> tuple[str, bytes] | None:
        """Return the name of the file of a variant, and its key; None if it is not stored."""
        if not self._name:
            return None
        parts = (
            *(self._start, self._function.__code__.co_firstlineno, self._options, signature),
            _numba_parts.settings(codegen),
        )
        try:
            text = _numba_parts.spelled(parts)
        except TypeError as error:
            _LOG.debug("a variant of %s is not stored: %s", self._name, error)
            return None
        name = hashlib.blake2b(text.encode(), digest_size=10).hexdigest()
        return f"{self._start}{name}.kernel", text.encode() + b"\n"  # nothing spelled has "\n"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        found = self._file(sig, target_context.codegen())
        if found is None:
            return None
        name, key = found
        for folder in _folders():
            data = _read(folder / name, key)
            if data is not None:
                try:
                    return _numba_parts.rebuilt(target_context, pickle.loads(data))
                except Exception as error:  # of whatever kind: it can be compiled again
                    _LOG.debug("%s in %s is compiled again: %r", name, folder, error)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        found = self._file(sig, data.codegen)
        if found is None or not _numba_parts.is_storable(data):
            return
        folder = cache_folder()
        if folder is None:
            _say_not_stored(f"no folder is writable: {', '.join(map(str, _candidates()))}")
            return
        name, key = found
        try:
            _write(folder / name, key, _numba_parts.reduced(data))
            self._remove_others(folder)
        except OSError as error:  # the disk is full, or the folder was removed or locked
            if not (folder / name).exists():  # on Windows a file that is read is not replaced
                _say_not_stored(str(error))

    def _remove_others(self, folder: Path) -> None:
        """Remove the machine code of this function for other sources.

        A process that has loaded it does not need the files any more; one that has not compiles
        the function again.
        """
        for path in folder.glob(f"{self._name}-*.kernel"):
            if not path.name.startswith(self._start):
                with contextlib.suppress(OSError):
                    path.unlink()
