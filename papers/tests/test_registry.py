"""Papers by name, and checks of the arguments before the long computation."""

from __future__ import annotations

import pytest

from palmette.datasets._home import OWN_COPIES
from palmette.exceptions import PalmetteError
from papers import find_published, list_published, registry, run


def test_papers_are_listed_by_name():
    names = [paper.name for paper in list_published()]
    assert names == sorted(names)
    assert "h-ada-mh" in names


def test_a_name_that_is_near():
    with pytest.raises(PalmetteError, match="Did you mean h-ada-mh"):
        find_published("h-ada")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": ["iris"]}, "h-ada-mh has no data set 'iris': expected some of imclef07a"),
        ({"data": []}, "no data set is named"),
        ({"rounds": 0}, "rounds=0: expected a positive integer"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(PalmetteError, match=message):
        run("h-ada-mh", **options)


def test_options_reach_the_paper(monkeypatch):
    calls = []
    paper = registry.Published("p", "s", "r", ("a", "b", "c"), lambda *args: calls.append(args))
    monkeypatch.setitem(registry._PAPERS, "p", paper)
    run("p", ["c", "a"], rounds=3, seed=2, n_jobs=4)
    run("p")
    assert calls == [
        (("a", "c"), 3, 2, 4, None, None),
        (("a", "b", "c"), None, 0, None, None, None),
    ]


def test_options_that_only_some_papers_have(monkeypatch):
    calls = []
    paper = registry.Published(
        "p",
        "s",
        "r",
        ("a", "b"),
        lambda *args, **options: calls.append((args[0], options)),
        quick=("b",),
        has_splits=True,
        more=("c",),
    )
    monkeypatch.setitem(registry._PAPERS, "p", paper)
    run("p", quick=True)
    run("p", ["c", "a"], quick=True, splits=2)
    run("p")
    assert calls == [
        (("b",), {"quick": True}),
        (("a", "c"), {"quick": True, "splits": 2}),
        (("a", "b"), {}),
    ]
    with pytest.raises(PalmetteError, match="expected some of a, b, c"):
        run("p", ["d"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quick": True}, "p has no quick look. Choose one or two of its data sets"),
        ({"splits": 2}, "splits=2 was given, but p has no random splits"),
    ],
)
def test_options_that_a_paper_has_not(monkeypatch, options, message):
    paper = registry.Published("p", "s", "r", ("a",), lambda *args: None)
    monkeypatch.setitem(registry._PAPERS, "p", paper)
    with pytest.raises(PalmetteError, match=message):
        run("p", **options)


@pytest.mark.parametrize("paper", list_published(), ids=lambda paper: paper.name)
def test_every_paper_has_a_quick_look(paper):
    assert paper.quick
    assert set(paper.quick) <= set(paper.datasets)


def test_every_set_that_a_reader_may_have_belongs_to_a_paper():
    more = [name for paper in list_published() for name in paper.more]
    assert set(OWN_COPIES) <= set(more)
