"""Embedded data sets: diagnoses and their codes, docstrings of the standard library, digits."""

from __future__ import annotations

import ast
import csv
import gc
import hashlib
import io
import lzma
import os
import platform
import sysconfig
import warnings
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from palmette.exceptions import DataHomeError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy

# Not the library itself (tests, installed packages), tables without prose (encodings,
# pydoc_data), an application and a demonstration (idlelib, turtledemo), and packages that only
# some of the versions 3.11 to 3.14 have (distutils, lib2to3).
_SKIPPED_FOLDERS = {
    *("test", "tests", "site-packages", "dist-packages", "lib-dynload", "__pycache__"),
    *("encodings", "pydoc_data", "ensurepip", "idlelib", "turtledemo", "distutils", "lib2to3"),
}
# If the documented module is implemented in C, its Python version has the docstrings.
_PUBLIC_MODULE = {
    "_pydecimal": ("decimal",),
    "_pydatetime": ("datetime",),
    "_pyio": ("io",),
    "_collections_abc": ("collections", "abc"),
}

_DESCR = """\
Docstrings of the Python standard library

Rows are docstrings of functions, methods and classes of Python {python}, read from its source
files without importing them. The text of the docstring alone is the input. The class path is
package / module / class (nested deeper or less deep as the code is), at most {max_depth} long: the
docstring of a method has the path of its class, that of a module's function the path of the module.

Docstrings shorter than {min_chars} characters are left out, and so are repeats of a text within a
class. A label with fewer than {min_class_count} rows is merged into its parent, and dropped at the
top. {internal}

{n_rows} rows, {n_labels} labels of {n_smallest} to {n_largest} rows, {n_nodes} nodes under the
root, {n_leaves} leaves, {n_internal} rows with a label that is not a leaf.

The names of the classes were not removed from the texts: {mention:.0%} of them mention the last
name of their path somewhere, as documentation does. The set depends on the Python version: scores
can be compared within one version only.
"""


_ICD_DESCR = """\
Diagnoses of ICD-10-CM

Rows are titles of codes and their inclusion terms in nine chapters of the International
Classification of Diseases, Tenth Revision, Clinical Modification, of April 2026. The class path is
chapter / section / category, such as "10 Diseases of the respiratory system" / "J40-J47 Chronic
lower respiratory diseases" / "J45 Asthma"; the title of a code below a category has its category.

Training rows are all titles and half of the terms, test rows the other terms, but for those that
are word by word in the training rows.

The list is published by the National Center for Health Statistics and the Centers for Medicare and
Medicaid Services of the United States, for everybody to use. It is their modification of ICD-10 of
the World Health Organization. `benchmarks/make_icd10cm.py` made this table from it.
"""


class _Docstring(NamedTuple):
    """A docstring, the path of the class or module that holds it, and the name it documents."""

    text: str
    path: tuple[str, ...]
    name: str


def load_icd10cm() -> Bunch:
    """Load titles and terms of diagnoses, labelled by chapter, section and category of ICD-10-CM.

    Returns
    -------
    Bunch
        ``X``, a list of n_samples texts; ``y``, an object array of shape (n_samples, 3);
        ``hierarchy``; the row numbers ``train`` and ``test``; ``X_train``, ``y_train``,
        ``X_test``, ``y_test``; ``DESCR``.

    Examples
    --------
    >>> icd = load_icd10cm()
    >>> icd.hierarchy.level_sizes[1:].tolist()
    [9, 117, 822]
    >>> icd.X[icd.test[0]], icd.y[icd.test[0], 2]
    ('Classical cholera', 'A00 Cholera')
    """
    content = files("palmette.datasets").joinpath("icd10cm.csv.xz").read_bytes()
    rows = list(csv.DictReader(io.StringIO(lzma.decompress(content).decode("utf-8"))))
    X = [row["text"] for row in rows]
    y = np.array([[row[name] for name in ("chapter", "section", "category")] for row in rows], "O")
    is_test = np.array([row["part"] == "test" for row in rows])
    bunch = Bunch(
        X=X,
        y=y,
        hierarchy=Hierarchy.from_paths(list(map(tuple, y.tolist()))),
        train=np.flatnonzero(~is_test),
        test=np.flatnonzero(is_test),
        DESCR=_ICD_DESCR,
    )
    for part in ("train", "test"):
        bunch[f"X_{part}"] = [X[i] for i in bunch[part]]
        bunch[f"y_{part}"] = y[bunch[part]]
    return bunch


