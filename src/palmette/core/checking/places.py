"""Nodes identified by their path, with the lines that declare them."""

from __future__ import annotations

from typing import Any

from palmette.core.checking.findings import Findings, shown_path

__all__ = ["Places"]


class Places:
    """Paths of a file, each a tuple of names from the top.

    Parameters
    ----------
    found : Findings
    """

    def __init__(self, found: Findings) -> None:
        self._found = found
        self.declared: dict[tuple[Any, ...], int | None] = {}
        self.implied: dict[tuple[Any, ...], int | None] = {}

    def declare(self, path: tuple[Any, ...], line: int | None) -> bool:
        """Record the line of a path; return whether it is new, and report it if it is not."""
        if path in self.declared:
            first = self.declared[path]
            where = "" if first is None else f", first in line {first}"
            self._found.fault(
                "repeated path",
                f"{shown_path(path)} is declared twice{where}. Delete or rename one: siblings need "
                "different names",
                line,
            )
            return False
        self.declared[path] = line
        if line is not None:
            self._found.lines[path] = line
        for end in range(1, len(path)):
            above = path[:end]
            if above not in self.implied:
                self.implied[above] = line
                if line is not None:
                    self._found.lines.setdefault(above, line)
        return True

    def note_undeclared(self) -> None:
        """Note parents without a line of their own, if most parents have one."""
        missing = [path for path in self.implied if path not in self.declared]
        if 2 * len(missing) > len(self.implied):
            return  # the file lists only leaves
        for path in missing:
            self._found.note(
                "undeclared parent",
                f"{shown_path(path)} is a parent here, but has no line of its own as other parents "
                "have. Check its spelling",
                self.implied[path],
            )
