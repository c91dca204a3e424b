"""skops files: written small and reproducibly, checked before and after skops loads them.

skops numbers objects by their addresses, repeats shared objects and stores the time; a skops file
may be compressed, and states the sizes of its arrays. Here objects are numbered in order, shared
ones are written once, nothing is compressed, and the sizes of arrays are checked.

Cython classes of scikit-learn use their arrays while they are loaded, so `check_schema` checks the
state that skops creates them from.
"""

from __future__ import annotations

import importlib
import io
import json
import re
import sys
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, SimpleNamespace
from typing import Any

from palmette.persistence._acting import defaults_of_acting
from palmette.persistence._archive import MAX_BYTES, parse_json
from palmette.persistence._arrays import from_npy, to_npy
from palmette.persistence._graph import max_size
from palmette.persistence.names import import_class

_EPOCH = (1980, 1, 1, 0, 0, 0)
_SCHEMA = "schema.json"
_NAME = re.compile(r"[\w-]+\.(npy|npz|bin|json)", re.ASCII)
_JSON = {
    "__class__": "str",
    "__module__": "builtins",
    "__loader__": "JsonNode",
    "is_json": True,
}
_WITHOUT_IDENTITY = (
    "JsonNode",
    "TypeNode",
    "FunctionNode",
)  # no identity to keep
# skops asks scikit-learn for all estimators, for which all of its packages are imported
_HEAVY = frozenset(
    f"sklearn.externals.array_api_compat.{name}" for name in ("torch", "dask", "cupy")
)


def skops_io() -> Any:
    """Return the module `skops.io`, imported without torch, dask and cupy.

    Where they are installed, the import would take five times as long.
    """
    try:
        with _hidden(_HEAVY):
            return importlib.import_module("skops.io")
    except ImportError as error:
        raise ImportError(
            "skops saves and loads the estimators of other libraries in the model, but it cannot "
            f"be imported ({error}). Install it: pip install 'skops>=0.14'"
        ) from error


@contextmanager
def _hidden(names: frozenset[str]) -> Iterator[None]:
    """Let imports of some modules fail, in this thread, unless they have been imported before."""
    thread = threading.get_ident()

    class Finder:
        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> None:
            if name in names and threading.get_ident() == thread:
                raise ModuleNotFoundError(f"{name} is not imported here", name=name)

    finder: Any = Finder
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def write(objects: list[Any]) -> bytes:
    """Return a skops file of objects, tidy and small.

    skops indents its schema, for which `json` has an encoder in Python only. It takes seconds for
    the words of a text column, so skops' function runs with another `json` here.
    """
    skops = skops_io()
    module = importlib.import_module("skops.io._persist")
    function = getattr(module, "_save", None)
    if function is None or "json" not in function.__code__.co_names:  # a later version of skops
        return tidy(skops.dumps(objects))
    plain = SimpleNamespace(dumps=lambda state, indent=None: json.dumps(state))
    save = FunctionType(function.__code__, {**vars(module), "json": plain})
    return tidy(save(objects, zipfile.ZIP_STORED, None).getvalue())


def tidy(content: bytes) -> bytes:
    """Return a skops file with objects numbered in order, each written once, without times."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members.pop(_SCHEMA))
    _set_defaults_of_acting(schema)
    _sort_sets(schema)
    uses: Counter[Any] = Counter(node.get("__id__") for node in nodes_of(schema))
    numbers: dict[Any, int] = {}
    files: dict[str, str] = {}
    schema = _renumbered(schema, uses, numbers, files)
    kept = {new: _decompressed(old, members[old]) for old, new in files.items()}
    return _zipped({_SCHEMA: json.dumps(schema, separators=(",", ":")).encode(), **kept})


def names_in(content: bytes) -> list[tuple[str, str]]:
    """Return the (module, name) of all classes and functions that a skops file names."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema = json.loads(archive.read(_SCHEMA))
    plain = ("JsonNode", "CachedNode", "MethodNode", "OperatorFuncNode")
    found = {
        (n["__module__"], n["__class__"]) for n in nodes_of(schema) if n["__loader__"] not in plain
    }
    return sorted(found)


