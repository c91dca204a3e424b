"""The result of checking a hierarchy file: faults, notes, and statistics of the hierarchy."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from palmette.exceptions import ReadError
from palmette.hierarchy._drawing import short_path, summarize
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.files._source import DEFAULT_ROOT, short

_LETTER = re.compile(r"[^\W\d_]")


def statistics_of(hierarchy: Hierarchy) -> dict[str, Any]:
    """Count nodes, leaves, levels, children and names.

    Parameters
    ----------
    hierarchy : Hierarchy

    Returns
    -------
    dict
        ``n_nodes``, ``n_leaves``, ``n_edges``, ``depth``, ``is_tree``; ``nodes_by_level`` and
        ``leaves_by_level``, from the root; ``children_min``, ``children_mean``, ``children_max``
        of internal nodes, and ``largest_family``, the path of the node with the most children;
        ``n_only_children``; ``n_distinct_names``; ``n_several_parents``. Checks of thesauri add
        ``vocabulary``.

    Examples
    --------
    >>> found = statistics_of(Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "x")]))
    >>> found["leaves_by_level"], found["children_mean"], found["n_only_children"]
    ([0, 0, 3], 1.6666666666666667, 1)
    """
    n_children = np.bincount(hierarchy.edges[:, 0], minlength=hierarchy.n_nodes)
    n_parents = np.bincount(hierarchy.edges[:, 1], minlength=hierarchy.n_nodes)
    families = n_children[n_children > 0]
    levels = len(hierarchy.level_sizes)
    leaves = np.bincount(hierarchy.depth[hierarchy.leaves], minlength=levels)
    return {
        "n_nodes": hierarchy.n_nodes,
        "n_leaves": hierarchy.n_leaves,
        "n_edges": len(hierarchy.edges),
        "depth": hierarchy.max_depth,
        "is_tree": hierarchy.is_tree,
        "nodes_by_level": hierarchy.level_sizes.tolist(),
        "leaves_by_level": leaves.tolist(),
        "children_min": int(families.min()) if families.size else 0,
        "children_mean": float(families.mean()) if families.size else 0.0,
        "children_max": int(families.max()) if families.size else 0,
        "largest_family": short_path(hierarchy, int(n_children.argmax())),
        "n_only_children": int((n_children == 1).sum()),
        "n_distinct_names": len({repr(name) for name in hierarchy.names.tolist()}),
        "n_several_parents": int((n_parents > 1).sum()),
    }


def statistics_text(hierarchy: Hierarchy, facts: dict[str, Any]) -> str:
    """Return the statistics as a few lines of text."""
    leaves = [
        f"{count:,} at {level}" for level, count in enumerate(facts["leaves_by_level"]) if count
    ]
    lines = [
        summarize(hierarchy),
        f"  leaves by depth: {', '.join(leaves[:12])}{', ...' if len(leaves) > 12 else ''}",
        f"  children per internal node: {facts['children_min']:,} to "
        f"{facts['children_max']:,}, {facts['children_mean']:.1f} on average; most below "
        f"{short(facts['largest_family'])}; nodes with one child: {facts['n_only_children']:,}",
        f"  distinct names: {facts['n_distinct_names']:,} of {facts['n_nodes']:,}",
    ]
    if facts["n_several_parents"]:
        lines.append(f"  nodes with several parents: {facts['n_several_parents']:,}")
    if "vocabulary" in facts:
        words = dict(facts["vocabulary"])
        labels = ", ".join(f"{count:,} in {tag}" for tag, count in words.pop("labels").items())
        numbers = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in words.items())
        lines += [f"  in the file: {numbers}"] if numbers else []
        lines.append(f"  preferred labels: {labels or 'none'}")
    return "\n".join(lines)


def note_shape(hierarchy: Hierarchy, found: Findings) -> None:
    """Note only children, siblings with nearly equal names, and names that a path repeats."""
    lines = _lines_of(hierarchy, found)
    for node in range(hierarchy.n_nodes):
        children = hierarchy.children(node).tolist()
        if len(children) == 1 and node:
            found.note(
                "only child",
                f"{short(short_path(hierarchy, children[0], 20))} is the only child of its parent, "
                "so there is no decision to learn",
                lines[children[0]],
            )
        _note_alike(hierarchy, node, children, lines, found)
    for node, above in repeated_on_path(hierarchy):
        is_parent = hierarchy.parents[node] == above
        found.note(
            "parent's name" if is_parent else "name above",
            f"{short(short_path(hierarchy, node, 20))} has the same name as "
            + ("its parent" if is_parent else "a node above it"),
            lines[node],
        )


def repeated_on_path(hierarchy: Hierarchy, with_letters: bool = False) -> list[tuple[int, int]]:
    """Return the nodes of a tree that have the name of a node above them, and that node.

    A root with the name of an added one, "root", does not count, nor does a node that is not the
    parent if the name has no letter: codes such as 1/2/1 repeat their digits. `with_letters` leaves
    out the parents of such names too.

    Examples
    --------
    >>> repeated_on_path(Hierarchy.from_paths([("a", "a"), ("a", "b", "a")]))
    [(2, 1), (4, 1)]
    """
    if not hierarchy.is_tree:
        return []
    repeated = []
    path: list[int] = []  # nodes from the root; in preorder, its end is the previous node
    last: dict[Any, list[int]] = {}  # nodes of the path by name
    names = hierarchy.names.tolist()
    for node, depth in enumerate(hierarchy.depth.tolist()):
        while len(path) > depth:
            last[names[path.pop()]].pop()
        same = last.setdefault(names[node], [])
        if (
            same
            and (same[-1] or names[0] != DEFAULT_ROOT)
            and ((same[-1] == path[-1] and not with_letters) or _LETTER.search(str(names[node])))
        ):
            repeated.append((node, same[-1]))
        same.append(node)
        path.append(node)
    return repeated


def _note_alike(
    hierarchy: Hierarchy, node: int, children: list[int], lines: list[int | None], found: Findings
) -> None:
    seen: dict[str, int] = {}
    for child in children:
        name = str(hierarchy.names[child])
        plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
        if plain in seen:
            found.note(
                "similar siblings",
                f"{short(name)} and {short(str(hierarchy.names[seen[plain]]))} below "
                f"{short(str(hierarchy.names[node]))} differ only in case or spaces: are they the "
                "same class?",
                lines[child],
            )
        seen.setdefault(plain, child)


def _lines_of(hierarchy: Hierarchy, found: Findings) -> list[int | None]:
    """Return the line of every node, found by its place in a tree or by its name."""
    names = hierarchy.names.tolist()
    if not found.places or not hierarchy.is_tree:
        return [found.lines.get(name) for name in names]
    # the root is a node of the file, or was added above its nodes
    root = found.places.get((-1, names[0]), -1) if len(found.places) == len(names) else -1
    places: list[int | None] = [root]
    for name, parent in zip(names[1:], hierarchy.parents[1:].tolist(), strict=True):
        above = places[parent]
        places.append(None if above is None else found.places.get((above, name)))
    return [None if p is None or p < 0 else found.place_lines[p] for p in places]


@dataclass(frozen=True)
class Finding:
    """One fault, or one note about something unusual.

    Attributes
    ----------
    kind : str
        A word or two, such as "cycle" or "only child".
    message : str
        What was found, and what to do about it.
    line : int or None
        Line of the file, from 1, if it is known.
    is_fault : bool
        Whether this is a fault; otherwise it is a note.
    """

    kind: str
    message: str
    line: int | None = None
    is_fault: bool = True

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


@dataclass
class Findings:
    """Collects findings and the lines of nodes.

    Attributes
    ----------
    found : list of Finding
    lines : dict
        Line of a node by its name, in files of edges.
    places : dict of (int, name) to int
        Numbers of nodes by the number of the parent, -1 at the top, and the name, in other files.
    place_lines : list of int
        Lines of these nodes.
    """

    found: list[Finding] = field(default_factory=list)
    lines: dict[Any, int] = field(default_factory=dict)
    places: dict[tuple[int, Any], int] = field(default_factory=dict)
    place_lines: list[int] = field(default_factory=list)

    def fault(self, kind: str, message: str, line: int | None = None) -> None:
        """Add a fault."""
        self.found.append(Finding(kind, message, line))

    def note(self, kind: str, message: str, line: int | None = None) -> None:
        """Add a note."""
        self.found.append(Finding(kind, message, line, is_fault=False))

    def error(self, kind: str, error: ReadError) -> None:
        """Add an error raised by a reader as a fault."""
        self.fault(kind, error.message, error.line)

    @property
    def has_faults(self) -> bool:
        """Whether any fault was found so far."""
        return any(finding.is_fault for finding in self.found)


@dataclass(frozen=True)
class HierarchyCheck:
    """A checked hierarchy file.

    Attributes
    ----------
    path : str
    format : str or None
        Name of its format; None if it was not recognized.
    hierarchy : Hierarchy or None
        The hierarchy; None if the file cannot be read.
    faults, notes : tuple of Finding
        Sorted by line.
    statistics : dict
        Statistics of the hierarchy; empty if the file cannot be read.
    """

    path: str
    format: str | None
    hierarchy: Hierarchy | None
    faults: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    statistics: dict[str, Any]

    def to_text(self, max_notes: int | None = 5) -> str:
        """Return the statistics, all faults, and the notes as text.

        Parameters
        ----------
        max_notes : int or None
            Maximum number of notes listed per kind; the others are counted. None lists all.
        """

        parts = [f"{self.path}: format {self.format or 'unknown'}"]
        if self.hierarchy is not None:
            parts.append(statistics_text(self.hierarchy, self.statistics))
        parts += _section("fault", self.faults, None)
        parts += _section("note", self.notes, max_notes)
        parts.append(self._verdict())
        return "\n".join(parts)

    def _verdict(self) -> str:
        if not self.faults:
            return "valid" if not self.notes else "valid, with notes"
        kinds = Counter(finding.kind for finding in self.faults)
        words = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        unread = "" if self.hierarchy is not None else "; the file cannot be read until fixed"
        return f"{_count(len(self.faults), 'fault')} ({words}){unread}"


def _section(word: str, findings: tuple[Finding, ...], most: int | None) -> list[str]:
    if not findings:
        return []
    parts = [f"\n{_count(len(findings), word)}"]
    written: Counter[str] = Counter()
    totals = Counter(finding.kind for finding in findings)
    for finding in findings:
        written[finding.kind] += 1
        if most is None or written[finding.kind] <= most:
            parts.append(f"  {finding}")
        elif written[finding.kind] == totals[finding.kind]:
            parts.append(f"  … {totals[finding.kind] - most:,} more: {finding.kind}")
    return [*parts, ""]


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def shown_path(steps: Iterable[Any]) -> str:
    """Format a path for a message.

    Examples
    --------
    >>> shown_path(("a", "b"))
    "'a' > 'b'"
    """
    return " > ".join(short(step) for step in steps)
