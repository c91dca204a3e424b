"""Results on disk, one line a cell, so that a killed comparison goes on where it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from palmette.exceptions import ReadError

__all__ = ["ResultStore"]


class ResultStore:
    """Cells of a comparison, kept in memory and, where a file is named, on disk.

    A line is written at once and forced to disk, so a kill loses at most the cell that was being
    computed; a last line cut short by it is dropped when the file is opened again.

    Parameters
    ----------
    path : path-like, optional
        A file of JSON lines.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._cells: dict[str, dict[str, Any]] = {}
        if self.path is not None and self.path.exists():
            self._load(self.path)

    def _load(self, path: Path) -> None:
        lines = path.read_bytes().split(b"\n")
        whole, rest = lines[:-1], lines[-1]
        for number, line in enumerate(whole, start=1):
            try:
                cell = json.loads(line)
                self._cells[_key(cell["cell"])] = cell
            except (ValueError, KeyError, TypeError) as error:
                raise ReadError(
                    "this is no line of comparison results; move the file away to start anew",
                    path=path,
                    line=number,
                    text=line.decode("utf-8", "replace"),
                ) from error
        if rest:  # the line that was being written when the run was killed
            with path.open("rb+") as stream:
                stream.truncate(sum(len(line) + 1 for line in whole))

    def get(self, cell: dict[str, Any]) -> dict[str, Any] | None:
        """Return the results of a cell, None where it was not computed yet."""
        found = self._cells.get(_key(cell))
        return None if found is None else found["results"]

    def put(self, cell: dict[str, Any], results: dict[str, Any]) -> None:
        """Keep the results of a cell."""
        record = {"cell": cell, "results": results}
        self._cells[_key(cell)] = record
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(record) + "\n")
                stream.flush()
                os.fsync(stream.fileno())

    def __len__(self) -> int:
        return len(self._cells)


def _key(cell: dict[str, Any]) -> str:
    return json.dumps(cell, sort_keys=True)
