"""The result of checking a hierarchy file: faults and notes with their lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.core.taxonomy.rows import short
from palmette.exceptions import ReadError

__all__ = ["Finding", "Findings", "HierarchyCheck", "shown_path"]


@dataclass(frozen=True)
class Finding:
    """One fault, or one note about something unusual.

    Attributes
    ----------
    kind : str
        A word or two, such as "cycle" or "only child".
    message : str
        What was found, and what to do about it.
    line : int or None
        Line of the file, from 1, if it is known.
    is_fault : bool
        Whether this is a fault; otherwise it is a note.
    """

    kind: str
    message: str
    line: int | None = None
    is_fault: bool = True

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


@dataclass
class Findings:
    """Collects findings and the lines of nodes.

    Attributes
    ----------
    found : list of Finding
    lines : dict
        Line of a node, by its path from the top (a tuple), or by its name in files of edges.
    """

    found: list[Finding] = field(default_factory=list)
    lines: dict[Any, int] = field(default_factory=dict)

    def fault(self, kind: str, message: str, line: int | None = None) -> None:
        """Add a fault."""
        self.found.append(Finding(kind, message, line))

    def note(self, kind: str, message: str, line: int | None = None) -> None:
        """Add a note."""
        self.found.append(Finding(kind, message, line, is_fault=False))

    def error(self, kind: str, error: ReadError) -> None:
        """Add an error raised by a reader as a fault."""
        self.fault(kind, error.message, error.line)

    @property
    def has_faults(self) -> bool:
        """Whether any fault was found so far."""
        return any(finding.is_fault for finding in self.found)


@dataclass(frozen=True)
class HierarchyCheck:
    """A checked hierarchy file.

    Attributes
    ----------
    path : str
    format : str or None
        Name of its format; None if it was not recognized.
    hierarchy : Hierarchy or None
        The hierarchy; None if the file cannot be read.
    faults, notes : tuple of Finding
        Sorted by line.
    statistics : dict
        Statistics of the hierarchy; empty if the file cannot be read.
    """

    path: str
    format: str | None
    hierarchy: Hierarchy | None
    faults: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    statistics: dict[str, Any]

    def to_text(self, max_notes: int | None = 5) -> str:
        """Return the statistics, all faults, and the notes as text.

        Parameters
        ----------
        max_notes : int or None
            Maximum number of notes listed per kind; the others are counted. None lists all.
        """
        from palmette.core.checking.shape import statistics_text

        parts = [f"{self.path}: format {self.format or 'unknown'}"]
        if self.hierarchy is not None:
            parts.append(statistics_text(self.hierarchy, self.statistics))
        parts += _section("fault", self.faults, None)
        parts += _section("note", self.notes, max_notes)
        parts.append(self._verdict())
        return "\n".join(parts)

    def _verdict(self) -> str:
        if not self.faults:
            return "valid" if not self.notes else "valid, with notes"
        kinds = Counter(finding.kind for finding in self.faults)
        words = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        unread = "" if self.hierarchy is not None else "; the file cannot be read until fixed"
        return f"{_count(len(self.faults), 'fault')} ({words}){unread}"


def _section(word: str, findings: tuple[Finding, ...], most: int | None) -> list[str]:
    if not findings:
        return []
    parts = [f"\n{_count(len(findings), word)}"]
    written: Counter[str] = Counter()
    totals = Counter(finding.kind for finding in findings)
    for finding in findings:
        written[finding.kind] += 1
        if most is None or written[finding.kind] <= most:
            parts.append(f"  {finding}")
        elif written[finding.kind] == totals[finding.kind]:
            parts.append(f"  … {totals[finding.kind] - most:,} more: {finding.kind}")
    return [*parts, ""]


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def shown_path(steps: Iterable[Any]) -> str:
    """Format a path for a message.

    Examples
    --------
    >>> shown_path(("a", "b"))
    "'a' > 'b'"
    """
    return " > ".join(short(step) for step in steps)
