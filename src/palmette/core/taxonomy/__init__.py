"""Hierarchy files: reading them in a dozen formats, writing them in seven."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable
from pathlib import Path

from palmette.core.files import atomic_write, plain_suffix
from palmette.core.hierarchy import Hierarchy
from palmette.core.taxonomy.dot import to_dot
from palmette.core.taxonomy.indented import to_text
from palmette.core.taxonomy.json_rows import to_json
from palmette.core.taxonomy.newick import to_newick
from palmette.core.taxonomy.registry import detect, find_reader, find_writer
from palmette.core.taxonomy.rows import assemble
from palmette.core.taxonomy.source import Source
from palmette.exceptions import HierarchyError, PalmetteError

__all__ = ["read_hierarchy", "to_dot", "to_json", "to_newick", "to_text", "write_hierarchy"]


def read_hierarchy(
    path: str | os.PathLike[str], format: str | None = None, root: Hashable | None = None
) -> Hierarchy:
    """Read a hierarchy from a file.

    Parameters
    ----------
    path : path-like
        May be packed as .xz, .gz, .bz2 or .zip.
    format : str, optional
        ``paths``, ``indented``, ``edges``, ``json``, ``newick``, ``obo``, ``arff``, ``mulan``,
        ``codes``, ``icd10-xml``, ``icd10-codes`` or ``go-sqlite``; ``obo+part_of`` and
        ``go-sqlite+part_of`` take these edges too. Found out from suffix and content by default.
    root : hashable, optional
        Name of the root over all nodes without a parent. By default nested formats have their
        single top as the root and put several under ``"root"``, formats of paths and codes always
        do the latter, and in a list of edges several are an error.

    Returns
    -------
    Hierarchy

    Raises
    ------
    ReadError
        With file, line and place, where the file cannot be parsed.
    HierarchyError
        Where it can, but there is a cycle or more than one root.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "taxonomy.txt"
    ...     _ = file.write_text("animal > cat\\nanimal > dog\\nplant\\n")
    ...     print(read_hierarchy(file))
    root
    ├─ animal
    │  ├─ cat
    │  └─ dog
    └─ plant
    """
    reader = None if format is None else find_reader(format)
    source = Source(path)
    return assemble((reader or detect(source)).parse(source), root)


def write_hierarchy(
    hierarchy: Hierarchy, path: str | os.PathLike[str], format: str | None = None
) -> None:
    """Write a hierarchy to a file, whole or not at all.

    Parameters
    ----------
    hierarchy : Hierarchy
    path : path-like
    format : {"json", "newick", "dot", "indented", "edges", "svg", "html"}, optional
        By the suffix as default: .json, .nwk, .dot, .txt, .edges or .csv, .svg, .html and their
        kin. JSON keeps everything; Newick and indented text hold trees, and read back equal where
        all names are strings, as edges do where they are also distinct. DOT, SVG and HTML are
        pictures, the last two cut where a hierarchy is large.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "tree.json"
    ...     write_hierarchy(Hierarchy.star([1, 2]), file)
    ...     read_hierarchy(file) == Hierarchy.star([1, 2])
    True
    """
    suffix = Path(path).suffix.lower()
    if suffix != plain_suffix(path):
        raise PalmetteError(f"{path}: a packed file ({suffix}) is read, never written.")
    text = find_writer(format, suffix).to_string(hierarchy)
    lost = re.search("[\0\ud800-\udfff]", text)
    if lost is not None:
        raise HierarchyError(
            f"a name holds the character {lost.group()!r}, which no text file can hold. "
            "Write JSON, which escapes it."
        )
    with atomic_write(path, "wb") as stream:  # bytes: line ends within quoted names stay theirs
        stream.write(text.encode("utf-8"))
