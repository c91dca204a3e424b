"""Members of zip and tar archives, read in memory: nothing is unpacked to disk."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Iterator

from palmette.core.files import MAX_UNPACKED, is_litter, read_bytes
from palmette.exceptions import ReadError

__all__ = ["tar_members", "zip_members"]


def zip_members(
    path: str | os.PathLike[str], suffix: str = "", limit: int = MAX_UNPACKED
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files in a zip archive, in its order.

    Parameters
    ----------
    path : path-like
    suffix : str
        Only names that end in it, in any case.
    limit : int
        Most bytes that all of them may unpack to, whatever the archive says about itself.
    """
    left = limit
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.is_dir() or is_litter(member.filename):
                    continue
                if not member.filename.lower().endswith(suffix):
                    continue
                with archive.open(member) as stream:
                    content = stream.read(left + 1)
                left = _spend(left, content, path, limit)
                yield member.filename, content
    except ReadError:
        raise
    except FileNotFoundError:
        raise ReadError("there is no such file", path=path) from None
    except Exception as error:  # zipfile reports damage by whatever it trips over
        raise ReadError(f"the archive is broken ({error!r})", path=path) from error


def tar_members(
    path: str | os.PathLike[str], limit: int = MAX_UNPACKED
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the plain files in a tar archive, which may be packed.

    Links and devices are left out, and a name is only a name: nothing is written anywhere.
    """
    packed = io.BytesIO(read_bytes(path, limit))
    try:
        with tarfile.open(fileobj=packed, mode="r:") as archive:
            for member in archive:
                if member.isreg() and not member.issparse() and not is_litter(member.name):
                    stream = archive.extractfile(member)
                    yield member.name, stream.read() if stream is not None else b""
    except Exception as error:  # tarfile reports damage by whatever it trips over
        raise ReadError(f"the archive is broken ({error!r})", path=path) from error


def _spend(left: int, content: bytes, path: str | os.PathLike[str], limit: int) -> int:
    if len(content) > left:
        raise ReadError(f"the archive unpacks to more than {limit:,} bytes", path=path)
    return left - len(content)
