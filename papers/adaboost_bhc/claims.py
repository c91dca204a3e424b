"""What the paper claims, judged by what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from papers.adaboost_bhc.curves import Curves, Outcome
from papers.adaboost_bhc.glass import Facts
from papers.adaboost_bhc.growth import Growth
from papers.adaboost_bhc.methods import LEARNERS
from papers.adaboost_bhc.published_figures import METHODS, paper_set
from papers.adaboost_bhc.tables import EARLY
from papers.result import Claim

__all__ = ["judge"]

_UNBALANCED = ("yeast_uci", "page_blocks")  # where MI has problems, says the paper
_FIGURES = "Figures 2 to 8"
_NEAR = 0.15  # exponents that are taken for the same


@dataclass(frozen=True)
class _Found:
    """What was found on a data set, and whether it is as claimed."""

    name: str
    words: str
    holds: bool


def judge(
    outcomes: Sequence[Outcome], growths: Sequence[Growth] = (), glass: Facts | None = None
) -> list[Claim]:
    """Say of every claim, in words, whether it holds.

    Parameters
    ----------
    outcomes : sequence of Outcome
    growths : sequence of Growth
    glass : dict, optional
        As `glass_facts` gives it.

    Returns
    -------
    list of Claim
        Claims about what was not measured are left out.
    """
    claims = [*_growth(growths), *_windows(glass)]
    for key in LEARNERS:
        having = [outcome for outcome in outcomes if key in outcome.curves]
        if having:
            claims += _with_learner(key, having)
    return claims


def _verdict(holds: bool) -> str:
    return "holds" if holds else "does not hold"


def _growth(growths: Sequence[Growth]) -> Iterator[Claim]:
    """Table 1: classes cost ECC nothing, BHC little, and MH and MI in proportion."""
    by_method = {one.method: one for one in growths}
    if not set(METHODS) <= by_method.keys():
        return
    exponent = {name: by_method[name].class_exponent for name in METHODS}
    holds = exponent["ECC"] < exponent["BHC"] < min(exponent["MH"], exponent["MI"])
    words = (
        f"Table 1: a round costs C to the power of: {_exponents(exponent)}. That classes cost ECC "
        f"least, BHC more, and MH and MI most {_verdict(holds)}."
    )
    yield Claim("Table 1", words, holds)
    # ECC grows one tree a round: its cost in N is that of the weak learner
    power = min((1.0, 2.0), key=lambda each: abs(each - by_method["ECC"].row_exponent))
    told = {name: by_method[name].told_class_exponent(power) for name in METHODS}
    near = [name for name in METHODS if abs(exponent[name] - told[name]) <= _NEAR]
    holds = len(near) == len(METHODS)
    words = (
        f"Table 1: the formulas for a weak learner of cost N^{power:g}, the nearer one, give "
        f"{_exponents(told)} at these sizes. Ours are within {_NEAR:g} of them for "
        f"{', '.join(near) or 'none'}: that the formulas tell the cost of a round "
        f"{_verdict(holds)}."
    )
    yield Claim("Table 1", words, holds)


def _exponents(by_method: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in by_method.items())


def _windows(glass: Facts | None) -> Iterator[Claim]:
    """Figure 1: the window classes are under one node."""
    for tree in glass["trees"] if glass is not None else ():
        holds = tree["together"]
        found = "are the classes of one node" if holds else "are not the classes of any node"
        words = (
            f"Figure 1, {tree['words']}: the windows {found}: the claim of Figure 1 "
            f"{_verdict(holds)}."
        )
        yield Claim("Figure 1", words, holds)


# ---------------------------------------------------------------------- over the data sets


def _with_learner(key: str, outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Judge all that is claimed of times and errors, with one weak learner."""
    timed = [o for o in outcomes if (paper := paper_set(o.name)) is not None and paper.seconds]
    unbalanced = [o for o in outcomes if o.name in _UNBALANCED]
    statements: list[tuple[str, str, Sequence[Outcome], _Judge, bool]] = [
        ("Table 3", "ECC is trained fastest", timed, _ecc_fastest, True),
        ("Table 3", "BHC is trained faster than MH and MI", timed, _faster, True),
        (_FIGURES, "BHC is always among the best", outcomes, _among_best, True),
        (_FIGURES, "BHC or MH is best on most sets", outcomes, _best_is_either, False),
        (_FIGURES, "BHC errs less than MH at first on most sets", outcomes, _earlier, False),
        (_FIGURES, "ECC errs more than BHC on most sets", outcomes, _ecc_worse, False),
        ("Figures 4 and 5", "both errors of MI rise after some rounds", unbalanced, _rises, True),
    ]
    for where, what, sets, found, everywhere in statements:
        if sets:
            results = [found(outcome, outcome.curves[key]) for outcome in sets]
            yield _summary(where, what, LEARNERS[key].words, results, everywhere)


