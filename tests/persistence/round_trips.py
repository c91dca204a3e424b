"""Write an object and read it again, in a file that is gone afterwards."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from palmette.persistence import load, save

__all__ = ["again", "bytes_of"]


def again(value: Any, **settings: Any) -> Any:
    """Return what comes back of an object."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "object.palmette"
        save(value, file)
        return load(file, **settings)


def bytes_of(value: Any) -> bytes:
    """Return the file of an object."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "object.palmette"
        save(value, file)
        return file.read_bytes()
