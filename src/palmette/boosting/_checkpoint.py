"""Fingerprints of data and parameters, by which a fit is told from others."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import tempfile
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

from palmette.base._callbacks import callbacks_of, is_whole_fit, state_of, was_done_before
from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.persistence.checkpoints import read_checkpoint, read_fingerprint, write_checkpoint

__all__ = ["Checkpoint", "fingerprint_of_arrays", "fingerprint_of_parameters", "resume_from"]


_CHUNK = 2**24  # bytes of an array that are made contiguous at a time
_LONGEST = 300  # characters of a value that are worth keeping to be shown
_WITHOUT_EFFECT = {"n_jobs", "verbose"}  # on what is learnt, in any estimator


def fingerprint_of_arrays(*arrays: Any) -> str:
    """Digest of the types, shapes and values of arrays, the same in every process.

    Parameters
    ----------
    *arrays : numeric arrays, sparse matrices or None
        Their order counts, and None counts as one.

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
        rows = rows.copy()  # what was given stays as it is
        rows.sum_duplicates()
    digest.update(f"sparse{rows.shape};".encode())
    # the width of indices depends on the size of the matrix and on who made it
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
    """Write all parameters of an estimator as JSON, the same text for the same settings.

    Parameters
    ----------
    estimator : estimator
    without : names
        Parameters that the fit does not depend on; ``n_jobs`` and ``verbose`` are left out in any
        case, and a ``random_state`` that is None or a generator, which is another one every time.

    Returns
    -------
    str
        A JSON object; inner estimators are there by the name of their class, with their parameters
        as ``name__parameter``, and what is long by its digest.

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
        # an inner estimator's own parameters are here too, under names of their own
        name: type(value).__name__ if _is_estimator(value) else _plain(value)
        for name, value in parameters.items()
        if not _is_free(name, value)
    }


def _is_free(name: str, value: Any) -> bool:
    """Whether a fit does not depend on a parameter, or not in a way that could be repeated."""
    last = name.rpartition("__")[2]
    if last == "random_state":
        return not isinstance(value, int | np.integer)
    return last in _WITHOUT_EFFECT


def _plain(value: Any) -> Any:
    """Return a value made of what JSON knows, with nothing in it that varies between processes."""
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
    # whatever else shows itself as it is, but for its address
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


_LEAST_PAUSE = 20  # times as long as it takes to write one: checkpoints cost 5 % of a fit at most


class Checkpoint:
    """Callback that writes the state of a fit to a file, and lets the same fit go on from there.

    Where a fit is killed, the same lines run again go on from the last checkpoint, and end in the
    very model that an uninterrupted fit gives. A fit that was finished is read from its file.

    Parameters
    ----------
    path : path-like
        A file, which serves one fit. Or a folder, which holds one file for each fit, by what is
        fitted on what: so that a search or a cross-validation that was killed can go on. A folder
        is one that exists, or a name that ends with a slash; it is made if need be.
    every_rounds : int, optional
        Write a checkpoint after so many rounds.
    every_seconds : float, optional
        Write one at the end of a round when so much time has passed since the last; rarer if
        writing takes more than a twentieth of it. One is always written when the fit ends.

    Notes
    -----
    A file is written whole or not at all. It has the form of a model file: it holds numbers, texts
    and objects of Palmette, which are checked as those of a model are, and reading one never runs
    code from it.

    A file of another fit is refused and left as it is: one of another estimator, of other
    parameters, other data, another version of Palmette, and one that was cut short, was changed, or
    is no checkpoint. So fits that run at the same time cannot share a file, but can share a folder.

    With ``random_state=None`` a fit goes on with the seed that it drew when it began.

    A disk that is full or gone away does not end a fit: there is a warning, and the next checkpoint
    is tried at its time.

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
        # of the fits under way, by id of their estimator: clones share their callbacks
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
        """Begin to count rounds and time."""
        if state_of(estimator) is None:
            raise PalmetteError(
                f"a Checkpoint was set on {type(estimator).__name__}, whose fits cannot be "
                "continued. Set it on a boosting classifier of Palmette, also where that is part "
                "of a pipeline or a search."
            )
        self._paces[id(estimator)] = _Pace(time.monotonic())

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing is to be done: a state is written when a round has ended."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Write a checkpoint if it is time for one, or if the fit has ended."""
        pace = self._paces[id(estimator)]
        if is_whole_fit(estimator, context):
            if pace.rounds or not pace.has_file:
                self._write(estimator, pace)
        elif was_done_before(context):
            pace.has_file = True
        else:
            pace.rounds += 1
            if self._is_time(pace):
                self._write(estimator, pace)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Forget the fit."""
        self._paces.pop(id(estimator), None)

    def _is_time(self, pace: _Pace) -> bool:
        if self.every_rounds is not None and pace.rounds >= self.every_rounds:
            return True
        if self.every_seconds is None:
            return False
        pause = max(self.every_seconds, _LEAST_PAUSE * pace.cost)
        return time.monotonic() - pace.last >= pause

    def _write(self, estimator: Any, pace: _Pace) -> None:
        began = time.monotonic()
        give_state = state_of(estimator)
        assert give_state is not None  # or `setup` had refused
        fingerprint, state = give_state()
        path = self.file_of(fingerprint)
        try:
            if not path.exists():
                _write_new(path, fingerprint, state)
            else:
                _refuse_others(path, read_fingerprint(path), fingerprint)
                write_checkpoint(path, fingerprint, state)
        except OSError as error:
            warnings.warn(
                f"{path}: the checkpoint could not be written ({error}). The fit goes on, and the "
                "last checkpoint stays. Make room, or end the fit and give another place.",
                RuntimeWarning,
                stacklevel=2,
            )
        else:
            pace.rounds, pace.has_file = 0, True
        pace.last = time.monotonic()
        pace.cost = pace.last - began

    # ------------------------------------------------------------------ files

    def file_of(self, fingerprint: Mapping[str, str]) -> Path:
        """Return the file of a fit: the path, or the one in that folder that bears its name."""
        path = Path(self.path)
        if not self._names_folder() and not path.is_dir():
            return path
        text = json.dumps(dict(fingerprint), sort_keys=True)
        return path / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.ckpt"

    def resume(self, fingerprint: Mapping[str, str]) -> dict[str, Any] | None:
        """Return the state of the last checkpoint of a fit, or None where there is none yet."""
        path = self.file_of(fingerprint)
        self._check_folder(path.parent)
        if not path.exists():
            return None
        found, state = read_checkpoint(path)
        _refuse_others(path, found, fingerprint)
        return state

    def _check_folder(self, folder: Path) -> None:
        """See to it that files can be written: now, not when the first one is due."""
        if self._names_folder():
            with suppress(OSError):  # what is missing then is told below
                folder.mkdir(exist_ok=True)
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            why = "you may not write to it" if folder.is_dir() else "there is no such folder"
            raise PalmetteError(
                f"{self!r} cannot write to the folder {str(folder)!r}: {why}. Make it, or name "
                "another place."
            )

    def _names_folder(self) -> bool:
        return self.path.endswith(("/", os.sep))


@dataclass
class _Pace:
    """What a fit under way has done since its last checkpoint."""

    last: float  # when it was written, or the fit began
    cost: float = 0.0  # seconds that it took
    rounds: int = 0
    has_file: bool = False  # written by this fit, or by the one that it goes on from


def resume_from(estimator: Any, fingerprint: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the state that the last checkpoint of a fit holds.

    Parameters
    ----------
    estimator : estimator
        In the course of its `fit`.
    fingerprint : mapping of str to str
        What tells this fit from others. The differences of ``"estimator"``, ``"parameters"`` (a
        JSON object), ``"data"`` and ``"palmette"`` (a version) are told in words of their own.

    Returns
    -------
    dict of str to object, or None
        None where the estimator has no `Checkpoint`, or that has no file yet.
    """
    found = [each for each in callbacks_of(estimator) if isinstance(each, Checkpoint)]
    if len(found) > 1:
        raise PalmetteError(f"{len(found)} checkpoints were set ({found}): expected one at most.")
    return found[0].resume(fingerprint) if found else None