def _summary(
    where: str, what: str, learner: str, results: Sequence[_Found], everywhere: bool
) -> Claim:
    """Sum up: a claim holds where it does on all sets, or on more than half of them."""
    n_held = sum(one.holds for one in results)
    holds = n_held == len(results) if everywhere else 2 * n_held > len(results)
    told = "; ".join(f"{one.name} {one.words}{'' if one.holds else ' (not so)'}" for one in results)
    words = (
        f"{where}, {learner}: that {what} is so on {n_held} of {len(results)} sets and "
        f"{_verdict(holds)} ({told})."
    )
    return Claim(f"{where}, {learner}", words, holds)


_Judge = Callable[[Outcome, Mapping[str, Curves]], _Found]


def _ecc_fastest(outcome: Outcome, curves: Mapping[str, Curves]) -> _Found:
    seconds = {name: float(one.seconds.mean()) for name, one in curves.items()}
    ours = seconds.pop("ECC")
    quickest = min(seconds, key=lambda name: seconds[name])
    words = f"{ours:.2f} s, {quickest} {seconds[quickest]:.2f}"
    return _Found(outcome.name, words, ours < seconds[quickest])


def _faster(outcome: Outcome, curves: Mapping[str, Curves]) -> _Found:
    ours, mh, mi = (float(curves[name].seconds.mean()) for name in ("BHC", "MH", "MI"))
    words = f"{ours:.2f} s, MH {mh:.2f}, MI {mi:.2f}"
    return _Found(outcome.name, words, ours < min(mh, mi))


def _among_best(outcome: Outcome, curves: Mapping[str, Curves]) -> _Found:
    """No more than a standard error above the best."""
    errors = {name: one.last("test") for name, one in curves.items()}
    best = min(errors, key=lambda name: errors[name])
    allowed = errors[best] + outcome.standard_error(errors[best])
    words = f"{_percent(errors['BHC'])}, {_one_best(errors)}"
    return _Found(outcome.name, words, errors["BHC"] <= allowed)


def _best_is_either(outcome: Outcome, curves: Mapping[str, Curves]) -> _Found:
    errors = {name: one.last("test") for name, one in curves.items()}
    either = min(errors["BHC"], errors["MH"])
    return _Found(outcome.name, _one_best(errors), either <= min(errors.values()))


def _earlier(outcome: Outcome, curves: Mapping[str, Curves]) -> _Found:
    ours, other = (float(curves[name].mean("test")[:EARLY].mean()) for name in ("BHC", "MH"))
    return _Found(outcome.name, f"{_percent(ours)}, MH {_percent(other)}", ours < other)


def _ecc_worse(outcome: Outcome, curves: Mapping[str, Curves]) -> _Found:
    ecc, bhc = curves["ECC"].last("test"), curves["BHC"].last("test")
    return _Found(outcome.name, f"{_percent(ecc)}, BHC {_percent(bhc)}", ecc > bhc)


def _rises(outcome: Outcome, curves: Mapping[str, Curves]) -> _Found:
    """Both errors end more than a standard error above their least."""
    words, risen = [], []
    for part, title in (("train", "training"), ("test", "test")):
        mean = curves["MI"].mean(part)
        least, last = float(mean.min()), float(mean[-1])
        words.append(f"{title} {_percent(least)} at least, {_percent(last)} at last")
        risen.append(last > least + outcome.standard_error(least))
    return _Found(outcome.name, ", ".join(words), all(risen))


def _one_best(errors: Mapping[str, float]) -> str:
    least = min(errors.values())
    names = " and ".join(name for name in METHODS if errors[name] == least)
    return f"best {names} {_percent(least)}"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"
