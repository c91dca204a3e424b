"""Claims are judged by figures: the same words with other figures say the opposite."""

from __future__ import annotations

import dataclasses

import pytest

from palmette.hierarchy._hierarchy import Hierarchy
from papers.mf_tree.judging import judge
from papers.mf_tree.outcome import Grown

RIVALS = ("DAGSVM", "DRHL", "CMTL", "RNMF", "RDM")


def by_words(outcome, words: str) -> list[bool]:
    return [claim.holds for claim in judge([outcome]) if words in claim.words]


def test_the_example_needs_no_data():
    first, second = judge([])
    assert first.holds
    assert first.words == (
        "Figure 3: tree MSE 0.03125 of ((c1, c3), (c2, c4)) against ((c1, c2), (c3, c4)): that it "
        "is 0.03125, as in the paper, holds."
    )
    assert not second.holds
    assert "0 have a tree MSE of 0.01383" in second.words


@pytest.mark.parametrize(("ours", "best", "holds"), [(0.6, 0.5, True), (0.5, 0.5, False)])
def test_the_best_f1(outcome_of, tells, ours, best, holds):
    rivals = [tells(key, macro_f1=best - 0.01 * i) for i, key in enumerate(RIVALS)]
    outcome = outcome_of([tells("MF-Tree", macro_f1=ours), *rivals])
    assert by_words(outcome, "it has the best F1") == [holds]
    (claim,) = (claim for claim in judge([outcome]) if "best F1" in claim.words)
    assert f"{best:.3f} by the best of its rivals, DAGSVM" in claim.words


def test_like_is_compared_with_like(outcome_of, tells):
    """Greedy rivals stand beside the published tree, those with a beam beside ours."""
    outcome = outcome_of(
        [
            tells("MF-Tree as published", macro_f1=0.5),
            tells("MF-Tree", macro_f1=0.7),
            tells("CMTL", "greedy", macro_f1=0.4),
            tells("CMTL", "beam 5", macro_f1=0.8),
        ]
    )
    assert by_words(outcome, "it has the best F1") == [True, False]


@pytest.mark.parametrize(("ours", "holds"), [(9.0, True), (10.0, False)])
def test_the_least_time(outcome_of, tells, ours, holds):
    outcome = outcome_of([tells("MF-Tree", us=ours), tells("RDM", us=10.0), tells("CMTL", us=20.0)])
    assert by_words(outcome, "the least test time") == [holds]


@pytest.mark.parametrize(("us", "holds"), [(60.0, True), (50.0, False)])
def test_times_of_dag_svm(outcome_of, tells, us, holds):
    outcome = outcome_of([tells("MF-Tree", us=10.0), tells("DAGSVM", us=us, dots=40.0)])
    assert by_words(outcome, "it gains as much over DAGSVM") == [holds]
    words = f"takes {us / 10:.1f} times the test time of MF-Tree and 4.0 times its dot products; in"
    assert by_words(outcome, words) == [holds]
    assert by_words(outcome, "5.5 to 6.2 times the time") == [holds]


@pytest.mark.parametrize(
    ("accuracy", "dots", "verdicts"), [(0.6, 10.0, [True, True]), (0.59, 11.0, [False, False])]
)
def test_what_the_paper_left_out(outcome_of, tells, accuracy, dots, verdicts):
    flat = tells("one-vs-rest", accuracy=0.6, dots=30.0)
    outcome = outcome_of([tells("MF-Tree", accuracy=accuracy, dots=dots), flat])
    assert by_words(outcome, "one-vs-rest") == verdicts


def deep(n_levels: int) -> Hierarchy:
    names = [f"g{i}" for i in range(n_levels)]
    edges = [(a, b) for a, b in zip(["root", *names[:-1]], names, strict=True)]
    return Hierarchy.from_edges([*edges, ("root", "x"), (names[-1], "y"), (names[-1], "z")])


@pytest.mark.parametrize(("ours", "holds"), [(2, True), (3, False)])
def test_the_smaller_tree(outcome_of, ours, holds):
    trees = {"MF-Tree as published": deep(ours), "DRHL": deep(3), "RDM": deep(4)}
    outcome = dataclasses.replace(outcome_of([], trees))
    outcome.__dict__["qualities"] = {}  # these trees are over other classes
    assert by_words(outcome, "its tree is smaller") == [holds]


@pytest.mark.parametrize(("mse", "triplets"), [(0.1, 0.9), (0.3, 0.4)])
def test_nearer_trees(outcome_of, mse, triplets):
    outcome = outcome_of([])
    ours, other = {"mse": mse, "triplets": triplets}, {"mse": 0.2, "triplets": 0.5}
    outcome.__dict__["qualities"] = {"MF-Tree, binary": ours, "CMTL": other, "random": other}
    holds = mse < 0.2
    assert by_words(outcome, "MF-Tree is nearer by tree MSE") == [holds]
    assert by_words(outcome, "MF-Tree is nearer by triplets") == [holds]
    assert by_words(outcome, "better than by chance") == [holds]


@pytest.mark.parametrize(
    ("seconds", "scores", "verdicts"),
    [(0.7, (0.5, 0.4, 0.3), [True, True]), (0.9, (0.5, 0.3, 0.4), [False, False])],
)
def test_tau(outcome_of, tells, seconds, scores, verdicts):
    keys = [f"MF-Tree, tau={tau}" for tau in (0, 3, 6)]
    answers = [
        tells(key, "beam 5", macro_f1=score, fit_s=2.0)
        for key, score in zip(keys, scores, strict=True)
    ]
    tree = Hierarchy.star(list("ab"))
    outcome = outcome_of(answers, dict.fromkeys(keys, tree))
    outcome.grown[keys[1]] = Grown(keys[1], tree, seconds)  # the others take a second
    outcome.__dict__["qualities"] = {}
    assert by_words(outcome, "Table 3") == verdicts


def test_no_answers_no_claims(outcome_of):
    assert len(judge([outcome_of([])])) == 2
