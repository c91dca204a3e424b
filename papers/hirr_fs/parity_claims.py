"""What the paper says of DD, and what its own protocol gives."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from papers.hirr_fs.methods import ALL, FIVE
from papers.hirr_fs.parity import N_SHOWN, ParityOutcome
from papers.hirr_fs.published_figures import (
    PAPER_CHOSEN,
    PAPER_F1,
    PAPER_GRID,
    PAPER_TIE,
    STRENGTHS,
)
from papers.result import Claim

__all__ = ["judge_parity"]

_WHERE = "DD by the authors' protocol"


def judge_parity(parity: ParityOutcome) -> list[Claim]:
    """Judge the figures and statements of DD.

    Parameters
    ----------
    parity : ParityOutcome

    Returns
    -------
    list of Claim
    """
    return [
        *_printed_digits(parity),
        _all_features(parity),
        _chosen(parity),
        *_grid(parity),
        _converged(parity),
        _standardised(parity),
    ]


def _claim(words: str, statement: str, holds: bool) -> Claim:
    verdict = statement if holds else f"it does not hold that {statement}"
    return Claim(_WHERE, f"{_WHERE}: {words}; {verdict}.", holds)


def _printed_digits(parity: ParityOutcome) -> Iterator[Claim]:
    """Tables 4 and 5, column by column."""
    for place, method in enumerate(FIVE):
        scores = parity.curves[method][parity.k]
        told_f1, told_tie = PAPER_F1["DD"][place], PAPER_TIE["DD"][place]
        words = (
            f"{method} has F1 {scores.f1:.10f} (printed {told_f1:.4f}) and TIE "
            f"{scores.tie_as_printed:.4f} (printed {told_tie:.4f}; {scores.tie:.4f} a row)"
        )
        holds = (round(scores.f1, 4), round(scores.tie_as_printed, 4)) == (told_f1, told_tie)
        yield _claim(words, "all printed digits come out", holds)


def _all_features(parity: ParityOutcome) -> Claim:
    some = parity.curves["Hier-FS"][parity.k].f1
    (n_features, every), *_ = parity.curves[ALL].items()
    words = f"{parity.k} features of Hier-FS have F1 {some:.4f}, all {n_features} {every.f1:.4f}"
    return _claim(words, "the few do as well as all", some >= every.f1)


def _chosen(parity: ParityOutcome) -> Claim:
    common = [
        len(set(ours) & set(theirs))
        for ours, theirs in zip(parity.chosen.values(), PAPER_CHOSEN.values(), strict=True)
    ]
    words = f"of {N_SHOWN} features printed in Table 6 for each node, {common} are chosen"
    return _claim(words, "all are", min(common) == N_SHOWN)


def _grid(parity: ParityOutcome) -> Iterator[Claim]:
    """Table 8(b), as printed and with its two strengths exchanged."""
    if not parity.grid:
        return
    for title, swap in (("as printed", False), ("with alpha and beta exchanged", True)):
        gaps = []
        for row, beta in enumerate(STRENGTHS):
            for column, alpha in enumerate(STRENGTHS):
                pair = (beta, alpha) if swap else (alpha, beta)
                gaps.append(abs(parity.grid[pair] - PAPER_GRID[row][column]))
        same = sum(gap < 5e-5 for gap in gaps)
        words = (
            f"Table 8(b) {title}: {same} of {len(gaps)} cells agree in all digits, the largest gap "
            f"is {max(gaps):.4f}"
        )
        yield _claim(words, "all agree", same == len(gaps))


def _converged(parity: ParityOutcome) -> Claim:
    values, lowest = parity.objective, parity.lowest
    falls = all(after <= before for before, after in pairwise(values))
    words = (
        f"the objective of HiRRfam-FS after {len(values)} sweeps is {values[-1]:.3f}, the lowest "
        f"found {lowest:.3f}; it {'falls' if falls else 'does not fall'} in every sweep"
    )
    return _claim(words, "ten sweeps are enough for 1e-4", values[-1] <= lowest * (1 + 1e-4))


def _standardised(parity: ParityOutcome) -> Claim:
    """The order of Table 5 is one of scales: does it stay when they are taken away?"""
    scores = {method: parity.standardised[method].f1 for method in (*FIVE, ALL)}
    words = "with standardised features F1 is "
    words += ", ".join(f"{method} {f1:.4f}" for method, f1 in scores.items())
    holds = all(scores["HiRRfam-FS"] > scores[method] for method in FIVE[:4])
    return _claim(words, "HiRRfam-FS is first, as with raw values", holds)
