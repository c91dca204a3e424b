"""The zip archive of a model or checkpoint, and its manifest.

Models and checkpoints are archives of the same form; the manifest names which. A reader trusts
nothing: names, sizes and compression are checked before any byte is decompressed, no more bytes are
decompressed than stated, and checksums are verified. Equal members give equal bytes.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import re
import zipfile
import zlib
from collections.abc import Mapping
from functools import cache
from typing import IO, Any, BinaryIO, NoReturn, cast

from palmette.exceptions import ReadError

MODEL, CHECKPOINT = "palmette.model", "palmette.checkpoint"  # formats in the manifest
VERSION = 1  # readers of version n read files of versions 1 to n
MAX_BYTES = 2 * 1024**3  # maximum size when decompressed, unless the caller allows more
MAX_MEMBERS = 100_000

_EPOCH = (1980, 1, 1, 0, 0, 0)  # a fixed time, so that equal members give equal bytes
_PIECE = 2**20  # bytes read at a time
_LEVEL = 1  # of deflate: higher levels are much slower and save a few per cent of numbers
_MAX_RATIO = 0.9  # members that compress to more than this share of their size are stored
_SAMPLE = 2**18  # bytes of a member on which compression is tried
_MAX_EXPANSION = 1032  # deflate cannot compress better than 1:1032
# Each value of JSON becomes an object that is copied, printed and saved: a small file may not cost
# what a large one costs. JSON of models expands some 5 to 30 times.
_MAX_TEXT_EXPANSION, _SHORT_TEXT = 100, 2**18  # the second in bytes: shorter ones may expand freely
_COSTS = (160, 96, 40, 40, 32)  # bytes of memory at most per brace, bracket, comma, colon and quote
_LIBRARIES = ("palmette", "numpy", "scipy", "scikit-learn", "skops", "skrub")
_NAME = re.compile(r"(manifest|state|hierarchy)\.json|arrays/[a-zA-Z0-9_]+\.npy|foreign/\d+\.skops")


class Damaged(ValueError):
    """The bytes of a file are not those that were written."""


def sha256_of(content: bytes | bytearray | memoryview) -> str:
    """Return the checksum of a member, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


# ---------------------------------------------------------------------- writing


