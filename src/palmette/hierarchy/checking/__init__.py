"""Check a hierarchy file: list every fault with its line, not only the first."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence

from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy, assemble
from palmette.hierarchy._vocabulary import Languages
from palmette.hierarchy.checking._findings import (
    Finding,
    Findings,
    HierarchyCheck,
    note_shape,
    statistics_of,
)
from palmette.hierarchy.checking._json import check_json
from palmette.hierarchy.checking._lines import (
    check_characters,
    check_edges,
    check_encoding,
    check_indented,
    check_paths,
)
from palmette.hierarchy.checking._skos import check_skos, note_language, skos_statistics
from palmette.hierarchy.files._registry import SKOS_FORMATS, Reader, detect, find_reader
from palmette.hierarchy.files._source import Source
from palmette.hierarchy.files._text import STRAY_BLANK, stray_blanks

__all__ = ["Finding", "HierarchyCheck", "check_hierarchy"]

# binary, or read by parsers of their own, which decode them
_NOT_LINES = ("go-sqlite", "go-sqlite+part_of", "arff", "mulan", "icd10-xml")


def check_hierarchy(
    path: str | os.PathLike[str],
    format: str | None = None,
    root: Hashable | None = None,
    *,
    language: Languages | None = None,
    scheme: str | Sequence[str] | None = None,
) -> HierarchyCheck:
    """Read a hierarchy file and find all of its faults.

    Files of paths or edges, indented text, JSON and SKOS are checked completely; in other formats,
    only the first fault is reported.

    Parameters
    ----------
    path : path-like
    format : str, optional
        Detected by default; see `Hierarchy.read`.
    root : hashable, optional
        Name of a root above the nodes without a parent. By default, several of them are a fault.
    language : str or sequence of str, optional
        Language in which labels are shown; concepts without one in it are noted.
    scheme : str or sequence of str, optional
        Concept schemes of a SKOS file; all by default.

    Returns
    -------
    HierarchyCheck
        A file without faults can be read; one with faults cannot, unless it is SKOS: what is at
        fault in a thesaurus is left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "taxonomy.txt"
    ...     _ = file.write_text("animal > cat\\nanimal >  > dog\\nplant\\nplant\\n")
    ...     for fault in check_hierarchy(file).faults:
    ...         print(fault)
    line 2: a name is empty: expected names separated by '>'
    line 4: 'plant' is declared twice, first in line 3. Delete or rename one: siblings need
    different names
    """
    reader = None if format is None else find_reader(format)
    source = Source(path)
    source.data  # noqa: B018, errors of reading are raised here
    found = Findings()
    try:
        reader = reader or detect(source)
    except ReadError as error:
        if error.message == STRAY_BLANK:
            for number in stray_blanks(source):
                found.fault("leading space", STRAY_BLANK, number)
            return _result(source, find_reader("paths"), None, found)
        if error.message in [message for _, message in source.not_utf8[0][:1]]:
            check_encoding(source, found)
        else:
            found.error("format", error)
        return _result(source, None, None, found)
    if reader.name in SKOS_FORMATS:
        return _check_thesaurus(source, reader, root, language, scheme)
    _check_lines(source, reader.name, found, one_root=root is None)
    hierarchy = _read(source, reader, root, found)
    if hierarchy is not None and not found.has_faults:  # with faults, the shape is unreliable
        note_shape(hierarchy, found)
    return _result(source, reader, hierarchy, found)


def _check_thesaurus(
    source: Source,
    reader: Reader,
    root: Hashable | None,
    language: Languages | None,
    scheme: str | Sequence[str] | None,
) -> HierarchyCheck:
    found = Findings()
    hierarchy = None
    try:
        check_skos(source, reader.name, found, scheme)
        hierarchy = assemble(reader.parse(source, scheme), root)
    except ReadError as error:
        if not found.has_faults:
            found.error("content", error)
    except PalmetteError as error:
        if not found.has_faults:
            found.fault("content", str(error))
    if hierarchy is not None:
        note_language(hierarchy, language, found)
    if hierarchy is not None and not found.has_faults:
        note_shape(hierarchy.in_language(language), found)
    return _result(source, reader, hierarchy, found)


def _check_lines(source: Source, format: str, found: Findings, one_root: bool) -> None:
    """Collect the faults of single lines."""
    if format in _NOT_LINES:
        return
    try:
        check_encoding(source, found)
        if found.has_faults:  # no text can be read
            return
        check_characters(source, found)
        if format == "paths":
            check_paths(source, found)
        elif format == "edges":
            check_edges(source, found, one_root)
        elif format == "indented":
            check_indented(source, found)
        elif format == "json":
            check_json(source, found, one_root)
    except ReadError as error:  # the whole file is at fault: it is binary or too large
        found.error("file", error)


def _read(
    source: Source, reader: Reader, root: Hashable | None, found: Findings
) -> Hierarchy | None:
    """Read the file; an error that only the reader detects is a fault too."""
    try:
        return assemble(reader.parse(source), root)
    except ReadError as error:
        if not found.has_faults:
            found.error("content", error)
    except PalmetteError as error:
        if not found.has_faults:
            found.fault("content", str(error))
    return None


def _result(
    source: Source, reader: Reader | None, hierarchy: Hierarchy | None, found: Findings
) -> HierarchyCheck:
    def place(finding: Finding) -> int:
        return 0 if finding.line is None else finding.line

    ordered = sorted(found.found, key=place)
    return HierarchyCheck(
        os.fspath(source.path),
        None if reader is None else reader.name,
        hierarchy,
        tuple(finding for finding in ordered if finding.is_fault),
        tuple(finding for finding in ordered if not finding.is_fault),
        {} if hierarchy is None else statistics_of(hierarchy) | skos_statistics(hierarchy),
    )
