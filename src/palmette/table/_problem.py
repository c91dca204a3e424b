"""TableProblem: the rows, labels and hierarchy of a table, read and checked once."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import row_chunks, take_rows
from palmette._text import caller_level, listed
from palmette.exceptions import PalmetteError, TableWarning
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._separators import detect_separator
from palmette.hierarchy._vocabulary import Languages
from palmette.table._binary_files import other_sheets
from palmette.table._delimited import Part
from palmette.table._label_rows import LabelRows
from palmette.table._large import LargeTable, read_or_sample
from palmette.table._near_labels import count_nodes, find_spellings, sentences_on_names
from palmette.table._reading import as_part, seems_headerless
from palmette.table._related import (
    ABOVE,
    SAME,
    Related,
    find_leaks,
    find_related,
    in_order,
    sentences,
)
from palmette.table._schema import Schema, Unread
from palmette.table._shown import no_classes, require_classes, sentences_on_target
from palmette.table._sources import BadRows, TableSource
from palmette.table._target import TargetForm
from palmette.table._target_nodes import (
    TargetRows,
    hierarchy_of_paths,
    named_as_cells,
    plain_labels,
)
from palmette.table._written import Given, near_names

LEARN = "learn"
_DEFAULT_LEARNER = "mf-tree"
_CELLS_AT_ONCE = 2**22


@dataclass(frozen=True)
class TableProblem:
    """The labelled rows of a table.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
        Columns of `schema`, with the types of their kinds.
    schema : Schema
    target : TargetForm
    hierarchy : Hierarchy
        The given hierarchy, that of the paths, or a star; used for scores.
    learner : estimator or None
        Learner of a hierarchy, if one is to be learned.
    y : list of n_samples labels
        Labels for classifiers: paths, sets of paths, or, with a learner, plain labels or sets of
        them.
    truth : list of n_samples paths, or sets of paths
        Labels of `hierarchy`.
    path_of : dict of str to path
        Paths of plain labels.
    several_paths : bool
    n_dropped : int
        Number of rows without a target.
    n_bad : int
        Number of rows that could not be read, and are skipped.
    groups : int array of shape (n_samples,) or None
        Rows with equal inputs have equal numbers; None if all inputs differ.
    notes : tuple of str
        What is doubtful about the table, as shown to the user.
    rest : RestOfTable or None
        All rows, if the table is larger than memory; the rows above are a sample of them.
    label_rows : LabelRows or None
        Texts of concepts that are added to training rows.
    """

    frame: Any
    schema: Schema
    target: TargetForm
    hierarchy: Hierarchy
    learner: Any
    y: list[Any]
    truth: list[Any]
    path_of: dict[str, Any]
    several_paths: bool
    n_dropped: int
    n_bad: int = 0
    groups: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()
    rest: RestOfTable | None = None
    label_rows: LabelRows | None = None

    def training_rows(self, rows: Any = None) -> tuple[Any, list[Any]]:
        """Return the cells and labels of some rows, by default all, as a model is fitted on them.

        Parameters
        ----------
        rows : int array of shape (n_rows,), optional
        """
        frame, y = self.frame, self.y
        if rows is not None:
            frame, y = take_rows(frame, rows), [y[i] for i in rows.tolist()]
        return (frame, y) if self.label_rows is None else self.label_rows.add(frame, y)

    def paths_of(self, labels: Any) -> list[Any]:
        """Return the paths that plain labels, or sets of them, stand for.

        Parameters
        ----------
        labels : labels of n_samples rows
            As a classifier that has learned a hierarchy predicts them.
        """
        if self.several_paths:
            return [{self.path_of[str(each)] for each in row} for row in labels]
        return [self.path_of[str(each)] for each in labels]

    @property
    def n_all(self) -> int:
        """Number of labelled rows of the table, of which the rows here may be a sample."""
        return self.n_rows if self.rest is None else self.rest.n_labelled

    def class_rows(self) -> Counter[Any]:
        """Count the rows of each label, as `y` has it, in the whole table."""
        y, counts = (self.y, np.ones(self.n_rows, dtype=np.int64))
        if self.rest is not None:
            y, counts = self.rest.labels, self.rest.counts()
        found: Counter[Any] = Counter()
        for label, count in zip(y, counts.tolist(), strict=True):
            for each in label if self.several_paths and label is not None else [label]:
                found[each] += count
        return found

    @property
    def n_duplicates(self) -> int:
        """Number of rows with the inputs of an earlier row."""
        return 0 if self.groups is None else self.n_rows - int(self.groups.max()) - 1

    @property
    def n_rows(self) -> int:
        """Number of labelled rows."""
        return len(self.y)

    def codes(self) -> NDArray[np.int64] | None:
        """Label of every row as a number, None if rows have several."""
        if self.several_paths:
            return None
        return _codes(self.truth)


@dataclass(frozen=True, eq=False)
class RestOfTable:
    """All rows of a table that is larger than memory, and their labels.

    Parameters
    ----------
    table : LargeTable
    labels : list of n_targets labels
        The label of every target, as in `TableProblem.y`; None if its rows are left out.
    """

    table: LargeTable
    labels: list[Any]

    def is_labelled(self) -> NDArray[np.bool_]:
        """Return which rows have a label."""
        known = np.array([label is not None for label in [*self.labels, None]])
        return known[self.table.codes]

    def counts(self) -> NDArray[np.int64]:
        """Return the number of rows of every target."""
        codes = self.table.codes
        return np.bincount(codes[codes >= 0], minlength=len(self.labels))

    @cached_property
    def n_labelled(self) -> int:
        """Number of rows that have a label."""
        return int(np.count_nonzero(self.is_labelled()))


def read_problem(
    table: Any,
    target: str | Sequence[str],
    *,
    hierarchy: Any = None,
    separator: str | None = None,
    labels_separator: str | None = None,
    merge_case: bool = False,
    max_depth: int | None = None,
    columns: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    decimal: Given = None,
    date_format: Given = None,
    header: bool = True,
    bad: BadRows | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    tell: Callable[[str], None] | None = None,
    memory: float | None = None,
    tick: Callable[[str], None] | None = None,
    use_labels: bool | str = False,
    language: Languages | None = None,
    yes: bool = False,
    corrected: Callable[[Part], Part] | None = None,
) -> TableProblem:
    """Read the rows, the labels and the hierarchy of a table; see `fit_table`.

    Bad rows of a file are added to `bad`, or are errors without it. Of a table that is too large
    for `memory`, a sample of the rows is read. `corrected` changes rows before they are looked at.
    """
    notes: list[str] = []

    def note(sentence: str) -> None:
        notes.append(sentence)
        if tell is None:
            warnings.warn(f"{sentence}.", TableWarning, stacklevel=caller_level())
        else:
            tell(sentence)

    source = TableSource.of(table, header=header) if _is_name(table) else table
    if bad is not None and isinstance(source, TableSource):
        source = replace(source, bad=bad)
    large: LargeTable | None = None
    if isinstance(source, TableSource):
        found_rows = read_or_sample(source, target, memory, seed, tick, tell)
        if isinstance(found_rows, LargeTable):
            large, lines = found_rows, None
            frame = large.sample
        else:
            frame, lines = found_rows
    else:
        frame, lines = as_part(source)
    file = source if isinstance(source, TableSource) else None  # a DataFrame has any attributes
    if corrected is not None:
        frame, lines = corrected(Part(frame, lines))
    given, learner = read_hierarchy(hierarchy, seed, n_jobs)
    _check_depth(max_depth, given)
    hint = _headerless(source, frame)
    try:
        form = TargetForm.find(
            frame, target, separator=separator, labels_separator=labels_separator, hierarchy=given
        )
        form.max_depth = max_depth
        _check_drop(drop, list(frame.columns), form.columns)
    except PalmetteError as error:
        hint = hint or _other_place(source, frame)
        if not hint:
            raise
        raise PalmetteError(f"{error} {hint}.") from error
    if hint:
        note(hint)
    are_levels = len(form.columns) > 1 and not form.columns_are_labels
    ordered = in_order(frame, form.columns) if are_levels else form.columns
    if ordered != form.columns:
        note(
            f"the levels are read in the order {', '.join(ordered)}, since each of them follows "
            "from the next one"
        )
        form.columns = ordered
    if merge_case and given is not None and given.is_tree:
        form.spelled = _spellings_of(given, form, frame)
    labels = TargetRows(file, frame, lines)
    labels.read(form, given)
    frame, lines = labels.rows()
    if source_bad := getattr(file, "bad", None):
        note(source_bad.sentence(source.title))
    if labels.n_lost:
        note(
            f"{labels.n_lost:,} labels that are not in the hierarchy, such as {labels.lost!r}, are "
            "left out of rows that have others"
        )
    plain = len(form.columns) == 1 and form.separator is None and not form.lists_are_paths
    is_whole = large is None and given is None and not form.several
    if plain and is_whole and (doubt := require_classes(form, labels.paths)):
        if not yes:
            raise no_classes(doubt)
        note(doubt)
    codes = None if form.several else _codes(labels.paths)
    exempt = [*form.columns, *drop, *(columns or {})]
    related = _related(frame, form, codes, exempt)
    if not (plain and large is None and given is None and learner is None):  # there are levels
        related.copies.update(dict.fromkeys(related.levels, ABOVE))
        related.levels.clear()
    if related.levels:
        n_gaps, form = labels.n_gaps, TargetForm([*related.levels, *form.columns])
        form.max_depth = max_depth
        labels = TargetRows(file, frame, lines)
        labels.read(form, None)
        labels.n_gaps = n_gaps
    is_open = given is None and separator is None and labels_separator is None
    names = [*labels.known] if is_open and not related.levels and not form.labels_separator else []
    nodes = count_nodes(labels.paths)
    told = sentences_on_target(form, names, labels.gaps, nodes)
    if given is None:
        told += sentences_on_names(nodes, merge_case)
    for sentence in told:
        note(sentence)
    if given is None and merge_case:
        form.spelled = find_spellings(nodes)
        labels.paths = [form.respelled(row) for row in labels.paths]
    numbers: dict[str, NDArray[np.float64]] = {}
    schema = Schema.infer(
        frame, leave_out=[*form.columns, *drop, *related.copies], given=columns, decimal=decimal,
        date_format=date_format, tell=note, numbers=numbers,
    )  # fmt: skip
    schema.left_out.update(related.copies)
    schema.header = getattr(file, "header", True)
    found = hierarchy_of_paths(labels.paths, form.several) if given is None else given
    if given is not None:
        cells = (path for row in labels.paths for path in (row if form.several else [row]))
        found = named_as_cells(given, cells)
    several = form.several or not found.is_tree
    y: list[Any]
    path_of: dict[str, Any] = {}
    truth = labels.truth(found, several)
    listed = (label for row in truth for label in row) if several else truth
    form.settle(listed, labels.known, found)
    y = truth
    if learner is not None:
        y, path_of = plain_labels(labels.paths, form.write, found, several)
    _require_classes(truth, several, form)
    unread = Unread()
    cast = schema.cast(frame, lines=lines, unread=unread, numbers=numbers)
    schema.learn_categories(cast)
    leaks = (
        {}
        if codes is None
        else find_leaks(cast, {n: k for n, k in schema.kinds.items() if n not in exempt}, codes)
    )
    for sentence in [*sentences(related, leaks, form.columns[-1]), *unread.sentences()]:
        note(sentence)
    problem = TableProblem(
        cast, schema, form, found, learner, y, truth, path_of, several, labels.n_gaps,
        0 if not source_bad else len(source_bad), find_groups(cast), tuple(notes),
        None if large is None else _rest_of(large, labels.kept, y),
    )  # fmt: skip
    if use_labels:
        problem = _with_label_rows(problem, use_labels, language, tell)
    if problem.rest is not None:
        problem = replace(problem, n_dropped=problem.rest.table.n_rows - problem.n_all)
    if problem.n_duplicates and tell is not None:
        have = "row repeats" if problem.n_duplicates == 1 else "rows repeat"
        tell(
            f"{problem.n_duplicates:,} {have} the inputs of an earlier row: rows with equal inputs "
            "are never on both sides of a split"
        )
    return problem


def _spellings_of(hierarchy: Hierarchy, form: TargetForm, frame: Any) -> dict[str, str]:
    """Return how a hierarchy spells the labels of a table that differ in case or spaces."""
    rows = form.read(frame, refuse=lambda row, why: None)
    nodes = count_nodes(row for row in rows if row is not None)
    for node in range(1, hierarchy.n_nodes):
        nodes[hierarchy.path(node)] += len(rows) + 1
    return find_spellings(nodes)


def _codes(labels: list[Any]) -> NDArray[np.int64]:
    known: dict[Any, int] = {}
    return np.array([known.setdefault(label, len(known)) for label in labels])


def _related(frame: Any, form: TargetForm, codes: Any, exempt: Sequence[str]) -> Related:
    """Find the columns that are levels of the target, or say it in other words."""
    if codes is None:
        return Related([], {})
    others = [name for name in frame.columns if name not in exempt]
    related = find_related(frame, others, codes, list(frame.columns).index(form.columns[0]))
    for name, why in related.copies.items():
        texts = [cell for cell in frame[name].unique() if isinstance(cell, str)]
        if why == SAME and form.separator is None and detect_separator(texts, any_mark=True):
            related.copies[name] = f"{SAME}, in paths: to learn their tree, pass --target {name!r}"
    return related


def _with_label_rows(
    problem: TableProblem, use_labels: bool | str, language: Languages | None, tell: Any
) -> TableProblem:
    """Return a problem whose training rows have those of concepts after them."""
    if use_labels not in (True, "all"):
        raise PalmetteError(f"use_labels={use_labels!r}: expected True, False or 'all'.")
    if problem.rest is not None or problem.learner is not None:
        why = "the table is larger than memory" if problem.rest else "the hierarchy is learned"
        raise PalmetteError(f"use_labels= cannot be used if {why}: leave it out.")
    rows = LabelRows.of(
        problem.hierarchy, language, problem.frame, problem.schema, problem.several_paths,
        use_labels == "all",
    )  # fmt: skip
    if tell is not None:
        n_more = len(rows.add(problem.frame, problem.y)[1]) - problem.n_rows
        tell(f"{n_more:,} labels of concepts are added to training rows, as {rows.column!r}")
    return replace(problem, label_rows=rows)


def _rest_of(large: LargeTable, kept: NDArray[np.intp], y: list[Any]) -> RestOfTable:
    """Return all rows with their labels, found in the sample: it has every target."""
    labels: list[Any] = [None] * (int(large.codes.max()) + 1)
    for code, label in zip(large.codes[large.rows[kept]].tolist(), y, strict=True):
        labels[code] = label
    source = large.source  # bad rows are counted once, though the table is read again
    again = replace(source, bad=None if source.bad is None else BadRows())
    return RestOfTable(replace(large, sample=None, source=again), labels)


def find_groups(frame: Any) -> NDArray[np.int64] | None:
    """Number the distinct rows of a table, from 0; None if all rows differ.

    White space in texts does not count, and an empty text is a missing one.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
        Result of `Schema.cast`.

    Examples
    --------
    >>> import pandas as pd
    >>> find_groups(pd.DataFrame({"a": ["x", "y", " x"], "b": [1.0, 2.0, 1.0]})).tolist()
    [0, 1, 0]
    """
    import pandas as pd

    is_number = np.array([dtype == np.float64 for dtype in frame.dtypes])
    keys = np.zeros(len(frame), dtype=np.uint64)
    if not is_number.all():
        cells = pd.DataFrame({name: _plain(frame[name]) for name in frame.columns[~is_number]})
        keys = pd.util.hash_pandas_object(cells, index=False, categorize=False).to_numpy()
    keys = keys + _hash_numbers(frame.loc[:, is_number].to_numpy(dtype=np.float64))
    codes, distinct = pd.factorize(keys)
    return None if len(distinct) == len(keys) else codes.astype(np.int64)


def _hash_numbers(numbers: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return a number per row that only equal rows are likely to share."""
    rng = np.random.default_rng(0)
    odd = rng.integers(2**63, size=(2, numbers.shape[1]), dtype=np.uint64) * np.uint64(2) + 1
    keys = np.zeros(len(numbers), dtype=np.uint64)
    for part in row_chunks(len(numbers), numbers.shape[1], _CELLS_AT_ONCE):
        bits = (np.where(np.isnan(numbers[part]), np.nan, numbers[part]) + 0.0).view(np.uint64)
        mixed = (bits ^ (bits >> np.uint64(32))) * odd[0]
        keys[part] = ((mixed ^ (mixed >> np.uint64(29))) * odd[1]).sum(axis=1, dtype=np.uint64)
    return keys


