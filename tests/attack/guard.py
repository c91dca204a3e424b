"""What a process does to the world outside while it works with a file of a stranger.

Python reports connections, processes, files and imports to audit hooks. A hook cannot be removed:
there is one for the process, and it does nothing outside `guarded`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from palmette._kernel_files import cache_folder

__all__ = ["Acted", "guarded"]


class Acted(BaseException):
    """Something was done that no file may cause; not an `Exception`, so that nobody handles it."""


@contextmanager
def guarded(
    *,
    folders: Collection[str | os.PathLike[str]] = (),
    hosts: Collection[str] = (),
    programs: Collection[str] = (),
    untouched: Collection[str | os.PathLike[str]] = (),
) -> Iterator[list[str]]:
    """Refuse and note connections, processes, files that are written, and unknown imports.

    Parameters
    ----------
    folders : collection of path-like
        Where files may be written. Compiled code may be written in any case.
    hosts : collection of str
        What may be connected to: a host, a host and its port as ``"127.0.0.1:8786"``, or the path
        of a local socket.
    programs : collection of str
        Names of programs that may be started, such as ``"lscpu"``.
    untouched : collection of path-like
        Files and folders that may not even be read or looked for.

    Yields
    ------
    list of str
        What was done, in words.

    Raises
    ------
    Acted
        At the act, and again at the end if the first error was handled.
    """
    global _guard
    outer, _guard = _guard, _Guard(
        tuple(map(_whole, folders)), frozenset(hosts), frozenset(programs),
        tuple(map(_whole, untouched)),
    )  # fmt: skip
    _install()
    noted = _guard.noted
    try:
        yield noted
    finally:
        _guard = outer
    if noted:
        raise Acted(noted[0])


_KERNELS = str(cache_folder() or "")  # of machine code: the caller's environment names it
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# that the libraries look for by themselves, whether they are installed or not
_OPTIONAL = (
    "_pytest annotationlib array_api_compat array_api_strict backports berkeleydb "
    "bottleneck compression cupy cupyx google html5rdf isal jax linkify_it ndonnx numexpr orjson "
    "palmette pkg_resources pytz sitecustomize sparse tests torch usercustomize yaml zstandard"
)
_PACKAGES = {*sys.stdlib_module_names, *packages_distributions(), *_OPTIONAL.split()}


@dataclass
class _Guard:
    folders: tuple[str, ...]
    hosts: frozenset[str]
    programs: frozenset[str]
    untouched: tuple[str, ...]
    noted: list[str] = field(default_factory=list)

    def why_not(self, event: str, arguments: tuple[Any, ...]) -> str | None:
        """Return an event in words, or None if it may happen."""
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            return self._of_host(event, *_host_of(arguments[-1]))
        if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
            port = arguments[1] if event == "socket.getaddrinfo" else None
            return self._of_host(event, _text(arguments[0]), port)
        if event in _STARTING:
            name = os.path.basename(_text(arguments[0]).split(" ")[0])
            return None if name in self.programs else f"{event} {arguments[0]!r}"
        if event == "import":
            package = arguments[0].partition(".")[0]
            return None if package in _PACKAGES else f"import {arguments[0]}"
        if event == "pickle.find_class":
            package = arguments[0].partition(".")[0]
            return None if package in _PACKAGES - _SHELLS else f"pickle of {'.'.join(arguments)}"
        if event == "open":
            return self._of_file(event, arguments[0], bool((arguments[2] or 0) & _WRITING))
        if event in _CHANGING or event in _LOOKING:
            reasons = [self._of_file(event, each, event in _CHANGING) for each in arguments[:2]]
            return next(filter(None, reasons), None)
        return None

    def _of_host(self, event: str, host: str, port: Any) -> str | None:
        is_known = host in self.hosts or f"{host}:{port}" in self.hosts
        return None if is_known else f"{event} {host}:{port}"

    def _of_file(self, event: str, path: Any, is_written: bool) -> str | None:
        if not isinstance(path, str | bytes | os.PathLike):
            return None  # an open file
        whole = _whole(path)
        if any(_is_in(whole, folder) for folder in self.untouched):
            return f"{event} {whole}"
        fine = not is_written or whole.startswith(("/dev/null", "/proc/self/"))
        fine = fine or "__pycache__" in Path(whole).parts
        fine = fine or bool(_KERNELS and _is_in(whole, _KERNELS))
        fine = fine or any(_is_in(whole, folder) for folder in self.folders)
        return None if fine else f"{event} {whole} for writing"


_STARTING = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"}
_CHANGING = {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink"}
_CHANGING |= {"os.truncate", "os.chmod", "os.chown", "os.utime", "shutil.rmtree"}
_LOOKING = {"os.listdir", "os.scandir"}
_SHELLS = {"os", "posix", "nt", "subprocess", "pty", "runpy", "importlib", "shutil", "socket"}

_guard: _Guard | None = None
_is_installed = False


def _install() -> None:
    global _is_installed
    if not _is_installed:
        _is_installed = True
        sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    global _guard
    guard = _guard
    if guard is None or event not in _HEARD:
        return
    _guard = None  # what is done in this function is not its business
    try:
        reason = guard.why_not(event, arguments)
    finally:
        _guard = guard
    if reason is not None:
        guard.noted.append(reason)
        raise Acted(reason)


_HEARD = _STARTING | _CHANGING | _LOOKING
_HEARD |= {"open", "import", "pickle.find_class", "socket.connect", "socket.sendto"}
_HEARD |= {"socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}


def _host_of(address: Any) -> tuple[str, Any]:
    return (_text(address[0]), address[1]) if isinstance(address, tuple) else (_text(address), None)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        value = value[0] if value else ""
    return os.fsdecode(value) if isinstance(value, str | bytes | os.PathLike) else str(value)


def _whole(path: str | bytes | os.PathLike[Any]) -> str:
    return os.path.abspath(os.fsdecode(path))


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
