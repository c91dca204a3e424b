"""Multi-label sets of R's package mldr."""

from __future__ import annotations

from typing import Any

from palmette.datasets.families.parts import Files, only_file
from palmette.datasets.home import DatasetEntry
from palmette.datasets.rda import read_rda

__all__ = ["load_rda"]


def load_rda(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the one object; mldr sets have no published split."""
    return dict(read_rda(only_file(files, ".rda")))
