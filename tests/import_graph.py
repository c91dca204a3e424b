"""The import graph of the package: counts, circles, and the picture of the folders in the docs.

``python tests/import_graph.py`` prints the numbers; ``--svg docs/folders.svg`` draws the folders.
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from functools import cache
from html import escape
from pathlib import Path
from statistics import median

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

PACKAGE = Path(__file__).parents[1] / "src" / "palmette"
_FOR_TYPES = "TYPE_CHECKING"

METHODS = (
    "local",
    "boosting",
    "class_tree",
    "forest",
    "feature_selection",
    "multilabel",
    "multipath",
    "calibration",
    "migration",
)
LAYERS: tuple[tuple[str, ...], ...] = (
    ("cli",),
    ("compare",),
    ("reviewing", "serving"),
    ("table",),
    ("models",),
    ("reporting",),
    ("plotting",),
    METHODS,
    ("trees",),
    ("base",),
    ("persistence",),
    ("metrics", "datasets"),
    ("decisions",),
    ("labels",),
    ("hierarchy",),
)


@cache
def sources() -> dict[str, Path]:
    """Return the file of every module of the package, by dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports() -> dict[str, frozenset[str]]:
    """Return the modules that every module imports, at its top or inside of a function."""
    return {name: _imported(path) - {name} for name, path in sources().items()}


def _imported(path: Path, *, lazy: bool = True) -> frozenset[str]:
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in _executed(tree) if lazy else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in sources()}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found |= {full if full in sources() else node.module} & sources().keys()
    return frozenset(found)


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk the statements of a module without those that only type checkers read."""
    waiting = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
                is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == _FOR_TYPES
                if not is_for_types:
                    yield node
                    waiting.append(node)


@cache
def importers() -> dict[str, frozenset[str]]:
    """Return the modules that import a module, by its name, or give its names when asked for."""
    given = {other: found | _given_names(sources()[other]) for other, found in imports().items()}
    return {
        name: frozenset(other for other, found in given.items() if name in found)
        for name in sources()
    }


def _given_names(path: Path) -> frozenset[str]:
    """Return the modules in the table of `lazy_names`, if a package has one."""
    text = path.read_text(encoding="utf-8")
    calls = ast.walk(ast.parse(text)) if "lazy_names(" in text else ()
    keys = [key for node in calls if isinstance(node, ast.Dict) for key in node.keys]
    return frozenset(key.value for key in keys if isinstance(key, ast.Constant)) & sources().keys()


def folder_of(module: str) -> str:
    """Return the folder of a module; modules beside the folders have none."""
    parts = module.split(".")
    is_folder = len(parts) > 2 or (len(parts) == 2 and sources()[module].name == "__init__.py")
    return parts[1] if is_folder else ""


def reached_from(folder: str) -> set[str]:
    """Return all modules that the modules of a folder import, directly or through others."""
    waiting = [name for name in sources() if folder_of(name) == folder]
    seen = set(waiting)
    while waiting:
        new = imports()[waiting.pop()] - seen
        seen |= new
        waiting.extend(new)
    return seen


def circles(*, lazy: bool = True) -> list[list[str]]:
    """Return the groups of modules that import each other in a circle.

    Parameters
    ----------
    lazy : bool
        Whether imports inside of functions count too.
    """
    graph = imports() if lazy else {n: _imported(p, lazy=False) for n, p in sources().items()}
    return [group for group in _components(graph) if len(group) > 1]


def _components(graph: Mapping[str, Set[str]]) -> list[list[str]]:
    """Return the strongly connected components of a graph: who reaches each other."""
    names = sorted(graph)
    number = {name: i for i, name in enumerate(names)}
    pairs = [(number[a], number[b]) for a in names for b in graph[a]]
    cells = tuple(np.array(pairs).T)
    edges = sparse.csr_array((np.ones(len(pairs)), cells), shape=(len(names), len(names)))
    _, group_of = csgraph.connected_components(edges, connection="strong")
    groups = defaultdict(list)
    for name, group in zip(names, group_of.tolist(), strict=True):
        groups[group].append(name)
    return list(groups.values())


def n_lines(module: str) -> int:
    """Return the number of lines of a module."""
    return len(sources()[module].read_text(encoding="utf-8").splitlines())


def single_importers() -> list[str]:
    """Return the modules that exactly one other module imports."""
    return [name for name in sources() if len(importers()[name]) == 1]


# ---------------------------------------------------------------------- picture

_WIDTH, _BOX, _GAP = 960, 46, 10


def to_svg() -> str:
    """Draw the folders: a row per layer, each importing from the rows below it only."""
    rows = [layer for layer in LAYERS if any(_size(name)[0] for name in layer)]
    height = len(rows) * (_BOX + _GAP) + _GAP
    body = [box for i, layer in enumerate(rows) for box in _boxes(layer, _GAP + i * (_BOX + _GAP))]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="sans-serif" text-anchor="middle">'
    )
    return "\n".join([head, *body, "</svg>", ""])


def _boxes(layer: tuple[str, ...], top: int) -> Iterator[str]:
    width = (_WIDTH - _GAP * (len(layer) + 1)) / len(layer)
    for i, name in enumerate(layer):
        left = _GAP + i * (width + _GAP)
        files, lines = _size(name)
        middle = left + width / 2
        yield (
            f'<rect x="{left:.0f}" y="{top}" width="{width:.0f}" height="{_BOX}" rx="5" '
            'fill="#eef3f8" stroke="#5b7c99"/>'
        )
        yield f'<text x="{middle:.0f}" y="{top + 20}" font-size="13">{escape(name)}</text>'
        yield (
            f'<text x="{middle:.0f}" y="{top + 37}" font-size="10" fill="#555">'
            f"{files} files, {lines / 1000:.1f}k lines</text>"
        )


def _size(folder: str) -> tuple[int, int]:
    members = [name for name in sources() if folder_of(name) == folder]
    return len(members), sum(map(n_lines, members))


def main() -> None:
    """Print the numbers, and draw the picture if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--svg", type=Path, help="file to draw the folders into")
    asked = parser.parse_args()
    lines = [n_lines(name) for name in sources()]
    print(f"files {len(lines)}, lines {sum(lines)}, median {median(lines):.0f}")
    print(f"circles {len(circles())}, imported once {len(single_importers())}")
    if asked.svg:
        asked.svg.write_text(to_svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
