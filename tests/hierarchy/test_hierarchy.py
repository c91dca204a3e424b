"""Laws of Hierarchy: builders agree, names find their nodes, nothing can be changed."""

from __future__ import annotations

import copy
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from tests.strategies import any_names, dags, hierarchies, integers, quick, texts, trees

from palmette.exceptions import HierarchyError
from palmette.hierarchy._hierarchy import Hierarchy

PETS = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
DIAMOND = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])


# ---------------------------------------------------------------------- builders


@quick
@given(trees(names=any_names))
def test_builders_of_trees_agree(h):
    paths = [h.path(node) for node in range(h.n_nodes)]
    assert Hierarchy.from_paths(paths, root=h.names[0]) == h
    assert Hierarchy.from_paths([h.path(leaf) for leaf in h.leaves], root=h.names[0]) == h
    assert Hierarchy.from_parents(h.parents, h.names) == h
    assert Hierarchy(h.names, h.edges) == h


@quick
@given(dags(names=any_names))
def test_builders_of_dags_agree(h):
    names = h.names.tolist()
    by_name = [(names[parent], names[child]) for parent, child in h.edges.tolist()]
    assert Hierarchy(names, h.edges) == h
    digraph = nx.DiGraph()
    digraph.add_nodes_from(names)
    digraph.add_edges_from(by_name)
    assert Hierarchy.from_networkx(digraph) == h
    if h.n_nodes > 1:
        assert Hierarchy.from_edges(by_name) == h
    if h.is_tree:
        parents = {names[child]: names[parent] for parent, child in h.edges.tolist()}
        assert Hierarchy.from_parents({**parents, names[0]: None}) == h


@quick
@given(st.lists(any_names, unique=True, max_size=6))
def test_a_star_is_a_set_of_paths_of_one_name(names):
    star = Hierarchy.star(names)
    assert star == Hierarchy.from_paths([(name,) for name in names])
    assert star.parents.tolist() == [-1, *[0] * len(names)]


@quick
@given(dags(), st.randoms())
def test_repeated_edges_change_nothing(h, random):
    edges = h.edges.tolist()
    again = edges + random.sample(edges, len(edges) // 2)
    assert Hierarchy(h.names, again) == h


def test_padding_at_the_end_of_paths_is_ignored():
    padded = np.array([["a", "b"], ["a", None], ["c", np.nan]], dtype=object)
    assert Hierarchy.from_paths(padded) == Hierarchy.from_paths([("a", "b"), ("c", "")])
    assert Hierarchy.from_paths([["a", pd.NA], ["b", pd.NaT]]) == Hierarchy.star(["a", "b"])


def test_siblings_stand_in_order_of_first_appearance():
    h = Hierarchy.from_paths([("z",), ("a", "y"), ("z", "b"), ("a", "x")])
    assert h.path_strings.tolist() == ["root", "z", "z/b", "a", "a/y", "a/x"]


@pytest.mark.parametrize(
    "h",
    [
        Hierarchy.from_paths([]),
        Hierarchy.from_paths([(), (None,)]),
        Hierarchy.star([]),
        Hierarchy.from_parents([-1], ["root"]),
        Hierarchy.from_parents({"root": None}),
        Hierarchy.from_edges([], root="root"),
        Hierarchy(["root"], []),
        Hierarchy.from_networkx(nx.DiGraph({"root": []})),
    ],
)
def test_a_lone_root(h):
    assert h == Hierarchy(["root"], np.empty((0, 2), dtype=int))
    assert h.is_tree
    assert (h.n_nodes, h.n_leaves, h.max_depth) == (1, 1, 0)
    assert h.leaves.tolist() == [0]
    assert h.closure.toarray().tolist() == [[True]]
    assert h.path(0) == ()
    assert h.lca(0, 0) == h.distance(0, 0) == 0
    assert str(h) == "root"
    assert repr(h) == "<Hierarchy: tree, 1 nodes with the root, 1 leaves, depth 0>"


def test_root_joins_what_has_no_parent():
    edges = [("a", "b"), ("c", "d")]
    joined = Hierarchy.from_edges(edges, root="all")
    assert joined.path_strings.tolist() == ["all", "a", "a/b", "c", "c/d"]
    assert Hierarchy.from_networkx(nx.DiGraph(edges), root="all") == joined
    # the root may be one of the nodes
    assert Hierarchy.from_edges(edges, root="a").path("d") == ("c", "d")


def test_parents_may_be_missing_in_any_way():
    expected = Hierarchy.from_parents({"a": None, "b": "a"})
    for missing in (np.nan, "", pd.NA):
        assert Hierarchy.from_parents({"a": missing, "b": "a"}) == expected


def test_networkx_multigraphs_and_attributes():
    digraph = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("a", "c")])
    assert Hierarchy.from_networkx(digraph) == Hierarchy.from_edges([("a", "b"), ("a", "c")])
    exported = PETS.to_networkx()
    assert exported.nodes[2] == {"name": "cat", "path": "animal/cat"}
    assert [[*edge] for edge in exported.edges] == PETS.edges[[0, 3, 1, 2, 4]].tolist()