def check_content(content: bytes | bytearray, max_bytes: int = MAX_BYTES) -> list[int]:
    """Raise an error for a file with compressed members or with invalid arrays.

    Parameters
    ----------
    content : bytes
    max_bytes : int
        See `parse_json`.

    Returns
    -------
    list of int
        See `sizes_of`.

    Raises
    ------
    ValueError
        With a description of the error.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check_members(archive, len(content))
        schema = parse_json(archive.read(_SCHEMA), max_bytes)
        shapes: dict[str, tuple[int, ...]] = {}
        for name in archive.namelist():
            if name.endswith(".npy"):
                shapes[name] = from_npy(archive.read(name)).shape
            elif name.endswith(".npz"):
                inner = archive.read(name)
                with zipfile.ZipFile(io.BytesIO(inner)) as arrays:
                    _check_members(arrays, len(inner))
                    for each in arrays.namelist():
                        from_npy(arrays.read(each))
        check_schema(schema, shapes)
        return sizes_of(schema)


def _check_members(archive: zipfile.ZipFile, n_bytes: int) -> None:
    infos = archive.infolist()
    if len({info.filename for info in infos}) < len(infos):
        raise ValueError("a member occurs twice")
    for info in infos:
        if not _NAME.fullmatch(info.filename):
            raise ValueError(f"{info.filename[:60]!r} is not a valid name of a member")
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 0x1:
            raise ValueError(f"{info.filename} is compressed")
    if sum(info.file_size for info in infos) > n_bytes:
        raise ValueError("it states more bytes than it has")


# ---------------------------------------------------------------------- the schema


def _set_defaults_of_acting(schema: Any) -> None:
    """Give parameters of estimators of scikit-learn and skrub that act their defaults."""
    for node in nodes_of(schema):
        content = node.get("content")
        parts = content.get("content") if isinstance(content, dict) else None
        is_ours = node["__module__"].startswith(("sklearn.", "skrub."))
        if not is_ours or node["__loader__"] != "ObjectNode" or not isinstance(parts, dict):
            continue
        kind = import_class(f"{node['__module__']}.{node['__class__']}")
        for name, default in defaults_of_acting(kind).items() if kind is not None else ():
            if name in parts:
                parts[name] = {**_JSON, "content": json.dumps(default)}


def _sort_sets(schema: Any) -> None:
    """Sort the members of sets, for a reproducible order."""
    for node in nodes_of(schema):
        if node["__loader__"] == "SetNode":
            node["content"].sort(key=lambda each: json.dumps(each.get("content"), sort_keys=True))


def _renumbered(
    node: Any, uses: Counter[Any], numbers: dict[Any, int], files: dict[str, str]
) -> Any:
    if isinstance(node, list):
        return [_renumbered(each, uses, numbers, files) for each in node]
    if not isinstance(node, dict):
        return node
    if "__loader__" not in node:
        return {key: _renumbered(each, uses, numbers, files) for key, each in node.items()}
    old = node.get("__id__")
    is_shared = old is not None and uses[old] > 1 and node["__loader__"] not in _WITHOUT_IDENTITY
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


def _decompressed(name: str, content: bytes) -> bytes:
    """Return a member without compression, and with zeros as padding of records."""
    if name.endswith(".npy"):
        return to_npy(from_npy(content))
    if not name.endswith(".npz"):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return _zipped({each: archive.read(each) for each in archive.namelist()})


def _zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)
    return stream.getvalue()


# ---------------------------------------------------------------------- schemas


_DISTANCES = "sklearn.metrics._dist_metrics"
_TREE = "sklearn.tree._tree.Tree"
# numbers of dimensions of arrays by their place in the tuple that is the state of a class
_ARRAYS = {
    "sklearn.neighbors._kd_tree.KDTree": {0: 2, 1: 1, 2: 1, 3: 3},
    "sklearn.neighbors._ball_tree.BallTree": {0: 2, 1: 1, 2: 1, 3: 3},
    _DISTANCES: {1: 1, 2: 2},  # all classes of the module
}
_METRIC_AT = 11  # index in the state of a search tree


def nodes_of(schema: Any) -> list[dict[str, Any]]:
    """Return the nodes of all objects in a skops schema, outer ones before inner ones.

    Raises
    ------
    ValueError
        If it has more other dictionaries than nodes, of which each has one at most.
    """
    found, waiting = [], [schema]
    n_others = 0
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if "__loader__" in each:
                found.append(each)
            else:
                n_others += 1
            waiting.extend(reversed(each.values()))
        elif isinstance(each, list):
            waiting.extend(reversed(each))
    if n_others > len(found):
        raise ValueError(f"it has {n_others:,} dictionaries that are no objects")
    return found


def check_schema(schema: Any, shapes: Mapping[str, tuple[int, ...]] | None = None) -> None:
    """Raise an error if a compiled class lacks its arrays, or an object is written twice.

    Parameters
    ----------
    schema : dict
    shapes : mapping of str to tuple of int, optional
        Shapes of the arrays by file.

    Raises
    ------
    ValueError
        With a description of the error.
    """
    nodes = [node for node in nodes_of(schema) if node["__loader__"] != "CachedNode"]
    numbered: dict[Any, dict[str, Any]] = {}
    for node in nodes:
        number = node.get("__id__")
        if number is not None and numbered.setdefault(number, node) is not node:
            raise ValueError(f"the object {str(number)[:20]} is written twice")
    parts = _Parts(numbered, shapes)
    for node in nodes:
        name = f"{node.get('__module__')}.{node.get('__class__')}"
        places = _ARRAYS.get(name) or _ARRAYS.get(str(node.get("__module__")))
        is_good = parts.has_its_state(node, places) if places else True
        if name == _TREE or node["__loader__"] == "TreeNode":
            is_good = parts.is_tree(node)
        if not is_good:
            raise ValueError(f"an object of {name[:100]} has an invalid state")


def sizes_of(schema: Any) -> list[int]:
    """Return the number of nodes of each object of a list, each as often as it is used.

    Raises
    ------
    ValueError
        If an object contains itself, or they have too many nodes: see `_graph.max_size`.
    """
    nodes = nodes_of(schema)
    limit, sizes = max_size(len(nodes)), dict[Any, int | None]()

    def size(value: Any) -> int:
        if isinstance(value, list):
            return sum(map(size, value))
        if not isinstance(value, dict):
            return 0
        number = value.get("__id__")
        if value.get("__loader__") == "CachedNode":
            found = sizes.get(number, 1)  # skops finds no object that is written later
            if found is None:
                raise ValueError("an object contains itself")
            return found
        if number is not None:
            sizes[number] = None
        found = ("__loader__" in value) + sum(map(size, value.values()))
        if number is not None:
            sizes[number] = found
        if found > limit:
            raise ValueError(
                f"its objects have more than {limit:,} parts, each counted as often as it is used"
            )
        return found

    found = [size(each) for each in schema["content"]]
    if sum(found) > limit:
        raise ValueError(f"its objects have more than {limit:,} parts")
    return found


class _Parts:
    """The parts of objects, which may be written elsewhere.

    Parameters
    ----------
    numbered : dict
        Nodes by number.
    shapes : mapping of str to tuple of int, optional
    """

    def __init__(
        self, numbered: dict[Any, dict[str, Any]], shapes: Mapping[str, tuple[int, ...]] | None
    ) -> None:
        self._numbered = numbered
        self._shapes = shapes

    def found(self, part: Any) -> dict[str, Any]:
        """Return the node of a part; an empty one if there is none."""
        is_stub = isinstance(part, dict) and part.get("__loader__") == "CachedNode"
        node = self._numbered.get(part.get("__id__")) if is_stub else part
        return node if isinstance(node, dict) else {}

    def shape(self, part: Any, ndim: int) -> tuple[int, ...] | None:
        """Return the shape of an array of some dimensions; None if a part is not such an array."""
        node = self.found(part)
        if (node.get("__loader__"), node.get("type")) != ("NdArrayNode", "numpy"):
            return None
        if self._shapes is None:
            return (1,) * ndim
        shape = self._shapes.get(str(node.get("file")), ())
        return shape if len(shape) == ndim else None

    def has_its_state(self, node: dict[str, Any], places: Mapping[int, int]) -> bool:
        """Return whether the state of a search tree or a distance has its arrays."""
        state = self.found(node.get("content"))
        parts = state.get("content")
        if node["__loader__"] != "ObjectNode" or state.get("__loader__") != "TupleNode":
            return False
        if not isinstance(parts, list) or len(parts) <= max(places):
            return False
        if any(self.shape(parts[place], ndim) is None for place, ndim in places.items()):
            return False
        if node["__module__"] == _DISTANCES:
            return len(parts) == 3
        if len(parts) != _METRIC_AT + 2:  # the last part is the array of weights
            return False
        counts = [self.found(part) for part in parts[max(places) + 1 : _METRIC_AT]]
        are_integers = all(
            each.get("__loader__") == "JsonNode" and re.fullmatch(r"\d{1,18}", str(each["content"]))
            for each in counts
        )
        return are_integers and self.found(parts[_METRIC_AT]).get("__module__") == _DISTANCES

    def is_tree(self, node: dict[str, Any]) -> bool:
        """Return whether a tree has its nodes and values, and one number of classes per output."""
        if node["__loader__"] != "TreeNode":
            return False
        arguments = self.found(node["__reduce__"]["args"])
        state = self.found(node.get("content"))
        if (arguments.get("__loader__"), state.get("__loader__")) != ("TupleNode", "DictNode"):
            return False
        _, classes, n_outputs = arguments["content"]
        parts = state["content"]
        n_classes = self.shape(classes, 1)
        is_counted = n_classes is not None and (
            self._shapes is None or self.found(n_outputs).get("content") == str(n_classes[0])
        )
        has_nodes = self.shape(parts.get("nodes"), 1) and self.shape(parts.get("values"), 3)
        return is_counted and bool(has_nodes)
