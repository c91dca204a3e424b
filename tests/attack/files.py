"""Model files and checkpoints taken apart: JSON, arrays and skops files that can be changed.

`Taken.sealed` puts the parts together again with sizes and checksums that fit, so that only checks
of what the parts mean can refuse them.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.persistence.mutations import Members, members_of, packed, places_in

from palmette.persistence._arrays import from_npy, to_npy

__all__ = ["Slot", "Taken", "attributes_of", "raw"]

_SCHEMA = "schema.json"


class Taken:
    """A file taken apart.

    Parameters
    ----------
    content : bytes
        A model file or a checkpoint.

    Attributes
    ----------
    members : dict of str to bytes
        As in the file; the JSON of the state and the skops files are replaced when it is sealed.
    manifest : dict
        Its list of members is written when it is sealed.
    state : dict
        Root and table of objects.
    skops : dict of str to (dict, dict of str to bytes)
        By member, the schema and the other members of a skops file.
    """

    def __init__(self, content: bytes) -> None:
        self.members = members_of(content)
        self.manifest: dict[str, Any] = json.loads(self.members["manifest.json"])
        self.state: dict[str, Any] = json.loads(self.members["state.json"])
        self.skops: dict[str, tuple[Any, Members]] = {}
        for name in self.members:
            if name.endswith(".skops"):
                inside = members_of(self.members[name])
                self.skops[name] = json.loads(inside.pop(_SCHEMA)), inside
        self.packing = zipfile.ZIP_STORED
        self._n_new = 0

    @property
    def objects(self) -> list[Any]:
        """The table of objects."""
        return self.state["objects"]

    def sealed(self) -> bytes:
        """Return the file with sizes and checksums that fit its parts."""
        members = {**self.members, "state.json": _json(self.state)}
        for name, (schema, inside) in self.skops.items():
            members[name] = packed({_SCHEMA: _json(schema), **inside})
        del members["manifest.json"]
        manifest = {**self.manifest, "members": {n: _size_of(c) for n, c in members.items()}}
        return packed({"manifest.json": _json(manifest), **members}, self.packing)

    def new_name(self) -> str:
        """Return a name that no member has."""
        self._n_new += 1
        return f"m{self._n_new:05d}"

    def slots(self, *roots: Any) -> list[Slot]:
        """Return the places of all arrays, or of those in some parts of the state."""
        found = [slot for root in roots or (self.state,) for slot in self._slots_of(root)]
        if not roots:
            found += [slot for name in self.skops for slot in self._slots_of_skops(name)]
        return found

    def slots_of_node(self, node: Any) -> list[Slot]:
        """Return the places of the arrays of an object in a skops file."""
        inner = [value for owner, key in places_in(node) if isinstance(value := owner[key], dict)]
        files = {id(each) for each in inner if "file" in each}
        slots = [slot for name in self.skops for slot in self._slots_of_skops(name)]
        return [slot for slot in slots if id(getattr(slot, "node", None)) in files]

    def nodes(self) -> list[dict[str, Any]]:
        """Return the nodes of all objects in the skops files."""
        found = []
        for schema, _ in self.skops.values():
            values = (owner[key] for owner, key in places_in(schema))
            found += [each for each in values if isinstance(each, dict) and "__loader__" in each]
        return found

    def _slots_of(self, root: Any) -> Iterator[Slot]:
        for owner, key in [({"": root}, ""), *places_in(root)]:
            value = owner[key]
            if isinstance(value, dict) and isinstance(value.get("in"), str):
                yield StateSlot(self, value)

    def _slots_of_skops(self, name: str) -> Iterator[Slot]:
        schema, inside = self.skops[name]
        for owner, key in places_in(schema):
            node = owner[key]
            file = node.get("file") if isinstance(node, dict) else None
            if file not in inside:
                continue
            if file.endswith(".npy"):
                yield SkopsSlot(self, name, node)
            elif file.endswith(".npz"):
                with zipfile.ZipFile(io.BytesIO(inside[file])) as archive:
                    for each in archive.namelist():
                        yield SparseSlot(self, name, node, each)


class Slot:
    """The place of an array in a file."""

    def get(self) -> np.ndarray:
        """Return the array."""
        raise NotImplementedError

    def put(self, array: np.ndarray, read_only: bool | None = None) -> None:
        """Replace the array."""
        raise NotImplementedError


class StateSlot(Slot):
    """An array of the state: in a file with others, or alone."""

    def __init__(self, taken: Taken, place: dict[str, Any]) -> None:
        self._taken, self._place = taken, place

    def get(self) -> np.ndarray:
        place = self._place
        array = from_npy(self._taken.members[f"arrays/{place['in']}.npy"])
        if "at" in place:
            shape = tuple(place["shape"])
            array = array[place["at"] : place["at"] + int(np.prod(shape))].reshape(
                shape, order=place.get("order", "C")
            )
        return array.copy(order="K")

    def put(self, array: np.ndarray, read_only: bool | None = None) -> None:
        was = self._place.get("read_only", False)
        name = self._taken.new_name()
        self._taken.members[f"arrays/{name}.npy"] = to_npy(array)
        self._place.clear()
        self._place["in"] = name
        if was if read_only is None else read_only:
            self._place["read_only"] = True


class SkopsSlot(Slot):
    """An array of an estimator of another library."""

    def __init__(self, taken: Taken, member: str, node: dict[str, Any]) -> None:
        self._taken, self.node = taken, node
        self._inside = taken.skops[member][1]

    def get(self) -> np.ndarray:
        return from_npy(self._inside[self.node["file"]]).copy(order="K")

    def put(self, array: np.ndarray, read_only: bool | None = None) -> None:
        self.node["file"] = f"{self._taken.new_name()}.npy"
        self._inside[self.node["file"]] = to_npy(array)


class SparseSlot(Slot):
    """An array of a sparse matrix of another library."""

    def __init__(self, taken: Taken, member: str, node: dict[str, Any], part: str) -> None:
        self._taken, self.node, self._part = taken, node, part
        self._inside = taken.skops[member][1]

    def get(self) -> np.ndarray:
        return from_npy(members_of(self._inside[self.node["file"]])[self._part]).copy(order="K")

    def put(self, array: np.ndarray, read_only: bool | None = None) -> None:
        parts = members_of(self._inside[self.node["file"]])
        self.node["file"] = f"{self._taken.new_name()}.npz"
        self._inside[self.node["file"]] = packed({**parts, self._part: to_npy(array)})


def attributes_of(taken: Taken) -> list[tuple[Any, Any]]:
    """Return the owner and the name of every attribute, and of every entry of a dictionary."""
    owners = [
        owner[key]
        for owner, key in places_in(taken.state["objects"])
        if key in ("state", "dict", "items") and isinstance(owner[key], dict)
    ]
    found = [(owner, name) for owner in owners for name in owner]
    return found or [(taken.state, "root")]


def _size_of(content: bytes) -> list[Any]:
    return [len(content), hashlib.sha256(content).hexdigest()]


def _json(value: Any) -> bytes:
    text = json.dumps(value)
    for name, raw in _raw.items():
        text = text.replace(f'"{name}"', raw)
    return text.encode("utf-8", "surrogatepass")


_raw: dict[str, str] = {}


def raw(text: str) -> str:
    """Return a value that is written to JSON files as the given text."""
    _raw.clear()  # one in a file
    name = "<raw JSON>"
    _raw[name] = text
    return name