# ---------------------------------------------------------------------- names


@pytest.mark.parametrize("names", [integers, texts, any_names], ids=["int", "text", "any"])
@quick
@given(st.data())
def test_every_path_finds_its_node(names, data):
    h = data.draw(trees(names=names))
    for node in range(h.n_nodes):
        assert h.index(h.path(node)) == node
        assert h.path(node) in h


@quick
@given(trees(names=texts.filter(lambda name: "/" not in name)))
def test_path_strings_are_identities_unless_a_name_holds_a_slash(h):
    assert h.index(h.path_strings[1:]).tolist() == list(range(1, h.n_nodes))


@quick
@given(trees())
def test_a_name_finds_its_node_where_it_occurs_once(h):
    names = h.names.tolist()
    for node, name in enumerate(names):
        tops = h.names[h.children(0)].tolist()
        if names.count(name) == 1 or node in h.children(0):
            assert h.index(name) == node
        elif name not in tops:
            assert name not in h
            with pytest.raises(HierarchyError, match=r"ambiguous.*Give the path"):
                h.index(name)


@quick
@given(dags(names=any_names))
def test_in_a_dag_names_are_identities(h):
    if not h.is_tree:
        assert [h.index(name) for name in h.names] == list(range(h.n_nodes))


def test_names_keep_their_types():
    names = [3, "3", 2.5, True, ("t", 1), b"b", "ä/ö"]
    h = Hierarchy.star(names)
    assert [type(name) for name in h.names[1:]] == [type(name) for name in names]
    assert h.index(names).tolist() == list(range(1, 8))
    plain = Hierarchy.star(np.array([5, 7], dtype=np.int8))
    assert [type(name) for name in plain.names] == [str, int, int]


def test_a_child_may_bear_the_name_of_the_root():
    h = Hierarchy.from_paths([("root", "a"), ("b", "root")])
    assert h.index("root") == 1
    assert h.index(()) == 0
    assert h.index(("root",)) == 1
    assert h.index("b/root") == 4


def test_numbers_are_nodes_and_index_takes_names():
    h = Hierarchy.from_paths([(2019, 1), (2020, 1)])
    assert h.path(1) == (2019,)
    assert h.index(2019) == 1
    assert h.index("2020/1") == h.index((2020, 1)) == 4
    assert h.children(np.int64(0)).tolist() == [1, 3]
    for missing in (1, 7, "x", ("x",), (2019, 1, 1), [], None, {}, ([],)):
        assert missing not in h


def test_index_takes_lists_arrays_and_columns():
    for nodes in (["cat", "oak"], np.array(["cat", "oak"]), pd.Series(["cat", "oak"])):
        assert PETS.index(nodes).tolist() == [2, 5]
        assert PETS.index(nodes).dtype == np.int32
    assert PETS.index([("animal", "cat"), "plant/oak"]).tolist() == [2, 5]
    assert PETS.index([]).tolist() == []


def test_names_numbers_lists_and_tables_of_nodes():
    assert PETS.lca("cat", ("animal", "dog")) == "animal"
    assert PETS.lca([("animal", "cat")], ["dog"]).tolist() == ["animal"]
    assert PETS.lca(2, 3) == 1
    assert PETS.lca("cat", [2, 3, 5]).tolist() == ["animal/cat", "animal", "root"]
    assert PETS.lca([2, "dog"], [3, 5]).tolist() == ["animal", "root"]
    assert PETS.distance([[2], [3]], [3, 5]).tolist() == [[2, 4], [0, 4]]
    assert PETS.distance([], []).shape == (0,)
    assert type(PETS.lca(2, 3)) is int
    assert type(DIAMOND.distance("b", "c")) is int


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda h: h.children(6), r"node number 6 is out of range: expected 0 to 5.*index\(\)"),
        (lambda h: h.children(-1), "node number -1"),
        (lambda h: h.path(1.5), "1.5 of type float is not a node"),
        (lambda h: h.siblings(None), "None of type NoneType is not a node"),
        (lambda h: h.descendants([1]), "is not a node"),
        (lambda h: h.lca([0, 6], 0), "node number 6"),
        (lambda h: h.lca([0.5], 0), "0.5 of type float is not a node"),
        (lambda h: h.distance([1, 2, 3], [1, 2]), r"shapes \(3,\) and \(2,\)"),
        (lambda h: h.distance([[1], [2, 3]], 1), "is not a node"),
        (lambda h: h.distance({1}, None), "is not a node"),
        (lambda h: h.lca("wolf", "cat"), "'wolf' is not in the hierarchy"),
        (lambda h: h.index([["animal"]]), "is not in the hierarchy"),
        (lambda h: h.index(np.array([["animal"]])), r"shape \(1, 1\)"),
        (lambda h: h.index(np.array(3)), "3.* is not in the hierarchy"),
        (lambda h: h.index(({},)), "is not in the hierarchy"),
        (lambda h: h.draw(annotations=["x"]), "1 annotations for 6 nodes"),
    ],
)
def test_what_is_no_node_is_named(call, message):
    with pytest.raises(HierarchyError, match=message):
        call(PETS)