def write_members(stream: IO[Any], members: Mapping[str, bytes], *, compress: bool = True) -> None:
    """Write the members of an archive in the order given.

    Parameters
    ----------
    stream : binary file
    members : mapping of str to bytes
    compress : bool
        Whether to compress members that become smaller.

    Examples
    --------
    >>> from io import BytesIO
    >>> stream = BytesIO()
    >>> write_members(stream, {"state.json": b"{}"})
    >>> Archive(stream).names
    ['state.json']
    """
    with zipfile.ZipFile(cast(BinaryIO, stream), "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = _method_for(name, content) if compress else zipfile.ZIP_STORED
            info.external_attr = 0o644 << 16  # permissions of extracted files
            archive.writestr(info, content, compresslevel=_LEVEL)


def _method_for(name: str, content: bytes) -> int:
    """Return the compression of a member: none if it hardly becomes smaller, or too small."""
    if name.endswith(".json") and len(content) > _SHORT_TEXT:
        n_compressed = len(zlib.compress(content, _LEVEL))
        if len(content) > _MAX_TEXT_EXPANSION * n_compressed:
            return zipfile.ZIP_STORED
    middle = max(0, (len(content) - _SAMPLE) // 2)
    sample = content[middle : middle + _SAMPLE]
    compressed = zlib.compress(sample, _LEVEL)
    return (
        zipfile.ZIP_STORED if len(compressed) > _MAX_RATIO * len(sample) else zipfile.ZIP_DEFLATED
    )


# ---------------------------------------------------------------------- reading


class Archive:
    """An archive open for reading, with checked names and sizes.

    Parameters
    ----------
    stream : binary file

    Raises
    ------
    Damaged
        If its directory is not that of an archive of Palmette.
    """

    def __init__(self, stream: IO[Any]) -> None:
        self._zip = zipfile.ZipFile(stream)
        self._infos = {info.filename: info for info in self._zip.infolist()}
        self._check_names()
        self._check_sizes()

    @property
    def n_bytes(self) -> int:
        """Total size of the members when decompressed, in bytes."""
        return sum(info.file_size for info in self._infos.values())

    @property
    def is_compressed(self) -> bool:
        """Whether any member is compressed."""
        return any(i.compress_type != zipfile.ZIP_STORED for i in self._infos.values())

    @property
    def names(self) -> list[str]:
        """Names of the members, in the order of the file."""
        return list(self._infos)

    def size(self, name: str) -> int:
        """Return the size of a member when decompressed, in bytes."""
        return self._infos[name].file_size

    def read(self, name: str, sha256: str | None = None) -> bytearray:
        """Return the bytes of a member, which must have the given checksum."""
        if name not in self._infos:
            raise Damaged(f"the member {name} is missing")
        info = self._infos[name]
        content = bytearray()
        with self._zip.open(info) as part:
            while piece := part.read(_PIECE):
                content += piece
                if len(content) > info.file_size:
                    raise Damaged(f"the member {name} decompresses to more than it states")
        if len(content) != info.file_size:
            raise Damaged(f"the member {name} is truncated")
        if sha256 is not None and sha256_of(content) != sha256:
            raise Damaged(f"the member {name} does not have the checksum of the manifest")
        return content

    def _check_names(self) -> None:
        listed = self._zip.infolist()
        if len(listed) > MAX_MEMBERS:
            raise Damaged(f"it has {len(listed):,} members, expected at most {MAX_MEMBERS:,}")
        if len(self._infos) < len(listed):
            raise Damaged("a member occurs twice")
        for name in self._infos:
            if not _NAME.fullmatch(name):
                raise Damaged(f"{name[:80]!r} is not a valid name of a member")

    def _check_sizes(self) -> None:
        for name, info in self._infos.items():
            if info.flag_bits & 0x1:
                raise Damaged(f"the member {name} is encrypted")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Damaged(f"the member {name} is compressed by an unknown method")
            if info.file_size > _MAX_EXPANSION * (info.compress_size + 8):
                raise Damaged(f"the member {name} cannot be as large as it states")
            is_text = name.endswith(".json") and info.file_size > _SHORT_TEXT
            if is_text and info.file_size > _MAX_TEXT_EXPANSION * info.compress_size:
                raise Damaged(
                    f"the member {name} expands from {info.compress_size:,} to {info.file_size:,} "
                    f"bytes, expected at most {_MAX_TEXT_EXPANSION} times as many"
                )


# ---------------------------------------------------------------------- the manifest


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of installed libraries that a model depends on."""
    versions = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def make_manifest(
    format_name: str, facts: Mapping[str, Any], members: Mapping[str, bytes]
) -> bytes:
    """Return the manifest as indented JSON.

    Parameters
    ----------
    format_name : {MODEL, CHECKPOINT}
    facts : mapping of str to object
        Other entries; an object that cannot be written as JSON becomes null.
    members : mapping of str to bytes
        All other members, whose sizes and checksums are listed.
    """
    manifest: dict[str, Any] = {
        "format": format_name,
        "version": VERSION,
        "libraries": library_versions(),
        **{name: _plain(fact) for name, fact in facts.items()},
        "members": {name: [len(c), sha256_of(c)] for name, c in members.items()},
    }
    return (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode(
        "utf-8", "backslashreplace"
    )


def _plain(fact: Any) -> Any:
    try:
        return json.loads(json.dumps(fact, default=str))
    except (TypeError, ValueError, RecursionError):
        return None


def parse_json(content: bytes | bytearray, max_bytes: int = MAX_BYTES) -> Any:
    """Decode JSON strictly: without NaN, without duplicate keys, and with bounded memory.

    Parameters
    ----------
    content : bytes
    max_bytes : int
        Values that would take more than a quarter of it in memory are an error.

    Raises
    ------
    ValueError, RecursionError

    Examples
    --------
    >>> parse_json(b"[{},{},0]", max_bytes=1000)
    Traceback (most recent call last):
      ...
    ValueError: its JSON has about 4 values, for which 1,000 bytes may not suffice. If you trust...
    """
    # characters inside of strings count too: an upper bound before anything is made
    counts = [content.count(mark) for mark in b'{[,:"']
    needed = 4 * (4 * len(content) + sum(n * c for n, c in zip(_COSTS, counts, strict=True)))
    if needed > max_bytes:
        raise ValueError(
            f"its JSON has about {counts[1] + counts[2] + 1:,} values, for which {max_bytes:,} "
            f"bytes may not suffice. If you trust its author, use max_bytes={needed}"
        )

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        decoded = dict(pairs)
        if len(decoded) < len(pairs):
            raise ValueError("a key occurs twice in an object")
        return decoded

    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not valid JSON")

    return json.loads(content, object_pairs_hook=once, parse_constant=constant)


def read_manifest(
    content: bytes | bytearray, format_name: str, path: str, max_bytes: int = MAX_BYTES
) -> dict[str, Any]:
    """Read a manifest; another format or a later version is an error.

    Parameters
    ----------
    content : bytes
    format_name : {MODEL, CHECKPOINT}
        The expected format.
    path : str
        For errors.
    max_bytes : int
        See `parse_json`.

    Returns
    -------
    dict
    """
    manifest: dict[str, Any] = parse_json(content, max_bytes)
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != format_name:
        raise ReadError(
            f"this is not a {_NOUNS[format_name]} of Palmette ({_kind_of(found)}). It was not "
            "changed: choose another file.",
            path=path,
        )
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its format has the version {str(version)[:20]!r}")
    if version > VERSION:
        raise ReadError(
            f"the {_NOUNS[format_name]} has version {version} of the format, but this Palmette "
            f"reads versions up to {VERSION}. It was written by Palmette {_writer(manifest)}: "
            "install that version or a later one.",
            path=path,
        )
    members = manifest.get("members")
    if not isinstance(members, dict) or not all(map(_is_member, members.values())):
        raise ValueError("the manifest does not list the members")
    return manifest


_NOUNS = {MODEL: "model file", CHECKPOINT: "checkpoint"}


def _kind_of(found: Any) -> str:
    if isinstance(found, str) and found in _NOUNS:
        return f"it is a {_NOUNS[found]}"
    return "its manifest names another format"


def _writer(manifest: dict[str, Any]) -> str:
    libraries = manifest.get("libraries")
    return str(libraries.get("palmette", "?"))[:20] if isinstance(libraries, dict) else "?"


def _is_member(listed: Any) -> bool:
    return isinstance(listed, list) and [type(each) for each in listed] == [int, str]
