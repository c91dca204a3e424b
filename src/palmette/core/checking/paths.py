"""All faults of lines ``A > B > C``."""

from __future__ import annotations

from palmette.core.checking.findings import Findings
from palmette.core.checking.places import Places
from palmette.core.taxonomy import path_lines
from palmette.core.taxonomy.rows import short
from palmette.core.taxonomy.source import Source
from palmette.exceptions import ReadError

__all__ = ["check_paths", "report_stray_blanks"]

_MOST = 0.8  # share of lines with an id from which a line without one is a fault


def check_paths(source: Source, found: Findings) -> None:
    """Check every line."""
    lines = list(source.content_lines())
    separator = path_lines.find_separator(lines)
    starts = [path_lines.skip_id(line) for _, line in lines]
    n_ids = sum(start > 0 for start in starts)
    if n_ids < _MOST * len(lines):
        starts = [0] * len(lines)
    places = Places(found)
    first_of: dict[str, int] = {}
    for (number, line), start in zip(lines, starts, strict=True):
        if n_ids >= _MOST * len(lines) and not start:
            found.fault(
                "no id",
                "this line has no id, unlike the others, so that ids are read as parts of names. "
                "Add it",
                number,
            )
        if start:
            _check_id(line[:start].strip(), first_of, number, found)
        try:
            steps = path_lines.split_steps(source, number, line, start, separator)
        except ReadError as error:
            found.error("empty name", error)
            continue
        places.declare(tuple(steps), number)
        if steps[0].startswith("> ") or steps[-1].endswith(" >"):
            found.fault(
                "separator",
                "the line begins or ends with '>', which is read as part of a name. Delete it",
                number,
            )
    places.note_undeclared()


def report_stray_blanks(source: Source, found: Findings) -> bool:
    """Report indented lines in a file of paths; return whether most lines are paths."""
    lines = list(source.content_lines())
    if 2 * sum(" > " in line for _, line in lines) <= len(lines):
        return False
    for number, line in lines:
        if line[:1].isspace():
            found.fault(
                "leading space",
                "this line begins with a space, so the file looks like indented text, but most "
                "lines are paths with '>'. Delete the space, or give the format 'paths'",
                number,
            )
    return True


def _check_id(written: str, first_of: dict[str, int], number: int, found: Findings) -> None:
    if written in first_of:
        found.note(
            "repeated id", f"the id {short(written)} is also in line {first_of[written]}", number
        )
    first_of.setdefault(written, number)
