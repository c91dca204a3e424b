"""Hierarchy files: reading them in a dozen formats, writing them in seven."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from palmette.core.files import atomic_write, plain_suffix
from palmette.core.taxonomy.dot import to_dot
from palmette.core.taxonomy.indented import to_text
from palmette.core.taxonomy.json_rows import to_json
from palmette.core.taxonomy.newick import to_newick
from palmette.core.taxonomy.registry import detect, find_reader, find_writer
from palmette.core.taxonomy.rows import Rows
from palmette.core.taxonomy.source import Source
from palmette.exceptions import HierarchyError, PalmetteError

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["read_rows", "to_dot", "to_json", "to_newick", "to_text", "write_hierarchy"]


def read_rows(path: str | os.PathLike[str], format: str | None = None) -> Rows:
    """Parse a hierarchy file; `Hierarchy.read` builds the hierarchy of its rows.

    Parameters
    ----------
    path : path-like
        May be compressed as .xz, .gz, .bz2 or .zip.
    format : str, optional
        A name of `READERS`; found from suffix and content by default.

    Returns
    -------
    PlaceRows, LinkRows or NumberedRows

    Raises
    ------
    ReadError
        With file, line and place, where the file cannot be parsed.
    """
    reader = None if format is None else find_reader(format)
    source = Source(path)
    return (reader or detect(source)).parse(source)


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
    >>> from palmette import Hierarchy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "tree.json"
    ...     write_hierarchy(Hierarchy.star([1, 2]), file)
    ...     Hierarchy.read(file) == Hierarchy.star([1, 2])
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
