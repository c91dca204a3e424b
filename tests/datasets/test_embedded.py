"""The docstrings of the standard library as a hierarchical text set."""

from __future__ import annotations

import gc
import platform
import sys
import sysconfig
import textwrap
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette.datasets import (
    _embedded,
    content_split,
    load_digits_hierarchy,
    load_icd10cm,
    load_stdlib_docstrings,
)
from palmette.exceptions import DataHomeError, PalmetteError
from palmette.labels._labels import NodeLabels


@pytest.fixture(scope="module")
def docs():
    return load_stdlib_docstrings(return_split=True)


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Stand a small folder in for the standard library; return a writer of its files."""
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))

    def write(path, source):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(source), encoding="utf-8")

    return write


def paths_of(bunch):
    return [tuple(name for name in row if name != "") for row in bunch.y]


# ---------------------------------------------------------------------- the real library


def test_it_is_large_deep_and_imbalanced(docs):
    assert len(docs.X) == len(docs.y) == len(docs.names) > 3000
    assert docs.hierarchy.max_depth == 3
    assert docs.hierarchy.n_leaves > 60
    sizes = Counter(paths_of(docs)).values()
    assert max(sizes) > 5 * min(sizes)


def test_the_example_of_the_docstring_holds(docs):
    few = load_stdlib_docstrings(min_class_count=50)
    assert (few.y.shape[1], len(few.X) == len(few.y)) == (3, True)
    assert "asyncio" in few.hierarchy.path_strings


def test_every_label_has_enough_rows_and_every_text_enough_characters(docs):
    assert min(Counter(paths_of(docs)).values()) >= 20
    assert min(map(len, docs.X)) >= 40


def test_no_text_comes_twice_under_a_label(docs):
    small = load_stdlib_docstrings(min_class_count=1, max_depth=9)
    pairs = list(zip(paths_of(small), small.X, strict=True))
    assert len(set(pairs)) == len(pairs)


def test_labels_are_those_of_the_hierarchy(docs):
    given_hierarchy = NodeLabels.encode(docs.y, docs.hierarchy)
    inferred = NodeLabels.encode(docs.y)
    assert inferred.hierarchy == docs.hierarchy
    np.testing.assert_array_equal(given_hierarchy.terminals, inferred.terminals)
    assert (~docs.hierarchy.is_leaf[inferred.terminals]).any()


def test_leaves_only_drops_rows_but_no_node(docs):
    leaves = load_stdlib_docstrings(leaves_only=True)
    assert leaves.hierarchy == docs.hierarchy
    assert leaves.hierarchy.is_leaf[NodeLabels.encode(leaves.y).terminals].all()
    assert 0 < len(leaves.X) < len(docs.X)
    assert "All labels are leaves" in leaves.DESCR


def test_known_docstrings_carry_the_path_of_their_class(docs):
    label = dict(zip(docs.names, paths_of(docs), strict=True))
    assert label["logging.handlers.RotatingFileHandler.doRollover"][:1] == ("logging",)
    assert label["decimal.Decimal.quantize"] == ("decimal", "Decimal")
    assert label["shutil.copytree"] == ("shutil",)


def test_two_loads_are_equal_and_apart(docs):
    again = load_stdlib_docstrings(return_split=True)
    assert again.X == docs.X
    assert again.X is not docs.X
    np.testing.assert_array_equal(again.y, docs.y)
    assert again.hierarchy == docs.hierarchy
    assert platform.python_version() in docs.DESCR


def test_the_split_covers_all_rows_and_all_test_labels_are_trained(docs):
    rows = np.sort(np.concatenate([docs.train, docs.test]))
    np.testing.assert_array_equal(rows, np.arange(len(docs.X)))
    assert not set(docs.X_train) & set(docs.X_test)
    assert set(map(tuple, docs.y_test)) <= set(map(tuple, docs.y_train))
    assert abs(len(docs.X_test) / len(docs.X) - 0.25) < 0.03
    assert docs.X_test == [docs.X[i] for i in docs.test]


def test_nothing_is_imported(library):
    library("loud.py", "raise SystemExit\nclass A:\n    '''" + "x" * 50 + "'''\n")
    assert load_stdlib_docstrings(min_class_count=1).names == ["loud.A"]
    assert "loud" not in sys.modules


# ---------------------------------------------------------------------- a library by hand


def test_paths_follow_package_module_and_class(library):
    library("pack/__init__.py", 'def f():\n    """Of the package."""\n')
    library(
        "pack/mod.py",
        '''
        """Of the module: not a row."""
        def function():
            """Of a function."""
            def inner():
                """Of an inner function: not a row."""
        class Outer:
            """Of a class."""
            async def method(self):
                """Of a method."""
            class Inner:
                def method(self):
                    """Of a nested class."""
        try:
            import fast
        except ImportError:
            def fallback():
                """Of a fallback."""
        ''',
    )
    library("_pyio.py", 'class RawIOBase:\n    """Of the twin in Python."""\n')
    library("test/test_mod.py", 'def f():\n    """Of a test."""\n')
    bunch = load_stdlib_docstrings(min_chars=1, min_class_count=1, max_depth=4)
    assert dict(zip(bunch.X, paths_of(bunch), strict=True)) == {
        "Of the package.": ("pack",),
        "Of a function.": ("pack", "mod"),
        "Of a fallback.": ("pack", "mod"),
        "Of a class.": ("pack", "mod", "Outer"),
        "Of a method.": ("pack", "mod", "Outer"),
        "Of a nested class.": ("pack", "mod", "Outer", "Inner"),
        "Of the twin in Python.": ("io", "RawIOBase"),
    }
    assert bunch.names[-1] == "pack.mod.Outer.Inner.method"
    cut = load_stdlib_docstrings(min_chars=1, min_class_count=1, max_depth=2)
    assert cut.y.shape == (7, 2)


def test_small_labels_fold_into_their_parents_and_drop_at_the_top(library):
    def functions(n, where):
        return "".join(f'def f{i}():\n    """{where} {i}"""\n' for i in range(n))

    library("p/a.py", functions(3, "a"))
    library("p/b.py", functions(2, "b"))
    library("p/c.py", functions(1, "c"))
    library("lone.py", functions(2, "lone"))
    bunch = load_stdlib_docstrings(min_chars=1, min_class_count=3)
    assert Counter(paths_of(bunch)) == {("p", "a"): 3, ("p",): 3}
    leaves = load_stdlib_docstrings(min_chars=1, min_class_count=3, leaves_only=True)
    assert Counter(paths_of(leaves)) == {("p", "a"): 3}


def test_files_that_do_not_parse_are_passed_over(library):
    library("good.py", 'def f():\n    """Good."""\n')
    library("bad.py", 'def f(:\n    """Bad."""\n')
    library("nul.py", '"""\0"""\n')
    assert load_stdlib_docstrings(min_chars=1, min_class_count=1).X == ["Good."]


@pytest.mark.parametrize("files", [[], ["mod.pyc"]])
def test_a_library_without_sources_is_an_error_that_says_so(library, files):
    for file in files:
        library(file, "not source")
    with pytest.raises(DataHomeError, match="zipped or has no docstrings"):
        load_stdlib_docstrings()


def test_too_strict_parameters_are_an_error_that_says_so(library):
    library("mod.py", 'def f():\n    """Short."""\n')
    with pytest.raises(PalmetteError, match="no label has 20 docstrings of 40 characters"):
        load_stdlib_docstrings()
    with pytest.raises(PalmetteError, match="max_depth=0"):
        load_stdlib_docstrings(max_depth=0)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(library, enabled):
    library("mod.py", 'def f():\n    """Text."""\n')
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        _embedded._read_library.cache_clear()
        load_stdlib_docstrings(min_chars=1, min_class_count=1)
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


# ---------------------------------------------------------------------- the split


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(st.text(max_size=3), st.integers(0, 3)), max_size=40),
    size=st.floats(0, 1),
    seed=st.integers(0, 9),
)
def test_content_split_laws(rows, size, seed):
    texts, labels = [r[0] for r in rows], [r[1] for r in rows]
    train, test = content_split(texts, labels, size, seed)
    assert sorted([*train, *test]) == list(range(len(rows)))
    assert not {texts[i] for i in train} & {texts[i] for i in test}
    assert {labels[i] for i in train} == set(labels)


def test_a_text_keeps_its_side_when_others_come_or_go():
    texts = [f"text {i}" for i in range(500)]
    _, test = content_split(texts, [0] * 500)
    assert abs(len(test) - 125) < 40
    half = texts[::2]
    _, fewer = content_split(half, [0] * 250)
    assert {half[i] for i in fewer} == {texts[i] for i in test} & set(half)
    _, other = content_split(texts, [0] * 500, seed=1)
    assert set(other) != set(test)


def test_content_split_says_what_is_wrong():
    with pytest.raises(PalmetteError, match="test_size=2"):
        content_split([], [], 2)
    with pytest.raises(PalmetteError, match="1 texts and 0 labels"):
        content_split(["a"], [])


def test_shapes_and_types():
    digits = load_digits_hierarchy()
    assert digits.X.shape == (1797, 64)
    assert len(digits.feature_names) == 64
    assert digits.y.dtype == np.int64
    assert digits.hierarchy.level_sizes.tolist() == [1, 2, 6, 6]


def test_leaves_are_the_ten_digits_as_integers():
    h = load_digits_hierarchy().hierarchy
    leaves = h.names[h.leaves].tolist()
    assert sorted(leaves) == list(range(10))
    assert {type(leaf) for leaf in leaves} == {int}


def test_labels_encode_and_come_back_as_integers():
    digits = load_digits_hierarchy()
    labels = NodeLabels.encode(digits.y, digits.hierarchy)
    assert digits.hierarchy.is_leaf[labels.terminals].all()
    back = labels.decode()
    assert back.dtype == np.int64
    np.testing.assert_array_equal(back, digits.y)


def test_diagnoses_have_paths_of_three_and_no_test_row_is_a_training_row():
    icd = load_icd10cm()
    assert icd.y.shape == (len(icd.X), 3)
    assert len(icd.X_train) + len(icd.X_test) == len(icd.X) == 17_074
    assert icd.hierarchy.level_sizes.tolist() == [1, 9, 117, 822]
    assert set(map(tuple, icd.y_test.tolist())) <= set(map(tuple, icd.y_train.tolist()))
    assert not {text.casefold() for text in icd.X_train} & {t.casefold() for t in icd.X_test}
    assert all(text.strip() for text in icd.X)
