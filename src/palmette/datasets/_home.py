"""The data home: a folder of data sets with a manifest of descriptions and checksums."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palmette.exceptions import DataHomeError

ENVIRONMENT_VARIABLE = "PALMETTE_DATA"
_MANIFEST = "manifest.json"
_OWN = "a copy of yours"


@dataclass(frozen=True)
class OwnCopy:
    """A published set that cannot be passed on, by the names that its files usually have.

    Parameters
    ----------
    group, format : str
        As in the manifest.
    choices : tuple of tuple of str
        The files of each usual distribution, the preferred one first: a training and a test file,
        or one file of all rows. Compressed or not; upper and lower case are equal.
    other_names : tuple of str
        Other names of the set.
    """

    group: str
    format: str
    choices: tuple[tuple[str, ...], ...]
    other_names: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the preferred distribution."""
        return self.choices[0]


def _mat_pair(stem: str) -> OwnCopy:
    files = (f"{stem}Train.mat", f"{stem}Test.mat")
    return OwnCopy("hierarchical", "MATLAB v5, data_array + tree", (files,))


def _mulan(stem: str, *other_names: str) -> OwnCopy:
    pair = (f"{stem}-train.arff", f"{stem}-test.arff", f"{stem}.xml")
    whole = (f"{stem}.arff", f"{stem}.xml")
    return OwnCopy("multilabel", "MULAN ARFF + XML", (pair, whole), other_names)


def _libsvm(stem: str, *other_names: str) -> OwnCopy:
    names = (stem, *other_names)
    pairs = tuple((f"{name}.train", f"{name}.test") for name in names)
    whole = tuple((f"{name}{suffix}",) for name in names for suffix in (".svm", ".libsvm"))
    return OwnCopy("multiclass", "LIBSVM", pairs + whole, other_names)


# see docs/data.md
OWN_COPIES = {
    "voc": _mat_pair("VOC"),
    "cifar100": _mat_pair("Cifar100"),
    "sun": _mat_pair("SUN"),
    "ilsvrc65": _mat_pair("ILSVRC65"),
    "protein_f194": _mat_pair("F194"),
    "rcv1subset1": _mulan("rcv1subset1", "rcv1", "rcv1_subset1"),
    "rcv1subset2": _mulan("rcv1subset2", "rcv1_subset2"),
    "tmc2007": _mulan("tmc2007", "tmc"),
    "mediamill": _mulan("mediamill"),
    "caltech256": _libsvm("caltech256", "caltech", "caltech_256", "caltech1", "caltech2"),
    "wiki": _libsvm("wiki", "wiki1", "wiki2", "wikipedia"),
}


@dataclass(frozen=True)
class DatasetEntry:
    """The manifest's entry of one data set.

    Attributes
    ----------
    name, group : str
    facts : dict
        Everything else: sizes, source, licence, notes, files with their sha256.
    home : Path
        The data home that the set is in.
    """

    name: str
    group: str
    facts: dict[str, Any]
    home: Path

    def files(self, verify: bool = True) -> dict[str, Path]:
        """Return the files of the set by their bare names.

        Parameters
        ----------
        verify : bool
            Compare every file's sha256 with the manifest.
        """
        found: dict[str, Path] = {}
        for record in self.facts["files"]:
            path = self.home / record["path"]
            if not path.resolve().is_relative_to(self.home.resolve()):
                raise DataHomeError(
                    f"{self.name}: the manifest lists {record['path']!r}, which is outside of the "
                    f"data home {self.home}."
                )
            if not path.is_file():
                raise DataHomeError(
                    f"{self.name}: the file {path} is missing. Copy it into the data home again."
                )
            if verify and record["sha256"] is not None:  # of a reader's own copy none is known
                _check_digest(path, record["sha256"])
            found[path.name] = path
        return found

    @property
    def is_own_copy(self) -> bool:
        """Whether it is a copy of the user's own, of which nothing but the files is known."""
        return self.facts.get("notes") == _OWN

    @property
    def description(self) -> str:
        """Name, source, licence and notes as text."""
        facts = self.facts
        lines = [f"{self.name} ({self.group}), {facts.get('format', 'format not stated')}", ""]
        for title, key in [
            ("Source", "source"),
            ("Licence", "licence"),
            ("Notes", "notes"),
            ("In published tables", "paper_table"),
        ]:
            value = facts.get(key)
            if value:
                text = ", ".join(value) if isinstance(value, list) else value
                lines.append(f"{title}: {text}")
        return "\n".join(lines)


