"""Proposing a map of changes from two versions of a taxonomy, for a user to review."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass
from typing import Any

from palmette.hierarchy._hierarchy import Hierarchy

_SIMILAR = 0.75  # minimum similarity of names, or share of children, of a renamed node

NodePath = tuple[Any, ...]


@dataclass(frozen=True)
class Proposal:
    """A line of a proposed map.

    Parameters
    ----------
    old, new : tuple
        Paths; empty for new and for removed nodes.
    kind : str
        As in `palmette.hierarchy._change_lines.KINDS`.
    reason : str
        Why the line is proposed.
    """

    old: NodePath
    new: NodePath
    kind: str
    reason: str


def propose_changes(old: Hierarchy, new: Hierarchy) -> list[Proposal]:
    """Compare two trees, and propose a map from one to the other.

    Nodes with the same path stay, and go along with a parent that has moved. Others are matched if
    their name is unique among those that are gone and those that have come (moved), or if they have
    the same parent and most children, or a similar name (renamed). A leaf that has children now is
    split; a parent that has none now gets its children merged into it. Everything else is removed,
    or new.

    Parameters
    ----------
    old, new : Hierarchy
        Trees.

    Returns
    -------
    list of Proposal
        In the order of the old tree, then the new leaves.

    Examples
    --------
    >>> a = Hierarchy.from_paths([("food", "pear"), ("food", "plum"), ("tools", "saws")])
    >>> b = Hierarchy.from_paths([("food", "plums"), ("garden", "pear"), ("tools", "saws")])
    >>> [(each.old[-1], each.new, each.kind) for each in propose_changes(a, b)]
    [('pear', ('garden', 'pear'), 'move'), ('plum', ('food', 'plums'), 'rename')]
    """
    old.require_tree("palmette hierarchy diff")
    new.require_tree("palmette hierarchy diff")
    return _Matching(old, new).propose()


class _Matching:
    def __init__(self, old: Hierarchy, new: Hierarchy) -> None:
        self._old, self._new = old, new
        self._old_paths = [old.path(node) for node in range(old.n_nodes)]
        self._place = {new.path(node): node for node in range(new.n_nodes)}
        self._new_paths = list(self._place)
        known = set(self._old_paths)
        gone = [node for node, path in enumerate(self._old_paths) if path not in self._place]
        came = [node for node, path in enumerate(self._new_paths) if path not in known]
        self._came = set(came)
        once_gone = {name for name, n in Counter(old.names[gone].tolist()).items() if n == 1}
        counts = Counter(new.names[came].tolist())
        self._by_name = {
            new.names[node]: node
            for node in came
            if counts[new.names[node]] == 1 and new.names[node] in once_gone
        }
        self._target: list[int] = [0]  # -1 for removed nodes
        self._lines: list[Proposal] = []

    def propose(self) -> list[Proposal]:
        for node in range(1, self._old.n_nodes):
            self._target.append(self._match(node))
        taken = set(self._target)
        split = self._splits(taken)
        for node in self._new.leaves.tolist():
            if node not in taken and node not in split:
                self._add((), self._new_paths[node], "new", "no such node before")
        return self._lines

    def _match(self, node: int) -> int:
        path, parent = self._old_paths[node], int(self._old.parents[node])
        above = self._target[parent]
        along = None
        if above >= 0:
            along = self._place.get((*self._new_paths[above], path[-1]))
        if along is not None:
            return along
        if path in self._place:
            return self._found(node, self._place[path], "stays, unlike its parent")
        same = self._by_name.get(path[-1])
        if same is not None:
            return self._found(node, same, "the same name")
        renamed, reason = self._renamed(node, above)
        if renamed is not None:
            return self._found(node, renamed, reason)
        if above > 0 and self._new.is_leaf[above]:
            self._add(path, self._new_paths[above], "merge", "its parent has no children now")
            return above
        if above >= 0:
            self._add(path, (), "remove", "no such node now")
        return -1

    def _found(self, node: int, place: int, reason: str) -> int:
        above = self._target[int(self._old.parents[node])]
        kind = "rename" if self._new.parents[place] == above else "move"
        self._add(self._old_paths[node], self._new_paths[place], kind, reason)
        self._came.discard(place)
        return place

    def _renamed(self, node: int, above: int) -> tuple[int | None, str]:
        """Return the best new node with the same parent, and why."""
        if above < 0:
            return None, ""
        matched = set(self._by_name.values())
        free = [
            each
            for each in self._new.children(above).tolist()
            if each in self._came and each not in matched
        ]
        name = str(self._old.names[node])
        children = {self._old.names[child] for child in self._old.children(node)}
        best, score, reason = None, _SIMILAR, ""
        for each in free:
            theirs = {self._new.names[child] for child in self._new.children(each)}
            shared = len(children & theirs) / max(len(children | theirs), 1)
            alike = difflib.SequenceMatcher(None, name, str(self._new.names[each])).ratio()
            if max(shared, alike) >= score:
                best, score = each, max(shared, alike)
                reason = "the same children" if shared >= alike else "a similar name"
        return best, reason

    def _splits(self, taken: set[int]) -> set[int]:
        """Propose splits of leaves that have several children now; return these children."""
        found: set[int] = set()
        for node in self._old.leaves.tolist():
            place = self._target[node]
            children = self._new.children(place).tolist() if place > 0 else []
            below = range(place + 1, int(self._new.subtree_end[place])) if children else range(0)
            if len(children) > 1 and not taken.intersection(below):
                leaves = [each for each in below if self._new.is_leaf[each]]
                for leaf in leaves:
                    path, part = self._old_paths[node], self._new_paths[leaf]
                    self._add(path, part, "split", "a leaf that has children now")
                self._lines = [
                    line for line in self._lines
                    if line.kind == "split" or line.old != self._old_paths[node]
                ]  # fmt: skip
                found.update(leaves)
        return found

    def _add(self, old: NodePath, new: NodePath, kind: str, reason: str) -> None:
        self._lines.append(Proposal(old, new, kind, reason))
