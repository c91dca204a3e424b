"""Read hierarchy files in over a dozen formats, and write them in eleven."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from palmette._files import atomic_write, plain_suffix
from palmette._text import CONTROL, excel_safe_csv
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy.files._json import to_json
from palmette.hierarchy.files._newick import to_dot, to_newick
from palmette.hierarchy.files._registry import (
    PICTURES,
    SKOS_FORMATS,
    detect,
    find_reader,
    find_writer,
)
from palmette.hierarchy.files._source import Rows, Source
from palmette.hierarchy.files._text import to_indented as to_text

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy
    from palmette.hierarchy._vocabulary import Languages

__all__ = [
    "read_rows",
    "text_for_file",
    "to_dot",
    "to_json",
    "to_newick",
    "to_text",
    "write_hierarchy",
]


def read_rows(
    path: str | os.PathLike[str],
    format: str | None = None,
    scheme: str | Sequence[str] | None = None,
) -> Rows:
    """Parse a hierarchy file into rows, from which `Hierarchy.read` builds a hierarchy.

    Parameters
    ----------
    path : path-like
        May be compressed as .xz, .gz, .bz2 or .zip.
    format : str, optional
        A name of `READERS`; detected from suffix and content by default.
    scheme : str or sequence of str, optional
        Concept schemes of a SKOS file to read; all by default.

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
    reader = reader or detect(source)
    if scheme is None:
        return reader.parse(source)
    if reader.name not in SKOS_FORMATS:
        raise source.error(
            f"scheme={scheme!r}, but the format is {reader.name}: only SKOS files have schemes "
            f"({', '.join(SKOS_FORMATS)})"
        )
    return reader.parse(source, scheme)


def write_hierarchy(
    hierarchy: Hierarchy,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    excel_safe: bool = False,
    language: Languages | None = None,
) -> None:
    """Write a hierarchy to a file atomically.

    Parameters
    ----------
    hierarchy : Hierarchy
    path : path-like
    format : {"json", "newick", "dot", "indented", "edges", "svg", "html", "turtle", "rdf-xml", \
"n-triples", "json-ld"}, optional
        By suffix by default: .json, .nwk, .dot, .txt, .edges or .csv, .svg, .html, .ttl, .rdf, .nt,
        .jsonld and similar ones. JSON keeps everything; Newick and indented text represent trees
        and can be read back unchanged if all names are strings, edges if the names are also
        distinct. DOT, SVG and HTML are pictures; SVG and HTML abbreviate a large hierarchy. Control
        characters of names are escaped in JSON, indented text, Turtle, N-Triples and JSON-LD, dots
        in pictures, and errors elsewhere. The last four formats are SKOS: the root becomes the
        concept scheme, names that are not URIs get one that starts with "urn:palmette:".
    excel_safe : bool
        Whether names in a list of edges that look like formulas begin with an apostrophe; they are
        read back with it.
    language : str or sequence of str, optional
        Write labels in this language in the place of names. Pictures show labels anyway. JSON and
        SKOS keep all labels, and there it is the language of drawings of what is read back from
        JSON.

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
    text = text_for_file(hierarchy, path, format, excel_safe=excel_safe, language=language)
    with atomic_write(path, "wb") as stream:  # bytes, to keep line breaks in quoted names
        stream.write(text.encode("utf-8"))


def text_for_file(
    hierarchy: Hierarchy,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    excel_safe: bool = False,
    language: Languages | None = None,
) -> str:
    """Return what `write_hierarchy` writes, or raise its error."""
    suffix = Path(path).suffix.lower()
    if suffix != plain_suffix(path):
        raise PalmetteError(f"{path}: {suffix} files can only be read. Use another suffix.")
    writer = find_writer(format, suffix)
    if writer.name == "json" or writer.name in SKOS_FORMATS:
        shown = hierarchy if language is None else hierarchy.with_language(language)
    elif language is not None or writer.name in PICTURES:
        shown = hierarchy.in_language(language)
    else:
        shown = hierarchy
    text = writer.to_string(shown)
    lost = CONTROL.search(text.replace("\r", ""))
    if lost is not None:
        raise HierarchyError(
            f"a name contains the control character {lost.group()!r}, which {writer.name} cannot "
            "escape. Write JSON, which escapes it."
        )
    if excel_safe and writer.name == "edges":
        text = excel_safe_csv(text)
    return text
