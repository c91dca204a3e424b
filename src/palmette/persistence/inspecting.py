"""Tell what a model file holds without building it."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from palmette.persistence.archive import MAX_BYTES
from palmette.persistence.reading import opened

__all__ = ["inspect"]


def inspect(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Tell what a model file holds, without making any object of it.

    Parameters
    ----------
    path : path-like
    max_bytes : int
        Refuse a file that unpacks to more.

    Returns
    -------
    dict
        ``kind`` (class of the object), ``version`` of the format, ``libraries`` (their versions),
        ``summary`` (of the training, or None), ``types`` (how many objects of each class),
        ``members`` (bytes of each, unpacked) and ``untrusted`` (types of other libraries that
        `load` will ask to be trusted).

    Examples
    --------
    >>> import tempfile, palmette
    >>> from palmette.persistence import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(palmette.Hierarchy.star("ab"), f"{folder}/tree.palmette")
    ...     facts = inspect(f"{folder}/tree.palmette")
    >>> facts["kind"], facts["types"], sorted(facts["members"])
    ('palmette.core.hierarchy.Hierarchy',
     {'palmette.core.hierarchy.Hierarchy': 1},
     ['arrays/i4.npy', 'hierarchy.json', 'state.json'])
    """
    with opened(path, max_bytes) as file:
        _, objects = file.state()
        return {
            "kind": file.manifest.get("kind"),
            "version": file.manifest["version"],
            "libraries": file.manifest.get("libraries"),
            "summary": file.manifest.get("summary"),
            "types": _types_of(objects),
            "members": {name: file.archive.size(name) for name in sorted(file.members)},
            "untrusted": file.untrusted(),
        }


def _types_of(objects: list[Any]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for each in objects:
        [(tag, content)] = each.items()
        if tag == "hierarchy":
            found["palmette.core.hierarchy.Hierarchy"] += 1
        elif tag in ("derived", "holder", "object"):
            found[str(content["class"])] += 1
        elif tag == "foreign":
            found["another library"] += 1
    return dict(sorted(found.items()))
