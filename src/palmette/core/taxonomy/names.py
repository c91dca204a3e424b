"""Names of nodes in text files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palmette.exceptions import HierarchyError

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["names_as_text"]


def names_as_text(hierarchy: Hierarchy, format: str) -> list[str]:
    """Return the name of every node as a string.

    Text formats do not distinguish the number 1 from the string "1". Siblings that would become
    equal are an error, since the file could not be read back.
    """
    names = [str(name) for name in hierarchy.names.tolist()]
    seen: set[tuple[int, str]] = set()
    for parent, child in hierarchy.edges.tolist():
        place = (parent, names[child])
        if place in seen:
            raise HierarchyError(
                f"two children of {names[parent]!r} would both be written as {names[child]!r} in "
                f"{format}. Rename one, or write JSON, which keeps the types of names."
            )
        seen.add(place)
    return names