def load_stdlib_docstrings(
    *,
    min_chars: int = 40,
    min_class_count: int = 20,
    max_depth: int = 3,
    leaves_only: bool = False,
    return_split: bool = False,
) -> Bunch:
    """Load the docstrings of the standard library, labelled by package, module and class.

    The source files of the running Python are parsed, not imported, and nothing is written.
    The first call takes about two seconds, later ones reuse its result.

    Parameters
    ----------
    min_chars : int
        Shorter docstrings are left out.
    min_class_count : int
        Minimum number of rows per label. A label with fewer rows is merged into its parent; at the
        top its rows are dropped.
    max_depth : int
        Maximum length of a path; deeper rows are labelled with the first `max_depth` names.
    leaves_only : bool
        Whether to drop the rows whose label has children, such as a module's functions beside
        its classes. By default they stay, labelled with an internal node.
    return_split : bool
        Whether to add a fixed division into training and test rows, see `content_split`.

    Returns
    -------
    Bunch
        ``X``, a list of n_samples texts; ``y``, an object array of shape (n_samples, depth) of
        names padded with ``''``; ``hierarchy``; ``names``, the dotted name of the object that each
        row documents; ``DESCR``. With `return_split` also ``X_train``, ``y_train``, ``X_test``,
        ``y_test``, and the row numbers ``train`` and ``test``. The rows are sorted by path, and
        within a path in the order of the sources: shuffle them before any other split.

    Raises
    ------
    DataHomeError
        If this Python has no source files of its library.

    Examples
    --------
    >>> docs = load_stdlib_docstrings(min_class_count=50)  # doctest: +SKIP
    >>> docs.y.shape[1], len(docs.X) == len(docs.y)  # doctest: +SKIP
    (3, True)
    >>> "asyncio" in docs.hierarchy.path_strings  # doctest: +SKIP
    True
    """
    if max_depth < 1 or min_class_count < 1:
        raise PalmetteError(
            f"got max_depth={max_depth} and min_class_count={min_class_count}: expected at least 1."
        )
    found = _read_library(Path(sysconfig.get_path("stdlib")))
    rows = _distinct(found, min_chars, max_depth)
    paths = _fold_small([row.path for row in rows], min_class_count)
    inner = {path[:end] for path in paths for end in range(1, len(path))}
    kept = [i for i, path in enumerate(paths) if path and not (leaves_only and path in inner)]
    kept.sort(key=paths.__getitem__)  # the sort is stable: within a label as in the sources
    if not kept:
        raise PalmetteError(
            f"no label has {min_class_count} docstrings of {min_chars} characters or more "
            f"({len(rows)} rows in all). Lower min_class_count or min_chars."
        )
    paths = [paths[i] for i in kept]
    texts = [rows[i].text for i in kept]
    bunch = Bunch(
        X=texts,
        y=_pad(paths),
        hierarchy=Hierarchy.from_paths(paths),
        names=[rows[i].name for i in kept],
    )
    bunch["DESCR"] = _describe(bunch, paths, inner, min_chars, min_class_count, max_depth)
    if return_split:
        train, test = content_split(texts, paths)
        bunch.update(train=train, test=test)
        for side, chosen in (("train", train), ("test", test)):
            bunch[f"X_{side}"] = [texts[i] for i in chosen]
            bunch[f"y_{side}"] = bunch.y[chosen]
    return bunch


