"""Paths in strings: separators that are given, found, or only part of a name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette import Hierarchy
from palmette.exceptions import HierarchyError
from palmette.hierarchy._separators import (
    SEPARATORS,
    detect_separator,
    detect_separators,
    join_path,
    split_path,
)

PATHS = [("Tops", "T-shirts"), ("Tops", "C->D"), ("Shoes", "a/b"), ("Shoes", "x>"), ("Hats",)]


@pytest.mark.parametrize(
    ("labels", "separator"),
    [
        (["animal/cat", "animal/dog"], "/"),
        (["animal/cat", "animal/dog", "plant/oak"], "/"),
        (["a > b", "a > c", "d"], " > "),
        (["a > b", "a >c", "d > e"], ">"),  # one label has no space after the mark
        (["a > x>y", "a > z"], " > "),  # a mark inside a name
        (["2/1/3", "2/1/4", "1/1/0"], "/"),
        (["11/02/03", "11/02/03/01", "12/01"], "/"),
        (["std::map", "std::list", "abs"], "::"),
        (["11/02", "11/03", "40/10"], "/"),  # codes: no number begins with 0, no date has month 40
    ],
)
def test_separators_that_are_found(labels, separator):
    assert detect_separator(labels) == separator


@pytest.mark.parametrize(
    "labels",
    [
        ["AC/DC", "ABBA", "Queen"],
        ["N/A", "yes", "no"],
        ["24/7", "9/5", "24/5"],
        ["1/2", "1/3", "2/3"],
        ["2024/01/05", "2024/01/06", "2024/02/01"],
        ["05/01/2024", "05/02/2024"],
        ["1/2", "1/4", "3/4", "and/or"],  # one other label does not make paths of fractions
        ["1/2", "1/3", "2/3", "and/or", "either/or"],
        ["05/2024", "06/2024", "05/2025"],
        ["km/h", "km/s", "m/s", "mg/l", "g/l"],  # two names before it are equal by chance
        ["src/a.py", "src/b.py", "tests/c.py"],
        ["/usr/bin", "/usr/lib", "/var/log"],
        ["./a/b", "./a/c"],
        ["C:\\Users\\a", "C:\\Users\\b"],
        ["https://a.org/x", "https://a.org/y"],
        ["www.a.org/x", "www.a.org/y"],
        ["Tops - Shirts", "Tops - Coats"],
        ["he/him", "she/her", "they/them"],
        ["en/fr", "fr/de", "en/de", "de/en"],
        ["en->fr", "fr->en", "en->de", "de->en"],
        [">50K", ">100K"],
        ["->", "-->", "=>"],
        ["a.b", "a.c"],
        [],
        ["", "/"],
    ],
)
def test_plain_names(labels):
    assert detect_separator(labels) is None


LABELS = [
    "1/2",
    "3/4",
    "11/02",
    "and/or",
    "N/A",
    "A/B testing",
    "a/b",
    "a/c",
    "a",
    "b > c",
    "05/2024",
]


@settings(max_examples=200)
@given(st.lists(st.sampled_from(LABELS), min_size=1), st.randoms(use_true_random=False))
def test_only_the_set_of_labels_counts(labels, random):
    distinct = sorted(set(labels))
    random.shuffle(labels)
    assert detect_separator(labels * 2) == detect_separator(distinct)


def test_draws_of_rows_with_fractions_are_read_alike():
    fractions = [f"{a}/{b}" for b in range(2, 12) for a in range(1, b)]
    for start in range(5):  # with one other label or without it
        drawn = fractions[start::5]
        assert detect_separator(drawn) is None
        assert detect_separator([*drawn, "and/or"]) is None


def test_a_separator_is_exact():
    assert split_path("T-shirts - Long-sleeve", " - ") == ("T-shirts", "Long-sleeve")
    assert split_path("a- - b -", " - ") == ("a-", "b -")
    assert split_path("a >b", " > ") == ("a >b",)
    assert split_path("a >b", ">") == ("a", "b")
    assert split_path(" a > b ", None) == ("a > b",)


names = st.text(st.sampled_from("ab ->/|:»"), min_size=1, max_size=5).filter(
    lambda name: name == name.strip()
)


@settings(max_examples=60)
@given(st.lists(names, min_size=1, max_size=4), st.sampled_from([*SEPARATORS, " - ", "-", "."]))
def test_joined_names_are_split_again_or_refused(path, separator):
    text = join_path(path, separator)
    assert text is None or split_path(text, separator) == tuple(path)
    if not any(set(name) & set(separator.strip()) for name in path):
        assert text == separator.join(path)


@pytest.mark.parametrize("separator", SEPARATORS)
def test_nodes_are_found_with_any_separator(separator):
    h = Hierarchy.from_paths(PATHS)
    for path in PATHS:
        if join_path(path, separator) is not None:
            assert h.path(h.index(separator.join(path))) == path
    assert f"Tops{separator}Nothing" not in h


def test_a_string_with_two_readings_is_ambiguous():
    h = Hierarchy.from_paths([("a", "b > c"), ("a/b", "c")])
    with pytest.raises(HierarchyError, match="ambiguous"):
        h.index("a/b > c")


# ---------------------------------------------------------------------- any mark, several paths

GOODS = [
    *(("Food", "Fruit", "Apple"), ("Food", "Fruit", "Pear"), ("Food", "Fish", "Cod")),
    *(("Food", "Fish", "Hake"), ("Tools", "Hand tools", "Saw"), ("Tools", "Hand tools", "Axe")),
    *(("Tools", "Power", "Drill"), ("Tools", "Power", "T-lathe")),
    *(("Home & Garden", "Beds", "Sofa bed"), ("Home & Garden", "Beds", "Bunk")),
]
MARKS = "> / | :: : -> => >> >>> » › → ⇒ ▸ ➔ \\ ; , - -- — _ __ . ~ • · # + … &gt; ^ @ || // = * &"
MARKS = MARKS.split()


@pytest.mark.parametrize("mark", [*MARKS, *(f" {m} " for m in MARKS), ": ", ", ", "; ", "\t"])
def test_any_mark_that_forms_a_tree_is_found(mark):
    labels = [mark.join(path) for path in GOODS]
    assert detect_separator(labels, any_mark=True) == mark


@pytest.mark.parametrize(
    "labels",
    [
        ["low-risk", "high-risk", "low-income", "high-income"],
        ["Iris-setosa", "Iris-versicolor", "Iris-virginica"],
        ["red, green", "green, blue", "red, blue"],
        ["1.5", "2.5", "1.0", "2.0"],
        ["12:30", "12:45", "13:30", "13:45"],
        ["Mon 12:30", "Mon 12:45", "Tue 12:30", "Tue 12:45"],
        ["2024-01-05", "2024-01-06", "2024-02-05", "2024-02-06"],
        ["en-US", "en-GB", "de-DE", "de-AT"],
        ["T-shirt", "e-mail", "X-ray", "Y-axis"],
        ["Smith, John", "Doe, Jane", "Kay, Al", "Poe, Edgar"],
        ["\U0001f34e Apple", "\U0001f34e Pear", "\U0001f528 Saw", "\U0001f528 Axe"],
        ["Cable (USB)", "Cable (HDMI)", "Plug (EU)", "Plug (UK)"],
    ],
)
def test_marks_of_names_form_no_tree(labels):
    assert detect_separator(labels, any_mark=True) is None


INNER = [*GOODS, *{path[:end] for path in GOODS for end in (1, 2)}]


@pytest.mark.parametrize(
    "mark", [*(m for m in MARKS if m not in ("&", "-")), ": ", ", ", "\n", " ➡️ ", " < "]
)
@pytest.mark.parametrize("paths", [INNER, [("All", *path) for path in GOODS]], ids=["inner", "one"])
def test_paths_may_end_at_inner_nodes_or_have_one_top(mark, paths):
    labels = [mark.join(path) for path in paths]
    found = detect_separator(labels, any_mark=True)
    assert {split_path(label, found) for label in labels} == set(paths)


@pytest.mark.parametrize("form", ["/{}", "{};", "> {}"])
def test_a_separator_may_stand_before_or_behind_all_labels(form):
    mark = form.replace("{}", "").strip()
    labels = [form.format(mark.join(path)) for path in GOODS]
    assert detect_separator(labels, any_mark=True) == mark


GENRES = ["Action", "Comedy", "Drama", "Horror", "Sci-Fi", "War"]


@pytest.mark.parametrize("mark", ["|", ", ", "; ", "、", " + ", " and ", " / ", " "])
def test_sets_of_plain_names_are_found(mark):
    rng = np.random.default_rng(0)
    drawn = [sorted(rng.choice(GENRES, size, False)) for size in rng.integers(1, 4, 60)]
    assert detect_separators([mark.join(cell) for cell in drawn]) == (None, mark)


@pytest.mark.parametrize(
    "labels",
    [
        [f"{size} {thing}" for size in ("big", "small", "old") for thing in ("cat", "dog", "cow")],
        ["Clothing, Shoes & Jewelry", "Books, Music", "Food, Drinks", "Toys, Games"],
        [f"{a}/{b}" for a in ("en", "fr", "de", "it") for b in ("fr", "de", "it") if a != b],
    ],
)
def test_names_of_several_words_are_no_sets(labels):
    assert detect_separators(labels) == (None, None)


@pytest.mark.parametrize("separator", [" > ", "::", " :: ", "/", " » ", ": ", "->"])
@pytest.mark.parametrize("mark", [", ", ";", "; ", " | ", "\n", "||"])
def test_several_paths_in_a_cell_are_found(separator, mark):
    rng = np.random.default_rng(0)
    paths = [separator.join(path) for path in GOODS]
    drawn = [rng.choice(paths, size, replace=False) for size in rng.integers(1, 4, 60)]
    assert detect_separators([mark.join(cell) for cell in drawn]) == (separator, mark)


@pytest.mark.parametrize(
    "names", [("Fruit, nuts", "Beds; sofas"), ("Home & Garden", "A | B"), ("a, b; c", "d, e")]
)
def test_names_with_marks_are_one_path(names):
    labels = [f"{top} > {name} > {i}x" for top in ("P", "Q") for name in names for i in range(4)]
    assert detect_separators(labels) == (" > ", None)
