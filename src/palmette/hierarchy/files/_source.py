"""The input and output of file parsers: the source file, and rows of nodes and edges.

A parser returns numbered nodes and edges. Formats differ in what identifies a node (its path
in a tree, or its name) and in the treatment of several nodes without a parent:

=========== ==================================================================================
``ALWAYS``  all become children of an added root: formats of paths or codes, without a root
``SEVERAL`` a single one is the root, several become children of an added root: nested formats
``NEVER``   several are an error, since an edge may be missing: lists of edges
=========== ==================================================================================

If the caller names a root, they become its children in every format."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import islice
from pathlib import Path
from reprlib import Repr
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import free_memory
from palmette._files import MAX_UNPACKED, decode_text, plain_suffix, read_bytes, require_text
from palmette.exceptions import HierarchyError, ReadError

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy
    from palmette.hierarchy._vocabulary import Vocabulary

# The largest hierarchy file that we know of, the Gene Ontology as SQLite with all texts, has 86 MB.
# Parsed text may need twenty times its size, so its limit is lower; together with `MAX_NODES` of
# the rows, this bounds the memory that any file can use. Thesauri with all their labels may have
# more than 1 GB, which is read where there is memory for it.
MAX_BYTES = 512 * 1024**2
RDF_SUFFIXES = frozenset({".nt", ".nq", ".ttl", ".trig", ".rdf", ".jsonld", ".json-ld", ".xml"})
_RDF_MEMORY = 6  # bytes of memory per byte of N-Triples; the other syntaxes need more
MAX_TEXT = 64 * 1024**2
MAX_LINE = 16 * 1024**2

_PIECE = 2**20  # bytes decoded at a time
_SAMPLED = 200  # lines used to detect the format
_SAMPLED_CHARACTERS = 1 << 20  # limit for files with very long lines


class Source:
    """A hierarchy file, read once and shared by several formats.

    Parameters
    ----------
    path : path-like
        May be compressed as .xz, .gz, .bz2 or .zip.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.suffix = plain_suffix(path)
        self.parsed: dict[str, Any] = {}  # kept by parsers, for checks that read the file again

    @cached_property
    def data(self) -> bytes:
        """The decompressed bytes."""
        limit = MAX_BYTES
        if self.suffix in RDF_SUFFIXES:
            limit = max(limit, min(MAX_UNPACKED, int(free_memory() / _RDF_MEMORY)))
        return read_bytes(self.path, limit=limit)

    @cached_property
    def raw_text(self) -> str:
        """The text with unchanged line ends: UTF-8 with or without a BOM, else Latin-1."""
        self.require_text()
        bad, n_wide = self.not_utf8
        for number, message in bad[: bool(n_wide)]:
            raise ReadError(message, path=self.path, line=number)
        return decode_text(self.data, self.path)

    @cached_property
    def not_utf8(self) -> tuple[list[tuple[int, str]], int]:
        """Lines that are not UTF-8, each with a message, and the number of others that need it.

        A file without the others is read as Latin-1, which would garble them: a mixture is an
        error.
        """
        bad: list[tuple[int, UnicodeDecodeError]] = []
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for start in range(0, len(self.data) + 1, _PIECE):  # the whole text may not be needed
                piece = self.data[start : start + _PIECE]
                decoder.decode(piece, final=start + _PIECE > len(self.data))
            return [], 0
        except UnicodeDecodeError:
            n_wide = 0
        for number, line in enumerate(self.data.split(b"\n"), start=1):
            try:
                n_wide += len(line) > len(line.decode("utf-8"))
            except UnicodeDecodeError as error:
                bad.append((number, error))
        n_wide -= self.data.startswith(codecs.BOM_UTF8) and bad[0][0] > 1
        rest = "so the file is read as Latin-1"
        if n_wide:
            rest = f"but {n_wide:,} other lines are: read as Latin-1, they would be garbled"
        return [
            (
                number,
                f"the byte 0x{error.object[error.start]:02x} at position {error.start + 1} is not "
                f"UTF-8, {rest}. Save the file as UTF-8",
            )
            for number, error in bad
        ], n_wide

    def require_text(self) -> None:
        """Raise an error if the file is binary or too large to be parsed as text."""
        if len(self.data) > MAX_TEXT:
            raise self.error(
                f"the file has {len(self.data):,} bytes: expected at most {MAX_TEXT:,}. Split it"
            )
        require_text(self.data, self.path)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (number from 1, line without its end), one at a time."""
        # StringIO splits at \n, \r\n and \r only; str.splitlines would also split at form feeds
        stream = io.StringIO(self.raw_text, newline=None)
        for number, line in enumerate(stream, start=1):
            if len(line) > MAX_LINE:
                raise self.error(
                    f"the line has {len(line):,} characters: expected at most {MAX_LINE:,}",
                    number,
                    line[:200],
                )
            yield number, line.rstrip("\n")

    def content_lines(self) -> Iterator[tuple[int, str]]:
        """Yield numbered lines that are neither blank nor a ``#`` comment."""
        for number, line in self.lines():
            stripped = line.lstrip()
            if stripped and not stripped.startswith("#"):
                yield number, line

    @cached_property
    def sample(self) -> list[str]:
        """The first lines that are neither blank nor comments."""
        head = io.StringIO(self.raw_text[:_SAMPLED_CHARACTERS], newline=None)
        wanted = (line.rstrip("\n") for line in head if line.strip() and line.lstrip()[0] != "#")
        return list(islice(wanted, _SAMPLED))

    @cached_property
    def head(self) -> str:
        """The start of the file without leading whitespace, to detect its syntax."""
        return self.data[:8192].removeprefix(codecs.BOM_UTF8).decode("latin-1").lstrip()

    def error(
        self, message: str, line: int | None = None, text: str | None = None, column: int = 0
    ) -> ReadError:
        """Return an error that shows a position in this file; the caller raises it."""
        if line is not None and text is None:
            text = next((content for number, content in self.lines() if number == line), None)
        return ReadError(message, path=self.path, line=line, text=text, column=column)

    def error_at(self, message: str, offset: int) -> ReadError:
        """Return an error that shows a character of `raw_text`; the caller raises it."""
        start = self.raw_text.rfind("\n", 0, offset) + 1
        end = self.raw_text.find("\n", offset)
        return ReadError(
            message,
            path=self.path,
            line=self.raw_text.count("\n", 0, offset) + 1,
            text=self.raw_text[start : end if end >= 0 else None],
            column=offset - start,
        )


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