def data_home(path: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of data sets.

    Parameters
    ----------
    path : path-like, optional
        The folder; by default the environment variable ``PALMETTE_DATA`` names it.

    Returns
    -------
    Path

    Raises
    ------
    DataHomeError
        If there is no such folder, or it has neither a manifest nor copies of sets.

    Examples
    --------
    >>> data_home("/nowhere")
    Traceback (most recent call last):
    ...
    palmette.exceptions.DataHomeError: /nowhere is not a folder...
    """
    named = os.fspath(path) if path is not None else os.environ.get(ENVIRONMENT_VARIABLE)
    if not named:
        raise DataHomeError(
            "no data home is set. Pass the folder of the data sets as data_home='...', or set "
            f"it for all programs: export {ENVIRONMENT_VARIABLE}=/path/to/data"
        )
    home = Path(named).expanduser()
    hint = f"Check data_home, or the environment variable {ENVIRONMENT_VARIABLE}."
    if not home.is_dir():
        raise DataHomeError(f"{home} is not a folder, expected the data home. {hint}")
    if not (home / _MANIFEST).is_file() and not _own_copies(home, set()):
        raise DataHomeError(
            f"{home} has neither a {_MANIFEST} nor a copy of a set that is known by the names of "
            f"its files (docs/data.md), so it is not a data home. {hint}"
        )
    return home


def list_datasets(
    group: str | None = None, data_home: str | os.PathLike[str] | None = None
) -> list[str]:
    """List the names of the data sets in the data home.

    Parameters
    ----------
    group : str, optional
        Only data sets of this group, such as ``"hierarchical"`` or ``"taxonomies"``.
    data_home : path-like, optional
        As in `data_home`.

    Returns
    -------
    list of str
        In the order of the manifest; then sets that are copies of yours (docs/data.md).

    Examples
    --------
    >>> list_datasets("multiclass")[:2]  # doctest: +SKIP
    ['iris', 'glass']
    """
    home = _home(data_home)
    entries = _read_manifest(home)
    entries += _own_copies(home, {entry.name for entry in entries})
    groups = list(dict.fromkeys(entry.group for entry in entries))
    if group is not None and group not in groups:
        raise DataHomeError(f"there is no group {group!r}. The groups are: {', '.join(groups)}.")
    return [entry.name for entry in entries if group in (None, entry.group)]


def find_dataset(name: str, data_home: str | os.PathLike[str] | None = None) -> DatasetEntry:
    """Return the manifest's entry of a data set.

    Parameters
    ----------
    name : str
        As in the manifest; upper and lower case are equal, and ``-`` is equal to ``_``.
    data_home : path-like, optional
        As in `data_home`.

    Returns
    -------
    DatasetEntry

    Examples
    --------
    >>> find_dataset("iris").facts["n_features"]  # doctest: +SKIP
    4
    """
    home = _home(data_home)
    entries = {entry.name: entry for entry in _read_manifest(home)}
    wanted = name.lower().replace("-", "_")
    if wanted not in entries:
        wanted = _own_name(wanted)
    if wanted not in entries and wanted in OWN_COPIES:
        copies = {copy.name: copy for copy in _own_copies(home, set(entries))}
        entries |= {wanted: copies[wanted]} if wanted in copies else {}
    if wanted not in entries:
        near = difflib.get_close_matches(wanted, entries, n=3, cutoff=0.5)
        hint = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
        raise DataHomeError(
            f"there is no data set {name!r} among the {len(entries)} of {home}.{hint} "
            "palmette.datasets.list_datasets() lists all names." + _hint_at_copy(wanted, home)
        )
    return entries[wanted]


def _own_name(wanted: str) -> str:
    """Return the name of a set that may have other names, written with or without ``_``."""
    plain = wanted.replace("_", "")
    for name, copy in OWN_COPIES.items():
        if plain in (each.replace("_", "") for each in (name, *copy.other_names)):
            return name
    return wanted


def _own_copies(home: Path, known: set[str]) -> list[DatasetEntry]:
    """Return the entries of a reader's own copies of sets that the manifest does not have."""
    by_name = _files_by_name(home)
    found = []
    for name, copy in OWN_COPIES.items():
        found_files = [[_path_of(file, by_name) for file in choice] for choice in copy.choices]
        whole = next((paths for paths in found_files if None not in paths), None)
        if name in known or whole is None:
            continue
        files = [
            {"path": path.relative_to(home).as_posix(), "sha256": None} for path in whole if path
        ]
        facts: dict[str, Any] = {"name": name, "format": copy.format, "files": files}
        facts["notes"] = _OWN
        if not any("test" in path.name.lower() for path in whole if path):
            facts["n_test"] = 0  # one file of all rows
        found.append(DatasetEntry(name, copy.group, facts, home))
    return found


def _files_by_name(home: Path) -> dict[str, Path]:
    return {path.name.lower(): path for path in sorted(home.rglob("*")) if path.is_file()}


def _path_of(file: str, by_name: dict[str, Path]) -> Path | None:
    """Return the path of a file, compressed or not; None if there is none."""
    names = (file.lower() + ending for ending in ("", ".xz", ".gz", ".bz2", ".zip"))
    return next((by_name[each] for each in names if each in by_name), None)


def _hint_at_copy(name: str, home: Path) -> str:
    if name not in OWN_COPIES:
        return ""
    copy, by_name = OWN_COPIES[name], _files_by_name(home)
    lacking = [[f for f in files if _path_of(f, by_name) is None] for files in copy.choices]
    begun = [i for i, missing in enumerate(lacking) if len(missing) < len(copy.choices[i])]
    there = ""
    if begun:  # of the distribution that lacks the fewest files
        missing = min((lacking[i] for i in begun), key=len)
        there = f" Of these {', '.join(missing)} is missing."
    names = ", or ".join(", ".join(files) for files in copy.choices[:2])
    return f" A copy of yours is found in any folder of the data home, by the names {names}.{there}"


_home = data_home  # a parameter has the same name as the function


def _read_manifest(home: Path) -> list[DatasetEntry]:
    path = home / _MANIFEST
    if not path.is_file():  # a folder of copies
        return []
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(records, list):
            raise TypeError(f"found a {type(records).__name__}")
        entries = [DatasetEntry(r["name"], r["group"], r, home) for r in records]
        for record in records:
            for file in record["files"]:
                _ = file["path"], file["sha256"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataHomeError(
            f"{path} is damaged ({type(error).__name__}: {error}). Expected a JSON list of data "
            "sets, each with name, group and files (path, sha256)."
        ) from error
    return entries


def _check_digest(path: Path, expected: str) -> None:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != expected:
        raise DataHomeError(
            f"{path} is not the file that the manifest describes: its sha256 is {found}, expected "
            f"{expected}. Copy it again, or pass verify=False if the change is intended."
        )
