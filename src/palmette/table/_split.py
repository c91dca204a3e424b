"""Training and test rows of a table: stratified, by group or by time, equal rows on one side."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from palmette._text import listed
from palmette.exceptions import PalmetteError
from palmette.hierarchy._names import shown
from palmette.table._delimited import Part
from palmette.table._kinds import Distinct
from palmette.table._large import cell_key
from palmette.table._near_rows import NearRows
from palmette.table._numbers import plain_numbers
from palmette.table._reading import as_part, read_parts
from palmette.table._related import find_related
from palmette.table._schema import Schema
from palmette.table._sources import TableSource
from palmette.table._target import TargetForm
from palmette.table._target_cells import find_columns
from palmette.table._written import Written, guess_given, near_names

if TYPE_CHECKING:
    import pandas as pd

IntArray = NDArray[np.int64]
_CHUNK_ROWS = 50_000  # the first of them show what the columns are


def split_table(
    table: Any,
    target: str | Sequence[str] | None = None,
    *,
    test_size: float = 0.2,
    group: str | None = None,
    time: str | None = None,
    similarity: float = 0.8,
    separator: str | None = None,
    labels_separator: str | None = None,
    date_format: str | None = None,
    header: bool = True,
    seed: int = 0,
    tell: Callable[[str], None] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Divide a table into training rows and test rows.

    Rows are drawn at random, with the same share of test rows in every class and in every group of
    classes. Rows with equal inputs, and with nearly equal texts, are never on both sides.

    Parameters
    ----------
    table : DataFrame, dict of columns, or name of a file or folder
    target : str or sequence of str, optional
        Column of the classes, or the levels of a path; None draws rows without regard to them.
    test_size : float
        Share of the rows that are test rows, approximately.
    group : str, optional
        Column whose values are never on both sides, such as customers.
    time : str, optional
        Column of dates or numbers: the newest rows are the test rows. A row that belongs to an
        older one, by its inputs or by `group`, is on the side of that one.
    similarity : float
        Share of their pieces of five characters that texts of at least 40 characters have in
        common to be nearly equal; 1 for equal inputs only.
    separator, labels_separator : str, optional
        As in `fit_table`.
    date_format : str, optional
        Format of the dates of `time`; found by default.
    header : bool
        Whether the first line of a file has the names of the columns.
    seed : int
    tell : callable, optional
        Called with what was done, one sentence at a time.

    Returns
    -------
    training, test : DataFrame
        The rows with all columns, in their order; cells of CSV files are texts.

    Examples
    --------
    >>> goods = {"name": [f"apple {i}" for i in range(10)] + [f"saw {i}" for i in range(10)],
    ...          "kind": ["Food"] * 10 + ["Tools"] * 10}
    >>> training, test = split_table(goods, "kind")
    >>> test["kind"].tolist()
    ['Food', 'Food', 'Tools', 'Tools']
    """
    if isinstance(table, str | os.PathLike):
        table = TableSource.of(table, header=header)
    frame = as_part(table).frame
    found = find_split(
        [Part(frame)], target, test_size=test_size, group=group, time=time, similarity=similarity,
        separator=separator, labels_separator=labels_separator, date_format=date_format, seed=seed,
    )  # fmt: skip
    if tell is not None:
        for sentence in found.sentences:
            tell(sentence)
    rows = table if hasattr(table, "iloc") else frame
    return rows.iloc[~found.is_test], rows.iloc[found.is_test]


@dataclass
class Split:
    """Which rows of a table are test rows.

    Parameters
    ----------
    is_test : bool array of shape (n_rows,)
    lines : int array of shape (n_rows,) or None
        Lines on which the rows of a text file begin.
    sentences : list of str
        What was done.
    """

    is_test: NDArray[np.bool_]
    lines: IntArray | None = None
    sentences: list[str] = field(default_factory=list)


