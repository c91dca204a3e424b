"""Read hierarchy files in a dozen formats, and write them in seven."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from palmette._files import atomic_write, plain_suffix
from palmette._text import CONTROL, excel_safe_csv
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy.files._json import to_json
from palmette.hierarchy.files._newick import to_dot, to_newick
from palmette.hierarchy.files._registry import detect, find_reader, find_writer
from palmette.hierarchy.files._source import Rows, Source
from palmette.hierarchy.files._text import to_indented as to_text

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

__all__ = ["read_rows", "to_dot", "to_json", "to_newick", "to_text", "write_hierarchy"]


def read_rows(path: str | os.PathLike[str], format: str | None = None) -> Rows:
    """Parse a hierarchy file into rows, from which `Hierarchy.read` builds a hierarchy.

    Parameters
    ----------
    path : path-like
        May be compressed as .xz, .gz, .bz2 or .zip.
    format : str, optional
        A name of `READERS`; detected from suffix and content by default.

    Returns
    -------
    PlaceRows, LinkRows or NumberedRows

    Raises
    ------
    ReadError
        If the file cannot be parsed; it names the file, line and position.
    """
    reader = None if format is None else find_reader(format)
    source = Source(path)
    return (reader or detect(source)).parse(source)


def write_hierarchy(
    hierarchy: Hierarchy,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    excel_safe: bool = False,
) -> None:
    """Write a hierarchy to a file atomically.

    Parameters
    ----------
    hierarchy : Hierarchy
    path : path-like
    format : {"json", "newick", "dot", "indented", "edges", "svg", "html"}, optional
        By suffix by default: .json, .nwk, .dot, .txt, .edges or .csv, .svg, .html and similar
        ones. JSON keeps everything; Newick and indented text represent trees and can be read back
        unchanged if all names are strings, edges if the names are also distinct. DOT, SVG and HTML
        are pictures; the last two abbreviate a large hierarchy. Control characters of names are
        escaped in JSON and indented text, dots in pictures, and errors in Newick and edges.
    excel_safe : bool
        Whether names in a list of edges that look like formulas begin with an apostrophe; they are
        read back with it.

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
        raise PalmetteError(f"{path}: {suffix} files can only be read. Use another suffix.")
    writer = find_writer(format, suffix)
    text = writer.to_string(hierarchy)
    lost = CONTROL.search(text.replace("\r", ""))
    if lost is not None:
        raise HierarchyError(
            f"a name contains the control character {lost.group()!r}, which {writer.name} cannot "
            "escape. Write JSON, which escapes it."
        )
    if excel_safe and writer.name == "edges":
        text = excel_safe_csv(text)
    with atomic_write(path, "wb") as stream:  # bytes, to keep line breaks in quoted names
        stream.write(text.encode("utf-8"))
