"""What a model file says of itself: format, versions, what it holds, a checksum for each member."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from typing import Any, NoReturn

from palmette.exceptions import ReadError

__all__ = ["FORMAT", "VERSION", "library_versions", "make_manifest", "parse_json", "read_manifest"]

FORMAT = "palmette.model"
VERSION = 1  # readers of version n read files of versions 1 to n

_LIBRARIES = ("palmette", "numpy", "scipy", "scikit-learn", "skops", "skrub")


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that a model depends on, as far as they are there."""
    versions = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def make_manifest(kind: str, summary: Any, members: dict[str, list[Any]]) -> bytes:
    """Return the manifest as JSON that people can read.

    Parameters
    ----------
    kind : str
        Class of the object.
    summary : object or None
        What is known of its training; left out if it cannot be JSON.
    members : dict of str to [size, sha256]
    """
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "libraries": library_versions(),
        "summary": _plain(summary),
        "members": members,
    }
    return (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode(
        "utf-8", "backslashreplace"
    )


def _plain(summary: Any) -> Any:
    try:
        return json.loads(json.dumps(summary, default=str))
    except (TypeError, ValueError, RecursionError):
        return None


def parse_json(content: bytes | bytearray) -> Any:
    """Decode JSON strictly: no NaN, no key twice.

    Raises
    ------
    ValueError, RecursionError
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        decoded = dict(pairs)
        if len(decoded) < len(pairs):
            raise ValueError("a key stands twice in the same object")
        return decoded

    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is no JSON")

    return json.loads(content, object_pairs_hook=once, parse_constant=constant)


def read_manifest(content: bytes | bytearray, path: str) -> dict[str, Any]:
    """Read a manifest, and refuse one of another format or of a later version.

    Parameters
    ----------
    content : bytes
    path : str
        For errors.

    Returns
    -------
    dict
    """
    manifest = parse_json(content)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ReadError(
            "this is no model file of Palmette: its manifest is of another kind.", path=path
        )
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its format has the version {str(version)[:20]!r}")
    if version > VERSION:
        raise ReadError(
            f"the model file has version {version} of the format, and this Palmette reads versions "
            f"up to {VERSION}. It was written by Palmette {_writer(manifest)}: install that or a "
            "later one.",
            path=path,
        )
    members = manifest.get("members")
    if not isinstance(members, dict) or not all(map(_is_member, members.values())):
        raise ValueError("the manifest does not list the members")
    return manifest


def _writer(manifest: dict[str, Any]) -> str:
    libraries = manifest.get("libraries")
    return str(libraries.get("palmette", "?"))[:20] if isinstance(libraries, dict) else "?"


def _is_member(listed: Any) -> bool:
    return isinstance(listed, list) and [type(each) for each in listed] == [int, str]