DEFAULT_ROOT = "root"
MAX_NODES = 5_000_000


# names may be nested and long: a plain repr could be as long as the file
_REPR = Repr()
_REPR.maxstring = _REPR.maxother = 80


class Tops(Enum):
    """When nodes without a parent become children of an added root."""

    ALWAYS = "always"
    SEVERAL = "several"
    NEVER = "never"


class PlaceRows:
    """Nodes of a tree, identified by parent and name; parents come first.

    Parameters
    ----------
    source : Source
        For the error messages.
    tops : Tops
    """

    by_name = False
    vocabulary: ClassVar[Vocabulary | None] = None

    def __init__(self, source: Source, tops: Tops) -> None:
        self.source = source
        self.tops = tops
        self.names: list[Any] = []
        self.parents: list[int] = []
        self._declared: list[int] = []  # line of each node, 0 if it is only implied
        self._known: dict[tuple[int, Any], int] = {}

    def add(self, name: Hashable, parent: int, line: int) -> int:
        """Declare a node below `parent` (-1: none); declaring it twice is an error."""
        node = self.reach(name, parent)
        if self._declared[node]:
            place = " > ".join(short(step) for step in self._path(node))
            raise self.source.error(
                f"{place} is declared twice, first in line {self._declared[node]}. "
                "Delete or rename one: siblings need different names",
                line=line,
            )
        self._declared[node] = line
        return node

    def reach(self, name: Hashable, parent: int) -> int:
        """Return the node below `parent` with a name; it is added if it does not exist."""
        key = (parent, name)
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = len(self.names)
            check_size(self.source, node)
            self.names.append(name)
            self.parents.append(parent)
            self._declared.append(0)
        return node

    def _path(self, node: int) -> list[Any]:
        steps: list[Any] = []
        while node >= 0 and len(steps) < 6:  # enough for a message
            steps.append(self.names[node])
            node = self.parents[node]
        return steps[::-1]

    def edges(self) -> NDArray[np.int32]:
        """Return (n_edges, 2) numbers of parent and child."""
        parents = np.asarray(self.parents, dtype=np.int32)
        children = np.flatnonzero(parents >= 0)
        return np.column_stack([parents[children], children]).astype(np.int32)


