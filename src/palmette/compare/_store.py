"""Results on disk, stored under fingerprints of the data and the estimator."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from palmette._files import FULL, full_disk
from palmette.compare._problems import Problem
from palmette.exceptions import ReadError
from palmette.labels._labels import NodeLabels

# ---------------------------------------------------------------------- fingerprints


def fingerprint(problem: Problem) -> str:
    """Return a digest of the rows, labels and hierarchy of a problem, equal in all processes.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    str of 32 hexadecimal digits

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h, X = Hierarchy.star(["a", "b"]), np.eye(2)
    >>> one, two = Problem("p", h, X, ["a", "b"]), Problem("p", h, X, ["a", "a"])
    >>> fingerprint(one) == fingerprint(two)
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    digest.update(problem.hierarchy.fingerprint.encode())
    _add(digest, problem.categorical)
    for X, y in ((problem.X_train, problem.y_train), (problem.X_test, problem.y_test)):
        _add(digest, X)
        if y is not None:  # the order of sets is not fixed, that of nodes is
            _add(digest, NodeLabels.encode(y, problem.hierarchy).given)
    return digest.hexdigest()


def _add(digest: Any, X: Any) -> None:
    """Add features of any kind to a digest."""
    if X is None:
        digest.update(b"none;")
    elif sparse.issparse(X):
        rows = sparse.csr_array(X)
        rows.sum_duplicates()
        digest.update(f"sparse{rows.shape};".encode())
        # the width of the index dtype may differ for equal matrices
        for part in (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data):
            _add(digest, part)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "biufc":
        digest.update(f"{X.dtype.str}{X.shape};".encode())
        digest.update(np.ascontiguousarray(X).data)
    elif hasattr(X, "columns"):
        for name in X.columns:
            digest.update(f"{name!r}:".encode("utf-8", "backslashreplace"))
            _add(digest, X[name].to_numpy())
    else:
        for value in X.tolist() if isinstance(X, np.ndarray) else X:
            digest.update(f"{value!r};".encode("utf-8", "backslashreplace"))


def describe_estimator(estimator: Any) -> str:
    """Return an estimator with all changed parameters on one line.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.naive_bayes import GaussianNB
    >>> describe_estimator(make_pipeline(GaussianNB(priors=[0.5, 0.5])))
    "Pipeline(steps=[('gaussiannb', GaussianNB(priors=[0.5, 0.5]))])"
    """
    # by default scikit-learn truncates long descriptions
    whole = {"N_CHAR_MAX": 10**6} if hasattr(estimator, "get_params") else {}
    text = re.sub(r"\s+", " ", estimator.__repr__(**whole))
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)  # addresses of functions vary


# ---------------------------------------------------------------------- results


Cell = dict[str, Any]
Results = dict[str, Any]

_NAMES = ("dataset", "split", "model")
_BEGINNING = b'{"cell": '


class ResultStore:
    """Cells of a comparison, stored in memory and, if a path is given, on disk.

    A cell is a dict of everything that its results depend on: results are found only if all of it
    is equal. Each line is flushed to disk, so that a killed run loses at most the cell that was
    being computed; a truncated last line is dropped when the file is opened again.

    Parameters
    ----------
    path : path-like, optional
        A file of JSON lines; it is created if it does not exist.
    ignored : sequence of str
        Keys of cells that may differ: if there is no equal cell, the last one that differs in
        nothing else is found, such as one that was computed on another machine.

    Examples
    --------
    >>> store = ResultStore(ignored=("machine",))
    >>> cell = {"dataset": "iris", "split": "random-0", "model": "flat"}
    >>> store.put({**cell, "machine": "x86_64"}, {"score": 0.9})
    >>> store.get({**cell, "machine": "aarch64"})
    {'score': 0.9}
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, ignored: Sequence[str] = ()
    ) -> None:
        self.path = None if path is None else Path(path)
        self._ignored = tuple(ignored)
        self._similar: dict[str, Cell] = {}  # by what is not ignored, the last cell
        self._results: dict[str, Results] = {}
        self._by_name: dict[tuple[Any, ...], Cell] = {}
        if self.path is not None:
            with self.path.open("ab+") as stream:  # an invalid name is an error before any work
                stream.seek(0)
                end = self._load(stream.read(), self.path)
                stream.truncate(end)

    def _load(self, content: bytes, path: Path) -> int:
        """Store the cells of all complete lines; return the end of the last one."""
        lines = content.split(b"\n")
        cut = lines.pop()  # a truncated line of a killed run, or nothing
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
                self._keep(dict(record["cell"]), dict(record["results"]))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise _bad_line(path, number, line) from error
        if not cut.startswith(_BEGINNING[: len(cut)]):  # not written by this class: do not drop it
            raise _bad_line(path, len(lines) + 1, cut)
        return len(content) - len(cut)

    def _keep(self, cell: Cell, results: Results) -> Results:
        merged = {**self._results.get(_key(cell), {}), **results}
        self._results[_key(cell)] = merged
        self._by_name[_names(cell)] = cell
        if self._ignored:
            self._similar[self._key_of_kept(cell)] = cell
        return merged

    def _key_of_kept(self, cell: Cell) -> str:
        return _key({key: value for key, value in cell.items() if key not in self._ignored})

    def find(self, cell: Cell) -> Cell | None:
        """Return the stored cell whose results `get` returns; None if there is none."""
        if _key(cell) in self._results:
            return cell
        return self._similar.get(self._key_of_kept(cell)) if self._ignored else None

    def get(self, cell: Cell) -> Results | None:
        """Return the results of a cell, None if it was not computed yet."""
        found = self.find(cell)
        return None if found is None else self._results[_key(found)]

    def changes(self, cell: Cell) -> list[str]:
        """Return what differs from the last stored cell of the same names.

        Returns
        -------
        list of str
            Keys of `cell`, or of the dicts in it; empty if there is none, or nothing differs.
        """
        kept = self._by_name.get(_names(cell))
        return [] if kept is None else _differences(kept, cell)

    def put(self, cell: Cell, results: Results) -> None:
        """Store the results of a cell, merged with those stored before."""
        merged = self._keep(cell, results)
        if self.path is not None:
            line = json.dumps({"cell": cell, "results": merged}).encode() + b"\n"
            with self.path.open("ab", buffering=0) as stream:
                end = stream.tell()
                try:
                    while line:
                        line = line[stream.write(line) :]
                    os.fsync(stream.fileno())
                except BaseException as error:
                    stream.truncate(end)  # the next line must not continue this one
                    if isinstance(error, OSError) and error.errno in FULL:
                        raise full_disk(error, self.path) from error
                    raise

    def __len__(self) -> int:
        return len(self._results)


def _bad_line(path: Path, number: int, line: bytes) -> ReadError:
    return ReadError(
        "this is not a line of comparison results; choose another file, or move this one away to "
        "start again",
        path=path,
        line=number,
        text=line.decode("utf-8", "replace"),
    )


def _key(cell: Cell) -> str:
    return json.dumps(cell, sort_keys=True)


def _names(cell: Cell) -> tuple[Any, ...]:
    return tuple(cell.get(name) for name in _NAMES)


def _differences(first: Cell, second: Cell) -> list[str]:
    found = []
    for key in sorted({*first, *second}):
        a, b = first.get(key), second.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            found += _differences(a, b)
        elif a != b:
            found.append(key)
    return found
