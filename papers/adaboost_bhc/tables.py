"""Tables 1 to 3, the splits of Figure 1, the last errors of Figures 2 to 8, and the claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from papers.adaboost_bhc.figures import GLASS_KINDS, Facts
from papers.adaboost_bhc.methods import LEARNERS, METHODS, paper_set
from papers.adaboost_bhc.outcome import Curves, Growth, Outcome
from papers.result import Cell, Claim, Table

__all__ = [
    "EARLY",
    "error_tables",
    "glass_table",
    "growth_tables",
    "judge",
    "set_table",
    "time_table",
]

# ---------------------------------------------------------------------- tables


EARLY = 10  # rounds that count as the beginning

_NOTE_GROWTH = (
    "Exponents of power laws fitted to the cost of a round, as rows N and classes C grow; beside "
    "them those of the paper's formulas, fitted at the same sizes, for weak learners of cost N, "
    "N^2 and N^a, a being the exponent measured for ECC, which grows one tree per round. MH here "
    "grows one tree per class, under one distribution of all (row, class) pairs, so that a class "
    "costs it what it costs MI; the paper's grows one tree over C * N copies of rows, which is "
    "measured in a table of its own. Data: Gaussian clouds in a binary tree, {few} classes as N "
    "grows, {many} rows as C does."
)
_NOTE_SECONDS = (
    "Ours: CPU seconds of `fit`, the mean of all fits; the paper's are those of MATLAB in 2009, so "
    "that ratios can be compared, and seconds cannot."
)
_NOTE_ERRORS = (
    "Means over all fits. The paper prints curves only, without figures. 'standard error' is that "
    "of the smallest of the four over the rows tested: sqrt(e (1 - e) / n). MH grows one "
    "tree per class in a round, as in Table 1; the form of the paper is in a table of its own."
)


def growth_tables(growths: Sequence[Growth]) -> list[Table]:
    """Return Table 1, measured: the exponents, and the milliseconds that they were fitted to.

    Parameters
    ----------
    growths : sequence of Growth

    Returns
    -------
    list of Table
        None where there is nothing.
    """
    if not growths:
        return []
    grid = growths[0].grid
    power = next((one.row_exponent for one in growths if one.method == "ECC"), 1.0)
    columns = (
        "method",
        "N: ours",
        "N",
        "N^2",
        "C: ours",
        "C, if N",
        "C, if N^2",
        f"C, if N^{power:.2f}",
    )
    rows: list[tuple[Cell, ...]] = []
    for one in growths:
        told = [one.told_class_exponent(exponent) for exponent in (1.0, 2.0, power)]
        rows.append((one.method, one.row_exponent, 1.0, 2.0, one.class_exponent, *told))
    note = _NOTE_GROWTH.format(few=grid.few_classes, many=f"{grid.many_rows:,}")
    sizes = [f"N={n}" for n in grid.n_rows] + [f"C={n}" for n in grid.n_classes]
    times: list[tuple[Cell, ...]] = [
        (one.method, *(1000 * seconds for seconds in (*one.by_rows, *one.by_classes)))
        for one in growths
    ]
    return [
        Table("Table 1. Cost of a round: exponents", columns, rows, [note]),
        Table("Table 1. Cost of a round: CPU milliseconds", ("method", *sizes), times),
    ]


def set_table(outcomes: Sequence[Outcome]) -> Table:
    """Return Table 2: the data sets as in the files, beside the paper's figures."""
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for outcome in outcomes:
        problem, paper = outcome.problem, paper_set(outcome.name)
        n_train, n_features = problem.X_train.shape
        n_test = int(problem.X_test.shape[0]) if problem.has_split else None
        n_classes = len(np.unique(np.asarray(problem.y_train)))
        ours = (n_train, n_test, n_features, n_classes)
        if paper is not None:
            told = (paper.n_train, paper.n_test, paper.n_features, paper.n_classes)
            rows.append((f"{outcome.name}: paper", *_with_cv(told)))
            if told != ours:
                notes.append(_difference(outcome.name, ours, told))
        rows.append((f"{outcome.name}: file", *_with_cv(ours)))
    columns = ("data set", "train", "test", "attributes", "classes")
    return Table("Table 2. The data sets", columns, rows, notes)


def _with_cv(sizes: tuple[int | None, ...]) -> tuple[Cell, ...]:
    return tuple("CV" if size is None else size for size in sizes)


def _difference(name: str, ours: tuple[int | None, ...], told: tuple[int | None, ...]) -> str:
    words = ("training rows", "test rows", "attributes", "classes")
    found = [
        f"{b} {word} in the paper, {a} in the file"
        for word, a, b in zip(words, ours, told, strict=True)
        if a != b
    ]
    hint = " (the number of the row is no attribute here)" if name == "glass" else ""
    return f"{name}: {'; '.join(found)}{hint}."


