"""Claims are judged by figures: the same words with other figures say the opposite."""

from __future__ import annotations

import pytest

from palmette.hierarchy._hierarchy import Hierarchy
from papers.mf_tree.judging import CONTESTS, judge
from papers.mf_tree.methods import methods
from papers.mf_tree.outcome import Grown


def by_words(outcome, words: str) -> list[bool]:
    return [claim.holds for claim in judge([outcome]) if words in claim.words]


def test_the_example_needs_no_data():
    first, second, third = judge([])
    assert first.holds
    assert first.words == (
        "Figure 3: tree MSE 0.03125 of ((c1, c3), (c2, c4)) against ((c1, c2), (c3, c4)): that it "
        "is 0.03125, as in the paper, holds."
    )
    assert not second.holds
    assert "0 have a tree MSE of 0.01383" in second.words
    assert third.holds
    assert "0.00521 or 0.02083 with c2 misplaced, 0.03125 with c2 and c3 exchanged" in third.words


def answer_of(tells, title: str, **told):
    """Make an answer of a title, such as that of a contest."""
    method, way = title, ""
    for each in ("greedy", "beam 5"):
        if title.endswith(f", {each}"):
            method, way = title.removesuffix(f", {each}"), each
    return tells(method, way, **told)


@pytest.mark.parametrize("contest", CONTESTS, ids=lambda contest: contest.against)
@pytest.mark.parametrize(("ours", "best", "holds"), [(0.6, 0.5, True), (0.5, 0.5, False)])
def test_the_best_f1(outcome_of, tells, contest, ours, best, holds):
    """Every contest has rivals of its own: those of another are not looked at."""
    others = {title for each in CONTESTS for title in each.rivals} - set(contest.rivals)
    rivals = [
        answer_of(tells, title, macro_f1=best - 0.01 * i, us=20.0 + i)
        for i, title in enumerate(contest.rivals)
    ]
    strong = [answer_of(tells, title, macro_f1=0.99, us=1.0) for title in others]
    outcome = outcome_of([tells(contest.ours, macro_f1=ours, us=10.0), *rivals, *strong])
    assert by_words(outcome, f"it has the best F1 {contest.against},") == [holds]
    (claim,) = (claim for claim in judge([outcome]) if f"best F1 {contest.against}," in claim.words)
    told = f"{best:.3f} by {contest.rivals[0]}, the best of 5 rivals"
    assert told in claim.words
    assert by_words(outcome, f"least test time {contest.against},") == [True]


def test_titles_of_contests_are_those_of_methods():
    titles = {
        f"{method.key}, {way}" if way else method.key
        for method in methods()
        for way in method.answers
    }
    for contest in CONTESTS:
        assert {contest.ours, *contest.rivals} <= titles
        assert len(contest.rivals) == 5


@pytest.mark.parametrize(("ours", "holds"), [(9.0, True), (10.0, False)])
def test_the_least_time(outcome_of, tells, ours, holds):
    others = [tells("RDM", "beam 5", us=10.0), tells("CMTL", "beam 5", us=20.0)]
    outcome = outcome_of([tells("MF-Tree", us=ours), *others])
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


@pytest.mark.parametrize(("ours", "holds"), [(6, True), (7, False)])
def test_the_smaller_tree(outcome_of, tells, ours, holds):
    outcome = outcome_of(
        [
            tells("MF-Tree as published", depth=ours),
            tells("DRHL, published starts", "greedy", depth=8),
            tells("RDM as published", depth=7),
            tells("DRHL", "greedy", depth=3),
            tells("RDM", "greedy", depth=3),
        ]
    )
    assert by_words(outcome, "smaller than those of DRHL and RDM as published") == [holds]
    assert by_words(outcome, "smaller than those of DRHL and RDM in our versions") == [False]


@pytest.mark.parametrize(("mse", "triplets"), [(0.1, 0.9), (0.3, 0.4)])
def test_nearer_trees(outcome_of, mse, triplets):
    outcome = outcome_of([])
    ours, other = {"mse": mse, "triplets": triplets}, {"mse": 0.2, "triplets": 0.5}
    outcome.__dict__["qualities"] = {"MF-Tree, binary": ours, "CMTL": other}
    outcome.__dict__["chance"] = {"mse": [0.19, 0.21], "triplets": [0.4, 0.6]}
    holds = mse < 0.2
    assert by_words(outcome, "MF-Tree is nearer by tree MSE") == [holds]
    assert by_words(outcome, "MF-Tree is nearer by triplets") == [holds]
    assert by_words(outcome, "better than by chance") == [holds]


def test_chance_has_a_spread(outcome_of):
    """A value within two deviations of those of random trees is not better than by chance."""
    outcome = outcome_of([])
    outcome.__dict__["qualities"] = {"MF-Tree, binary": {"mse": 0.19, "triplets": 0.6}}
    outcome.__dict__["chance"] = {"mse": [0.19, 0.21], "triplets": [0.4, 0.6]}
    assert by_words(outcome, "better than by chance") == [False]
    assert by_words(outcome, "0.2000 ± 0.0141 by 20 random trees") == [False]


@pytest.mark.parametrize(
    ("seconds", "scores", "verdicts"),
    [(0.7, (0.5, 0.4, 0.3), [True, True, True]), (0.9, (0.5, 0.3, 0.4), [False, False, False])],
)
def test_tau(outcome_of, tells, seconds, scores, verdicts):
    keys = [f"MF-Tree, tau={tau}" for tau in (0, 3, 6)]
    answers = [
        tells(key, "beam 5", macro_f1=score, fit_s=2.0, f1_interval=(0.35, 0.6))
        for key, score in zip(keys, scores, strict=True)
    ]
    tree = Hierarchy.star(list("ab"))
    outcome = outcome_of(answers, dict.fromkeys(keys, tree))
    outcome.grown[keys[1]] = Grown(keys[1], tree, seconds)  # the others take a second
    outcome.__dict__["qualities"] = {}
    assert by_words(outcome, "Table 3") == verdicts


@pytest.mark.parametrize(
    ("seconds", "verdicts"),
    [((0.9, 0.7, 0.5, 0.3, 0.25), [True, True]), ((0.9, 0.7, 0.6, 0.6, 0.4), [False, False])],
)
def test_the_time_of_the_tree_over_tau(outcome_of, tells, seconds, verdicts):
    keys = [f"MF-Tree, tau={tau}" for tau in (0, 3, 4, 5, 6)]
    tree = Hierarchy.star(list("ab"))
    outcome = outcome_of([tells(key, "beam 5") for key in keys])
    for key, each in zip(keys, seconds, strict=True):
        outcome.grown[key] = Grown(key, tree, each)
    outcome.__dict__["qualities"] = {}
    assert by_words(outcome, "continues to improve") == verdicts[:1]
    assert by_words(outcome, "tapers off at tau = 6") == verdicts[1:]


def test_no_answers_no_claims(outcome_of):
    assert len(judge([outcome_of([])])) == 3
