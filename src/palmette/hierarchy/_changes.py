"""Changes of a taxonomy: check a map of old to new paths, and build the new tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

import numpy as np

from palmette._arrays import IntArray
from palmette.exceptions import HierarchyError
from palmette.hierarchy._change_lines import ChangeLine, NodePath, Reading, read_changes
from palmette.hierarchy._hierarchy import Hierarchy

__all__ = ["ChangeLine", "Split", "TreeChange", "change_tree", "read_changes"]


@dataclass(frozen=True)
class Split:
    """A node whose rows are now divided among several.

    Parameters
    ----------
    node : int
        Node of the old tree.
    parts : tuple of int
        Nodes of the new tree.
    home : int
        Node of the new tree that stands for all of them until rows exist; 0 is the root.
    """

    node: int
    parts: tuple[int, ...]
    home: int


@dataclass(frozen=True, eq=False)
class TreeChange:
    """An old tree, a new one, and where the nodes of the old one are now.

    Parameters
    ----------
    old, new : Hierarchy
    kept : int array of shape (n_old_nodes,)
        Node of the new tree of every node of the old one; -1 for removed ones, the home of a node
        that was split.
    splits : list of Split
    added : list of int
        New leaves of the new tree.
    listed : dict of int to str
        By node of the old tree, the kind of change that the map lists for it.
    """

    old: Hierarchy
    new: Hierarchy
    kept: IntArray
    splits: list[Split] = field(default_factory=list)
    added: list[int] = field(default_factory=list)
    listed: dict[int, str] = field(default_factory=dict)

    @property
    def only_names(self) -> bool:
        """Whether every node is where it was, so that at most names differ."""
        same = np.array_equal(self.kept, np.arange(self.old.n_nodes))
        return same and np.array_equal(self.old.edges, self.new.edges)

    @property
    def merged(self) -> dict[int, list[int]]:
        """Nodes of the old tree by node of the new one, where they are several."""
        found: dict[int, list[int]] = defaultdict(list)
        for node, place in enumerate(self.kept.tolist()):
            if place > 0 and node not in {split.node for split in self.splits}:
                found[place].append(node)
        return {place: nodes for place, nodes in found.items() if len(nodes) > 1}

    @property
    def changed_parents(self) -> list[int]:
        """Nodes of the new tree, the root included, that gained or lost children."""
        sources: dict[int, list[int]] = defaultdict(list)
        for node, place in enumerate(self.kept.tolist()):
            if place >= 0:
                sources[place].append(node)
        found = []
        for place in np.flatnonzero(~self.new.is_leaf).tolist():
            now = self.new.children(place).tolist()
            before = [int(self.kept[c]) for o in sources[place] for c in self.old.children(o)]
            if now != sorted(before):
                found.append(place)
        return found


def change_tree(
    hierarchy: Hierarchy, lines: Sequence[ChangeLine], separator: str | None = None
) -> TreeChange:
    """Apply the lines of a map to a hierarchy.

    Parameters
    ----------
    hierarchy : Hierarchy
        A tree; of a DAG, nodes can only be renamed.
    lines : sequence of ChangeLine
    separator : str, optional
        Separator of the names of a path; found in the lines by default.

    Returns
    -------
    TreeChange

    Examples
    --------
    >>> h = Hierarchy.from_paths([("food", "pear"), ("food", "plum"), ("tools",)])
    >>> change = change_tree(h, read_changes([("food > pear", "food > fruit > pear")]))
    >>> change.new.path_strings[change.kept].tolist()
    ['root', 'food', 'food/fruit/pear', 'food/plum', 'tools']
    """
    reading = Reading(hierarchy, lines, separator)
    if not hierarchy.is_tree:
        return _rename_in_dag(hierarchy, reading)
    return _Builder(hierarchy, reading).build()


class _Builder:
    """Builds the new tree of lines that have been read."""

    def __init__(self, hierarchy: Hierarchy, reading: Reading) -> None:
        self._old, self._reading = hierarchy, reading
        self._paths = [hierarchy.path(node) for node in range(hierarchy.n_nodes)]
        self._split: dict[int, list[NodePath]] = {}
        self._listed: dict[int, str] = {}
        self._target: list[NodePath | None] = [()]  # None for removed nodes

    def build(self) -> TreeChange:
        for node in range(1, self._old.n_nodes):
            self._target.append(self._target_of(node))
        self._check_collisions()
        self._check_prefixes()
        new = self._assemble()
        place = {new.path(node): node for node in range(new.n_nodes)}
        kept = [-1 if path is None else place[path] for path in self._target]
        splits = [
            Split(node, tuple(dict.fromkeys(place[path] for path in parts)), kept[node])
            for node, parts in self._split.items()
        ]
        taken = set(kept) | {part for split in splits for part in split.parts}
        listed = [place[path] for _, path in self._reading.new]
        added = [node for node in listed if new.is_leaf[node] and node not in taken]
        change = TreeChange(
            self._old, new, np.array(kept, dtype=np.int32), splits, sorted(set(added)), self._listed
        )
        self._check_leaves(change)
        return change

    # ------------------------------------------------------------------ targets

    def _target_of(self, node: int) -> NodePath | None:
        lines = self._reading.by_node.get(node)
        parent = int(self._old.parents[node])
        if lines is None:
            if parent in self._split and self._leaves_split(parent):
                raise HierarchyError(
                    f"{self._where(parent)} splits {self._shown(parent)}, but its child "
                    f"{self._shown(node)} has no line: add one with its new path, or with an empty "
                    "new path to remove it."
                )
            above = self._target[parent]
            return None if above is None else (*above, self._old.names[node])
        if not lines[0][0].new:
            self._listed[node] = "remove"
            return None
        paths = [path for _, path in lines]
        kinds = {line.kind for line, _ in lines}
        if len(paths) > 1:
            self._require_kind(node, kinds <= {"", "split"}, "has several new paths, a split")
            self._split[node], self._listed[node] = paths, "split"
            return self._home(node, paths)
        self._require_kind(node, "split" not in kinds, "has one new path: a split needs several")
        same_parent = paths[0][:-1] == self._target[parent]
        if kinds == {"rename"} and not same_parent and paths[0][-1] == self._paths[node][-1]:
            self._require_kind(node, False, "has another parent, a move")
        if kinds == {"move"} and same_parent:
            self._require_kind(node, False, "has the same parent, a rename")
        self._listed[node] = "rename" if same_parent else "move"
        return paths[0]

    def _require_kind(self, node: int, is_good: bool, words: str) -> None:
        if is_good:
            return
        line = self._reading.by_node[node][0][0]
        raise HierarchyError(
            f"{line.where} has the kind {line.kind!r}, but {self._shown(node)} {words}. Correct "
            "the kind, or leave it empty."
        )

    def _leaves_split(self, node: int) -> bool:
        """Return whether a node that is split is no longer in the tree."""
        return self._target[node] != self._paths[node]

    def _home(self, node: int, parts: list[NodePath]) -> NodePath:
        """Return the path of the node that stands for all parts until rows exist."""
        own = self._paths[node]
        if own in parts or all(part[: len(own)] == own for part in parts):
            return own
        above = [part[:-1] for part in parts]
        steps = zip(*above, strict=False)
        return tuple(names[0] for names in takewhile(lambda each: len(set(each)) == 1, steps))

    # ------------------------------------------------------------------ checks

    def _places(self) -> Iterator[tuple[int, NodePath]]:
        for node, path in enumerate(self._target[1:], start=1):
            if path is not None and node not in self._split:
                yield node, path

    def _check_collisions(self) -> None:
        at: dict[NodePath, int] = {}
        for node, path in self._places():
            other = at.setdefault(path, node)
            if other != node and not self._may_merge(other, node):
                raise HierarchyError(
                    f"{self._shown(other)} ({self._how(other)}) and {self._shown(node)} "
                    f"({self._how(node)}) would both have the path {self._written(path)}. To merge "
                    "them, give each a line with this new path, or write the kind 'merge'; "
                    "otherwise choose another path."
                )
        for line, path in self._reading.new:
            if path in at:
                raise HierarchyError(
                    f"{line.where} adds {self._written(path)}, which is the path of "
                    f"{self._shown(at[path])} ({self._how(at[path])}). Choose another path, or "
                    "delete the line."
                )
        for line, path in [pair for lines in self._reading.by_node.values() for pair in lines]:
            alone = [node for node, place in self._places() if place == path]
            if line.kind == "merge" and len(alone) < 2:
                raise HierarchyError(
                    f"{line.where} has the kind 'merge', but no other node has the new path "
                    f"{self._written(path)}. Add a line for it, or leave the kind empty."
                )

    def _may_merge(self, one: int, other: int) -> bool:
        both = self._reading.by_node.get(one), self._reading.by_node.get(other)
        if all(both) or any(each and each[0][0].kind == "merge" for each in both):
            pairs = zip((one, other), both, strict=True)
            self._listed.update({node: "merge" for node, lines in pairs if lines})
            return True
        parents = self._old.parents[[one, other]].tolist()
        names = {self._old.names[one], self._old.names[other]}
        # nodes with the same name below nodes that are merged
        return not any(both) and len(names) == 1 and parents[0] != parents[1]

    def _check_prefixes(self) -> None:
        """Raise an error for a new path below the old path of a node that is elsewhere now."""
        taken = {path for _, path in self._places()} | {path for _, path in self._reading.new}
        taken |= {part for parts in self._split.values() for part in parts}
        taken |= {path for path in self._target if path is not None}
        walk = self._old._lookup._walk
        pairs = [(node, pair) for node, lines in self._reading.by_node.items() for pair in lines]
        for node, (line, path) in [*pairs, *((None, pair) for pair in self._reading.new)]:
            for end in range(1, len(path)):
                stale = None if path[:end] in taken else walk(path[:end])
                if stale is not None:
                    raise HierarchyError(self._stale(line, path, node, stale))

    def _stale(self, line: ChangeLine, path: NodePath, node: int | None, stale: int) -> str:
        above = stale
        while above not in self._reading.by_node:
            above = int(self._old.parents[above])
        there = f"{self._written(path)} is below {self._shown(stale)}"
        if node is not None and self._is_below(node, above):
            itself = node == above
            why = "it goes along" if itself else f"{self._where(above)} moves below the former"
            return (
                f"{line.where} is a cycle: the new path {there}, and {why}. Move one of them only; "
                "to insert a level, give each child its new path."
            )
        place = self._target[stale]
        now = "is removed" if place is None else f"is now {self._written(place)}"
        return (
            f"{line.where}: the new path {there}, which {now} ({self._where(above)}). Write paths "
            "of the new tree; if a new node of this name is meant, add a line with an empty old "
            f"path and the new path {self._shown(stale)}."
        )

    def _is_below(self, node: int, above: int) -> bool:
        """Return whether moving `above` puts it below `node`, or both are the same node."""
        if node == above:
            return True
        path = self._target[above]
        own = self._paths[node]
        return path is not None and path[: len(own)] == own and len(path) > len(own)

    def _check_leaves(self, change: TreeChange) -> None:
        for node in np.flatnonzero(~self._old.is_leaf).tolist():
            place = int(change.kept[node])
            if place <= 0 or not change.new.is_leaf[place] or node in self._split:
                continue
            below = change.kept[node + 1 : int(self._old.subtree_end[node])]
            if not (below == place).any():
                raise HierarchyError(
                    f"the map leaves {self._shown(node)} without children: all "
                    f"{len(self._old.children(node))} are removed or moved. Remove it too (a line "
                    "with an empty new path), or merge a child into it (kind 'merge')."
                )

    # ------------------------------------------------------------------ the new tree

    def _assemble(self) -> Hierarchy:
        paths: list[NodePath] = []
        for node in range(1, self._old.n_nodes):
            target = self._target[node]
            if target:
                paths.append(target)
            paths += self._split.get(node, [])
        paths += [path for _, path in self._reading.new]
        if not paths:
            raise HierarchyError("the map removes all nodes: expected some that stay.")
        made = Hierarchy.from_paths(paths, root=self._old.names[0])
        words = self._old.vocabulary
        return made if words is None else made.with_vocabulary(words)

    # ------------------------------------------------------------------ messages

    def _shown(self, node: int) -> str:
        return self._reading.shown(node)

    def _written(self, path: NodePath) -> str:
        return self._reading.written(path)

    def _where(self, node: int) -> str:
        lines = self._reading.by_node.get(node)
        return "which stays" if not lines else lines[0][0].where

    def _how(self, node: int) -> str:
        lines = self._reading.by_node.get(node)
        if lines:
            return f"{lines[0][0].where} moves it"
        return "stays" if self._target[node] == self._paths[node] else "goes along with its parent"


def _rename_in_dag(hierarchy: Hierarchy, reading: Reading) -> TreeChange:
    """Rename nodes of a DAG, which are identified by name."""
    names = hierarchy.names.tolist()
    lines = [(node, pair) for node, pairs in reading.by_node.items() for pair in pairs]
    for node, (line, path) in lines:
        if len(path) != 1 or len(reading.by_node[node]) > 1:
            raise HierarchyError(
                f"{line.where}: in this hierarchy nodes have several parents, and can only be "
                "renamed: expected one new name."
            )
        names[node] = path[0]
    if reading.new:
        raise HierarchyError(
            f"{reading.new[0][0].where} adds a node, but in this hierarchy nodes have several "
            "parents, and can only be renamed."
        )
    new = Hierarchy(names, hierarchy.edges, vocabulary=hierarchy.vocabulary)
    kept = np.asarray(new.index(names), dtype=np.int32)
    return TreeChange(hierarchy, new, kept, listed={node: "rename" for node, _ in lines})
