"""Checkpoint: a callback that saves the state of a fit, and the fingerprints that identify fits."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from palmette._text import caller_level
from palmette.base._callbacks import callbacks_of, is_whole_fit, state_of, was_done_before
from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.persistence._guarded import guard
from palmette.persistence.checkpoints import read_checkpoint, read_fingerprint, write_checkpoint

_CHUNK = 2**24  # bytes of an array that are copied at once
_LONGEST = 300  # longer values are stored as a digest
_LEAST_PAUSE = 20  # times the duration of writing: checkpoints cost at most 5 % of a fit
_WITHOUT_EFFECT = {"n_jobs", "verbose"}  # parameters that do not change a model


class Checkpoint:
    """Callback that writes the state of a fit to a file, from which the same fit can continue.

    If a fit is killed, running the same code again continues from the last checkpoint, and results
    in the same model as an uninterrupted fit. A finished fit is read from its file.

    Parameters
    ----------
    path : path-like
        A file for one fit; or a folder with one file per fit, identified by estimator, parameters
        and data, so that a search or a cross-validation that was killed can continue. A path is a
        folder if it exists as one, or if it ends with a slash; it is then created if necessary.
    every_rounds : int, optional
        Write a checkpoint after this number of rounds.
    every_seconds : float, optional
        Write a checkpoint at the end of a round if this time has passed since the last one; less
        often if writing takes more than a twentieth of it. One is always written at the end.

    Notes
    -----
    A file is written completely or not at all. It has the format of a model file: it contains
    numbers, texts and objects of Palmette, which are checked like those of a model, and reading it
    never runs code from it.

    A file of another fit raises an error and is not changed: a file of another estimator, of other
    parameters, data or version of Palmette, and a file that is incomplete, was changed, or is not a
    checkpoint. Fits that run at the same time therefore cannot share a file, but can share a
    folder.

    With ``random_state=None`` a fit continues with the seed that it drew at its start.

    A full or missing disk does not end a fit: there is a warning, and the next checkpoint is
    written when it is due.

    Examples
    --------
    >>> Checkpoint("run.ckpt", every_rounds=50)
    Checkpoint('run.ckpt', every_rounds=50, every_seconds=60.0)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        every_rounds: int | None = None,
        every_seconds: float | None = 60.0,
    ) -> None:
        if every_rounds is not None and not (
            isinstance(every_rounds, Integral) and every_rounds >= 1
        ):
            raise PalmetteError(
                f"every_rounds={every_rounds!r}: expected a positive integer or None."
            )
        if every_seconds is not None and not (
            isinstance(every_seconds, Real) and 0 < every_seconds < math.inf
        ):
            raise PalmetteError(
                f"every_seconds={every_seconds!r}: expected a positive number or None."
            )
        self.path = os.fspath(path)
        self.every_rounds = every_rounds
        self.every_seconds = every_seconds
        # of the running fits, by id of their estimator: clones share their callbacks
        self._paces: dict[int, _Pace] = {}

    def __repr__(self) -> str:
        return (
            f"Checkpoint({self.path!r}, every_rounds={self.every_rounds}, "
            f"every_seconds={self.every_seconds})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_paces": {}}

    # ------------------------------------------------------------------ called by the fit

    def setup(self, estimator: Any, context: Any) -> None:
        """Start counting rounds and time."""
        if state_of(estimator) is None:
            raise PalmetteError(
                f"a Checkpoint was set on {type(estimator).__name__}, whose fits cannot be "
                "continued. Set it on a boosting classifier of Palmette, also where that is part "
                "of a pipeline or a search."
            )
        self._paces[id(estimator)] = _Pace(time.monotonic())

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing: the state is written at the end of a round."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Write a checkpoint if it is due, or if the fit has ended."""
        pace = self._paces[id(estimator)]
        if is_whole_fit(estimator, context):
            if pace.rounds or not pace.has_file:
                self._write(estimator, pace)
        elif was_done_before(context):
            pace.has_file = True
        else:
            pace.rounds += 1
            if self._is_due(pace):
                self._write(estimator, pace)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Remove the counts of the fit."""
        self._paces.pop(id(estimator), None)

    def _is_due(self, pace: _Pace) -> bool:
        if self.every_rounds is not None and pace.rounds >= self.every_rounds:
            return True
        if self.every_seconds is None:
            return False
        pause = max(self.every_seconds, _LEAST_PAUSE * pace.cost)
        return time.monotonic() - pace.last >= pause

    def _write(self, estimator: Any, pace: _Pace) -> None:
        began = time.monotonic()
        get_state = state_of(estimator)
        assert get_state is not None  # checked in `setup`
        fingerprint, state = get_state()
        path = self.file_of(fingerprint)
        try:
            if not path.exists():
                _write_new(path, fingerprint, state)
            else:
                _require_same_fit(path, read_fingerprint(path), fingerprint)
                write_checkpoint(path, fingerprint, state)
        except OSError as error:
            warnings.warn(
                f"{path}: the checkpoint could not be written ({error}). The fit continues, and "
                "the last checkpoint is kept. Free some space, or stop and use another path.",
                RuntimeWarning,
                stacklevel=caller_level(),
            )
        else:
            pace.rounds, pace.has_file = 0, True
        pace.last = time.monotonic()
        pace.cost = pace.last - began

    # ------------------------------------------------------------------ files

    def file_of(self, fingerprint: Mapping[str, str]) -> Path:
        """Return the file of a fit: the path itself, or a file in that folder."""
        path = Path(self.path)
        if not self._names_folder() and not path.is_dir():
            return path
        text = json.dumps(dict(fingerprint), sort_keys=True)
        return path / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.ckpt"

    def resume(self, fingerprint: Mapping[str, str]) -> dict[str, Any] | None:
        """Return the state of the last checkpoint of a fit, or None if there is none."""
        path = self.file_of(fingerprint)
        self._check_folder(path.parent)
        if not path.exists():
            return None
        found, state = read_checkpoint(path)
        _require_same_fit(path, found, fingerprint)
        return state

    def _check_folder(self, folder: Path) -> None:
        """Raise an error now, not at the first checkpoint, if files cannot be written."""
        if self._names_folder():
            with suppress(OSError):  # the error is raised below
                folder.mkdir(exist_ok=True)
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            why = "it is not writable" if folder.is_dir() else "it does not exist"
            raise PalmetteError(
                f"{self!r} cannot write to the folder {str(folder)!r}: {why}. Create a writable "
                "folder, or use another path."
            )

    def _names_folder(self) -> bool:
        return self.path.endswith(("/", os.sep))


@dataclass
class _Pace:
    """Time and rounds of a running fit since its last checkpoint."""

    last: float  # time of writing, or start of the fit
    cost: float = 0.0  # seconds that writing took
    rounds: int = 0
    has_file: bool = False  # written by this fit, or by the one that it continues


def resume_from(estimator: Any, fingerprint: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the state of the last checkpoint of a fit.

    Parameters
    ----------
    estimator : estimator
        During its `fit`.
    fingerprint : mapping of str to str
        Identifies the fit. Errors describe differences of ``"estimator"``, ``"parameters"`` (a JSON
        object), ``"data"`` and ``"palmette"`` (a version).

    Returns
    -------
    dict of str to object, or None
        None if the estimator has no `Checkpoint`, or no file exists yet.
    """
    found = [each for each in callbacks_of(estimator) if isinstance(each, Checkpoint)]
    if len(found) > 1:
        raise PalmetteError(f"{len(found)} checkpoints were set ({found}): expected one at most.")
    state = found[0].resume(fingerprint) if found else None
    if state is not None:
        guard(estimator)  # its rounds are as sound as the file
    return state


