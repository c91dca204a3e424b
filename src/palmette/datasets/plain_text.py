"""Text of data files, whole: no NUL bytes, one kind of line end."""

from __future__ import annotations

import os

from palmette.core.files import read_bytes
from palmette.exceptions import ReadError

__all__ = ["read_text"]


def read_text(path: str | os.PathLike[str]) -> str:
    r"""Read a packed or plain file as text: UTF-8, else Latin-1; ``\r\n`` and ``\r`` become ``\n``.

    `palmette.core.files.open_text` gives a stream and looks for NUL bytes in the beginning only.
    Here the whole text is wanted at once, at two copies less, and a NUL byte anywhere is an
    error: the number parsers below would stop at it.
    """
    content = read_bytes(path)
    where = content.find(b"\0")
    if where >= 0:
        raise ReadError(
            "this is a binary file, text was expected (there is a NUL byte in this line)",
            path=path,
            line=content.count(b"\n", 0, where) + 1,
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text
