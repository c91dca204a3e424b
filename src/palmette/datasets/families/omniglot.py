"""Omniglot, the small sets: drawings of letters under their alphabets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.hierarchy import Hierarchy
from palmette.datasets.archives import zip_members
from palmette.datasets.bunch_parts import NODES, numbered_names, object_array
from palmette.datasets.families.parts import Files, name_parts, only_file
from palmette.datasets.home import DatasetEntry
from palmette.datasets.png import PngError, read_bitmap
from palmette.exceptions import ReadError

__all__ = ["load_omniglot"]


def load_omniglot(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the drawings, one row of pixels each, 1 being ink.

    The two sets are published as alternatives: small1 is given as the training and small2 as the
    test part. They share two alphabets only, so that the test part has classes of its own.
    """
    parts = {
        "train": _read_drawings(only_file(files, "small1.zip")),
        "test": _read_drawings(only_file(files, "small2.zip")),
    }
    paths = sorted({label for _, y, _ in parts.values() for label in y})
    shape = parts["train"][2]
    return {
        **name_parts({part: (X, y) for part, (X, y, _) in parts.items()}),
        "image_shape": shape,
        "hierarchy": Hierarchy.from_paths([path.split("/") for path in paths]),
        "feature_names": numbered_names(shape[0] * shape[1]),
        "target_form": NODES,
    }


def _read_drawings(
    path: Path,
) -> tuple[NDArray[np.uint8], NDArray[np.object_], tuple[int, int]]:
    drawings: list[NDArray[np.uint8]] = []
    labels: list[str] = []
    for name, content in zip_members(path, suffix=".png"):
        steps = name.split("/")  # images_background_small1/Greek/character01/0394_01.png
        if len(steps) != 4:
            raise ReadError(f"{name!r} is not <set>/<alphabet>/<character>/<image>", path=path)
        try:
            drawings.append(read_bitmap(content))
        except PngError as error:
            raise ReadError(f"{name}: {error}", path=path) from error
        labels.append(f"{steps[1]}/{steps[2]}")
    if not drawings or any(drawing.shape != drawings[0].shape for drawing in drawings):
        raise ReadError("there are no drawings, or they differ in size", path=path)
    height, width = drawings[0].shape
    ink = 1 - np.stack(drawings).reshape(len(drawings), height * width)
    return ink, object_array(labels), (height, width)
