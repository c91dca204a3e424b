"""Tables of a result as they are stored, and claims that are counted over their rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from papers.adaboost_bhc.methods import LEARNERS
from papers.result import Claim

__all__ = ["Found", "Row", "Stored", "counted", "percent", "times"]

Row = Mapping[str, Any]


class Stored:
    """Tables by the beginnings of their titles.

    Parameters
    ----------
    tables : sequence of dict
        As `Table.to_dict` gives them, and as they are stored.

    Examples
    --------
    >>> rows = [{"set": "toy: all features", "BHC": 1.0}]
    >>> stored = Stored([{"title": "Table 3. Time, s", "rows": rows, "notes": []}])
    >>> stored.of_learners("Table 3")
    {'all features': {'toy': {'set': 'toy: all features', 'BHC': 1.0}}}
    >>> stored.rows("Table 4")
    {}
    """

    def __init__(self, tables: Sequence[Mapping[str, Any]]) -> None:
        self._tables = tables

    def rows(self, title: str) -> dict[str, Row]:
        """Return the rows, by their first cells, of the first table of a title; {} without one."""
        for table in self._tables:
            if table["title"].startswith(title):
                return {str(next(iter(row.values()))): row for row in table["rows"]}
        return {}

    def of_learners(self, title: str) -> dict[str, dict[str, Row]]:
        """Return the rows of a table of "data set: weak learner", by weak learner and data set."""
        rows, found = self.rows(title), {}
        for learner in LEARNERS.values():
            end = f": {learner.words}"
            own = {name.removesuffix(end): row for name, row in rows.items() if name.endswith(end)}
            if own:
                found[learner.words] = own
        return found

    def standard_error(self, name: str, error: float) -> float:
        """Return the standard error of an error over the rows tested, both in per cent.

        Parameters
        ----------
        name : str
            Data set, whose numbers of rows are in Table 2.
        error : float
        """
        row = self.rows("Table 2")[f"{name}: file"]
        n_rows = row["train"] if row["test"] == "CV" else row["test"]
        return math.sqrt(error * (100 - error) / n_rows)


@dataclass(frozen=True)
class Found:
    """What was found in one case, such as on a data set.

    Parameters
    ----------
    name : str
    words : str
        The figures, each with its name.
    holds : bool
    """

    name: str
    words: str
    holds: bool


def counted(
    where: str, what: str, found: Sequence[Found], of: str = "sets", note: str = ""
) -> Claim:
    """Return a claim that holds if it does in all cases, partly if in some.

    Parameters
    ----------
    where : str
    what : str
        A sentence that ends before "on 3 of 7 sets".
    found : sequence of Found
    of : str
        What the cases are.
    note : str
        Sentences at the end.

    Examples
    --------
    >>> counted("Table 3", "ECC is fastest", [Found("iris", "ECC 1 s", True)]).words
    'Table 3: ECC is fastest on 1 of 1 sets (iris: ECC 1 s).'
    """
    n_held, n_all = sum(one.holds for one in found), len(found)
    mixed = 0 < n_held < n_all
    told = "; ".join(
        f"{one.name}: {one.words}{' (not so)' if mixed and not one.holds else ''}" for one in found
    )
    words = f"{where}: {what} on {n_held} of {n_all} {of} ({told}).{f' {note}' if note else ''}"
    return Claim(where, words, n_held == n_all, (n_held, n_all))


def percent(value: float) -> str:
    """Write a figure that is in per cent.

    Examples
    --------
    >>> percent(2.456)
    '2.46%'
    """
    return f"{value:.2f}%"


def times(value: float) -> str:
    """Write a ratio.

    Examples
    --------
    >>> times(12.73), times(0.2218)
    ('12.7', '0.22')
    """
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
