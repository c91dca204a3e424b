"""Text of data files, whole: no NUL bytes, one kind of line end."""

from __future__ import annotations

import os

from palmette.core.files import decode_text, read_bytes

__all__ = ["read_text"]


def read_text(path: str | os.PathLike[str]) -> str:
    r"""Read a packed or plain file as text, with ``\n`` as its only line end."""
    text = decode_text(read_bytes(path), path)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text
