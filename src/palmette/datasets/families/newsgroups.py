"""20 Newsgroups, split by date: messages in a tar archive."""

from __future__ import annotations

from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.datasets.archives import tar_members
from palmette.datasets.bunch_parts import NODES, object_array
from palmette.datasets.families.parts import Files, name_parts, only_file
from palmette.datasets.home import DatasetEntry
from palmette.exceptions import ReadError

__all__ = ["load_newsgroups"]


def load_newsgroups(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the messages as text, headers and quotes included.

    The hierarchy has two levels: what stands before the first dot of a group's name (comp, rec,
    sci, talk, ...), and the groups under their full names.
    """
    path = only_file(files, ".tar")
    messages: dict[str, tuple[list[str], list[str]]] = {"train": ([], []), "test": ([], [])}
    for name, content in tar_members(path):
        # 20news-bydate-train/comp.graphics/37261
        folder, group, _ = (*name.split("/"), "", "")[:3]
        part = folder.rpartition("-")[2]
        if part not in messages or "." not in group:
            raise ReadError(
                f"found the member {name!r}, expected 20news-bydate-{{train,test}}/group/number",
                path=path,
            )
        messages[part][0].append(content.decode("latin-1"))  # some are no valid UTF-8
        messages[part][1].append(group)
    groups = sorted({group for _, labels in messages.values() for group in labels})
    return {
        **name_parts({part: (X, object_array(y)) for part, (X, y) in messages.items()}),
        "hierarchy": Hierarchy.from_paths([(group.partition(".")[0], group) for group in groups]),
        "feature_names": None,
        "target_form": NODES,
    }