def _plain(column: Any) -> Any:
    """Return a column of texts as an array of objects without white space that does not count."""
    if column.dtype.kind != "O":
        return column.to_numpy()
    texts = [" ".join(cell.split()) if isinstance(cell, str) else "" for cell in column]
    return np.array([text or None for text in texts], dtype=object)


def _is_name(table: Any) -> bool:
    return isinstance(table, str | os.PathLike)


def _headerless(source: Any, frame: Any) -> str:
    """Return a sentence if the first line of a file looks like data."""
    if not isinstance(source, TableSource) or not source.header:
        return ""
    name = "" if source.format in ("parquet", "jsonl") else seems_headerless(frame)
    if not name:
        return ""
    return (
        f"The first line of {source.title} looks like data rather than names of columns, such as "
        f"{name!r}: if it has no names, pass --no-header; its columns are then col1, col2 and so on"
    )


def _other_place(source: Any, frame: Any) -> str:
    """Return a sentence about where the columns of a file may be, if they are not in its header."""
    if not isinstance(source, TableSource):
        return ""
    if others := other_sheets(source):
        return (
            f"The workbook has more sheets, {listed(others)}: to read another one, pass "
            f"--sheet {others[0]!r}"
        )
    if 2 * sum(name.startswith("column ") for name in frame.columns) > frame.shape[1] > 1:
        return "The first line has hardly any names of columns: remove what stands above them"
    return ""