def test_a_tree_is_demanded_by_name():
    PETS.require_tree("anything")
    for call in (lambda: DIAMOND.parents, lambda: DIAMOND.subtree_end, lambda: DIAMOND.path(1)):
        with pytest.raises(HierarchyError, match=r"needs a tree, but 1 of 4 nodes.*'d' has 2"):
            call()
    with pytest.raises(HierarchyError, match="BHC needs a tree"):
        DIAMOND.require_tree("BHC")


# ---------------------------------------------------------------------- identity


@quick
@given(hierarchies())
def test_rows_out_and_in_give_the_same_hash(h):
    names = dict(enumerate(h.names.tolist()))
    rows = [(parent, child, names[child]) for parent, child in h.edges.tolist()]
    read = {0: h.names[0], **{child: name for _, child, name in rows}}
    again = Hierarchy([*read.values()], [(parent, child) for parent, child, _ in rows] or [])
    assert again == h
    assert hash(again) == hash(h)
    assert again.fingerprint == h.fingerprint


@quick
@given(hierarchies())
def test_copies_are_shared_and_pickles_are_equal(h):
    assert copy.copy(h) is h
    assert copy.deepcopy([h])[0] is h
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        again = pickle.loads(pickle.dumps(h, protocol))
        assert again == h
        assert hash(again) == hash(h)
        assert again.is_tree == h.is_tree
        assert not again.names.flags.writeable


def test_scikit_learn_shares_it_between_clones():
    class Model(BaseEstimator):
        def __init__(self, hierarchy=None):
            self.hierarchy = hierarchy

    assert clone(Model(PETS)).hierarchy is PETS


def test_equality_is_by_content():
    paths = [("animal", "cat"), ("animal", "dog"), ("plant", "oak")]
    assert Hierarchy.from_paths(paths) == PETS
    assert len({Hierarchy.from_paths(paths), PETS}) == 1
    others = [
        Hierarchy.from_paths(paths[:2]),
        Hierarchy.from_paths(paths, root="all"),
        Hierarchy.from_paths(paths[::-1]),  # the order of siblings is content
        "animal",
    ]
    assert all(other != PETS for other in others)
    assert Hierarchy.star([1]) != Hierarchy.star(["1"])
    assert Hierarchy.star(["a", "b"]) != Hierarchy.star(["a'", "'b"])


@pytest.mark.parametrize("h", [PETS, DIAMOND])
def test_nothing_can_be_changed(h):
    for name in ("names", "edges", "depth", "is_tree", "n_nodes", "anything"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(h, name, 1)
    with pytest.raises(AttributeError, match="immutable"):
        del h.names
    for name in ("names", "edges", "depth", "leaves", "is_leaf", "level_sizes", "path_strings"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(h, name)[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        h.children(0)[0] = 5


def test_a_changed_closure_is_not_the_hierarchys():
    before = PETS.closure.toarray()
    with pytest.raises(ValueError, match="read-only"):
        PETS.closure[0, 0] = False
    closure = PETS.closure
    closure.data = ~closure.data
    closure.resize((2, 2))
    np.testing.assert_array_equal(PETS.closure.toarray(), before)


def test_arrays_that_came_in_stay_the_callers():
    names, edges = np.array(["a", "b"], dtype=object), np.array([[0, 1]], dtype=np.int32)
    h = Hierarchy(names, edges)
    names[0], edges[0, 0] = "x", 1
    assert h.names.tolist() == ["a", "b"]
    assert h.edges.tolist() == [[0, 1]]


def test_length_truth_and_text():
    assert len(PETS) == 6
    assert bool(Hierarchy.star([]))
    assert repr(DIAMOND) == (
        "<Hierarchy: DAG, 4 nodes with the root, 1 leaves, depth 2 (2/1 by level)>"
    )


def test_long_chains_need_no_recursion_and_are_refused_where_they_cannot_be_held():
    n_nodes = 50_000
    chain = Hierarchy.from_parents(np.arange(-1, n_nodes - 1))
    assert chain.max_depth == n_nodes - 1
    assert len(chain.path(n_nodes - 1)) == n_nodes - 1
    assert chain.lca(n_nodes - 1, 777) == 777
    for name in ("closure", "path_strings"):
        with pytest.raises(HierarchyError, match=r"50,000 nodes.*Shorten long chains"):
            getattr(chain, name)
