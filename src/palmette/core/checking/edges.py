"""All faults of lists of edges."""

from __future__ import annotations

from palmette.core.checking.findings import Findings
from palmette.core.checking.links import Links
from palmette.core.taxonomy import edge_list
from palmette.core.taxonomy.source import Source

__all__ = ["check_edges"]


def check_edges(source: Source, found: Findings, one_root: bool = True) -> None:
    """Check every line, then the whole hierarchy."""
    links = Links(found)
    rows = edge_list.split_lines(source, lambda error: found.error("fields", error))
    for number, parent, children in rows:
        for child in children:
            links.add(parent, child, number)
    links.check(one_root)
    links.note_parents()
