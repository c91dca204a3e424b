"""All faults of indented text."""

from __future__ import annotations

from palmette.core.checking.findings import Findings
from palmette.core.checking.places import Places
from palmette.core.taxonomy import indented
from palmette.core.taxonomy.source import Source

__all__ = ["check_indented"]


def check_indented(source: Source, found: Findings) -> None:
    """Check every line; one that matches no level is put below the nearest less indented line."""
    places = Places(found)
    levels: list[tuple[str, str]] = []  # indentation and name of the ancestors
    for number, _, indentation, name in indented.split_lines(source):
        if not name:
            found.fault("empty name", "the name is missing. Write one", number)
            continue
        _check_blanks(indentation, number, found)
        if levels and not indented.is_deeper(indentation, levels[-1][0]):
            known = {level for level, _ in levels}
            while levels and not indented.is_deeper(indentation, levels[-1][0]):
                levels.pop()
            if indentation not in known:
                found.fault(
                    "indentation",
                    f"the indentation of {len(indentation)} characters matches no level above it. "
                    "Use the same spaces or tabs for the same level",
                    number,
                )
        path = (*(above for _, above in levels), name)
        places.declare(path, number)
        levels.append((indentation, name))


def _check_blanks(indentation: str, number: int, found: Findings) -> None:
    if " " in indentation and "\t" in indentation:
        found.note(
            "spaces and tabs", "the indentation mixes spaces and tabs. Use one of them", number
        )
