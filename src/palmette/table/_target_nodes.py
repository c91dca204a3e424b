"""Which node of a hierarchy does a cell of the target mean, and which rows have one?"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._vocabulary import Vocabulary
from palmette.table._written import near_names

if TYPE_CHECKING:
    from palmette.table._target import TargetForm

Path = tuple[str, ...]
Rows = Sequence[Any]
Refuse = Callable[[int, str], None]


def place_of(row: int, lines: Any = None) -> str:
    """Return the place of a row, given from 0: its line or its file, or else its number.

    Examples
    --------
    >>> place_of(2), place_of(2, [2, 3, 7]), place_of(1, ["a.key", "b.key"])
    ('row 3', 'line 7', 'b.key: a row')
    """
    if lines is None:
        return f"row {row + 1}"
    return f"{lines[row]}: a row" if isinstance(lines[row], str) else f"line {lines[row]}"


def find_node(path: Path, hierarchy: Hierarchy) -> int:
    """Return the node of a path, -1 if there is none; a single name may be at any depth.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("plant", "oak")])
    >>> find_node(("oak",), h), find_node(("animal", "cat"), h), find_node(("fern",), h)
    (4, 2, -1)
    """
    labels = [path, path[0]] if len(path) == 1 else [path]
    for label in labels if hierarchy.is_tree else [path[-1]]:
        if label in hierarchy:  # the error of `index` would search for similar names, which is slow
            return int(hierarchy.index(label))
    found = concepts_named(path, hierarchy)
    return int(hierarchy.index(found[0])) if len(found) == 1 else -1


def concepts_named(path: Path, hierarchy: Hierarchy) -> tuple[str, ...]:
    """Return the concepts of a thesaurus that a cell may mean, which is not the URI of one.

    A cell may have a URI in angle brackets, that of a deprecated concept for those that replace it,
    a label in any language, or a notation; whatever its case. Preferred labels come before
    alternative ones.
    """
    words = hierarchy.vocabulary
    if words is None or len(path) != 1 or not isinstance(path[0], str):
        return ()
    text = path[0].strip()
    uri = text[1:-1] if text.startswith("<") and text.endswith(">") else text
    if uri != text and uri in hierarchy:
        return (uri,)
    if uri in words.replaced:
        return tuple(name for name in words.replaced[uri] if name in hierarchy)
    found = [name for name in words.find(text) if name in hierarchy]
    if len(found) > 1:
        same = text.casefold()
        preferred = [
            name
            for name in found
            if any(names.get(name, "").casefold() == same for names in words.preferred.values())
        ]
        found = preferred or found
    return tuple(found)


def named_as_cells(hierarchy: Hierarchy, paths: Iterable[Path]) -> Hierarchy:
    """Return an ontology with labels in the place of identifiers, if a table has its labels.

    Predictions are then labels too, as in the table, and identifiers are notations. Concepts of
    thesauri, with URIs or with labels in languages, keep their names: these are exchanged.

    Parameters
    ----------
    hierarchy : Hierarchy
    paths : iterable of tuples
        Target cells.

    Examples
    --------
    >>> h = Hierarchy.star(["CL:1", "CL:2"])
    >>> h = h.with_vocabulary(Vocabulary({"": {"CL:1": "B cell", "CL:2": "T cell"}}))
    >>> named_as_cells(h, [("B cell",)]).names.tolist()
    ['root', 'B cell', 'T cell']
    >>> named_as_cells(h, [("B cell",), ("CL:2",)]).names.tolist()
    ['root', 'CL:1', 'CL:2']
    """
    words = hierarchy.vocabulary
    if words is None or set(words.preferred) != {""}:
        return hierarchy
    if any("://" in str(name) for name in hierarchy.names):
        return hierarchy
    labelled = hierarchy.in_language()
    cells = dict.fromkeys(paths)
    if not all(len(path) == 1 and find_node(path, labelled) > 0 for path in cells):
        return hierarchy
    now = dict(zip(hierarchy.names.tolist(), labelled.names.tolist(), strict=True))
    others = {
        tag: {now[name]: texts for name, texts in labels.items() if name in now}
        for tag, labels in words.alternative.items()
    }
    identifiers = {label: [name] for name, label in now.items() if name != label}
    same = {"": {label: label for label in now.values()}}
    return labelled.with_vocabulary(Vocabulary(same, others, identifiers))


def hierarchy_of_paths(rows: Rows, several: bool) -> Hierarchy:
    """Return the hierarchy of the paths that occur.

    Parameters
    ----------
    rows : sequence of n_samples paths, or lists of paths
    several : bool
        Whether rows are lists of paths.

    Examples
    --------
    >>> hierarchy_of_paths([("Food", "Fruit"), ("Tools",)], several=False).n_nodes
    4
    """
    paths = dict.fromkeys(path for row in rows for path in (row if several else [row]))
    # sorted, so that the order of rows does not matter
    return Hierarchy.from_paths(sorted(paths))


def canonical_labels(
    rows: Rows,
    hierarchy: Hierarchy,
    several: bool,
    lines: Any = None,
    refuse: Refuse | None = None,
) -> list[Any]:
    """Convert paths to labels of a hierarchy: full paths in a tree, names in a DAG.

    Parameters
    ----------
    rows : sequence of n_samples paths, or lists of paths
    hierarchy : Hierarchy
    several : bool
    lines, refuse : optional
        As in `TargetForm.read`; the label of a row that is refused is None.

    Returns
    -------
    list of n_samples labels, or lists of labels
    """
    known: dict[Path, Any] = {}

    def label_of(path: Path, row: int) -> Any:
        if path not in known:
            node = find_node(path, hierarchy)
            if node <= 0:
                words = _unknown(path, place_of(row, lines), hierarchy)
                if refuse is None:
                    raise HierarchyError(words + _how_many(rows, hierarchy, several))
                refuse(row, words)
                return None
            known[path] = hierarchy.path(node) if hierarchy.is_tree else hierarchy.names[node]
        return known[path]

    if several:
        return [[label_of(path, i) for path in row] for i, row in enumerate(rows)]
    return [label_of(path, i) for i, path in enumerate(rows)]


def plain_labels(
    rows: Rows, write: Callable[[Path], str], hierarchy: Hierarchy, several: bool
) -> tuple[list[Any], dict[str, Any]]:
    """Write paths as plain labels, for a hierarchy that is learned over them.

    Parameters
    ----------
    rows : sequence of n_samples paths, or lists of paths
    write : callable
        Converts a path to a string.
    hierarchy : Hierarchy
        That of the paths.
    several : bool
        Whether rows are lists of paths.

    Returns
    -------
    labels : list of n_samples strings, or sets of strings
    path_of : dict of str to path
        The label of `hierarchy` that each of them stands for.
    """
    paths = list(dict.fromkeys(path for row in rows for path in (row if several else [row])))
    labels = {path: write(path) for path in paths}
    n_labels = len(set(labels.values()))
    if n_labels < 2:
        raise PalmetteError(
            f"the target has {n_labels} label: expected at least two to learn a hierarchy."
        )
    path_of = dict(zip(labels.values(), canonical_labels(paths, hierarchy, False), strict=True))
    if several:
        return [{labels[path] for path in row} for row in rows], path_of
    return [labels[path] for path in rows], path_of


def _unknown(path: Path, place: str, hierarchy: Hierarchy) -> str:
    several = concepts_named(path, hierarchy)
    if len(several) > 1:
        words: Any = hierarchy.vocabulary
        what = "replaced by" if path[0].strip().strip("<>") in words.replaced else "a label of"
        return (
            f"{place} of the target has {path[0]!r}, which is {what} {len(several)} concepts: "
            f"{', '.join(several[:3])}. Write the URI of one of them, or drop the row."
        )
    names = [str(name) for name in hierarchy.names[1:5000].tolist()]
    near = near_names(str(path[-1]), names)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    shown = " > ".join(map(str, path))
    examples = ", ".join(repr(str(text)) for text in hierarchy.path_strings[hierarchy.leaves[:2]])
    return (
        f"{place} of the target has {shown!r}, which is not in the hierarchy "
        f"({hierarchy.n_nodes:,} nodes, such as {examples}).{hint} Add the node, pass the "
        "separator of paths, or drop the row; --skip-bad-rows leaves out what is not there."
    )


def _how_many(rows: Rows, hierarchy: Hierarchy, several: bool) -> str:
    """Say how many labels a hierarchy lacks, and in how many rows."""
    listed = [row if several else [row] for row in rows]
    labels = dict.fromkeys(path for row in listed for path in row)
    lost = {path for path in labels if find_node(path, hierarchy) <= 0}
    n_rows = sum(any(path in lost for path in row) for row in listed)
    return (
        f" Of {len(labels):,} distinct labels, {len(lost):,} cannot be used, in "
        f"{n_rows:,} of {len(listed):,} rows."
    )


class TargetRows:
    """The paths of the rows of a table; rows without a target, and bad ones, are left out.

    Parameters
    ----------
    source : TableSource or other table
        If it has a list of bad rows, those whose target cannot be read are added to it.
    frame : DataFrame of n_samples rows
    lines : array of shape (n_samples,), optional
        Lines of the rows in the file.
    """

    def __init__(self, source: Any, frame: Any, lines: Any) -> None:
        self._source, self._frame, self._lines = source, frame, lines
        self.kept = np.arange(len(frame))
        self.known: dict[str, Any] = {}
        self.gaps: list[Any] = []  # labels with an empty name
        self.paths: list[Any] = []
        self.n_gaps = 0
        self.n_lost, self.lost = 0, ""  # labels that are left out, and the first of them
        self._n_refused = 0

    def read(self, form: TargetForm, given: Hierarchy | None) -> None:
        """Read the target; labels that a given hierarchy lacks are refused here."""
        refuse = None if getattr(self._source, "bad", None) is None else self._refuse
        rows = form.read(self._frame, self.known, self._lines, refuse, self.gaps)
        self._keep(rows)
        self.n_gaps = len(rows) - len(self.paths) - self._n_refused
        if given is not None and refuse is not None:
            self._keep(self._known_in(given, form))
        if not len(self.paths):
            raise PalmetteError(
                f"no row has a target in {form.describe()}: expected at least one labelled row."
            )

    def _known_in(self, given: Hierarchy, form: TargetForm) -> list[Any]:
        """Return the paths that a hierarchy has; None for rows that have none of them.

        Of rows with several labels, those that the hierarchy lacks are left out and counted.
        """
        reasons: dict[int, str] = {}

        def note(row: int, why: str) -> None:
            reasons.setdefault(row, why)

        found = canonical_labels(self.paths, given, form.several, self._lines_of(), note)
        kept = []
        for row, (paths, known) in enumerate(zip(self.paths, found, strict=True)):
            if row not in reasons:
                kept.append(paths)
                continue
            there = []
            if form.several:
                there = [p for p, label in zip(paths, known, strict=True) if label is not None]
            if there:
                lost = next(p for p, label in zip(paths, known, strict=True) if label is None)
                self.lost = self.lost or form.write(lost)
                self.n_lost += len(paths) - len(there)
            else:
                self._refuse(row, reasons[row])
            kept.append(there or None)
        return kept

    def rows(self) -> tuple[Any, Any]:
        """Return the rows that are kept, and their lines."""
        if len(self.kept) == len(self._frame):
            return self._frame.reset_index(drop=True), self._lines
        return self._frame.iloc[self.kept].reset_index(drop=True), self._lines_of()

    def truth(self, hierarchy: Hierarchy, several: bool) -> list[Any]:
        """Return the labels of the hierarchy; sets if rows may have several."""
        if not several:
            return canonical_labels(self.paths, hierarchy, False, self._lines_of())
        listed = [path if isinstance(path, list) else [path] for path in self.paths]
        return [set(row) for row in canonical_labels(listed, hierarchy, True, self._lines_of())]

    def _lines_of(self) -> Any:
        return None if self._lines is None else self._lines[self.kept]

    def _keep(self, rows: list[Any]) -> None:
        kept = np.flatnonzero([row is not None for row in rows])
        self.kept = self.kept[kept]
        self.paths = [rows[i] for i in kept.tolist()]

    def _refuse(self, row: int, reason: str) -> None:
        place = int(self.kept[row])
        cells = ["" if cell is None else str(cell) for cell in self._frame.iloc[place]]
        stream = io.StringIO()
        csv.writer(stream, lineterminator="").writerow(cells)
        line = None if self._lines is None else self._lines[place]
        line = int(line) if isinstance(line, np.integer) else line
        # the place has a column of its own, and what to do is to skip the row
        reason = reason.partition(". ")[0].removeprefix(f"{place_of(place, self._lines)} of ")
        self._source.bad.add(line, reason, stream.getvalue())
        self._n_refused += 1