def time_table(outcomes: Sequence[Outcome]) -> Table:
    """Return Table 3: training times and their ratios, ours beside the paper's."""
    rows: list[tuple[Cell, ...]] = []
    rounds = max((outcome.rounds for outcome in outcomes), default=0)
    for outcome in outcomes:
        paper = paper_set(outcome.name)
        if paper is None or paper.seconds is None:  # few rows: nobody waits for them
            continue
        rows.append((f"{outcome.name}: paper, 100 rounds", *_with_ratios(paper.seconds)))
        for key, by_method in outcome.curves.items():
            seconds = [float(by_method[name].seconds.mean()) for name in METHODS]
            rows.append((f"{outcome.name}: {LEARNERS[key].words}", *_with_ratios(seconds)))
    columns = ("data set", *METHODS, *(f"{name}/BHC" for name in METHODS[:-1]))
    title = f"Table 3. Training time of {rounds} rounds, s"
    return Table(title, columns, rows, [_NOTE_SECONDS] if rows else [])


def _with_ratios(seconds: Sequence[float]) -> tuple[float, ...]:
    return (*seconds, *(one / seconds[-1] for one in seconds[:-1]))


def glass_table(facts: Facts) -> Table:
    """Return the splits of Figure 1, node by node."""
    rows: list[tuple[Cell, ...]] = []
    for tree in facts["trees"]:
        children: dict[int, list[str]] = {}
        for node in tree["nodes"][1:]:
            children.setdefault(node["parent"], []).append(node["name"])
        for node in tree["nodes"]:
            if not node["is_leaf"]:
                names = [_kind(name) for name in children[node["node"]]]
                rows.append((f"{tree['start']}: {node['name']}", " | ".join(names)))
    notes = [f"{tree['words']}: {tree['newick']}" for tree in facts["trees"]]
    return Table("Figure 1. The class tree of Glass", ("node", "divided into"), rows, notes)


def _kind(name: str) -> str:
    return f"{name} ({GLASS_KINDS[name]})" if name in GLASS_KINDS else name


def error_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """Return where the curves of Figures 2 to 8 end, and how they begin, in per cent."""
    rounds = max((outcome.rounds for outcome in outcomes), default=0)
    after = f"after {rounds} rounds, %"
    early = min(EARLY, rounds)
    return [
        _errors(outcomes, f"Figures 2 to 8. Test error {after}", lambda c: c.last("test"), True),
        _errors(outcomes, f"Figures 2 to 8. Training error {after}", lambda c: c.last("train")),
        _errors(
            outcomes,
            f"Figures 2 to 8. Test error, mean of the first {early} rounds, %",
            lambda c: float(c.mean("test")[:early].mean()),
        ),
    ]


def _errors(
    outcomes: Sequence[Outcome],
    title: str,
    value: Callable[[Curves], float],
    with_error: bool = False,
) -> Table:
    def rows() -> Iterator[tuple[Cell, ...]]:
        for outcome in outcomes:
            for key, by_method in outcome.curves.items():
                values = [value(by_method[name]) for name in METHODS]
                percent = [100 * one for one in values]
                error = [100 * outcome.standard_error(min(values))] if with_error else []
                yield (f"{outcome.name}: {LEARNERS[key].words}", *percent, *error)

    columns = ("data set", *METHODS, *(["standard error"] if with_error else []))
    return Table(title, columns, list(rows()), [_NOTE_ERRORS] if with_error else [])


# ---------------------------------------------------------------------- claims


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
    # ECC grows one tree per round: its cost in N is that of the weak learner
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
    """Sum up: a claim holds if it does on all sets, partly if on some; or if on more than half."""
    n_held = sum(one.holds for one in results)
    holds = n_held == len(results) if everywhere else 2 * n_held > len(results)
    told = "; ".join(f"{one.name} {one.words}{'' if one.holds else ' (not so)'}" for one in results)
    partly = everywhere and 0 < n_held < len(results)
    words = (
        f"{where}, {learner}: that {what} is so on {n_held} of {len(results)} sets and "
        f"{'holds partly' if partly else _verdict(holds)} ({told})."
    )
    so = (n_held, len(results)) if everywhere else None
    return Claim(f"{where}, {learner}", words, holds, so)


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
    spread = outcome.standard_error(errors[best])
    words = f"{_percent(errors['BHC'])}, {_one_best(errors)} ± {_percent(spread)}"
    return _Found(outcome.name, words, errors["BHC"] <= errors[best] + spread)


def _best_is_either(outcome: Outcome, curves: Mapping[str, Curves]) -> _Found:
    errors = {name: one.last("test") for name, one in curves.items()}
    either = min(errors["BHC"], errors["MH"])
    spread = outcome.standard_error(min(errors.values()))
    words = f"{_one_best(errors)} ± {_percent(spread)}"
    return _Found(outcome.name, words, either <= min(errors.values()))


def _earlier(outcome: Outcome, curves: Mapping[str, Curves]) -> _Found:
    ours, other = (float(curves[name].mean("test")[:EARLY].mean()) for name in ("BHC", "MH"))
    words = f"{_percent(ours)}, MH {_percent(other)} ± {_percent(outcome.standard_error(other))}"
    return _Found(outcome.name, words, ours < other)


def _ecc_worse(outcome: Outcome, curves: Mapping[str, Curves]) -> _Found:
    ecc, bhc = curves["ECC"].last("test"), curves["BHC"].last("test")
    words = f"{_percent(ecc)}, BHC {_percent(bhc)} ± {_percent(outcome.standard_error(bhc))}"
    return _Found(outcome.name, words, ecc > bhc)


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
