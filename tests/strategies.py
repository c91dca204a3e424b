"""Random trees, DAGs, names and labels, small enough to check by brute force."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from palmette.hierarchy._hierarchy import Hierarchy

__all__ = [
    "any_names",
    "dags",
    "hierarchies",
    "integers",
    "junk",
    "label_sets",
    "node_lists",
    "parent_lists",
    "quick",
    "simple_names",
    "texts",
    "trees",
]

# enough to meet every shape of a small hierarchy, on machines of any speed
quick = settings(max_examples=30, deadline=None)

# ---------------------------------------------------------------------- names

simple_names = st.sampled_from([*"abcdefgh", "ab", "aa"])
"""Few short names, so that branches share them."""

# without surrogates, which no file holds, and NUL, which numpy's strings drop at the end
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
)
"""Any text that is not empty: unicode, blanks, slashes, line breaks."""

integers = st.integers(-(2**40), 2**40)

any_names = st.one_of(
    simple_names,
    texts,
    st.sampled_from(["a/b", "b/a", "/", "root", "1", "nan", "None"]),
    st.integers(-3, 3),
    st.floats(allow_nan=False, width=32),
    st.binary(max_size=2),
    st.tuples(simple_names, simple_names),
)
"""Names of any type and mixtures of them."""

# ---------------------------------------------------------------------- hierarchies


@st.composite
def parent_lists(draw: Any, max_nodes: int = 14) -> list[int]:
    """Parent of every node of a tree, -1 for the root, which is node 0."""
    # a byte a node, which is quicker than a choice a node
    codes = draw(st.binary(max_size=max_nodes - 1))
    return [-1, *(code % (i + 1) for i, code in enumerate(codes))]


@st.composite
def trees(draw: Any, names: Any = simple_names, max_nodes: int = 14) -> Hierarchy:
    """Any tree: stars, chains, a lone root; branches may share names, siblings do not."""
    parents = draw(parent_lists(max_nodes))
    drawn = draw(st.lists(names, min_size=len(parents), max_size=len(parents)))
    taken: set[tuple[int, Any]] = set()
    for i, parent in enumerate(parents):
        if (parent, drawn[i]) in taken:
            drawn[i] = f"{drawn[i]} {i}"
        taken.add((parent, drawn[i]))
    return Hierarchy.from_parents(parents, drawn)


@st.composite
def dags(draw: Any, names: Any = None, max_nodes: int = 12) -> Hierarchy:
    """Any rooted DAG, trees among them, with distinct names, numbers by default."""
    parents = draw(parent_lists(max_nodes))
    edges = [(parent, child) for child, parent in enumerate(parents) if child]
    more = draw(st.lists(st.tuples(*[st.integers(0, len(parents) - 1)] * 2), max_size=max_nodes))
    edges += [(a, b) for a, b in more if a < b]
    if names is None:
        return Hierarchy(range(len(parents)), edges)
    n_names = len(parents)
    return Hierarchy(draw(st.lists(names, min_size=n_names, max_size=n_names, unique=True)), edges)


def hierarchies(max_nodes: int = 12) -> Any:
    """Trees and DAGs."""
    return trees(max_nodes=max_nodes) | dags(max_nodes=max_nodes)


# ---------------------------------------------------------------------- labels


def node_lists(hierarchy: Hierarchy, *, root: bool = True, max_rows: int = 8) -> Any:
    """One node a row, as numbers."""
    nodes = st.integers(0 if root else 1, hierarchy.n_nodes - 1)
    return st.lists(nodes, max_size=max_rows) if root or hierarchy.n_nodes > 1 else st.just([])


def label_sets(hierarchy: Hierarchy, *, root: bool = False, max_rows: int = 8) -> Any:
    """Several nodes a row or none, as sets of numbers."""
    nodes = st.sampled_from(range(0 if root else 1, hierarchy.n_nodes))
    rows = (
        st.frozensets(nodes, max_size=5) if root or hierarchy.n_nodes > 1 else st.just(frozenset())
    )
    return st.lists(rows, max_size=max_rows)


# ---------------------------------------------------------------------- junk

_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.datetimes(),
    st.just(object()),
    st.just(...),
    st.sampled_from([int, len, NotImplemented]),
)

junk = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.sets(st.text(max_size=2) | st.integers(0, 3) | st.none(), max_size=3),
        st.frozensets(st.tuples(st.text(max_size=2), st.integers(0, 3)), max_size=3),
        st.lists(inner, max_size=3).map(iter),
    ),
    max_leaves=12,
)
"""Anything that a caller may pass by mistake, nested: no form of labels or hierarchies."""
