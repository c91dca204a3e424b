"""Nodes identified by their place, with the lines that declare them."""

from __future__ import annotations

from typing import Any

from palmette.core.checking.findings import Findings, shown_path

__all__ = ["Places"]


class Places:
    """Places of a file: paths of names from the top.

    Parameters
    ----------
    found : Findings
    """

    def __init__(self, found: Findings) -> None:
        self._found = found
        self.declared: dict[tuple[Any, ...], int | None] = {}
        self.implied: dict[tuple[Any, ...], int | None] = {}

    def declare(self, path: tuple[Any, ...], line: int | None) -> bool:
        """Keep the line of a path; return whether it is new, and tell where it is not."""
        if path in self.declared:
            first = self.declared[path]
            where = "" if first is None else f", first in line {first}"
            self._found.fault(
                "repeated path",
                f"{shown_path(path)} is declared twice{where}. Drop or rename one: siblings need "
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
        """Note parents without a line of their own, where most parents have one."""
        missing = [path for path in self.implied if path not in self.declared]
        if 2 * len(missing) > len(self.implied):
            return  # the file lists what is at the ends only
        for path in missing:
            self._found.note(
                "undeclared parent",
                f"{shown_path(path)} is above this line, and has none of its own as other parents "
                "have: is it spelled as it should be?",
                self.implied[path],
            )
