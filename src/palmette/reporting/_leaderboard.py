"""The leaderboard of a fit in blocks: figures of the same rows and folds, and of fewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["Block", "blocks"]

Entry = Mapping[str, Any]


class Block(NamedTuple):
    """Entries of a leaderboard whose figures can be compared.

    Parameters
    ----------
    folds : int
        Number of folds that every figure is a mean of.
    rows : int or None
        Number of rows that the models were fitted on; None if an old file does not say it.
    entries : list of dict
        In the order of the leaderboard.
    is_first : bool
        Whether the winner is one of them.
    """

    folds: int
    rows: int | None
    entries: list[Entry]
    is_first: bool

    @property
    def title(self) -> str:
        """What the figures rest on.

        Examples
        --------
        >>> Block(3, 2000, [], True).title
        'over 3 folds, fitted on 2,000 rows each'
        >>> Block(1, 1000, [], False).title
        'on 1 fold only, fitted on 1,000 rows: not to be compared with the figures above'
        """
        several = self.folds > 1
        rows = "" if self.rows is None else f", fitted on {self.rows:,} rows"
        if self.is_first:
            words = f"over {self.folds} folds" if several else "on 1 fold"
            return words + rows + (" each" if several and rows else "")
        words = f"over {self.folds} folds" if several else "on 1 fold only"
        return f"{words}{rows}: not to be compared with the figures above"


def blocks(board: Sequence[Entry], winner: Any) -> list[Block]:
    """Return the models that were tried, those with the folds and rows of the winner first.

    Parameters
    ----------
    board : sequence of dict
        A leaderboard in the summary of a model.
    winner : str
        Name of an entry.

    Returns
    -------
    list of Block

    Examples
    --------
    >>> full, part = {"folds": 3, "rows": 2000}, {"folds": 1, "rows": 1000}
    >>> board = [{"model": "a", **full}, {"model": "b", **full}, {"model": "c", **part}]
    >>> [[entry["model"] for entry in block.entries] for block in blocks(board, "a")]
    [['a', 'b'], ['c']]
    """
    found: dict[tuple[int, int | None], list[Entry]] = {}
    for entry in board:
        if entry["folds"]:
            found.setdefault((entry["folds"], entry.get("rows")), []).append(entry)
    order = sorted(found, key=lambda key: all(e["model"] != winner for e in found[key]))
    return [Block(*key, found[key], place == 0) for place, key in enumerate(order)]
