"""Papers by name, and the checks in front of hours of work."""

from __future__ import annotations

import pytest

from palmette.bench.published import find_published, list_published, registry, run
from palmette.exceptions import PalmetteError


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
