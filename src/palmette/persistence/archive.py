"""The zip file around a model: what it may hold, how much, and each member's checksum.

Reading trusts nothing: names, sizes, packing and checksums are looked at before a byte is unpacked,
and no more is unpacked than was said. Writing gives the same bytes for the same members.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any, BinaryIO, cast

from palmette.exceptions import ReadError

__all__ = ["MAX_BYTES", "MAX_MEMBERS", "Archive", "sha256_of", "write_members"]

MAX_BYTES = 2 * 1024**3  # that a file may unpack to unless the caller allows more
MAX_MEMBERS = 100_000

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same members give the same bytes
_PIECE = 2**20  # bytes read at a time
_LEVEL = 1  # of deflate: higher ones take far longer and gain a few per cent on numbers
_DENSE = 0.9  # what packs to more than this share of its size is left as it is
_SAMPLE = 2**18  # bytes that tell whether a member can be packed
_STEEPEST = 1032  # deflate cannot pack better than 1:1032
_NAME = re.compile(r"(manifest|state|hierarchy)\.json|arrays/[a-zA-Z0-9_]+\.npy|foreign/\d+\.skops")


def sha256_of(content: bytes | bytearray | memoryview) -> str:
    """Return the checksum of a member, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


# ---------------------------------------------------------------------- writing


def write_members(stream: IO[Any], members: Mapping[str, bytes]) -> None:
    """Write the members of a model file in the order given.

    Parameters
    ----------
    stream : binary file
    members : mapping of str to bytes

    Examples
    --------
    >>> from io import BytesIO
    >>> stream = BytesIO()
    >>> write_members(stream, {"state.json": b"{}"})
    >>> Archive(stream, "a.palmette").names
    ['state.json']
    """
    with zipfile.ZipFile(cast(BinaryIO, stream), "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = _packing_for(content)
            info.external_attr = 0o644 << 16  # files that unzip leaves readable
            archive.writestr(info, content, compresslevel=_LEVEL)


def _packing_for(content: bytes) -> int:
    """Numbers that look random, such as weights, are not worth the time that packing takes."""
    middle = max(0, (len(content) - _SAMPLE) // 2)
    sample = content[middle : middle + _SAMPLE]
    packed = zlib.compress(sample, _LEVEL)
    return zipfile.ZIP_STORED if len(packed) > _DENSE * len(sample) else zipfile.ZIP_DEFLATED


# ---------------------------------------------------------------------- reading


class Archive:
    """A model file that is open for reading, checked as a whole.

    Parameters
    ----------
    stream : binary file
    path : str
        For errors.
    max_bytes : int
        Refuse a file that unpacks to more.
    """

    def __init__(self, stream: IO[Any], path: str, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self._zip = zipfile.ZipFile(stream)
        self._infos = {info.filename: info for info in self._zip.infolist()}
        self._check_names()
        self._check_sizes(max_bytes)

    @property
    def names(self) -> list[str]:
        """Members, in the order of the file."""
        return list(self._infos)

    def size(self, name: str) -> int:
        """Bytes of a member, unpacked."""
        return self._infos[name].file_size

    def read(self, name: str, sha256: str | None = None) -> bytearray:
        """Unpack a member, which must have the checksum that is given."""
        if name not in self._infos:
            raise self.error(f"the member {name} is missing")
        info = self._infos[name]
        content = bytearray()
        with self._zip.open(info) as part:
            while piece := part.read(_PIECE):
                content += piece
                if len(content) > info.file_size:
                    raise self.error(f"the member {name} unpacks to more than it says")
        if len(content) != info.file_size:
            raise self.error(f"the member {name} is cut short")
        if sha256 is not None and sha256_of(content) != sha256:
            raise self.error(f"the member {name} does not have the checksum of the manifest")
        return content

    def error(self, what: str) -> ReadError:
        """Return the error for a file whose bytes are not those that were written."""
        return ReadError(
            f"the model file was damaged or changed: {what}. Take a good copy of it, or save the "
            "model again.",
            path=self.path,
        )

    def _check_names(self) -> None:
        listed = self._zip.infolist()
        if len(listed) > MAX_MEMBERS:
            raise self.error(f"it has {len(listed):,} members, expected at most {MAX_MEMBERS:,}")
        if len(self._infos) < len(listed):
            raise self.error("a member stands in it twice")
        for name in self._infos:
            if not _NAME.fullmatch(name):
                raise self.error(f"{name[:80]!r} is no name of a member")

    def _check_sizes(self, max_bytes: int) -> None:
        for name, info in self._infos.items():
            if info.flag_bits & 0x1:
                raise self.error(f"the member {name} is encrypted")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self.error(f"the member {name} is packed in an unknown way")
            if info.file_size > _STEEPEST * (info.compress_size + 8):
                raise self.error(f"the member {name} cannot be as large as it says")
        total = sum(info.file_size for info in self._infos.values())
        if total > max_bytes:
            raise ReadError(
                f"the model unpacks to {total:,} bytes, and {max_bytes:,} are allowed. If you know "
                f"where it comes from, load it with max_bytes={total}.",
                path=self.path,
            )