def content_split(
    texts: Sequence[str], labels: Sequence[Hashable], test_size: float = 0.25, seed: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Divide texts into training and test rows by a hash of their content.

    A text stays on its side if other rows are added or removed, and equal texts are never on both
    sides. If a label would have no training row, one of its texts is moved to the training rows.

    Parameters
    ----------
    texts : sequence of str of length n_samples
    labels : sequence of hashables of length n_samples
    test_size : float
        Expected share of test rows, between 0 and 1.
    seed : int
        Another seed gives another division.

    Returns
    -------
    train, test : int arrays
        Row numbers, ascending.

    Examples
    --------
    >>> verbs, labels = ["open", "close", "read", "send", "close"], ["a", "a", "a", "b", "a"]
    >>> train, test = content_split(verbs, labels, test_size=0.4)
    >>> train.tolist(), test.tolist()  # "send" would be in test, were it not the only one of "b"
    ([0, 2, 3], [1, 4])
    """
    if not 0.0 <= test_size <= 1.0:
        raise PalmetteError(f"got test_size={test_size}: expected a share between 0 and 1.")
    if len(texts) != len(labels):
        raise PalmetteError(
            f"got {len(texts)} texts and {len(labels)} labels: expected the same number."
        )
    place = {text: _hash_to_unit(text, seed) for text in texts}
    best: dict[Hashable, str] = {}  # per label, the text that stays in training
    for text, label in zip(texts, labels, strict=True):
        if label not in best or place[text] > place[best[label]]:
            best[label] = text
    forced = set(best.values())
    in_test = np.array([place[t] < test_size and t not in forced for t in texts], dtype=bool)
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


def _hash_to_unit(text: str, seed: int) -> float:
    digest = hashlib.blake2b(f"{seed}\n{text}".encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "big") / 2.0**64


# ---------------------------------------------------------------------- reading


@lru_cache(maxsize=2)
def _read_library(folder: Path) -> tuple[_Docstring, ...]:
    """Read all docstrings below a folder of Python source files."""
    found: list[_Docstring] = []
    with warnings.catch_warnings(), _no_garbage_collection():
        warnings.simplefilter("ignore")  # warnings of the compiler about the library
        for path in _source_files(folder):
            source = path.read_bytes()
            if b'"""' not in source and b"'''" not in source:
                continue  # parsing takes most of the time
            try:
                module = ast.parse(source)
            except (SyntaxError, ValueError):
                continue  # a template or a file for another version; the library itself parses
            found.extend(_docstrings_in(module, _module_path(path.relative_to(folder))))
    if not found:
        raise DataHomeError(
            f"the standard library of this Python has no source files with docstrings in {folder}: "
            "it is zipped or has no docstrings. Use a full installation of CPython, or another "
            "data set "
            "such as load_digits_hierarchy()."
        )
    return tuple(found)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Pause garbage collection, which doubles the time and finds no cycles in syntax trees."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _source_files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(
            f for f in folders if f not in _SKIPPED_FOLDERS and not f.startswith("config-")
        )
        for name in sorted(names):
            if name.endswith(".py") and not name.startswith("_sysconfigdata"):
                yield Path(root, name)


def _module_path(relative: Path) -> tuple[str, ...]:
    names = relative.with_suffix("").parts
    if names[-1] == "__init__":
        names = names[:-1]
    return (*_PUBLIC_MODULE.get(names[0], names[:1]), *names[1:])


