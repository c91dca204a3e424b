"""Faults in the bytes of a file: text that is not UTF-8, and invisible or lost characters."""

from __future__ import annotations

import unicodedata

from palmette.core.checking.findings import Findings
from palmette.core.taxonomy.source import Source

__all__ = ["check_characters", "check_encoding"]

_REPLACEMENT = "\ufffd"


def check_encoding(source: Source, found: Findings) -> None:
    """Find lines that are not UTF-8: faults if other lines are UTF-8, else notes."""
    data = source.data
    try:
        data.decode("utf-8")
        return
    except UnicodeDecodeError:
        pass
    bad: list[tuple[int, UnicodeDecodeError]] = []
    n_wide = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            n_wide += len(line) > len(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            bad.append((number, error))
    add = found.fault if n_wide else found.note
    for number, reason in bad:
        byte = reason.object[reason.start]
        rest = (
            f"but {n_wide:,} other lines are: the file is read as Latin-1, which garbles them"
            if n_wide
            else "so the file is read as Latin-1"
        )
        add(
            "encoding",
            f"the byte 0x{byte:02x} at position {reason.start + 1} is not UTF-8, {rest}. Save the "
            "file as UTF-8",
            number,
        )


def check_characters(source: Source, found: Findings) -> None:
    """Find characters that a name should not contain."""
    for number, line in source.lines():
        if line.isascii() and line.isprintable():
            continue
        odd = next((c for c in line if c != "\t" and unicodedata.category(c) in ("Cc", "Cf")), None)
        if odd is not None and not (number == 1 and odd == "\ufeff"):
            name = unicodedata.name(odd, "a control character")
            found.note("character", f"the line has the invisible U+{ord(odd):04X} ({name})", number)
        if _REPLACEMENT in line:
            found.fault(
                "encoding",
                "the line contains U+FFFD, which replaces a character that was lost when the file "
                "was written. Write the original character",
                number,
            )