def find_split(
    parts: Iterable[Part] | TableSource,
    target: str | Sequence[str] | None,
    *,
    test_size: float,
    group: str | None,
    time: str | None,
    similarity: float,
    separator: str | None,
    labels_separator: str | None,
    date_format: str | None,
    seed: int,
) -> Split:
    """Choose the test rows of a table that is read in chunks; see `split_table`.

    A few numbers per row are in memory, the distinct targets, and the cells of `time`.
    """
    for name, value in (("test_size", test_size), ("similarity", similarity)):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 < value < 1 + (name == "similarity") * 1e-9):
            raise PalmetteError(f"{name}={value!r}: expected a share between 0 and 1, such as 0.2.")
    rows = _Rows(target, group, time, similarity)
    if isinstance(parts, TableSource):
        parts = read_parts(parts, _CHUNK_ROWS)
    for part in parts:
        for start in range(0, len(part.frame), _CHUNK_ROWS):
            rows.add(part.frame.iloc[start : start + _CHUNK_ROWS])
        rows.add_lines(part.lines)
    if rows.n_rows < 2:
        raise PalmetteError("the table has one row: expected at least two, one for each side.")
    labels = rows.labels(separator, labels_separator)
    near = rows.near.groups() if rows.near is not None else np.arange(rows.n_rows)
    units = near if group is None else rows.units()
    if units.max() == 0:
        raise PalmetteError(
            "all rows belong together, by their inputs or their group: there is nothing to split."
            + (" Pass --similarity 1 to keep equal rows together only." * (similarity < 1))
        )
    if time is None:
        is_test = _draw(labels.strata(), units, test_size, seed)
        when: list[str] = []
    else:
        is_test, when = _newest(rows.times(date_format), time, units, test_size)
    sentences = [_share(is_test), *when, *labels.sentences(is_test)]
    sentences += rows.sentences(is_test, near, similarity)
    return Split(is_test, rows.lines(), sentences)


def _share(is_test: NDArray[np.bool_]) -> str:
    n_test = int(is_test.sum())
    return (
        f"{len(is_test):,} rows: {len(is_test) - n_test:,} training rows and {n_test:,} test rows "
        f"({n_test / len(is_test):.1%})"
    )


# ---------------------------------------------------------------------- what is read


