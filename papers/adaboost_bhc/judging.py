"""What the paper says in words, and of what it does not print: verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from palmette.compare import Problem
from papers.adaboost_bhc.further import HARDNESS, POSED, Further
from papers.adaboost_bhc.methods import LEARNERS, METHODS, paper_cost
from papers.adaboost_bhc.outcome import Growth, Outcome
from papers.result import Claim

__all__ = ["further_claims", "words_claims"]

_NEAR = 0.15  # exponents that are taken for the same


def further_claims(found: Sequence[Further], growths: Sequence[Growth]) -> Iterator[Claim]:
    """Judge what the paper says of copies, of N^2 learners and of the problems of its trees."""
    if growths:
        yield _pair_claim(growths)
    if found:
        yield from _copies_claims(found)
        yield from _hardness_claims(found)
        yield _margin_claim(found)


def _pair_claim(growths: Sequence[Growth]) -> Claim:
    told = {one.method: (one.class_exponent, one.told_class_exponent(2.0)) for one in growths}
    near = [name for name, (ours, theirs) in told.items() if abs(ours - theirs) <= _NEAR]
    shown = ", ".join(f"{name} {ours:.2f} ({told_:.2f})" for name, (ours, told_) in told.items())
    holds = len(near) == len(METHODS)
    words = (
        f"Table 1, N^2: with a weak learner that compares all pairs of rows, a round costs C to "
        f"the power of (by the formulas) {shown}: within {_NEAR:g} for {', '.join(near) or 'none'}."
        f" That the formulas for N^2 tell the cost {_verdict(holds)}."
    )
    return Claim("Table 1, N^2", words, holds)


def _copies_claims(found: Sequence[Further]) -> Iterator[Claim]:
    """MH over copies is slower than BHC, and errs as much as our form."""
    for key, learner in LEARNERS.items():
        having = [one for one in found if key in one.copies.curves]
        slower, same = [], []
        for one in having:
            copied, own = one.copies.curves[key]["MH over copies"], one.same_part.curves[key]
            ratio = float(copied.seconds.mean() / own["BHC"].seconds.mean())
            slower.append((one.copies.name, f"{ratio:.1f} times", ratio > 1))
            errors = copied.last("test"), own["MH"].last("test")
            most = one.copies.standard_error(min(errors))
            first, second, most_percent = map(_percent, (*errors, most))
            words = f"{first}, one tree per class {second} ± {most_percent}"
            same.append((one.copies.name, words, abs(errors[0] - errors[1]) <= 2 * most))
        yield _counted("Copies", "MH over copies takes longer than BHC", learner.words, slower)
        yield _counted(
            "Copies",
            "MH over copies errs as much as with one tree per class, to two standard errors",
            learner.words,
            same,
        )


def _hardness_claims(found: Sequence[Further]) -> Iterator[Claim]:
    for name, short in HARDNESS.items():
        sets = []
        for one in found:
            ours = one.hardness[POSED[0]][name]
            others = [one.hardness[kind][name] for kind in POSED[3:]]
            easier = ours > max(others) if name == "fisher_ratio" else ours < min(others)
            told = f"{ours:.3g}, MI {others[0]:.3g}, ECC {others[1]:.3g}"
            sets.append((one.trees.name, told, easier))
        what = "binary problems of the BHC tree are easier than those of MI and ECC"
        yield _counted("Section 4", what, f"by {short}", sets)


def _margin_claim(found: Sequence[Further]) -> Claim:
    sets = []
    for one in found:
        errors = {name: each.last("test") for name, each in one.trees.curves["few"].items()}
        most = one.trees.standard_error(min(errors["BHC"], errors["margin tree"]))
        words = (
            f"{_percent(errors['margin tree'])}, BHC {_percent(errors['BHC'])} ± {_percent(most)}"
        )
        sets.append((one.trees.name, words, errors["margin tree"] <= errors["BHC"] + most))
    what = "a margin tree serves as well as a BHC tree, to a standard error"
    return _counted("Section 2", what, LEARNERS["few"].words, sets)


def words_claims(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Judge what the paper says in passing: its formula, its sets, and the other methods.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Yields
    ------
    Claim
    """
    printed = [sum(0.5**k * (1024 / 2**k) for k in range(int(np.log2(c)))) for c in (4, 64)]
    told = [paper_cost("BHC", 1024, c, 1) for c in (4, 64)]
    yield Claim(
        "Section 4, formula",
        f"Section 4, formula: with 1 / 2^k nodes at depth k, as printed, a round of 1,024 rows "
        f"costs {printed[0]:,.0f} for 4 classes and {printed[1]:,.0f} for 64; with 2^k nodes "
        f"{told[0]:,.0f} and {told[1]:,.0f}, which is the N log2 C of Table 1. The printed formula "
        f"does not give Table 1; it is taken for a misprint.",
        False,
    )
    by_name = {outcome.name: outcome.problem for outcome in outcomes}
    yield from _class_sizes(by_name)
    split = [name for name, problem in by_name.items() if problem.has_split]
    whole = [name for name in by_name if name not in split]
    if split and whole:
        yield Claim(
            "Section 5, protocol",
            f"Section 5, protocol: the text cross-validates Landsat, Optical and Pen-based digits, "
            f"and repeats fits on the test parts of the others; Table 2 has it the other way "
            f"round, and so have the files: there are test parts of {', '.join(split)}, none of "
            f"{', '.join(whole)}. The sentence does not hold; Table 2 is followed.",
            False,
        )
    for key, learner in LEARNERS.items():
        having = [outcome for outcome in outcomes if key in outcome.curves]
        if having:
            yield _comparable(having, key, learner.words)
            yield from _steady(having, key, learner.words)


