"""migrate: a fitted model over a taxonomy that has changed, and what it still needs."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from palmette.base._adapters import find_in_parts, hierarchy_of
from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.hierarchy._changes import TreeChange, change_tree, read_changes
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._forms import node_csr
from palmette.labels._labels import NodeLabels
from palmette.migration import MigratedClassifier, fit_pending, move_classifier
from palmette.migration._refitting import Refit
from palmette.table._model import TableModel
from palmette.table._reading import as_frame
from palmette.table._target_nodes import find_node
from palmette.table.answers import write_nodes

_KINDS = {"rename": "renamed", "move": "moved", "merge": "merged", "split": "split",
          "remove": "removed", "new": "new", "wait": "pending"}  # fmt: skip
_SHOWN = 5  # examples of each kind


def migrate(
    model: Any,
    changes: Any = (),
    table: Any = None,
    y: Any = None,
    *,
    separator: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> Any:
    """Return a model over a changed taxonomy, without fitting again what has not changed.

    Probabilities are carried over: renamed and moved labels keep theirs, merged labels have the
    sum, and if labels are removed the others are rescaled. Labels that are split, and new ones,
    need rows: those in `table` fit one small classifier for each split, and one for all new leaves,
    of the kind of the model. Everything else stays as it was fitted, to the last bit.

    Parameters
    ----------
    model : TableModel or fitted classifier
        It is not changed. One that was migrated before is not wrapped again.
    changes : path-like, DataFrame, or sequence of (old, new) or (old, new, kind)
        Paths of nodes: a renamed or moved node and everything below it (one line), merged nodes
        (several lines with the same new path), a split node (several lines with the same old path),
        a new leaf (an empty old path), and a removed node (an empty new path). Nodes that are not
        listed stay. A file is CSV with the columns old, new and, optionally, kind. Without changes,
        rows are only given to nodes that still need them.
    table : DataFrame, name of a file, or rows X, optional
        Rows labelled in the new or in the old taxonomy.
    y : labels of n_samples rows, optional
        For a classifier: the labels of the rows X.
    separator : str, optional
        Separator of the names of a path in `changes`; by default that of the labels of the model,
        or the one found.
    tell : callable, optional
        Called with messages for the user, one sentence at a time.

    Returns
    -------
    TableModel or classifier
        A `palmette.migration.MigratedClassifier` around the classifier, in a table model if it was
        in one.

    Examples
    --------
    >>> from palmette import LocalPerParentClassifier
    >>> X, y = [[0.0], [1.0], [5.0]], [("food", "pear"), ("food", "plum"), ("tools", "saw")]
    >>> clf = LocalPerParentClassifier().fit(X, y)
    >>> changes = [("food > pear", "food > fruit"), ("food > plum", "food > fruit")]
    >>> new = migrate(clf, changes)
    >>> new.predict([[0.2], [5.0]])
    [('food', 'fruit'), ('tools', 'saw')]
    """
    migration = Migration(model, changes, separator)
    if table is not None:
        migration.read_rows(table, y)
    return migration.finish(tell)


class Migration:
    """A change of the taxonomy of a model: the plan, the rows for it, and the new model.

    Parameters
    ----------
    model : TableModel or fitted classifier
    changes, separator : as in `migrate`

    Attributes
    ----------
    change : TreeChange
    moved : MigratedClassifier
        The classifier over the new tree, before rows are used.
    refits : list of Refit
        What was fitted, after `finish`.
    """

    def __init__(self, model: Any, changes: Any, separator: str | None = None) -> None:
        self.model = model
        is_table = isinstance(model, TableModel)
        classifier = model.estimator_ if is_table else model
        old = model.hierarchy_ if is_table else hierarchy_of(model)
        lines = read_changes(changes)
        self._separator = _separator_of(model) if separator is None else separator
        self.change: TreeChange = change_tree(old, lines, self._separator or None)
        self.moved = move_classifier(classifier, self.change)
        self.refits: list[Refit] = []
        self._fitted: MigratedClassifier = self.moved
        self._X: Any = None
        self._closed: sparse.csr_array | None = None
        if not lines and not self.moved.pending_:
            raise PalmetteError(
                "there are no changes, and no node of the model needs rows: expected at least one "
                "line with an old or a new path."
            )

    # ------------------------------------------------------------------ rows

    def read_rows(
        self, table: Any, y: Any = None, tell: Callable[[str], None] | None = None
    ) -> None:
        """Read rows that are labelled in the new or in the old tree; see `migrate`."""
        if not isinstance(self.model, TableModel):
            self._X, self._closed = table, self._closed_labels(y)
            return
        frame = as_frame(table)
        paths = self.model.target_.read(frame)
        rows = [[] if p is None else p if self.model.target_.several else [p] for p in paths]
        place = self._places({path for row in rows for path in row})
        nodes = [[place[path] for path in row if place[path] > 0] for row in rows]
        lost = Counter(path for row in rows for path in row if place[path] < 0)
        used = np.flatnonzero([len(row) > 0 for row in nodes])
        if not len(used):
            raise PalmetteError(
                f"no row of the table has a label of the new or the old tree in "
                f"{self.model.target_.describe()}."
            )
        if lost and tell is not None:
            label = self.model.target_.write(lost.most_common(1)[0][0])
            tell(f"{lost.total():,} labels are in neither tree and are left out, such as {label!r}")
        starts = np.concatenate([[0], np.cumsum([len(nodes[i]) for i in used.tolist()])])
        flat = np.array([n for i in used.tolist() for n in nodes[i]], dtype=np.int32)
        given = node_csr(flat, starts, self.change.new.n_nodes)
        given.sum_duplicates()
        labels = NodeLabels(self.change.new, given.astype(bool), self.moved.label_form_)
        self._X, self._closed = self.model.features(frame.iloc[used]), labels.closed

    def _places(self, paths: set[Any]) -> dict[Any, int]:
        """Return the node of the new tree of every path; 0 if it was removed, -1 if unknown."""
        model, change = self.model, self.change

        def find(path: Any, hierarchy: Hierarchy) -> int:
            label = (model.target_.write(path),) if model.learnt_ else path
            return find_node(label, hierarchy)

        new = {path: find(path, change.new) for path in paths}
        old = {path: find(path, change.old) for path in paths}
        by_old = min(new.values(), default=0) <= 0 < min(old.values(), default=0)
        unsettled = {split.node: split for split in change.splits}
        found = {}
        for path in paths:
            place, node = new[path], old[path]
            if by_old or place <= 0:
                place = -1 if node <= 0 else max(int(change.kept[node]), 0)
                if node in unsettled and place in unsettled[node].parts:
                    place = int(change.new.parents[place])  # which part it is, is not known
            found[path] = place
        return found

    def _closed_labels(self, y: Any) -> sparse.csr_array:
        if y is None:
            raise PalmetteError("y is missing: pass the labels of the rows.")
        try:
            return NodeLabels.encode(y, self.change.new).closed
        except (HierarchyError, LabelError) as error:
            try:
                labels = NodeLabels.encode(y, self.change.old)
            except (HierarchyError, LabelError):
                raise error from None
        given = labels.given.tocoo()
        place = self.change.kept[given.col]
        kept = np.flatnonzero(place >= 0)
        shape = (len(labels), self.change.new.n_nodes)
        ones = np.ones(len(kept), dtype=bool)
        moved = sparse.csr_array((ones, (given.row[kept], place[kept])), shape=shape)
        return NodeLabels(self.change.new, moved, labels.form).closed

    # ------------------------------------------------------------------ the new model

    def finish(self, tell: Callable[[str], None] | None = None) -> Any:
        """Fit the nodes that need rows and have some, and return the new model."""
        classifier = self.moved
        if self._closed is not None and classifier.pending_:
            classifier, self.refits = fit_pending(classifier, self._X, self._closed, tell)
        self._fitted = classifier
        if not isinstance(self.model, TableModel):
            return classifier
        model = self.model
        target = copy.copy(model.target_)
        target.spellings = dict(target.spellings)
        nodes = np.arange(1, self.change.new.n_nodes)
        target.settle(write_nodes(nodes, self.change.new), {}, self.change.new)
        made = TableModel.assemble(
            model.get_params(deep=False),
            estimator=classifier,
            vectorizer=model.vectorizer_,
            schema=model.schema_,
            target=target,
            hierarchy=self.change.new,
            calibration=model.calibration_,
            learner=model.learner_,
            several_paths=model.several_paths_,
            summary=copy.deepcopy(model.summary_),
        )
        made.set_label_form(model.label_form_)
        made.profile_ = model.profile_
        self._note(made)
        return made

    def _note(self, made: TableModel) -> None:
        """Bring the summary of the fit up to date."""
        facts, new = made.summary_, self.change.new
        facts["hierarchy"] = {
            "nodes": new.n_nodes - 1, "leaves": new.n_leaves, "depth": new.max_depth,
        }  # fmt: skip
        if "class_rows" in facts:
            before = self.model.hierarchy_.index(list(self.model.class_paths_))
            counts = np.zeros(new.n_nodes, dtype=np.int64)
            place = self.change.kept[before]
            np.add.at(counts, place[place >= 0], np.asarray(facts["class_rows"])[place >= 0])
            for refit in self.refits:
                counts[refit.parts] = refit.rows
            facts["class_rows"] = counts[new.index(list(made.class_paths_))].tolist()
        counted = Counter(line["change"] for line in self.lines)
        facts.setdefault("migrations", []).append(
            {
                "when": datetime.now(UTC).isoformat(timespec="seconds"),
                **{name: counted[name] for name in _KINDS.values()},
                "fitted": [self.shown(part, new) for each in self.refits for part in each.parts],
                "need_rows": [self.shown(part, new) for part in self.waiting],
            }
        )

    # ------------------------------------------------------------------ the plan

    def shown(self, node: int, hierarchy: Hierarchy) -> str:
        """Return a node as the labels of the model are written."""
        if not hierarchy.is_tree:
            return str(hierarchy.names[node])
        path = hierarchy.path(node)
        if isinstance(self.model, TableModel):
            return str(self.model.label_text(path)) if path else ""
        return (self._separator or " > ").join(map(str, path))

    @property
    def waiting(self) -> list[int]:
        """Nodes of the new tree that need rows and have no classifier of their own."""
        return sorted({part for each in self._fitted.pending_ for part in each.parts.tolist()})

    @cached_property
    def rows_of(self) -> dict[int, int]:
        """Number of rows of the table by node that needs rows; empty without a table."""
        if self._closed is None:
            return {}
        parts = {part for each in self.moved.pending_ for part in each.parts.tolist()}
        counts = np.bincount(self._closed.indices, minlength=self.change.new.n_nodes)
        return {part: int(counts[part]) for part in parts}

    @property
    def lines(self) -> list[dict[str, Any]]:
        """One dict per changed node: ``change``, ``old``, ``new``, ``needs_rows``, ``rows``."""
        change, found = self.change, []
        need = {part for each in self.moved.pending_ for part in each.parts.tolist()}

        def add(kind: str, old: int | None, new: int | None) -> None:
            found.append(
                {
                    "change": _KINDS[kind],
                    "old": "" if old is None else self.shown(old, change.old),
                    "new": "" if new is None else self.shown(new, change.new),
                    "needs_rows": new in need,
                    "rows": self.rows_of.get(new) if new is not None else None,
                }
            )

        splits = {split.node: split for split in change.splits}
        merged = {node for nodes in change.merged.values() for node in nodes}
        for node in range(1, change.old.n_nodes):
            kind = change.listed.get(node)
            if node in splits:
                for part in splits[node].parts:
                    add("split", node, part)
            elif change.kept[node] < 0:
                add("remove", node, None)
            elif kind is not None or node in merged:
                add("merge" if node in merged else kind or "", node, int(change.kept[node]))
        for node in change.added:
            add("new", None, node)
        listed = {line["new"] for line in found}
        for node in sorted(need):  # of an earlier migration
            if self.shown(node, change.new) not in listed:
                add("wait", None, node)
        return found

    def to_text(self) -> str:
        """Describe the plan, or what was done."""
        change, lines = self.change, self.lines
        old, new = change.old, change.new
        words = [
            f"the tree had {old.n_nodes - 1:,} nodes, {old.n_leaves:,} of them leaves; the new one "
            f"has {new.n_nodes - 1:,}, {new.n_leaves:,} of them leaves"
        ]
        for kind in _KINDS.values():
            of_kind = [line for line in lines if line["change"] == kind]
            if of_kind:
                words.append(f"{kind}: {_listed([_arrow(line) for line in of_kind])}")
        parents = [repr(self.shown(n, new)) if n else "the root" for n in change.changed_parents]
        if parents:
            words.append(
                f"gained or lost children: {_listed(parents)}; probabilities are carried over"
            )
        words += self._fitted_text()
        waiting = self.waiting
        if waiting:
            words.append(
                "1 node needs rows:" if len(waiting) == 1 else f"{len(waiting):,} nodes need rows:"
            )
            words += [f"  {self._wait_text(node)}" for node in waiting]
        elif not self.refits:
            words.append("no node needs rows")
        return "\n".join(words)

    def _fitted_text(self) -> list[str]:
        new, words = self.change.new, []
        for refit in self.refits:
            if refit.parts:
                parts = [
                    f"{self.shown(part, new)!r} ({rows:,} rows)"
                    for part, rows in zip(refit.parts, refit.rows, strict=True)
                ]
                rest = f", against {refit.rest:,} other rows" if refit.rest else ""
                words.append(f"fitted: {_listed(parts, 20)}{rest}")
        return words

    def _wait_text(self, node: int) -> str:
        new = self.change.new
        text = repr(self.shown(node, new))
        rows = self.rows_of.get(node)
        if rows is not None:
            text += f", {rows:,} rows in the table"
        for split in self.change.splits:
            if node in split.parts:
                home = self.shown(split.home, new) or "the root"
                of = self.shown(split.node, self.change.old)
                return f"{text}: until it is fitted, predictions of {of!r} stop at {home!r}"
        return f"{text}: until it is fitted, it is never predicted"


def _arrow(line: dict[str, Any]) -> str:
    if not line["old"] or not line["new"]:
        return repr(line["old"] or line["new"])
    return f"{line['old']!r} -> {line['new']!r}"


def _listed(texts: Sequence[str], n: int = _SHOWN) -> str:
    """Join texts; the number of those that are not shown is added."""
    more = f" and {len(texts) - n:,} more" if len(texts) > n else ""
    return ", ".join(texts[:n]) + more


def _separator_of(model: Any) -> str | None:
    """Return the separator of the labels of a model, None if they are not paths in strings."""
    if isinstance(model, TableModel):
        form = model.target_
        return form.separator or (form.joiner if len(form.columns) > 1 else None)
    form = find_in_parts(model, "label_form_")
    return getattr(form, "separator", None)