def read_hierarchy(hierarchy: Any, seed: int, n_jobs: int | None) -> tuple[Hierarchy | None, Any]:
    """Return a given hierarchy and a learner of a hierarchy; either may be None.

    Parameters
    ----------
    hierarchy : None, Hierarchy, path-like, "learn", "learn:METHOD" or learner
    seed : int
    n_jobs : int or None

    Examples
    --------
    >>> read_hierarchy("learn:mf-tree", 0, None)[1]
    MFTree(random_state=0)
    """
    if hierarchy is None or isinstance(hierarchy, Hierarchy):
        return hierarchy, None
    if hasattr(hierarchy, "fit"):
        return None, hierarchy
    if not _is_name(hierarchy):
        raise PalmetteError(
            f"hierarchy is a {type(hierarchy).__name__}: expected a palmette.Hierarchy, the name "
            "of a file, 'learn', 'learn:METHOD', or a learner."
        )
    if is_file(hierarchy):
        return Hierarchy.read(hierarchy), None
    method = str(hierarchy).partition(":")[2]
    from palmette.models import make_tree_learner

    return None, make_tree_learner(method or _DEFAULT_LEARNER, seed, n_jobs)


def _check_depth(max_depth: int | None, given: Hierarchy | None) -> None:
    if max_depth is None:
        return
    if not isinstance(max_depth, int) or isinstance(max_depth, bool) or max_depth < 1:
        raise PalmetteError(f"max_depth={max_depth!r}: expected a number of levels, 1 or more.")
    if given is not None and given.max_depth > max_depth:
        raise PalmetteError(
            f"max_depth={max_depth} cuts the paths of the target, but the given hierarchy has "
            f"{given.max_depth} levels: leave out one of them, or give a hierarchy of {max_depth}."
        )


def is_file(hierarchy: Any) -> bool:
    """Return whether a hierarchy is the name of a file, and not "learn" or "learn:METHOD".

    Examples
    --------
    >>> is_file("tree.csv"), is_file("learn:bhc"), is_file(None)
    (True, False, False)
    """
    return _is_name(hierarchy) and os.fspath(hierarchy).partition(":")[0] != LEARN


def _check_drop(drop: Sequence[str], columns: list[str], target: list[str]) -> None:
    for name in drop:
        if name in target:
            raise PalmetteError(f"the column {name!r} is the target: it cannot be dropped.")
        if name not in columns:
            near = near_names(name, columns)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise PalmetteError(f"there is no column {name!r} to drop.{hint}")


def _require_classes(truth: list[Any], several: bool, form: TargetForm) -> None:
    labels = {label for row in truth for label in (row if several else [row])}
    if len(labels) < 2:
        raise PalmetteError(
            f"the target ({form.describe()}) has one label only, {next(iter(labels))!r}: "
            "expected at least two."
        )
