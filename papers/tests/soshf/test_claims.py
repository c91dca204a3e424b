"""Claims hold and fail as the figures say; ranks; tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from papers.soshf.claims import judge
from papers.soshf.figures import draw_figures, figure_facts
from papers.soshf.outcome import Answer, gain_of
from papers.soshf.published import COLUMNS, PAPER_AUC, PAPER_F, PAPER_SETS
from papers.soshf.ranking import rank_methods, rank_scores, signed_rank_pvalue
from papers.soshf.tables import all_tables

SEVEN = ("emotions", "cal500", "medical", "yeast", "scene", "enron", "corel5k")


def verdicts(outcomes) -> dict[str, bool]:
    return {claim.where: claim.holds for claim in judge(outcomes)}


def test_the_printed_ranks_follow_from_the_printed_scores():
    found = verdicts([])
    assert found == {
        "Table 2, macro-F as printed": True,
        "Marks of Table 2, macro-F as printed": False,
        "Table 2, macro-AUC as printed": True,
        "Marks of Table 2, macro-AUC as printed": False,
        "Text, counts as printed": True,
        "Text, ten sets as printed": False,
    }


def test_every_method_is_judged_against_print(outcome_of):
    place = COLUMNS.index("yeast")
    printed = (PAPER_F["cocoa"][place], 0.1, PAPER_AUC["cocoa"][place])
    off = (printed[0] + 0.05, 0.1, printed[2])
    claims = {c.where: c for c in judge([outcome_of("yeast", cocoa=printed, sf=off, n_splits=1)])}
    assert claims["Against print, cocoa"].holds
    assert "yeast 0.479/0.717 (1; printed 0.479/0.717)" in claims["Against print, cocoa"].words
    assert not claims["Against print, sf"].holds
    assert "Against print, ecc" not in claims


def test_parts_are_compared_split_by_split(outcome_of):
    scores = {"sf_h": 0.6, "sf_h_cs": 0.58, "sf": 0.65, "sf_lr": 0.62, "sf_lr_cs": 0.61}
    found = {c.where: c for c in judge([outcome_of("emotions", **scores)])}
    one = found["Ablation, clusters by rarity, Hellinger"]
    assert not one.holds
    assert "sf-h-cs less sf-h in macro-AUC: emotions -0.020 ± 0.000 (2)" in one.words
    assert found["Text, clusters by rarity usually do not harm"].holds is False
    assert found["Text, logistic splits are mixed"].holds
    medical = {c.where: c.holds for c in judge([outcome_of("medical", **scores)])}
    assert not medical["Text, logistic splits"]
    better = {**scores, "sf_h_cs": 0.61, "sf_lr": 0.671}
    medical = {c.where: c for c in judge([outcome_of("medical", **better)])}
    assert medical["Text, logistic splits"].holds  # by .021
    harmless = medical[
        "Text, clusters by rarity usually do not harm"
    ]  # said, too, if there is nothing
    assert harmless.holds
    assert "below sf-h in macro-AUC on 0 of 1 sets (medical +0.010 ± 0.000 (2))" in harmless.words
    assert not medical["Ablation, Hellinger splits against logistic ones and rarity"].holds
    gain = medical["Ablation, clusters by rarity, Hellinger"]
    assert "above on 1 of 1, significantly (t, 95%) on 1; sf-h-cs is above" in gain.words


def test_a_gain_needs_more_than_two_standard_errors_on_few_splits(outcome_of):
    def clear(n_splits):
        answers = [
            Answer(key, [{"auc": value} for value in values])
            for key, values in (("x", np.linspace(0.0, 0.2, n_splits)), ("y", np.zeros(n_splits)))
        ]
        gain = gain_of(*answers, "auc")
        t = stats.ttest_1samp(np.linspace(0.0, 0.2, n_splits), 0.0)
        assert (gain.mean > gain.margin) == (t.pvalue < 0.05)
        return gain.mean > gain.margin

    assert [clear(n) for n in (3, 8)] == [False, True]
    assert np.isnan(gain_of(*[Answer(key, [{"auc": 0.5}]) for key in "xy"], "auc").margin)


def test_what_clusters_by_rarity_gain_is_compared_between_splits(outcome_of):
    outcomes = [
        outcome_of(name, sf_h=0.6, sf_h_cs=0.6, sf_lr=0.5, sf_lr_cs=0.52 + i / 1000, sf=0.55)
        for i, name in enumerate(SEVEN)
    ]
    found = {c.where: c for c in judge(outcomes)}
    assert found["Text, rarity and Hellinger"].holds
    assert (
        "in macro-AUC they gain +0.0000 with Hellinger" in found["Text, rarity and Hellinger"].words
    )
    assert not found["Text, SF-LR-CS below SF"].holds  # on all seven
    same = [outcome_of(name, sf_h=0.6, sf_h_cs=0.61, sf_lr=0.5, sf_lr_cs=0.51) for name in SEVEN]
    assert not verdicts(same)["Text, rarity and Hellinger"]


def test_better_methods_that_take_longer_are_a_trend(outcome_of):
    names = {"sf": 0.1, "ecc": 0.2, "sf-h": 0.3, "iblr": 0.4, "cocoa": 0.5, "sf-h-cs": 0.6}
    by_length = {key.replace("-", "_"): len(key) / 10 for key in names}
    assert verdicts([outcome_of(n, **by_length) for n in SEVEN])["Text, cost of performance"]
    against = {key: 1 - score for key, score in by_length.items()}
    assert not verdicts([outcome_of(n, **against) for n in SEVEN])["Text, cost of performance"]


def test_splits_that_only_one_method_has_are_not_compared(outcome_of):
    answers = outcome_of("emotions", n_splits=3, sf=0.5, sf_h=0.6).answers
    short = Answer("sf", [{**answers["sf"].splits[2], "number": 2}])
    gain = gain_of(answers["sf-h"], short, "auc")
    assert (gain.mean, gain.n_splits) == (pytest.approx(0.1), 1)
    assert str(gain) == "+0.100 (1)"
    assert gain_of(short, Answer("x", [{"auc": 1.0, "number": 5}]), "auc") is None


def test_seconds_and_scores_beside_others(outcome_of):
    scores = {"sf_h_cs": 0.6, "cocoa": 0.61, "rf_cost": 0.7, "ecc": 0.5}
    found = {c.where: c.holds for c in judge([outcome_of("emotions", **scores)])}
    # a method takes as many seconds as its name is long
    assert "Speed, emotions" not in found  # neither large nor of many labels
    corel = {c.where: c for c in judge([outcome_of("corel5k", **scores)])}["Speed, corel5k"]
    assert not corel.holds
    assert "7.0 CPU seconds, 5.0 by COCOA with 50 models per ensemble" in corel.words
    assert found["Small sets, emotions"]
    assert found["Text, competitive"]  # with COCOA, by macro-AUC: the last of four
    assert "Text, significance by mean ranks" not in found
    for ecc, holds in ((0.4, True), (0.85, False)):
        seven = [outcome_of(name, sf_h_cs=0.9, sf_h=0.8, ecc=ecc, clr=0.3) for name in SEVEN]
        judged = {c.where: c.holds for c in judge(seven)}
        assert judged["Text, significance by mean ranks"] == holds
        assert judged["Text, significance by Wilcoxon"]  # by a little on each of the sets
    seven = [outcome_of(name, sf_h_cs=0.9, sf_h=0.8, ecc=0.95, clr=0.3) for name in SEVEN]
    assert not verdicts(seven)["Text, significance by Wilcoxon"]


def test_table_1_must_be_equal(outcome_of):
    found = [outcome_of(name, sf=0.5) for name in ("yeast", "rcv1subset1_top944", "tmc2007_500")]
    other = replace(PAPER_SETS["yeast"], features=102)
    where = {f"Table 1, {name}" for name in ("yeast", "rcv1subset1_top944")}
    assert verdicts(found)["Other file of Table 1, tmc2007_500"]  # equal in this test
    assert {key: holds for key, holds in verdicts(found).items() if key.startswith("Table 1")} == (
        dict.fromkeys(where, True)
    )
    assert not verdicts([outcome_of("yeast", other, sf=0.5)])["Table 1, yeast"]
    other = replace(PAPER_SETS["rcv1subset1_top944"], features=930)
    assert verdicts([outcome_of("rcv1subset1_top944", other)])["Table 1, rcv1subset1_top944"]
    other = replace(PAPER_SETS["rcv1subset1_top944"], labels=42)
    assert not verdicts([outcome_of("rcv1subset1_top944", other)])["Table 1, rcv1subset1_top944"]


def test_the_default_is_judged_beside_extra_trees(outcome_of):
    def judged(n_above):
        outcomes = [
            outcome_of(name, ours=0.7 if i < n_above else 0.5, extra_trees=0.6)
            for i, name in enumerate(SEVEN)
        ]
        found = verdicts(outcomes)
        return found["Our default, macro-AUC"], found["Our default, macro-F"]

    assert judged(7) == (True, True)
    assert judged(5) == (False, True)
    assert judged(4) == (False, False)


def test_seconds_are_compared(outcome_of):
    # a method takes as many seconds as its name is long: 4 of ours, 11 of extra trees
    assert verdicts([outcome_of("yeast", ours=0.5, extra_trees=0.5)])["Our default, seconds, yeast"]


def three_methods(outcome_of, ours, literal):
    return [
        outcome_of(name, ours=ours, sf_h_cs=literal, sf_h=0.6, sf=0.55 + i / 100)
        for i, name in enumerate(SEVEN)
    ]


def test_the_first_by_mean_rank(outcome_of):
    found = verdicts(three_methods(outcome_of, ours=0.9, literal=0.8))
    assert found["Our default, macro-AUC"]
    assert found["Our default, macro-F, thresholds tuned"]
    assert found["Table 2, macro-F"]
    found = verdicts(three_methods(outcome_of, ours=0.1, literal=0.2))
    assert not found["Our default, macro-AUC"]
    assert not found["Table 2, macro-F"]


@pytest.mark.parametrize(("n_without", "expected"), [(0, (4, 7)), (1, (4, 6)), (5, (3, 7))])
def test_methods_or_sets_without_answers_are_not_ranked(outcome_of, n_without, expected):
    outcomes = [*three_methods(outcome_of, 0.9, 0.8), outcome_of("bibtex")]
    for outcome in outcomes[:n_without]:
        del outcome.answers["sf"]
    keys = ["ours", "sf-h-cs", "sf-h", "sf", "cocoa"]  # the last has no answer at all
    found = rank_methods(outcomes, keys, "auc", "ours")
    assert (len(found.mean_ranks), found.n_datasets) == expected
    assert rank_methods(outcomes[:1], keys, "auc", "ours") is None


def test_sets_and_methods_with_most_scores_are_ranked_and_others_named(outcome_of):
    few = {"sf_h_cs": 0.6, "sf_h": 0.5, "sf": 0.4}
    more = {**few, "cocoa": 0.7, "ecc": 0.3, "clr": 0.2}
    outcomes = [outcome_of(name, **(few if i < 2 else more)) for i, name in enumerate(SEVEN)]
    del outcomes[6].answers["cocoa"]
    found = rank_methods(outcomes, list(PAPER_F), "auc", "sf-h-cs")
    # 5 sets of 5 methods, 4 of all 6, or 7 of 3
    assert (len(found.mean_ranks), found.n_datasets) == (5, 5)
    (claim,) = (c for c in judge(outcomes) if c.where == "Table 2, macro-AUC")
    assert "of 5 methods on 5 sets (without svm-cost, " in claim.words


def test_the_first_without_the_best_rivals_is_not_the_first_of_all(outcome_of):
    every = {key.replace("-", "_"): 0.5 - i / 100 for i, key in enumerate(PAPER_F)}
    every |= {"sf_h_cs": 0.8, "cocoa": 0.9}
    some = {key: score for key, score in every.items() if key != "cocoa"}
    outcomes = [outcome_of(name, **(every if i < 2 else some)) for i, name in enumerate(SEVEN)]
    (claim,) = (c for c in judge(outcomes) if c.where == "Table 2, macro-AUC")
    assert "sf-h-cs 1.00" in claim.words
    assert "(without cocoa); of all 18 on 2 sets cocoa 1.00, sf-h-cs 2.00, " in claim.words
    assert (claim.holds, claim.so) == (False, (1, 2))


def test_ranks_are_of_the_splits_that_all_methods_have(outcome_of):
    outcomes = [outcome_of(name, ours=0.52, sf=0.5, sf_h=0.515) for name in SEVEN]
    for outcome in outcomes:  # the second split, the better one, is there of one method only
        for key in ("ours", "sf"):
            outcome.answers[key] = Answer(key, outcome.answers[key].splits[:1])
    found = rank_methods(outcomes, ["ours", "sf", "sf-h"], "auc", "ours")
    assert list(found.mean_ranks) == ["ours", "sf-h", "sf"]


def test_significance_against_the_control():
    scores = {i: [0.9 + i / 1000, 0.5 + i / 1000, 0.4 + i / 500] for i in range(10)}
    found = rank_scores(scores, ["a", "b", "c"], "a")
    assert found.mean_ranks == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert found.is_worse("c", found.by_ranks)
    assert found.is_worse("b", found.by_wilcoxon)
    assert not found.is_worse("a", found.by_wilcoxon)
    same = {i: [0.5, 0.5, 0.5] for i in range(3)}
    assert rank_scores(same, ["a", "b", "c"], "a") is None


def test_signed_ranks_are_those_of_scipy():
    rng = np.random.default_rng(0)
    for n in (3, 6, 11):
        differences = rng.normal(0.5, 1, n)
        expected = stats.wilcoxon(differences, method="exact").pvalue
        assert signed_rank_pvalue(differences) == pytest.approx(expected)
    tied = [0.1, 0.1, -0.1, 0.0, 0.3, 0.2]
    every = stats.wilcoxon(tied, zero_method="zsplit", method=stats.PermutationMethod()).pvalue
    assert signed_rank_pvalue(tied) == pytest.approx(every)


def test_tables_show_ours_beside_the_paper(outcome_of):
    outcomes = three_methods(outcome_of, 0.9, 0.8)
    outcomes.append(outcome_of("bibtex", ours=0.5, sf_h_cs=0.4, sf_h=0.3, sf=0.2, n_splits=1))
    outcomes[0].failures["cocoa"] = "even-0: ValueError: no"
    tables = {table.title: table for table in all_tables(outcomes)}
    texts = {title: table.to_markdown() for title, table in tables.items()}
    assert "| yeast | 2,417 | 103 | 13 | 0.32 |" in texts["Table 1. The data sets"]
    assert (
        "| sf-h-cs | 2 | 0.800±.014 | 0.800±.014 | 0.524 | 0.800±.014 | 0.706 |"
        in (texts["Table 2. yeast"])
    )
    assert "| ours | 1 | 0.500 | 0.500 | – | 0.500 | – | 4.0 |" in texts["Table 2. bibtex"]
    assert "Means over 1 or 2 even splits." in texts["Table 2 at a glance: macro-AUC"]
    assert texts["Memory that fitting needs, MiB"].splitlines()[4].startswith("| sf | 3 | 3 |")
    assert texts["Memory that fitting needs, MiB"].splitlines()[-1].startswith("| ours | – | – |")
    glance = texts["Table 2 at a glance: macro-AUC"]
    assert glance.splitlines()[2].startswith("| method | Emot | CAL | Med |")
    assert "cocoa failed, even-0: ValueError: no" in glance
    ranks = texts["Table 2, ranks. The methods of the paper, its decision rules"]
    assert "| sf-h-cs | 1.0 | 1.8 | 1.0 | 1.6 |" in ranks


def test_tables_say_what_was_tuned_on_fewer_splits(outcome_of):
    outcomes = three_methods(outcome_of, 0.9, 0.8)
    for outcome in outcomes:
        del outcome.answers["sf"].splits[0]["f_tuned"]
        for split in outcome.answers["sf-h"].splits:
            del split["f_tuned"]
    tables = {table.title: table.to_markdown() for table in all_tables(outcomes)}
    by_set = tables["Table 2. yeast"]
    assert "| sf | 2 | 0.590 (1) | 0.580±.014 |" in by_set
    assert "| sf-h | 2 | – | 0.600±.014 |" in by_set
    ranks = tables["Table 2, ranks. All methods, tuned thresholds"]
    assert "| sf-h | – | 2.5 " in ranks
    shown = figure_facts(outcomes)["scores"]["panels"][0]["points"]
    assert [point["method"] for point in shown] == ["ours", "sf-h-cs", "sf"]


def test_another_figure_of_table_1_stands_beside_the_papers(outcome_of):
    table = replace(PAPER_SETS["yeast"], features=102, mean_ir=4.3)
    text = all_tables([outcome_of("yeast", table, sf=0.5)])[0].to_markdown()
    assert "| 102 (103) |" in text
    assert "| 4.30 (4.25) |" in text


def test_figures_are_drawn_from_their_facts(outcome_of):
    outcomes = three_methods(outcome_of, 0.9, 0.8)
    facts = figure_facts(outcomes)
    assert list(facts) == ["ranks-paper", "ranks-all", "scores"]
    assert facts["ranks-all"]["panels"][0]["ranks"]["ours"] == 1.0
    points = facts["scores"]["panels"][0]["points"]
    assert [point["method"] for point in points] == ["ours", "sf-h-cs", "sf-h", "sf"]
    pictures = draw_figures(facts)
    assert list(pictures) == ["ranks-paper.png", "ranks-all.png", "scores.png"]
    assert all(content.startswith(b"\x89PNG") for content in pictures.values())


def test_one_set_has_no_ranks(outcome_of):
    facts = figure_facts([outcome_of("yeast", ours=0.5, sf=0.4)])
    assert list(facts) == ["scores"]
    assert draw_figures(facts).keys() == {"scores.png"}
    assert figure_facts([]) == {}


def test_every_column_has_a_row_in_table_1():
    assert tuple(PAPER_SETS) == COLUMNS