_SIZES = {"yeast_uci": ("smallest", 5, 1484), "page_blocks": ("largest", 4913, 5473)}


def _class_sizes(problems: dict[str, Problem]) -> Iterator[Claim]:
    for name, (which, printed, n_rows) in _SIZES.items():
        if name not in problems:
            continue
        counts = np.unique(np.asarray(problems[name].y_train), return_counts=True)[1]
        found = int(counts.min() if which == "smallest" else counts.max()), int(counts.sum())
        holds = found == (printed, n_rows)
        words = (
            f"Section 5, class sizes: the {which} class of {name} has {found[0]:,} of "
            f"{found[1]:,} rows, in the paper {printed:,} of {n_rows:,}: it {_verdict(holds)}."
        )
        yield Claim("Section 5, class sizes", words, holds)


def _comparable(outcomes: Sequence[Outcome], key: str, setting: str) -> Claim:
    sets = []
    for outcome in outcomes:
        bhc, mh = (outcome.curves[key][name].last("test") for name in ("BHC", "MH"))
        spread = outcome.standard_error(mh)
        words = f"{_percent(bhc)}, MH {_percent(mh)} ± {_percent(spread)}"
        sets.append((outcome.name, words, bhc <= mh + spread))
    what = "BHC generalizes better than MH or as well, to a standard error"
    return _counted("Abstract", what, setting, sets)


def _steady(outcomes: Sequence[Outcome], key: str, setting: str) -> Iterator[Claim]:
    """MH, ECC and BHC do not suffer from unbalanced classes as MI does."""
    for outcome in outcomes:
        if outcome.name not in _SIZES:
            continue
        sets = []
        for name in ("MH", "ECC", "BHC"):
            mean = outcome.curves[key][name].mean("test")
            least, last = float(mean.min()), float(mean[-1])
            words = f"{_percent(least)} at least, {_percent(last)} at last"
            sets.append((name, words, last <= least + outcome.standard_error(least)))
        what = f"test errors of MH, ECC and BHC do not rise on {outcome.name}"
        yield _counted("Section 5, unbalanced", what, setting, sets, "methods")


def _counted(
    where: str,
    what: str,
    setting: str,
    sets: Sequence[tuple[str, str, bool]],
    of: str = "sets",
) -> Claim:
    """Sum up a claim that is made of all sets."""
    n_held = sum(held for *_, held in sets)
    told = "; ".join(f"{name} {words}{'' if held else ' (not so)'}" for name, words, held in sets)
    holds = n_held == len(sets)
    partly = 0 < n_held < len(sets)
    words = (
        f"{where}, {setting}: that {what} is so on {n_held} of {len(sets)} {of} and "
        f"{'holds partly' if partly else _verdict(holds)} ({told})."
    )
    return Claim(f"{where}, {setting}", words, holds, (n_held, len(sets)))


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _verdict(holds: bool) -> str:
    return "holds" if holds else "does not hold"
