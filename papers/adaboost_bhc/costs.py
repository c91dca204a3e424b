"""Claims about the cost of a round, training times and memory: Tables 1 and 3, Sections 3 and 4."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from papers.adaboost_bhc.methods import METHODS, paper_cost, paper_set
from papers.adaboost_bhc.reading import Found, Row, Stored, counted, times
from papers.result import Claim

__all__ = ["judge_costs"]

_NEAR = 0.15  # exponents that are taken for the same
_FACTOR = 1.5  # ratios of times that are taken for the same
_ALIKE = 1.25  # costs that are taken for the same
_SHARE = 0.1  # relative difference from log2 C that is taken for none
_COST = "Table 1. Cost of a round"
_PAIRS = "Table 1. A weak learner of cost N^2"


def judge_costs(stored: Stored) -> Iterator[Claim]:
    """Judge what the paper says of costs, as far as there are tables of it.

    Parameters
    ----------
    stored : Stored

    Yields
    ------
    Claim
    """
    exponents, milliseconds = stored.rows(f"{_COST}: exp"), stored.rows(f"{_COST}: CPU")
    if set(METHODS) <= exponents.keys():
        yield _order(exponents)
        yield from _formulas(exponents)
    if set(METHODS) <= milliseconds.keys():
        yield _milliseconds(milliseconds, stored.rows("Nodes of the trees of a round"))
        yield _mi_and_mh(milliseconds)
    if pairs := stored.rows(f"{_PAIRS}: exp"):
        for size in ("C", "N"):
            columns = [(row[f"{size}: ours"], row[f"{size}: paper"]) for row in pairs.values()]
            found = [
                Found(name, _pair(*both), _near(*both))
                for name, both in zip(pairs, columns, strict=True)
            ]
            yield _compared("Table 1, N^2", size, found)
    yield _printed_formula()
    yield from _node_rows(stored)
    for learner, sets in stored.of_learners("Table 3").items():
        yield from _training_times(learner, sets)
    for learner, sets in stored.of_learners("AdaBoost.MH over C * N copies").items():
        yield from _copies(stored, learner, sets)
    yield from _memory(stored)


# ---------------------------------------------------------------------- Table 1


def _pair(ours: float, paper: float) -> str:
    return f"{ours:.2f}, formula {abs(paper):.2f}"


def _near(ours: float, paper: float) -> bool:
    return abs(ours - paper) <= _NEAR


def _compared(where: str, size: str, found: Sequence[Found], note: str = "") -> Claim:
    what = (
        f"exponents of {size} in the cost of a round are those of the formulas, to {_NEAR:g} (our "
        "bound),"
    )
    return counted(where, what, found, "methods", note)


def _order(rows: dict[str, Row]) -> Claim:
    exponent = {name: float(rows[name]["C: ours"]) for name in METHODS}
    holds = exponent["ECC"] < exponent["BHC"] < min(exponent["MH"], exponent["MI"])
    shown = ", ".join(f"{name} {value:.2f}" for name, value in exponent.items())
    order = "the order of the formulas" if holds else "not the order of the formulas"
    words = f"Table 1: the cost of a round grows with C to the power of {shown}: {order}."
    return Claim("Table 1", words, holds)


def _formulas(rows: dict[str, Row]) -> Iterator[Claim]:
    """Exponents of C and of N, by the formulas for the cost of the weak learner in N."""
    # ECC grows one tree per round: its cost in N is that of the weak learner
    power = min((1, 2), key=lambda each: abs(each - rows["ECC"]["N: ours"]))
    told = "N" if power == 1 else "N^2"
    note = f"The formulas are those for a weak learner of cost {told}, the nearer ones."
    for size, column in (("C", f"C, if {told}"), ("N", told)):
        found = []
        for name in METHODS:
            ours, paper = rows[name][f"{size}: ours"], rows[name][column]
            found.append(Found(name, _pair(ours, paper), _near(ours, paper)))
        yield _compared("Table 1, trees", size, found, note)


def _milliseconds(rows: dict[str, Row], nodes: dict[str, Row]) -> Claim:
    ecc, bhc = rows["ECC"], rows["BHC"]
    found = [
        Found(size, f"ECC {ecc[size]:.2f} ms, BHC {bhc[size]:.2f}", ecc[size] < bhc[size])
        for size in list(ecc)[1:]
    ]
    note = ""
    if nodes:
        grown = ", ".join(f"{row['ECC']:,} at {size}" for size, row in nodes.items())
        largest = ", ".join(f"{row['BHC, largest']:,}" for row in nodes.values())
        note = (
            "The reason: trees grow until their leaves are pure, and a random half of the classes "
            f"needs a large tree over all rows, the larger the more classes: {grown} nodes; the "
            f"largest of BHC's has {largest}. The formulas have no such term."
        )
    return counted("Table 1, milliseconds", "ECC costs less than BHC", found, "sizes", note)


def _mi_and_mh(rows: dict[str, Row]) -> Claim:
    found = []
    for size in list(rows["MH"])[1:]:
        mh, mi = rows["MH"][size], rows["MI"][size]
        found.append(
            Found(size, f"MI {mi:.2f} ms, MH {mh:.2f}", max(mh, mi) / min(mh, mi) <= _ALIKE)
        )
    what = f"a round of MI costs as much as one of MH, to a factor of {_ALIKE:g} (our bound),"
    note = (
        "Our MH grows one tree per class. With a weak learner of cost N^2 the paper's own formulas "
        "differ by a factor of C."
    )
    return counted("Section 3, cost", what, found, "sizes", note)


def _printed_formula() -> Claim:
    n_rows, sizes = 1024, (4, 64)
    printed = [sum(0.5**k * (n_rows / 2**k) for k in range(n.bit_length() - 1)) for n in sizes]
    told = [paper_cost("BHC", n_rows, n, 1) for n in sizes]
    words = (
        f"Section 4, formula: with 1 / 2^k nodes at depth k, as printed, a round of {n_rows:,} "
        f"rows costs {printed[0]:,.0f} for 4 classes and {printed[1]:,.0f} for 64; with 2^k nodes "
        f"{told[0]:,.0f} and {told[1]:,.0f}, which is the N log2 C of Table 1. The printed formula "
        "does not give Table 1; it is taken for a misprint."
    )
    return Claim("Section 4, formula", words, False)


def _node_rows(stored: Stored) -> Iterator[Claim]:
    found = []
    for name, row in stored.rows("Rows of the nodes").items():
        ours, paper = row["rows of all nodes / N"], row["log2 C"]
        held = abs(ours - paper) <= _SHARE * paper
        found.append(Found(name, f"{ours:.2f}, log2 C {paper:.2f}", held))
    if found:
        what = (
            "all nodes of the BHC tree together have log2 C * N rows, as if each had half of the "
            "rows above it, to a tenth (our bound),"
        )
        yield counted("Section 4, rows of nodes", what, found)


# ------------------------------------------------------------------- Table 3, copies and memory


def _training_times(learner: str, sets: dict[str, Row]) -> Iterator[Claim]:
    where = f"Table 3, {learner}"
    fastest: list[Found] = []
    faster: list[Found] = []
    ratios: list[Found] = []
    for name, row in sets.items():
        others = {each: row[each] for each in METHODS if each != "ECC"}
        next_ = min(others, key=lambda each: others[each])
        words = f"ECC {row['ECC']:.2f} s, {next_} {others[next_]:.2f}"
        fastest.append(Found(name, words, row["ECC"] < others[next_]))
        words = f"BHC {row['BHC']:.2f} s, MH {row['MH']:.2f}, MI {row['MI']:.2f}"
        faster.append(Found(name, words, row["BHC"] < min(row["MH"], row["MI"])))
        ratios += _ratios(name, row)
    yield counted(where, "ECC is trained fastest", fastest)
    yield counted(where, "BHC is trained faster than MH and MI", faster)
    if ratios:
        what = f"ratios of times are the printed ones, to a factor of {_FACTOR:g} (our bound),"
        note = "The paper's programs are in MATLAB, with the trees of its toolbox."
        yield counted(where, what, ratios, "cells", note)


def _ratios(name: str, row: Row) -> Iterator[Found]:
    paper = paper_set(name)
    if paper is None or paper.seconds is None:
        return
    for method, seconds in zip(METHODS[:-1], paper.seconds[:-1], strict=True):
        ours, printed = row[f"{method}/BHC"], seconds / paper.seconds[-1]
        words = f"{method}/BHC {times(ours)}, printed {times(printed)}"
        yield Found(name, words, _same_ratio(ours, printed))


def _same_ratio(ours: float, printed: float) -> bool:
    return max(ours, printed) / min(ours, printed) <= _FACTOR


def _copies(stored: Stored, learner: str, sets: dict[str, Row]) -> Iterator[Claim]:
    """MH over copies is slower than BHC, by the printed ratio, and errs as much as our form."""
    where = f"Section 3, copies, {learner}"
    slower, printed, same = [], [], []
    for name, row in sets.items():
        ratio, paper = row["copies/BHC"], row["MH/BHC, paper"]
        slower.append(Found(name, f"{times(ratio)} times", ratio > 1))
        if paper is not None:
            words = f"{times(ratio)} times, printed {times(paper)}"
            printed.append(Found(name, words, _same_ratio(ratio, paper)))
        copied, own = row["copies, %"], row["one tree per class, %"]
        error = stored.standard_error(name, min(copied, own))
        words = f"copies {copied:.2f}%, one tree per class {own:.2f}% ± {error:.2f}%"
        same.append(Found(name, words, abs(copied - own) <= 2 * error))
    note = "Trees over copies are those of scikit-learn, BHC's are ours: a ratio of programs, too."
    yield counted(where, "MH over copies takes longer than BHC", slower, note=note)
    if printed:
        what = f"MH over copies takes as many times as long as printed, to a factor of {_FACTOR:g},"
        yield counted(where, what, printed, note=note)
    what = "MH over copies errs as much as with one tree per class, to two standard errors,"
    yield counted(where, what, same)


def _memory(stored: Stored) -> Iterator[Claim]:
    found = []
    for name, row in stored.rows("Memory of a round").items():
        mi, mh = row["MI, MiB"], row["MH over copies, MiB"]
        if mi is not None and mh is not None:
            found.append(Found(name, f"MI {mi:.1f} MiB, MH over copies {mh:.1f}", mi < mh))
    if found:
        yield counted("Section 3, memory", "MI takes less memory than MH", found, "sizes")
