"""How a new table differs from the training table: columns, their values, and the classes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from palmette.hierarchy._names import shown
from palmette.table._profile import ColumnProfile, hashes_of_words, measures
from palmette.table._schema import Unread

if TYPE_CHECKING:
    from palmette.table._model import TableModel

_MATTERS = 0.1  # difference of two shares
_ERROR = 1e-3  # probability of any false alarm in a table that is drawn as the training table was


class Difference(NamedTuple):
    """A comparison of a column, or of the classes.

    Parameters
    ----------
    column : str or None
        None for the classes.
    what : str
        "values", "missing values", "length", "unseen values", "unseen words" or "labels".
    size : float
        Difference of two shares, from 0 to 1.
    by_chance : float
        Size that tables drawn in the same way hardly ever reach.
    sentence : str
    """

    column: str | None
    what: str
    size: float
    by_chance: float
    sentence: str

    @property
    def matters(self) -> bool:
        """Whether it is larger than chance explains, and large enough to say."""
        return bool(self.size > max(_MATTERS, self.by_chance))

    def facts(self) -> dict[str, Any]:
        """Return plain facts."""
        return {
            "column": self.column,
            "what": self.what,
            "size": round(float(self.size), 4),
            "by_chance": round(float(self.by_chance), 4),
            "differs": self.matters,
            "sentence": self.sentence,
        }


class Drift:
    """Compares the rows of a table, part by part, with those that a model was fitted on.

    Parameters
    ----------
    model : TableModel
        A model of an earlier version has no profile of its columns; only its labels are compared.
    """

    def __init__(self, model: TableModel) -> None:
        self._model = model
        profile = model.profile_ or {}
        known = [name for name in profile if name in model.schema_.kinds]
        self._columns = {name: _Column(name, profile[name]) for name in known}
        self._labels: Counter[int] = Counter()
        self._places = {label: i for i, label in enumerate(model.class_paths_.tolist())}

    def add(self, frame: Any, labels: list[list[Any]]) -> None:
        """Add rows with their labels, which may be none."""
        cast = self._model.schema_.cast(frame, unread=Unread())
        for name, column in self._columns.items():
            column.add(cast[name])
        for row in labels:
            self._labels.update(self._places.get(label, -1) for label in row)

    def differences(self) -> list[Difference]:
        """Return all comparisons, those that matter first, and the greatest first."""
        n_tests = 3 * len(self._columns) + 1
        found = [each for c in self._columns.values() for each in c.differences(n_tests)]
        found += self._of_labels(n_tests)
        return sorted(found, key=lambda each: (not each.matters, -each.size))

    def _of_labels(self, n_tests: int) -> list[Difference]:
        before = np.array([*self._model.summary_.get("class_rows", []), 0], dtype=np.float64)
        n_new = sum(self._labels.values())
        if len(before) != len(self._places) + 1 or not before.sum() or not n_new:
            return []
        after = np.array([self._labels[i] for i in [*range(len(before) - 1), -1]]) / n_new
        size, chance = _variation(before / before.sum(), after, before.sum(), n_new, n_tests)
        worst = int(np.argmax(np.abs(after - before / before.sum())))
        name = "labels that the model does not know have"
        if worst < len(self._places):
            name = f"{shown(self._model.label_text(self._model.class_paths_[worst]))} has"
        share = before[worst] / before.sum()
        sentence = f"classes: {name} {after[worst]:.0%} of the labels, and {share:.0%} in training"
        return [Difference(None, "labels", size, chance, sentence)]


@dataclass
class _Column:
    """Counts the values of a column."""

    name: str
    before: ColumnProfile

    def __post_init__(self) -> None:
        self._n_rows = self._n_missing = 0
        self._below = np.zeros(len(self.before.points), dtype=np.int64)
        self._values: Counter[str] = Counter()
        self._other = ""
        self._shares: list[Any] = []
        self._words = np.unpackbits(self.before.words).astype(bool)

    def add(self, column: Any) -> None:
        self._n_rows += len(column)
        self._n_missing += int(column.isna().sum())
        if self.before.kind == "category":
            known = set(self.before.values)
            for value, count in Counter(column.dropna().tolist()).items():
                self._values[value if value in known else ""] += count
                self._other = self._other or ("" if value in known else value)
            return
        values = np.sort(measures(column, self.before.kind))
        self._below += np.searchsorted(values, self.before.points, side="right")
        if len(self._words):
            rows = filter(None, hashes_of_words(column.dropna().tolist()))
            self._shares.append(np.array([1 - self._words[row].mean() for row in rows]))

    def differences(self, n_tests: int) -> list[Difference]:
        before, n_new = self.before, self._n_rows - self._n_missing
        n_old = before.n_rows - before.n_missing
        found = []
        if self._n_rows and before.n_rows:
            found.append(self._missing(n_tests))
        if n_new and n_old and before.kind == "category":
            found += self._categories(n_old, n_new, n_tests)
        elif n_new and n_old:
            found.append(self._distribution(n_old, n_new, n_tests))
            found += self._unseen_words(n_tests)
        return found

    def _missing(self, n_tests: int) -> Difference:
        before = self.before
        old, new = before.n_missing / before.n_rows, self._n_missing / self._n_rows
        both = (before.n_missing + self._n_missing) / (before.n_rows + self._n_rows)
        chance = _deviations(n_tests) * _error(both, before.n_rows, self._n_rows)
        sentence = f"column {self.name!r}: {new:.0%} of the rows have no value, and {old:.0%} in "
        return Difference(
            self.name, "missing values", abs(new - old), chance, f"{sentence}training"
        )

    def _distribution(self, n_old: int, n_new: int, n_tests: int) -> Difference:
        """Compare the shares of values up to the stored points (Kolmogorov and Smirnov)."""
        before = self.before
        gaps = np.abs(self._below / n_new - before.shares)
        worst = int(np.argmax(gaps))
        chance = np.sqrt(np.log(2 * n_tests / _ERROR) / 2 * (1 / n_old + 1 / n_new))
        new, old = self._below[worst] / n_new, before.shares[worst]
        what, point = "of the values are at most", f"{before.points[worst]:.6g}"
        if before.kind == "text":
            what, point = "of the texts have at most", f"{point} characters"
        elif before.kind == "date":
            what, point = (
                "of the dates are not after",
                str(np.datetime64(int(before.points[worst]), "us"))[:10],
            )
        sentence = f"column {self.name!r}: {new:.0%} {what} {point}, and {old:.0%} in training"
        name = "length" if before.kind == "text" else "values"
        return Difference(self.name, name, float(gaps[worst]), float(chance), sentence)

    def _categories(self, n_old: int, n_new: int, n_tests: int) -> list[Difference]:
        before = self.before
        old = np.append(before.counts, n_old - before.counts.sum()) / n_old
        new = np.array([self._values[value] for value in [*before.values, ""]]) / n_new
        size, chance = _variation(old, new, n_old, n_new, n_tests)
        gaps = np.abs(new - old)
        found = []
        if len(before.values):
            worst = int(np.argmax(gaps[:-1]))
            sentence = (
                f"column {self.name!r}: {shown(before.values[worst])} is {new[worst]:.0%} of the "
                f"values, and {old[worst]:.0%} in training"
            )
            found.append(Difference(self.name, "values", size, chance, sentence))
        if self._other:
            expected = max(old[-1], before.unseen)
            chance = _deviations(n_tests) * _error((expected + new[-1]) / 2, n_old, n_new)
            sentence = (
                f"column {self.name!r}: {new[-1]:.0%} of the values, such as "
                f"{shown(self._other)}, are none of the frequent ones in training, where "
                f"{expected:.0%} are expected"
            )
            size = max(float(new[-1] - expected), 0.0)
            found.append(Difference(self.name, "unseen values", size, chance, sentence))
        return found

    def _unseen_words(self, n_tests: int) -> list[Difference]:
        shares = np.concatenate(self._shares) if self._shares else np.zeros(0)
        free = 1 - self._words.mean() if len(self._words) else 0.0
        if not len(shares) or free <= 0:
            return []
        shares = shares / free  # other words have the hashes of known ones by chance
        before = self.before
        n_old = before.n_rows - before.n_missing
        variance = shares.var() / len(shares) + before.unseen_variance / n_old
        chance = _deviations(n_tests) * np.sqrt(variance)
        new, old = min(float(shares.mean()), 1.0), before.unseen / free
        sentence = (
            f"column {self.name!r}: {new:.0%} of the words are not in the training rows, where "
            f"{old:.0%} are expected"
        )
        return [Difference(self.name, "unseen words", max(new - old, 0.0), float(chance), sentence)]


def _variation(old: Any, new: Any, n_old: float, n_new: float, n_tests: int) -> tuple[float, float]:
    """Return the total variation of two distributions, and what chance hardly ever exceeds."""
    both = (old * n_old + new * n_new) / (n_old + n_new)
    expected = 0.4 * float(np.sum(_error(both, n_old, n_new)))  # half of the mean deviations
    more = np.sqrt(np.log(n_tests / _ERROR) / 2 * (1 / n_old + 1 / n_new))  # McDiarmid
    return float(np.abs(new - old).sum() / 2), expected + float(more)


def _error(share: Any, n_old: float, n_new: float) -> Any:
    """Return the standard error of the difference of two shares."""
    return np.sqrt(share * (1 - share) * (1 / n_old + 1 / n_new))


def _deviations(n_tests: int) -> float:
    """Return the standard errors that none of all tests exceeds by chance."""
    return float(np.sqrt(2 * np.log(2 * n_tests / _ERROR)))
