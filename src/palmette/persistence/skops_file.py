"""What skops writes, made small and always the same; and looked over before skops reads it.

skops numbers objects by their addresses, repeats what is shared and takes over the time of day; a
file of it may be packed, and says itself how large its arrays are. Here, objects are numbered in
order, shared ones are written once, nothing inside is packed, and arrays are as large as they say.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from typing import Any

from palmette.persistence.npy import from_npy, to_npy
from palmette.persistence.schema_checks import check_schema, nodes_of

__all__ = ["check_content", "names_in", "tidy"]

_EPOCH = (1980, 1, 1, 0, 0, 0)
_SCHEMA = "schema.json"
_NAME = re.compile(r"[\w-]+\.(npy|npz|bin|json)", re.ASCII)
_PLAIN = ("JsonNode", "TypeNode", "FunctionNode")  # equal ones need not be the same object


def tidy(content: bytes) -> bytes:
    """Return a file of skops with objects in order, each once, and no times in it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members.pop(_SCHEMA))
    _sort_sets(schema)
    uses = Counter(node.get("__id__") for node in nodes_of(schema))
    numbers: dict[int, int] = {}
    files: dict[str, str] = {}
    schema = _renumbered(schema, uses, numbers, files)
    kept = {new: _unpacked(old, members[old]) for old, new in files.items()}
    return _packed({_SCHEMA: json.dumps(schema, separators=(",", ":")).encode(), **kept})


def names_in(content: bytes) -> list[tuple[str, str]]:
    """Return the (module, name) of all classes and functions that a file of skops names."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema = json.loads(archive.read(_SCHEMA))
    plain = ("JsonNode", "CachedNode", "MethodNode", "OperatorFuncNode")
    found = {
        (n["__module__"], n["__class__"]) for n in nodes_of(schema) if n["__loader__"] not in plain
    }
    return sorted(found)


def check_content(content: bytes | bytearray) -> None:
    """Refuse a file that skops would unpack to more than it is, or that holds odd arrays.

    Raises
    ------
    ValueError
        With what is wrong.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check_members(archive, len(content))
        check_schema(json.loads(archive.read(_SCHEMA)))
        for name in archive.namelist():
            if name.endswith(".npy"):
                from_npy(archive.read(name))
            elif name.endswith(".npz"):
                inner = archive.read(name)
                with zipfile.ZipFile(io.BytesIO(inner)) as arrays:
                    _check_members(arrays, len(inner))
                    for each in arrays.namelist():
                        from_npy(arrays.read(each))


def _check_members(archive: zipfile.ZipFile, n_bytes: int) -> None:
    infos = archive.infolist()
    if len({info.filename for info in infos}) < len(infos):
        raise ValueError("a member stands in it twice")
    for info in infos:
        if not _NAME.fullmatch(info.filename):
            raise ValueError(f"{info.filename[:60]!r} is no name of a member")
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 0x1:
            raise ValueError(f"{info.filename} is packed")
    if sum(info.file_size for info in infos) > n_bytes:
        raise ValueError("it says that it is larger than it is")


# ---------------------------------------------------------------------- the schema


def _sort_sets(schema: Any) -> None:
    """Put the members of sets in an order that does not depend on the process."""
    for node in nodes_of(schema):
        if node["__loader__"] == "SetNode":
            node["content"].sort(key=lambda each: json.dumps(each.get("content"), sort_keys=True))


def _renumbered(
    node: Any, uses: Counter[int], numbers: dict[int, int], files: dict[str, str]
) -> Any:
    if isinstance(node, list):
        return [_renumbered(each, uses, numbers, files) for each in node]
    if not isinstance(node, dict):
        return node
    if "__loader__" not in node:
        return {key: _renumbered(each, uses, numbers, files) for key, each in node.items()}
    old = node.get("__id__")
    is_shared = old is not None and uses[old] > 1 and node["__loader__"] not in _PLAIN
    if is_shared and old in numbers:
        stub = {key: node[key] for key in ("__class__", "__module__")}
        return {**stub, "__loader__": "CachedNode", "__id__": numbers[old]}
    written: dict[str, Any] = {}
    if is_shared:
        numbers[old] = written["__id__"] = len(numbers) + 1
    for key, each in node.items():
        if key == "file":
            written[key] = files.setdefault(each, f"{len(files)}.{each.rpartition('.')[2]}")
        elif key != "__id__":
            written[key] = _renumbered(each, uses, numbers, files)
    return written


# ---------------------------------------------------------------------- the zip file


def _unpacked(name: str, content: bytes) -> bytes:
    """Return a member without packing or gaps between fields: what does not tell of the object."""
    if name.endswith(".npy"):
        return to_npy(from_npy(content))
    if not name.endswith(".npz"):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return _packed({each: archive.read(each) for each in archive.namelist()})


def _packed(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)
    return stream.getvalue()