def _write_new(path: Path, fingerprint: Mapping[str, str], state: Mapping[str, Any]) -> None:
    """Write a new file; raise an error if another fit has created it in the meantime."""
    try:
        write_checkpoint(path, fingerprint, state, new=True)
    except FileExistsError:
        _require_same_fit(path, read_fingerprint(path), fingerprint)
        write_checkpoint(path, fingerprint, state)


# ---------------------------------------------------------------------- fingerprints


def fingerprint_of_arrays(*arrays: Any) -> str:
    """Return a digest of the dtypes, shapes and values of arrays, the same in every process.

    Parameters
    ----------
    *arrays : numeric arrays, sparse matrices or None
        Their order matters, and None is part of it.

    Returns
    -------
    str of 64 hexadecimal digits

    Examples
    --------
    >>> a = np.arange(6.0).reshape(2, 3)
    >>> fingerprint_of_arrays(a) == fingerprint_of_arrays(np.asfortranarray(a))
    True
    >>> fingerprint_of_arrays(a) == fingerprint_of_arrays(a.T)
    False
    """
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none;")
        elif sparse.issparse(array):
            _add_sparse(digest, array)
        else:
            _add_dense(digest, np.asarray(array))
    return digest.hexdigest()


def _add_sparse(digest: Any, matrix: Any) -> None:
    rows = sparse.csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy()  # the argument is not changed
        rows.sum_duplicates()
    digest.update(f"sparse{rows.shape};".encode())
    # the dtype of indices depends on the size of the matrix and on its origin
    for part in (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data):
        _add_dense(digest, part)


