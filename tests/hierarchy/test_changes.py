"""Maps of old to new paths: what they build, and what is wrong with bad ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from palmette import Hierarchy, HierarchyError, ReadError
from palmette.hierarchy._changes import change_tree, read_changes
from palmette.hierarchy._diff import propose_changes

SHOP = Hierarchy.from_paths(
    [("food", "fruit", "apple"), ("food", "fruit", "pear"), ("food", "nuts"),
     ("tools", "saws"), ("tools", "nails")]
)  # fmt: skip


def changed(*lines, tree=SHOP, separator=None):
    return change_tree(tree, read_changes(list(lines)), separator)


def where(change):
    """Return the new path of every old node that has another one; None if it was removed."""
    return {
        change.old.path_strings[node]: None if place < 0 else change.new.path_strings[place]
        for node, place in enumerate(change.kept.tolist())
        if place < 0 or change.new.path_strings[place] != change.old.path_strings[node]
    }


# ---------------------------------------------------------------------- what a map builds


def test_no_lines_change_nothing():
    change = changed()
    assert change.new == SHOP
    assert change.only_names
    assert change.changed_parents == []


def test_a_renamed_node_takes_everything_below_it_along():
    change = changed(("food > fruit", "food > fruits"))
    assert where(change) == {
        "food/fruit": "food/fruits",
        "food/fruit/apple": "food/fruits/apple",
        "food/fruit/pear": "food/fruits/pear",
    }
    assert change.only_names


def test_names_can_be_exchanged():
    change = changed(("food", "tools"), ("tools", "food"))
    assert where(change)["food/nuts"] == "tools/nuts"
    assert where(change)["tools/nails"] == "food/nails"


def test_a_node_moves_below_a_parent_that_is_new():
    change = changed(("food > fruit", "garden > fruit"))
    assert where(change)["food/fruit/pear"] == "garden/fruit/pear"
    assert change.new.path_strings[change.changed_parents].tolist() == ["root", "food", "garden"]
    assert not change.only_names


def test_merged_nodes_merge_what_has_the_same_name_below_them():
    tree = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "x"), ("b", "z")])
    change = changed(("a", "c"), ("b", "c"), tree=tree)
    assert change.new.path_strings[1:].tolist() == ["c", "c/x", "c/y", "c/z"]
    assert {change.new.path_strings[k]: len(v) for k, v in change.merged.items()} == {
        "c": 2,
        "c/x": 2,
    }


def test_a_node_merges_into_one_that_stays_if_the_kind_says_so():
    change = changed(("food > nuts", "tools > nails", "merge"))
    assert where(change) == {"food/nuts": "tools/nails"}


def test_children_merge_into_their_parent():
    change = changed(("tools > saws", "tools", "merge"), ("tools > nails", "tools", "merge"))
    assert where(change) == {"tools/saws": "tools", "tools/nails": "tools"}
    assert change.new.is_leaf[change.new.index("tools")]


@pytest.mark.parametrize(
    ("parts", "home"),
    [
        (["food > hazel", "food > wal"], "food"),
        (["food > nuts > hazel", "food > nuts > wal"], "food/nuts"),
        (["food > nuts", "tools > nuts"], "food/nuts"),
        (["food > seeds > hazel", "food > seeds > wal"], "food/seeds"),
        (["hazel", "food > wal"], "root"),
    ],
)
def test_a_split_node_stays_at_the_lowest_node_above_its_parts(parts, home):
    change = changed(*(("food > nuts", part) for part in parts))
    [split] = change.splits
    assert change.new.path_strings[split.home] == home
    assert [change.new.path_strings[part] for part in split.parts] == [
        part.replace(" > ", "/") for part in parts
    ]
    assert change.kept[SHOP.index("nuts")] == split.home


def test_leaves_are_added_and_nodes_removed_with_what_is_below_them():
    change = changed(("", "tools > drills > small"), ("food > fruit", ""))
    assert change.new.path_strings[change.added].tolist() == ["tools/drills/small"]
    assert [old for old, new in where(change).items() if new is None] == [
        "food/fruit",
        "food/fruit/apple",
        "food/fruit/pear",
    ]


def test_a_child_can_be_saved_from_a_removed_parent():
    change = changed(("food > fruit", ""), ("food > fruit > pear", "food > pear"))
    assert where(change)["food/fruit/pear"] == "food/pear"
    assert where(change)["food/fruit/apple"] is None


def test_names_alone_are_renamed_where_they_are():
    assert where(changed(("nails", "spikes"))) == {"tools/nails": "tools/spikes"}
    merged = changed(("nails", "metal"), ("saws", "metal"))
    assert where(merged) == {"tools/saws": "tools/metal", "tools/nails": "tools/metal"}


def test_names_that_are_numbers_stay_numbers():
    tree = Hierarchy.from_paths([(1, 11), (1, 12), (2, 21)])
    change = changed(("1/11", "2/22"), tree=tree, separator="/")
    assert change.new.path(int(change.kept[tree.index((1, 11))])) == (2, 22)


def test_nodes_of_a_dag_can_be_renamed_only():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x")])
    change = changed(("a", "c"), tree=dag)
    assert set(change.new.names.tolist()) == {"r", "c", "b", "x"}
    assert change.new.names[change.kept].tolist() == ["r", "c", "b", "x"]
    with pytest.raises(HierarchyError, match=r"change 1: .* can only be renamed"):
        changed(("a", ""), tree=dag)
    with pytest.raises(HierarchyError, match="change 1 adds a node"):
        changed(("", "d"), tree=dag)


# ---------------------------------------------------------------------- bad maps


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([("tools > sawz", "x")], r"change 1 has the old path 'tools > sawz'.*'tools > saws'"),
        ([("food > fruit > apple", "food > fruit > pear")], "would both have the path"),
        ([("", "food > nuts")], r"change 1 adds 'food > nuts', which is the path of"),
        ([("food", "food > all > food")], "change 1 is a cycle"),
        ([("food", "tools > food"), ("tools", "food > tools")], "change 1 is a cycle"),
        ([("food", "x"), ("food > nuts", "food > y")], r"change 2: .* which is now 'x' \(change 1"),
        ([("tools > saws", ""), ("tools > nails", "")], "leaves 'tools' without children"),
        ([("tools > saws", "saws"), ("tools > nails", "nails")], "leaves 'tools' without children"),
        ([("food", ""), ("food", "x")], "change 1 and change 2 contradict each other"),
        (
            [("food > fruit", "x"), ("food > fruit", "y")],
            r"its child 'food > fruit > apple' has no",
        ),
        ([("food", ""), ("tools", "")], "removes all nodes"),
        ([("food > nuts", "food > nut", "move")], "kind 'move', but 'food > nuts' has the same"),
        ([("food > nuts", "tools > nuts", "rename")], "kind 'rename', but 'food > nuts' has anoth"),
        ([("food > nuts", "food > nut", "split")], "has one new path: a split needs several"),
        ([("food > nuts", "food > nut", "merge")], "no other node has the new path"),
        ([("food > nuts", "", "rename")], "kind 'rename', but it has no new path"),
        ([("", "x", "remove")], "kind 'remove', but it has no old path"),
        ([("food", "x", "renam")], "kind 'renam'.*Did you mean 'rename'"),
        ([("root", "x")], "which is the root"),
        ([("food", "x >  > y")], "a name is empty"),
        ([("food",)], "expected \\(old, new\\)"),
    ],
)
def test_a_bad_map_is_refused_with_its_line(lines, message):
    with pytest.raises(HierarchyError, match=message):
        changed(*lines, separator=" > ")


def test_a_name_that_several_nodes_have_is_refused():
    tree = Hierarchy.from_paths([("a", "x"), ("b", "x")])
    with pytest.raises(HierarchyError, match="change 1: 'x' is ambiguous"):
        changed(("x", "y"), tree=tree)


# ---------------------------------------------------------------------- reading


def test_a_file_and_a_frame_say_the_same(tmp_path):
    file = tmp_path / "map.csv"
    file.write_bytes(
        b'\xef\xbb\xbfnew;note;old;kind\r\n\r\na > c;"two\nlines";a > b;Rename\r\n;;d;\r\n'
    )
    lines = read_changes(file)
    assert [(line.old, line.new, line.kind) for line in lines] == [
        ("a > b", "a > c", "rename"),
        ("d", "", ""),
    ]
    assert lines[1].where == "line 5"  # of the file, not of the table
    frame = pd.DataFrame({"old": ["a > b", "d"], "new": ["a > c", np.nan]})
    assert [(line.old, line.new) for line in read_changes(frame)] == [
        ("a > b", "a > c"),
        ("d", ""),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("from,to\na,b\n", "expected old, new"),
        ("old,new\na\n", "map.csv:2: 1 cells"),
        ('old,new\na,"b\n', "map.csv|unexpected end"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, text, message):
    file = tmp_path / "map.csv"
    file.write_text(text)
    if message.startswith("map.csv|"):
        assert read_changes(file)[0].new == "b"  # as the csv module reads it
        return
    with pytest.raises((ReadError, HierarchyError), match=message):
        read_changes(file)


@pytest.mark.parametrize("bad", [7, {"a": "b"}, None])
def test_other_things_are_no_changes(bad):
    with pytest.raises(HierarchyError, match="expected a CSV file"):
        read_changes(bad)


# ---------------------------------------------------------------------- proposals


def random_tree(rng, n_nodes):
    parents = {0: ()}
    for node in range(1, n_nodes):
        parents[node] = (*parents[int(rng.integers(node))], f"n{rng.integers(2 * n_nodes)}_{node}")
    return Hierarchy.from_paths(list(parents.values())[1:])


@pytest.mark.parametrize("seed", range(8))
def test_a_proposed_map_leads_to_the_new_tree(seed):
    rng = np.random.default_rng(seed)
    old = random_tree(rng, 25)
    paths = [list(old.path(leaf)) for leaf in old.leaves]
    for _ in range(4):  # rename a name everywhere, move, drop, add
        paths[int(rng.integers(len(paths)))][-1] += "x"
        at = int(rng.integers(len(paths)))
        paths[at] = [*paths[int(rng.integers(len(paths)))][:1], paths[at][-1]]
    paths.pop(int(rng.integers(len(paths))))
    paths.append(["added", "leaf"])
    new = Hierarchy.from_paths(map(tuple, paths))
    lines = [(each.old, each.new, each.kind) for each in propose_changes(old, new)]
    change = change_tree(old, read_changes(lines))
    assert set(change.new.path_strings) == set(new.path_strings)


def test_proposals_say_what_happened():
    new = Hierarchy.from_paths(
        [("food", "fruits", "apple"), ("food", "fruits", "pear"), ("tools", "saws", "hand"),
         ("tools", "saws", "chain"), ("garden", "nuts"), ("tools", "drills")]
    )  # fmt: skip
    found = {("/".join(each.old), "/".join(each.new)): each for each in propose_changes(SHOP, new)}
    assert {pair: each.kind for pair, each in found.items()} == {
        ("food/fruit", "food/fruits"): "rename",
        ("food/nuts", "garden/nuts"): "move",
        ("tools/nails", ""): "remove",
        ("tools/saws", "tools/saws/hand"): "split",
        ("tools/saws", "tools/saws/chain"): "split",
        ("", "tools/drills"): "new",
    }
    assert found["food/fruit", "food/fruits"].reason == "the same children"
    assert propose_changes(SHOP, SHOP) == []
    collapsed = Hierarchy.from_paths([("food", "fruit"), ("food", "nuts"), ("tools", "saws"),
                                      ("tools", "nails")])  # fmt: skip
    assert {each.kind for each in propose_changes(SHOP, collapsed)} == {"merge"}
