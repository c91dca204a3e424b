"""Results of a reproduction: tables, claims of the paper, data of the figures, and their files."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from palmette._files import atomic_write
from palmette.exceptions import PalmetteError

__all__ = ["Claim", "PaperClaim", "PublishedResult", "Table", "require_folder"]

Cell = str | int | float | None
Draw = Callable[[Mapping[str, Any]], dict[str, bytes]]


@dataclass(frozen=True)
class Table:
    """A table of text and numbers.

    Parameters
    ----------
    title : str
    columns : tuple of str
        The first one names the rows.
    rows : list of tuples
        As many cells each as there are columns; None for an empty cell.
    notes : list of str
        Notes printed below the table.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    notes: list[str] = field(default_factory=list)

    def to_markdown(self) -> str:
        """Return the table in Markdown, with its title and notes.

        Examples
        --------
        >>> print(Table("T", ("name", "F1"), [("a", 0.5), ("b", None)]).to_markdown())
        ### T
        <BLANKLINE>
        | name | F1 |
        |---|---:|
        | a | 0.500 |
        | b | – |
        <BLANKLINE>
        """
        lines = [f"### {self.title}", "", _line(self.columns)]
        lines.append("|---|" + "---:|" * (len(self.columns) - 1))
        lines += [_line([format_cell(cell) for cell in row]) for row in self.rows]
        lines += [f"\n{note}" for note in self.notes]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": self.notes}


def format_cell(cell: Cell) -> str:
    """Format a cell: three decimals, thousands separated, a dash for None.

    Examples
    --------
    >>> [format_cell(cell) for cell in (0.12345, 10000, None, "a|b")]
    ['0.123', '10,000', '–', 'a|b']
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def _line(cells: Any) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and the measured result.

    Parameters
    ----------
    where : str
        Place in the paper, such as "Figure 4, imclef07a".
    words : str
        The numbers, and whether the claim holds.
    holds : bool
    so : tuple of 2 ints, optional
        On how many sets it is so, of how many, where it is claimed of all of them.
    """

    where: str
    words: str
    holds: bool
    so: tuple[int, int] | None = None


@dataclass(frozen=True)
class PaperClaim:
    """A claim of a paper, with what is printed: a row of the page of claims.

    Parameters
    ----------
    paper : str
        As in `palmette bench`.
    where : str
        Place in the paper. Stored claims belong to it if their place begins with it.
    claim : str
    printed : str
        The printed figures.
    about : str
        Stored claims belong to it only if their words contain this.
    cannot : str
        Why it cannot be checked, where it cannot.
    """

    paper: str
    where: str
    claim: str
    printed: str = ""
    about: str = ""
    cannot: str = ""


@dataclass
class PublishedResult:
    """Reproduced tables, claims and figures of a paper.

    Attributes
    ----------
    name : str
    reference : str
    tables : list of Table
    claims : list of Claim
    figures : dict of str to dict
        Data of every figure, by name; numbers and text only.
    draw : callable
        Maps the data to image files: names to bytes.
    scores : dict of str to dict
        All scores, including those that are in no table: by data set, method and measure.
    facts : dict
        Machine, versions, seed and rounds.
    notes : list of str
        Warnings.
    """

    name: str
    reference: str
    tables: list[Table]
    claims: list[Claim]
    figures: dict[str, dict[str, Any]]
    draw: Draw
    scores: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_markdown(self) -> str:
        """Return the tables, and whether the claims of the paper hold."""
        parts = [f"## {self.name}\n\n{self.reference}\n", *(t.to_markdown() for t in self.tables)]
        lines = ["### Does it hold?", "", *(f"- {claim.words}" for claim in self.claims), ""]
        parts.append("\n".join(lines))
        if self.notes:
            parts.append("\n".join(["### Warnings", "", *(f"- {n}" for n in self.notes), ""]))
        facts = ", ".join(f"{key} {value}" for key, value in self.facts.items())
        return "\n".join([*parts, f"Measured with: {facts}.\n"])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; numbers that are not finite become None."""
        plain: dict[str, Any] = _plain(
            {
                "name": self.name,
                "reference": self.reference,
                "facts": self.facts,
                "tables": [table.to_dict() for table in self.tables],
                "claims": [vars(claim) for claim in self.claims],
                "scores": self.scores,
                "figures": self.figures,
                "notes": self.notes,
            }
        )
        return plain

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write ``tables.md``, ``results.json`` and the figures into a folder.

        Everything is made before the first file is written, and each file is whole or not there.

        Parameters
        ----------
        folder : path-like
            Made where there is none.

        Returns
        -------
        list of Path
            The files.
        """
        folder = require_folder(folder)
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"
        contents = {
            "tables.md": self.to_markdown().encode(),
            "results.json": text.encode(),
            **self.draw(self.figures),
        }
        folder.mkdir(exist_ok=True)
        for name, content in contents.items():
            with atomic_write(folder / name, "wb") as stream:
                stream.write(content)
        return [folder / name for name in contents]


def require_folder(folder: str | os.PathLike[str]) -> Path:
    """Raise an error if a folder cannot be created or written to, before the long computation.

    Parameters
    ----------
    folder : path-like

    Returns
    -------
    Path
    """
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise PalmetteError(f"cannot write into {path}: it is a file. Name a folder.")
    if not path.exists() and not path.parent.is_dir():
        raise PalmetteError(
            f"cannot make the folder {path}: there is no folder {path.parent}. Make it first."
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PalmetteError(f"cannot write into {path}: it is read-only for you.")
    return path


def _plain(value: Any) -> Any:
    """Replace values that JSON cannot represent by None."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