def _docstrings_in(node: ast.AST, path: tuple[str, ...]) -> Iterator[_Docstring]:
    """Yield the docstrings of classes, their methods, and functions, but not of inner functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            own = (*path, child.name)
            text = ast.get_docstring(child)
            is_class = isinstance(child, ast.ClassDef)
            if text:
                yield _Docstring(text.strip(), own if is_class else path, ".".join(own))
            if is_class:
                yield from _docstrings_in(child, own)
        elif isinstance(child, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            yield from _docstrings_in(child, path)


# ---------------------------------------------------------------------- labels


def _distinct(found: Sequence[_Docstring], min_chars: int, max_depth: int) -> list[_Docstring]:
    """Truncate long paths; remove short texts and repeated texts of the same path."""
    first: dict[tuple[str, tuple[str, ...]], _Docstring] = {}
    for row in found:
        path = row.path[:max_depth]
        if path and len(row.text) >= min_chars:
            first.setdefault((row.text, path), row._replace(path=path))
    return list(first.values())


def _fold_small(paths: list[tuple[str, ...]], min_count: int) -> list[tuple[str, ...]]:
    """Shorten the paths that have fewer than `min_count` rows, the deepest first."""
    for depth in range(max(map(len, paths), default=0), 0, -1):
        counts = Counter(path for path in paths if len(path) == depth)
        small = {path for path, count in counts.items() if count < min_count}
        paths = [path[:-1] if path in small else path for path in paths]
    return paths


def _pad(paths: list[tuple[str, ...]]) -> NDArray[np.object_]:
    y = np.full((len(paths), max(map(len, paths))), "", dtype=object)
    for row, path in zip(y, paths, strict=True):
        row[: len(path)] = path
    return y


def _describe(
    bunch: Bunch,
    paths: list[tuple[str, ...]],
    inner: set[tuple[str, ...]],
    min_chars: int,
    min_class_count: int,
    max_depth: int,
) -> str:
    sizes = Counter(paths)
    n_internal = sum(count for path, count in sizes.items() if path in inner)
    mention = np.mean([p[-1].lower() in t.lower() for p, t in zip(paths, bunch.X, strict=True)])
    return _DESCR.format(
        python=platform.python_version(),
        max_depth=max_depth,
        min_chars=min_chars,
        min_class_count=min_class_count,
        internal="So a label may be an internal node." if n_internal else "All labels are leaves.",
        n_rows=len(paths),
        n_labels=len(sizes),
        n_smallest=min(sizes.values()),
        n_largest=max(sizes.values()),
        n_nodes=bunch.hierarchy.n_nodes - 1,
        n_leaves=bunch.hierarchy.n_leaves,
        n_internal=n_internal,
        mention=mention,
    )


# ---------------------------------------------------------------------- digits

_SHAPES: tuple[tuple[str | int, ...], ...] = (
    ("closed", 0),
    ("closed", 6),
    ("closed", 8),
    ("closed", 9),
    ("open", "curved", 2),
    ("open", "curved", 3),
    ("open", "curved", 5),
    ("open", "straight", 1),
    ("open", "straight", 4),
    ("open", "straight", 7),
)

_DIGITS_DESCR = """\
Handwritten digits under a hierarchy of shapes

The 1,797 images of 8 x 8 pixels of scikit-learn's load_digits (UCI Optical Recognition of
Handwritten Digits, test part), with grey values from 0 to 16.

The hierarchy is Palmette's own, by the shape of the figures as they are usually written: those
that enclose an area (0, 6, 8, 9), and the open ones, drawn with curves (2, 3, 5) or with straight
strokes (1, 4, 7; about half of the fours here are open at the top). It comes from no publication
and was not fitted to the images. Leaves lie at two depths.
"""


def load_digits_hierarchy() -> Bunch:
    """Load the handwritten digits with a hierarchy by shape; the labels are integers.

    Returns
    -------
    Bunch
        ``X``, a float array of shape (1797, 64); ``y``, an int array of shape (1797,) of digits,
        which are the names of the leaves; ``hierarchy``; ``feature_names``; ``DESCR``.

    Examples
    --------
    >>> digits = load_digits_hierarchy()
    >>> print(digits.hierarchy)
    root
    ├─ closed
    │  ├─ 0
    │  ├─ 6
    │  ├─ 8
    │  └─ 9
    └─ open
       ├─ curved
       │  ├─ 2
       │  ├─ 3
       │  └─ 5
       └─ straight
          ├─ 1
          ├─ 4
          └─ 7
    """
    # imported here because scikit-learn's dataset module is slow to import
    from sklearn.datasets import load_digits

    plain = load_digits()
    return Bunch(
        X=plain.data,
        y=plain.target.astype(np.int64),
        hierarchy=Hierarchy.from_paths(_SHAPES),
        feature_names=list(plain.feature_names),
        DESCR=_DIGITS_DESCR,
    )