class LinkRows:
    """Nodes identified by name, and edges between them: trees and DAGs.

    Parameters
    ----------
    source : Source
        For the error messages.
    tops : Tops
    """

    by_name = True

    def __init__(self, source: Source, tops: Tops) -> None:
        self.source = source
        self.tops = tops
        self.vocabulary: Vocabulary | None = None
        self._numbers: dict[Any, int] = {}
        self._links: list[int] = []  # parent, child, parent, child ...

    @property
    def names(self) -> list[Any]:
        """Names in order of appearance."""
        return list(self._numbers)

    def node(self, name: Hashable) -> int:
        """Return the number of a name; a new name gets the next number."""
        number = self._numbers.setdefault(name, len(self._numbers))
        check_size(self.source, number)
        return number

    def link(self, parent: Hashable, child: Hashable, line: int | None = None) -> None:
        """Add an edge; duplicates are ignored, a self-loop is an error."""
        if parent == child:
            raise self.source.error(f"{short(child)} is its own parent. Delete it", line=line)
        self._links.append(self.node(parent))
        self._links.append(self.node(child))

    def edges(self) -> NDArray[np.int32]:
        """Return (n_edges, 2) numbers of parent and child."""
        return np.asarray(self._links, dtype=np.int32).reshape(-1, 2)


@dataclass(frozen=True)
class NumberedRows:
    """Nodes and edges that are numbered in the file.

    Parameters
    ----------
    source : Source
    names : list
    pairs : int array of shape (n_edges, 2)
        Numbers of parent and child.
    vocabulary : Vocabulary, optional
    """

    source: Source
    names: list[Any]
    pairs: NDArray[np.int32]
    vocabulary: Vocabulary | None = None
    tops: ClassVar[Tops] = Tops.NEVER
    by_name: ClassVar[bool] = False

    def edges(self) -> NDArray[np.int32]:
        """Return (n_edges, 2) numbers of parent and child."""
        return self.pairs


Rows = PlaceRows | LinkRows | NumberedRows


def nodes_and_edges(rows: Rows, root: Hashable | None) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the nodes and edges of parsed rows, with one root.

    Parameters
    ----------
    rows : PlaceRows, LinkRows or NumberedRows
    root : hashable or None
        Name of the root above all nodes without a parent; None depends on the format.

    Returns
    -------
    names : list of n_nodes names
    edges : int array of shape (n_edges, 2)
        Numbers of parent and child.
    """
    names, edges = rows.names, rows.edges()
    if not names:
        raise rows.source.error("the file has no nodes: expected at least one")
    has_parent = np.zeros(len(names), dtype=bool)
    has_parent[edges[:, 1]] = True
    tops = np.flatnonzero(~has_parent)
    wanted = root
    if root is None and (rows.tops is Tops.ALWAYS or (rows.tops is Tops.SEVERAL and len(tops) > 1)):
        wanted = DEFAULT_ROOT
    if wanted is not None:
        names, edges = _put_below(wanted, rows, names, edges, tops)
    return names, edges


def _put_below(
    root: Hashable, rows: Rows, names: list[Any], edges: NDArray[np.int32], tops: NDArray[np.intp]
) -> tuple[list[Any], NDArray[np.int32]]:
    """Put nodes without a parent below the root, which is added if it does not exist."""
    top_names = [names[i] for i in tops]
    is_there = root in top_names if rows.by_name else top_names == [root]
    if rows.tops is Tops.ALWAYS:
        is_there = False
    if is_there:
        number = int(tops[top_names.index(root)])
    else:
        if rows.by_name and root in names:
            raise HierarchyError(
                f"another node in this file has the name {root!r} of the root. "
                "Pass root='another name'."
            )
        number = len(names)
        names = [*names, root]
    below = tops[tops != number]
    joined = np.column_stack([np.full(len(below), number), below]).astype(np.int32)
    return names, np.concatenate([joined, edges])


def check_size(source: Source, n_nodes: int) -> None:
    """Raise an error if a file has too many nodes, before it fills the memory."""
    if n_nodes >= MAX_NODES:
        raise source.error(f"the file has more than {MAX_NODES:,} nodes. Split it")


def short(name: Any) -> str:
    """Format a name for a message; a long one is truncated."""
    return _REPR.repr(name)
