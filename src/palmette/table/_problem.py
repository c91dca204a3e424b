"""TableProblem: the rows, labels and hierarchy of a table, read and checked once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.table._reading import as_frame
from palmette.table._schema import Schema, near_names
from palmette.table._target import TargetForm, canonical_labels, hierarchy_of_paths, plain_labels

LEARN = "learn"
_DEFAULT_LEARNER = "mf-tree"


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
        Learner of a hierarchy, if one is to be learnt.
    y : list of n_samples labels
        Labels for classifiers: paths, sets of paths, or, with a learner, plain labels.
    truth : list of n_samples paths, or sets of paths
        Labels of `hierarchy`.
    path_of : dict of str to path
        Paths of plain labels.
    several_paths : bool
    n_dropped : int
        Number of rows without a target.
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

    @property
    def n_rows(self) -> int:
        """Number of labelled rows."""
        return len(self.y)

    def codes(self) -> NDArray[np.int64] | None:
        """Label of every row as a number, None if rows have several."""
        if self.several_paths:
            return None
        known: dict[Any, int] = {}
        return np.array([known.setdefault(path, len(known)) for path in self.truth])


def read_problem(
    table: Any,
    target: str | Sequence[str],
    *,
    hierarchy: Any = None,
    separator: str | None = None,
    labels_separator: str | None = None,
    columns: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    seed: int = 0,
    n_jobs: int | None = None,
) -> TableProblem:
    """Read the rows, the labels and the hierarchy of a table; see `fit_table`."""
    frame = as_frame(table)
    given, learner = read_hierarchy(hierarchy, seed, n_jobs)
    form = TargetForm.find(
        frame, target, separator=separator, labels_separator=labels_separator, hierarchy=given
    )
    _check_drop(drop, list(frame.columns), form.columns)
    known: dict[str, Any] = {}
    rows = form.read(frame, known)
    kept = np.flatnonzero([row is not None for row in rows])
    if not len(kept):
        raise PalmetteError(
            f"no row has a target in {form.describe()}: expected at least one labelled row."
        )
    frame = frame.iloc[kept].reset_index(drop=True)
    paths = [rows[i] for i in kept.tolist()]
    schema = Schema.infer(frame, leave_out=[*form.columns, *drop], given=columns)
    found = given or hierarchy_of_paths(paths, form.several)
    several = form.several or not found.is_tree
    y: list[Any]
    truth: list[Any]
    path_of: dict[str, Any] = {}
    if several:
        if learner is not None:
            raise PalmetteError(
                "rows have several labels, but a hierarchy is learnt from one label per row. "
                "Pass a hierarchy instead of a learner."
            )
        listed = paths if form.several else [[path] for path in paths]
        truth = [set(row) for row in canonical_labels(listed, found, several=True)]
        form.settle((label for row in truth for label in row), known)
        y = truth
    else:
        truth = canonical_labels(paths, found, several=False)
        form.settle(truth, known)
        y = truth
        if learner is not None:
            y = plain_labels(paths, form.write)
            path_of = dict(zip(y, truth, strict=True))
    _require_classes(truth, several, form)
    return TableProblem(
        schema.cast(frame), schema, form, found, learner, y, truth, path_of, several,
        len(rows) - len(kept),
    )  # fmt: skip


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
    if not isinstance(hierarchy, str | os.PathLike):
        raise PalmetteError(
            f"hierarchy is a {type(hierarchy).__name__}: expected a palmette.Hierarchy, the name "
            "of a file, 'learn', 'learn:METHOD', or a learner."
        )
    word, _, method = os.fspath(hierarchy).partition(":")
    if word != LEARN:
        return Hierarchy.read(hierarchy), None
    from palmette.models import find_tree_learner, make_tree_learner

    spec = find_tree_learner(method or _DEFAULT_LEARNER)
    if spec.label_sets or spec.name == "relaxed":
        raise PalmetteError(
            f"{spec.name} does not learn a tree over single labels: expected another method, such "
            "as learn:bhc or learn:mf-tree."
        )
    return None, make_tree_learner(spec.name, seed, n_jobs)


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
