"""Loaders of single data sets with formats of their own, and of taxonomies."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.datasets._families import Files, name_parts, only_file
from palmette.datasets._home import DatasetEntry
from palmette.datasets._reading import (
    NODE_SETS,
    NODES,
    PngError,
    numbered_names,
    object_array,
    read_bitmap,
    read_text,
    tar_members,
    zip_members,
)
from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy

_WOS_COLUMNS = ["Y1", "Y2", "Y", "Domain", "area", "keywords", "Abstract"]


def load_clinc150(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the full set.

    ``out_of_scope`` has the texts without an intent, by part; ``X_train_imbalanced`` and
    ``y_train_imbalanced`` are the smaller training set.
    """
    domains: dict[str, list[str]] = json.loads(read_text(only_file(files, "domains.json")))
    full = json.loads(read_text(only_file(files, "data_full.json")))
    imbalanced = json.loads(read_text(only_file(files, "data_imbalanced.json")))
    path_of = {intent: f"{domain}/{intent}" for domain in domains for intent in domains[domain]}

    def texts_and_labels(rows: list[list[str]]) -> tuple[list[str], Any]:
        return [text for text, _ in rows], object_array(path_of[intent] for _, intent in rows)

    parts = {"train": "train", "valid": "val", "test": "test"}
    few = texts_and_labels(imbalanced["train"])
    hierarchy = Hierarchy.from_paths([(d, intent) for d in domains for intent in domains[d]])
    return {
        **name_parts({part: texts_and_labels(full[key]) for part, key in parts.items()}),
        "X_train_imbalanced": few[0],
        "y_train_imbalanced": few[1],
        "out_of_scope": {
            part: [text for text, _ in full[f"oos_{key}"]] for part, key in parts.items()
        },
        "hierarchy": hierarchy,
        "feature_names": None,
        "target_form": NODES,
    }


def load_newsgroups(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the messages as text, headers and quotes included.

    The hierarchy has two levels: the part before the first dot of a group's name (comp, rec,
    sci, talk, ...), and the groups under their full names.
    """
    path = only_file(files, ".tar")
    messages: dict[str, tuple[list[str], list[str]]] = {"train": ([], []), "test": ([], [])}
    for name, content in tar_members(path):
        # 20news-bydate-train/comp.graphics/37261
        folder, group, _ = (*name.split("/"), "", "")[:3]
        part = folder.rpartition("-")[2]
        if part not in messages or "." not in group:
            raise ReadError(
                f"found the member {name!r}, expected 20news-bydate-{{train,test}}/group/number",
                path=path,
            )
        messages[part][0].append(content.decode("latin-1"))  # some are not valid UTF-8
        messages[part][1].append(group)
    groups = sorted({group for _, labels in messages.values() for group in labels})
    return {
        **name_parts({part: (X, object_array(y)) for part, (X, y) in messages.items()}),
        "hierarchy": Hierarchy.from_paths([(group.partition(".")[0], group) for group in groups]),
        "feature_names": None,
        "target_form": NODES,
    }


def load_wos(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load abstracts with their keywords.

    ``y`` is the path of domain and area by name. The numbers Y1, Y2 and Y of the source are kept
    as ``codes``: they are coarser, as three of them each cover two areas.
    """
    path = only_file(files, ".txt")
    reader = csv.reader(io.StringIO(read_text(path), newline=""), delimiter="\t")
    if [cell.strip() for cell in next(reader, [])] != _WOS_COLUMNS:
        raise ReadError(f"expected the columns {', '.join(_WOS_COLUMNS)}", path=path, line=1)
    rows: list[list[str]] = []
    for row in reader:
        if row and len(row) != len(_WOS_COLUMNS):
            raise ReadError(
                f"found {len(row)} columns, expected {len(_WOS_COLUMNS)}",
                path=path,
                line=reader.line_num,
            )
        if row:
            rows.append(row)
    domains = [row[3].strip() for row in rows]
    areas = [row[4].strip() for row in rows]
    paths = list(zip(domains, areas, strict=True))
    return {
        "X": [row[6] for row in rows],
        "y": object_array(map("/".join, paths)),
        "keywords": [[k.strip() for k in row[5].split(";")] for row in rows],
        "codes": np.array([[int(code) for code in row[:3]] for row in rows]),
        "hierarchy": Hierarchy.from_paths(sorted(set(paths))),
        "feature_names": None,
        "target_form": NODES,
    }


def load_rcv1(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the texts, words joined by spaces, and the sets of topic paths."""
    path = only_file(files, ".json")
    texts: list[str] = []
    labels: list[frozenset[str]] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            texts.append(" ".join(row["doc_token"]))
            labels.append(frozenset(label.replace("--", "/") for label in row["doc_label"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ReadError(
                f"expected a JSON object with doc_label and doc_token ({error!r})",
                path=path,
                line=number,
                text=line,
            ) from error
    return {
        "X": texts,
        "y": labels,
        "hierarchy": Hierarchy.read(only_file(files, ".taxonomy")),
        "feature_names": None,
        "target_form": NODE_SETS,
    }


def load_omniglot(entry: DatasetEntry, files: Files) -> dict[str, Any]:
    """Load the drawings, one row of pixels each, with 1 for strokes.

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


def _read_drawings(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.object_], tuple[int, int]]:
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
    strokes = 1 - np.stack(drawings).reshape(len(drawings), height * width)
    return strokes, object_array(labels), (height, width)


def load_taxonomy(
    entry: DatasetEntry,
    files: Files,
    *,
    file: str | None = None,
    root: str | None = None,
    alternates: Mapping[str, str] | None = None,
    names: str | None = None,
    class_index: str | None = None,
) -> dict[str, Any]:
    """Load a hierarchy, and the alternative ones of the set.

    Parameters
    ----------
    file : str, optional
        Ending of the main file's name, if there are several files.
    root : str, optional
        Name of a new root above several roots.
    alternates : mapping of key to ending, optional
        Alternative hierarchies.
    names : str, optional
        File of lines ``node name`` with the names of the codes of leaves.
    class_index : str, optional
        JSON file of ImageNet's classes: number -> [node, name].
    """
    ending = file if file is not None else next(iter(files)).removesuffix(".xz")
    loaded: dict[str, Any] = {
        "hierarchy": Hierarchy.read(only_file(files, ending), root=root),
        "target_form": None,
    }
    if alternates:
        loaded["alternates"] = {
            key: Hierarchy.read(only_file(files, other)) for key, other in alternates.items()
        }
    if names is not None:
        lines = read_text(only_file(files, names)).split("\n")
        loaded["class_names"] = dict(line.strip().split(" ", 1) for line in lines if line.strip())
    if class_index is not None:
        index = json.loads(read_text(only_file(files, class_index)))
        loaded["class_names"] = dict(index.values())
        loaded["class_order"] = [index[str(i)][0] for i in range(len(index))]
    return loaded