class _Cells:
    """Numbers the distinct cells of some columns, chunk by chunk, in the order of first rows."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self._known: dict[Any, int] = {}
        self.first: list[tuple[Any, ...]] = []
        self._codes: list[IntArray] = []

    def add(self, frame: pd.DataFrame) -> None:
        codes = np.empty(len(frame), dtype=np.int64)
        columns = [frame[name].tolist() for name in self.names]
        for i, row in enumerate(zip(*columns, strict=True)):
            key = tuple(map(cell_key, row))
            codes[i] = self._known.setdefault(key, len(self._known))
            if codes[i] == len(self.first):
                self.first.append(row)
        self._codes.append(codes)

    def codes(self) -> IntArray:
        return np.concatenate(self._codes)


class _Rows:
    """What decides on the side of each row."""

    def __init__(self, target: Any, group: str | None, time: str | None, similarity: float) -> None:
        self._wanted, self._group, self._time = target, group, time
        self._similarity = similarity
        self.n_rows = 0
        self.near: NearRows | None = None
        self._lines: list[Any] = []
        self._times: list[Any] = []

    def add(self, frame: pd.DataFrame) -> None:
        if not self.n_rows:
            self._begin(frame)
        self.n_rows += len(frame)
        if self._target is not None:
            self._target.add(frame)
        if self._groups is not None:
            self._groups.add(frame)
        if self._time is not None:
            self._times.append(frame[self._time])
        if self.near is not None:
            self.near.add(frame)

    def add_lines(self, lines: Any) -> None:
        self._lines.append(lines)

    def lines(self) -> Any:
        """Return the lines of all rows, if they have any."""
        if any(lines is None or lines.dtype.kind != "i" for lines in self._lines):
            return None
        return np.concatenate(self._lines)

    def _begin(self, head: pd.DataFrame) -> None:
        names = list(head.columns)
        columns = [] if self._wanted is None else find_columns(self._wanted, names)
        others = [name for name in (self._group, self._time) if name is not None]
        for option, name in (("group", self._group), ("time", self._time)):
            if name is None:
                continue
            if name not in names:
                near = near_names(name, names)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise PalmetteError(
                    f"{option}={name!r}: the table has no such column (it has: {listed(names)})."
                    f"{hint}"
                )
            if name in columns:
                raise PalmetteError(f"{option}={name!r}: this is the target. Name another column.")
        self._target = _Cells(columns) if columns else None
        self._groups = None if self._group is None else _Cells([self._group])
        inputs = _inputs(head, columns, others)
        self.near = None if inputs is None else NearRows(inputs, self._similarity)

    def labels(self, separator: str | None, labels_separator: str | None) -> _Labels:
        """Return the classes of all rows."""
        if self._target is None:
            return _Labels(None, [], np.full(self.n_rows, -1))
        import pandas as pd

        cells = self._target
        frame = pd.DataFrame(
            {name: [row[i] for row in cells.first] for i, name in enumerate(cells.names)},
            dtype=object,
        )
        form = TargetForm.find(
            frame, cells.names, separator=separator, labels_separator=labels_separator
        )
        rows = form.read(frame, refuse=lambda row, why: None)
        paths = [[] if row is None else row if form.several else [row] for row in rows]
        return _Labels(form, paths, cells.codes())

    def _group_codes(self) -> IntArray | None:
        """Return the number of the group of each row, -1 if it has none."""
        if self._groups is None:
            return None
        codes = self._groups.codes()
        gone = [code for code, row in enumerate(self._groups.first) if cell_key(row[0]) is None]
        return np.where(np.isin(codes, gone), -1, codes)

    def units(self) -> IntArray:
        """Number the rows that are on one side together."""
        groups = self._group_codes()
        if self.near is not None:
            return self.near.groups(groups)
        assert groups is not None
        lonely = np.arange(len(groups)) + groups.max() + 1
        return np.unique(np.where(groups < 0, lonely, groups), return_inverse=True)[1]

    def times(self, date_format: str | None) -> NDArray[Any]:
        """Return the time of each row as a number or a date, NaN or NaT if it has none."""
        import pandas as pd

        column = pd.concat(self._times, ignore_index=True)
        if column.dtype.kind in "iuf":
            values: NDArray[Any] = column.to_numpy(dtype=np.float64)
            return values
        numbers = None
        if date_format is None and column.dtype.kind != "M":
            cells = Distinct.of(column)
            numbers = plain_numbers(cells.texts)
            if len(numbers) and not np.isnan(numbers).any():
                return cells.spread(numbers, np.nan)
        name = str(self._time)
        dates = guess_given(column, "date", Written(None, date_format, [name])).dates
        schema = Schema({name: "date"}, {} if dates is None else {name: dates.formats})
        found: NDArray[Any] = schema.cast(column.to_frame(name))[name].to_numpy()
        return found

    def sentences(self, is_test: NDArray[np.bool_], near: IntArray, similarity: float) -> list[str]:
        """Say what was kept together."""
        found = []
        groups = self._group_codes()
        if groups is not None:
            known = groups[groups >= 0]
            n_test = len(np.unique(groups[is_test & (groups >= 0)]))
            gaps = len(groups) - len(known)
            more = f"; {gaps:,} rows without one are by themselves" if gaps else ""
            found.append(
                f"groups: {len(np.unique(known)):,} in the column {self._group!r}, of which "
                f"{n_test:,} are test rows{more}"
            )
        sizes = np.bincount(near)
        n_repeated = len(near) - len(sizes)
        if n_repeated:
            texts = f" or texts that are equal by {similarity:.0%}" if similarity < 1 else ""
            found.append(
                f"{n_repeated:,} rows repeat another row: those with equal inputs{texts} are on "
                f"one side, at most {sizes.max():,} together"
            )
        return found


def _inputs(head: pd.DataFrame, target: list[str], others: list[str]) -> Schema | None:
    """Return the columns that a model would learn from; None if there are none."""
    left_out = [*target, *others]
    if len(target) == 1:
        free = [name for name in head.columns if name not in left_out]
        form = TargetForm.find(head, target)
        if not form.several:
            rows = form.read(head, refuse=lambda row, why: None)
            known: dict[Any, int] = {}
            codes = np.array([known.setdefault(row, len(known)) for row in rows if row is not None])
            there = head[[row is not None for row in rows]]
            if len(codes):
                related = find_related(there, free, codes, list(head.columns).index(target[0]))
                left_out += [*related.levels, *related.copies]
    try:
        return Schema.infer(head, leave_out=left_out, tell=lambda words: None)
    except PalmetteError:  # no such column
        return None


class _Labels:
    """The classes of the rows of a table.

    Parameters
    ----------
    form : TargetForm or None
        None without a target.
    paths : list of n_cells lists of paths
        Those of each distinct cell; empty without a label.
    codes : int array of shape (n_rows,)
        Distinct cell of each row.
    """

    def __init__(self, form: TargetForm | None, paths: list[Any], codes: IntArray) -> None:
        self._form, self._paths, self._codes = form, paths, codes

    def _counts(self, rows: Any = slice(None)) -> Counter[Any]:
        sizes = np.bincount(self._codes[rows], minlength=len(self._paths)).tolist()
        found: Counter[Any] = Counter()
        for paths, size in zip(self._paths, sizes, strict=True):
            for path in paths if size else ():
                found[path] += size
        return found

    def strata(self) -> IntArray:
        """Return the place of the class of each row among all, sorted by path.

        Of several classes of a row, it is the rarest; rows without a class come last.
        """
        if self._form is None:
            return np.zeros(len(self._codes), dtype=np.int64)
        counts = self._counts()
        place = {path: i for i, path in enumerate(sorted(counts))}
        rarest = [min(paths, key=lambda p: (counts[p], p), default=None) for paths in self._paths]
        found = [len(place) if path is None else place[path] for path in rarest]
        return np.array(found, dtype=np.int64)[self._codes]

    def sentences(self, is_test: NDArray[np.bool_]) -> list[str]:
        """Say how the target is read, and which classes are on one side only."""
        if self._form is None:
            return []
        training, test = self._counts(~is_test), self._counts(is_test)
        classes = training.keys() | test.keys()
        found = [f"target: {self._form.describe()}, {len(classes):,} classes"]
        for here, there, name in ((training, test, "training"), (test, training, "test")):
            if alone := sorted(here.keys() - there.keys()):
                names = ", ".join(shown(self._form.write(path)) for path in alone[:3])
                have = "class is" if len(alone) == 1 else "classes are"
                found.append(f"{len(alone):,} {have} in the {name} rows only, such as {names}")
        if gaps := int(np.isin(self._codes, [i for i, p in enumerate(self._paths) if not p]).sum()):
            found.append(f"{gaps:,} rows have no label; they are on both sides")
        return found


# ---------------------------------------------------------------------- what is chosen


def _draw(strata: IntArray, units: IntArray, share: float, seed: int) -> NDArray[np.bool_]:
    """Draw units of rows at random, with about the same share of rows in every stratum.

    Units are visited stratum by stratum, the large ones first and else in random order. A unit is
    drawn if that brings the number of drawn rows closer to the share of the visited rows. What is
    lacking, or too much, is made up for in the next strata, which are siblings if strata are sorted
    by path: so the share is right in every part of a hierarchy, too.
    """
    rng = np.random.default_rng(seed)
    sizes = np.bincount(units)
    stratum = _main_strata(strata, units)
    order = rng.permutation(len(sizes))
    order = order[np.lexsort((-sizes[order], stratum[order]))]
    rows_of = np.bincount(stratum, weights=sizes)
    drawn = np.zeros(len(sizes), dtype=bool)
    carried = rng.uniform(-0.5, 0.5)
    last = -1
    debt = rest = 0.0
    for unit in order.tolist():
        size, here = int(sizes[unit]), int(stratum[unit])
        if here != last:
            carried, last = (rest + debt if last >= 0 else carried), here
            # no stratum makes up for others by more than half of its own test rows
            most = max(0.5, 0.5 * min(share, 1 - share) * rows_of[here])
            debt = float(np.clip(carried, -most, most))
            rest = carried - debt
        debt += share * size
        if debt > size / 2:
            drawn[unit] = True
            debt -= size
    lacking = share * len(units) - float(sizes[drawn].sum())
    for unit in rng.permutation(len(sizes)).tolist():  # what no stratum could make up for
        change = int(sizes[unit]) * (-1 if drawn[unit] else 1)
        if abs(lacking - change) < abs(lacking):
            drawn[unit], lacking = not drawn[unit], lacking - change
    if not drawn.any() or drawn.all():  # few large units
        drawn[np.argmin(sizes)] = not drawn.any()
    return drawn[units]


def _main_strata(strata: IntArray, units: IntArray) -> IntArray:
    """Return the most frequent stratum of each unit; of equals, the first."""
    n_strata = int(strata.max()) + 1
    pairs, counts = np.unique(units * n_strata + strata, return_counts=True)
    order = np.lexsort((-counts, pairs // n_strata))
    first = np.unique(pairs[order] // n_strata, return_index=True)[1]
    found: IntArray = pairs[order][first] % n_strata
    return found


def _newest(
    times: NDArray[Any], name: str, units: IntArray, share: float
) -> tuple[NDArray[np.bool_], list[str]]:
    """Choose the newest units of rows, which are as old as their oldest rows; and say so."""
    gone = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times)
    values, codes = np.unique(times[~gone], return_inverse=True)
    if len(values) < 2:
        raise PalmetteError(
            f"time={name!r}: the column has {len(values)} distinct times: expected at least two."
        )
    place = np.full(len(times), -1, dtype=np.int64)
    place[~gone] = codes
    oldest = np.full(units.max() + 1, len(values), dtype=np.int64)
    np.minimum.at(oldest, units, np.where(gone, -1, place))
    start = oldest[units]  # -1 with a row without a time: training
    later = len(times) - np.cumsum(np.bincount(start + 1, minlength=len(values) + 1))[:-1]
    cuts = np.arange(len(values))
    allowed = (later > 0) & (later < len(times))
    if not allowed.any():
        raise PalmetteError(
            f"time={name!r}: rows that belong together are from all times: there is no later part."
        )
    cut = int(cuts[allowed][np.argmin(np.abs(later[allowed] - share * len(times)))])
    is_test = start >= cut
    found = [f"time: the test rows begin at {_time_text(values[cut])} in the column {name!r}"]
    if n_late := int((~is_test & (place >= cut)).sum()):
        found.append(f"{n_late:,} rows that are newer belong to older rows: they are training rows")
    if n_gone := int(gone.sum()):
        found.append(f"{n_gone:,} rows without a time are training rows")
    return is_test, found


def _time_text(value: Any) -> str:
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[s]"))
        return text.removesuffix("T00:00:00").replace("T", " ")
    return f"{float(value):.15g}"
