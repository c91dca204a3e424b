"""Save a model: encode it as JSON, arrays and objects of other libraries in one file."""

from __future__ import annotations

import json
import os
from typing import Any

from palmette._files import atomic_write
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.persistence._acting import harmless_facts
from palmette.persistence._archive import MODEL, make_manifest, write_members
from palmette.persistence._foreign import ALL_CODECS, ForeignWriter
from palmette.persistence._graph import Encoder
from palmette.persistence.names import full_name, stable_name


def save(obj: Any, path: str | os.PathLike[str]) -> None:
    """Save a model, or any object of Palmette, to a file; completely or not at all.

    The file is a zip archive of JSON and .npy arrays: ``manifest.json`` with the versions of the
    libraries and a checksum for each member, ``hierarchy.json`` for `Hierarchy.read`, the object
    itself in ``state.json`` and ``arrays/``, and estimators of other libraries as skops files in
    ``foreign/``. Equal objects give equal bytes. Callbacks are not saved.

    Parameters
    ----------
    obj : object
        An estimator, fitted or not, of Palmette or of scikit-learn; a hierarchy; or lists and
        dictionaries of such objects.
    path : path-like
        ``.palmette`` is the usual suffix. An existing file is replaced.

    Raises
    ------
    PalmetteError
        If the object is not a model, or a part of it cannot be saved, such as a function; the error
        names the attribute.

    Examples
    --------
    >>> import tempfile, palmette
    >>> from palmette.persistence import load
    >>> tree = palmette.Hierarchy.from_paths([("animal", "cat"), ("plant",)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(tree, f"{folder}/tree.palmette")
    ...     load(f"{folder}/tree.palmette") == tree
    True
    """
    foreign = ForeignWriter()
    encoder = Encoder(ALL_CODECS, foreign)
    members = state_members(obj, encoder) | _hierarchy_of(obj) | foreign.members()
    kind = stable_name(type(obj)) or full_name(type(obj))
    manifest = make_manifest(
        MODEL, {"kind": kind, "summary": harmless_facts(getattr(obj, "summary_", None))}, members
    )
    with atomic_write(path, "wb") as stream:
        write_members(stream, {"manifest.json": manifest, **members})


def state_members(obj: Any, encoder: Encoder) -> dict[str, bytes]:
    """Return an object as members of an archive: its JSON and its arrays."""
    root = encoder.value(obj)
    state = json.dumps({"root": root, "objects": encoder.objects}, separators=(",", ":"))
    return {"state.json": state.encode(), **encoder.arrays.members()}


def _hierarchy_of(obj: Any) -> dict[str, bytes]:
    """Return the hierarchy for users and `Hierarchy.read`; `load` uses that of the state."""
    hierarchy = obj if isinstance(obj, Hierarchy) else getattr(obj, "hierarchy_", None)
    if not isinstance(hierarchy, Hierarchy):
        return {}
    from palmette.hierarchy.files import to_json

    try:
        return {"hierarchy.json": to_json(hierarchy).encode("utf-8", "surrogatepass")}
    except PalmetteError:  # names that JSON cannot represent
        return {}