def _add_dense(digest: Any, array: Any) -> None:
    if array.dtype.kind not in "biufc":
        raise TypeError(f"an array of {array.dtype} has no fingerprint: expected numbers.")
    digest.update(f"{array.dtype.str}{array.shape};".encode())
    if array.flags.c_contiguous:
        digest.update(array.reshape(-1).view(np.uint8).data)
        return
    step = max(1, _CHUNK * len(array) // array.nbytes) if array.nbytes else 1
    for start in range(0, len(array), step):
        digest.update(np.ascontiguousarray(array[start : start + step]).data)


def fingerprint_of_parameters(estimator: Any, without: Collection[str] = ()) -> str:
    """Return all parameters of an estimator as JSON, the same text for the same settings.

    Parameters
    ----------
    estimator : estimator
    without : names
        Parameters that the fit does not depend on. ``n_jobs`` and ``verbose`` are always omitted,
        and so is a ``random_state`` that is None or a generator, which differs in every fit.

    Returns
    -------
    str
        A JSON object. Inner estimators are represented by the name of their class, with their
        parameters as ``name__parameter``; long values are represented by their digest.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> text = fingerprint_of_parameters(DecisionTreeClassifier(max_depth=np.int64(3)))
    >>> json.loads(text)["max_depth"], "random_state" in text
    (3, False)
    """
    values = _parameters(estimator)
    return json.dumps({n: _short(v) for n, v in values.items() if n not in without}, sort_keys=True)


def _parameters(estimator: Any) -> dict[str, Any]:
    parameters = estimator.get_params(deep=True)
    return {
        # `get_params` also returns the parameters of an inner estimator
        name: type(value).__name__ if _is_estimator(value) else _plain(value)
        for name, value in parameters.items()
        if not _is_free(name, value)
    }


def _is_free(name: str, value: Any) -> bool:
    """Whether a fit does not depend on a parameter, or not in a reproducible way."""
    last = name.rpartition("__")[2]
    if last == "random_state":
        return not isinstance(value, int | np.integer)
    return last in _WITHOUT_EFFECT


def _plain(value: Any) -> Any:
    """Return a JSON value that does not vary between processes."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Hierarchy):
        return f"Hierarchy of {value.n_nodes:,} nodes, sha256 {value.fingerprint}"
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return f"{value.__module__}.{value.__qualname__}"
    if _is_estimator(value):
        return [type(value).__name__, _parameters(value)]
    if is_dataclass(value):
        values = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return [type(value).__name__, values]
    return _plain_container(value)


def _plain_container(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        name = f"array of {value.dtype}, shape {value.shape}"
        return f"{name}, sha256 {fingerprint_of_arrays(value)}"
    if isinstance(value, Mapping):
        return _sorted([_plain(key), _plain(each)] for key, each in value.items())
    if isinstance(value, set | frozenset):
        return _sorted(_plain(each) for each in value)
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(each) for each in value]
    # any other object is represented by its repr, without its address
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _sorted(values: Any) -> list[Any]:
    return sorted(values, key=json.dumps)


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _short(value: Any) -> Any:
    text = json.dumps(value)
    if len(text) <= _LONGEST:
        return value
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text[:60]}... ({len(text):,} characters, sha256 {digest})"


# ---------------------------------------------------------------------- comparing fingerprints


def _require_same_fit(path: Path, found: Mapping[str, str], expected: Mapping[str, str]) -> None:
    differences = list(_differences(found, expected))
    if differences:
        raise ReadError(
            f"the checkpoint belongs to another fit: {'; '.join(differences)}. Repeat that fit to "
            "continue it, use another file, or delete this one to start over. A file is for one "
            "fit; a search or a cross-validation needs a folder, "
            f"Checkpoint({str(path.parent / 'checkpoints') + '/'!r}).",
            path=path,
        )


def _differences(found: Mapping[str, str], expected: Mapping[str, str]) -> Iterator[str]:
    """Yield descriptions of the differences, the most important ones first."""
    known = ["estimator", "parameters", "data", "palmette"]
    for key in [*known, *sorted((found.keys() | expected.keys()) - set(known))]:
        there, here = found.get(key), expected.get(key)
        if there == here:
            continue
        if key == "parameters":
            if found.get("estimator") == expected.get("estimator"):
                yield f"its parameters differ ({_changed_parameters(there, here)})"
        elif key == "data":
            yield "its data differ (rows, labels or weights)"
        elif key == "palmette":
            yield f"it was written by palmette {there}, and this is palmette {here}"
        else:
            yield f"its {key} is {there}, not {here}"


def _changed_parameters(there: str | None, here: str | None) -> str:
    before, now = _parsed_parameters(there), _parsed_parameters(here)
    names = [n for n in sorted(before.keys() | now.keys()) if before.get(n) != now.get(n)]
    changes = (f"{n}={before.get(n, 'unset')} there, {now.get(n, 'unset')} here" for n in names)
    return ", ".join(changes)


def _parsed_parameters(text: str | None) -> dict[str, str]:
    try:
        values = json.loads(text or "{}")
        # as JSON texts, so that 1 differs from True, and nan equals nan
        return {name: json.dumps(value) for name, value in values.items()}
    except (ValueError, AttributeError):
        return {"all": str(text)}