def _write_new(path: Path, fingerprint: Mapping[str, str], state: Mapping[str, Any]) -> None:
    """Write a file that was not there a moment ago; if another fit was faster, refuse its file."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        temporary = Path(folder, path.name)
        write_checkpoint(temporary, fingerprint, state)
        try:
            os.link(temporary, path)  # in one step, and never over a file
            return
        except FileExistsError:
            _refuse_others(path, read_fingerprint(path), fingerprint)
        except OSError:
            pass  # there are file systems without links
        os.replace(temporary, path)


# ---------------------------------------------------------------------- refusing


def _refuse_others(path: Path, found: Mapping[str, str], expected: Mapping[str, str]) -> None:
    differences = list(_differences(found, expected))
    if differences:
        raise ReadError(
            f"the checkpoint is of another fit: {'; '.join(differences)}. Repeat that fit to go on "
            "with it, or name another file, or delete this one to start over. A file serves one "
            "fit; a search or a cross-validation needs a folder, "
            f"Checkpoint({str(path.parent / 'checkpoints') + '/'!r}).",
            path=path,
        )


def _differences(found: Mapping[str, str], expected: Mapping[str, str]) -> Iterator[str]:
    """Say in words what differs, the most telling first."""
    known = ["estimator", "parameters", "data", "palmette"]
    for key in [*known, *sorted((found.keys() | expected.keys()) - set(known))]:
        there, here = found.get(key), expected.get(key)
        if there == here:
            continue
        if key == "parameters":
            if found.get("estimator") == expected.get("estimator"):  # or all of them are others
                yield f"its parameters are others ({_changed_parameters(there, here)})"
        elif key == "data":
            yield "its data are others (rows, labels or weights)"
        elif key == "palmette":
            yield f"it is by palmette {there}, and this is palmette {here}"
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
        # as they are written, so that 1 differs from True, and nan does not from nan
        return {name: json.dumps(value) for name, value in values.items()}
    except (ValueError, AttributeError):
        return {"all": str(text)}
