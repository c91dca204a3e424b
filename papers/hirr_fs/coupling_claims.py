"""Couplings that act: their tables, and whether they gain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from papers.hirr_fs.couplings import CANDIDATES, MAX_ROWS, MAX_SWEEPS, Couplings
from papers.hirr_fs.methods import STRENGTHS
from papers.result import Cell, Claim, Table

__all__ = ["coupling_tables", "judge_couplings"]

_AT_EDGE = max(CANDIDATES)
_ERRORS = 2  # standard errors that the spread of Table 8 may have


def coupling_tables(found: Sequence[Couplings]) -> Iterator[Table]:
    """Yield the strengths that cross-validation chooses, and the grids of Table 8."""
    if not found:
        return
    columns: tuple[str, ...] = ("data set", "rows", "CV, none", "CV, best", "parent, sibling")
    columns += ("changed", "test, none", "test, chosen", "gain (95% interval)")
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        own = each.chosen
        if own is None:
            rows.append((each.name, *(None for _ in columns[1:])))
            continue
        gain = f"{own.chosen - own.none:+.4f} ({own.low:+.4f} to {own.high:+.4f})"
        values = [f"{value:.4f}" for value in (own.cv_none, own.cv_best)]
        strengths = (f"{own.parent:g}, {own.sibling:g}", f"{own.changed:.2f}")
        tests = [f"{value:.4f}" for value in (own.none, own.chosen)]
        rows.append((each.name, own.n_rows, *values, *strengths, *tests, gain))
    note = (
        f"Strengths relative to the data, of {', '.join(f'{c:g}' for c in CANDIDATES)} each, "
        f"chosen by three folds of at most {MAX_ROWS:,} training rows; test rows are scored once. "
        "F1 without the root. 'changed' is the share of the features of nodes that are not "
        "selected without couplings. The interval is of 1,000 paired bootstrap samples."
    )
    yield Table(
        "Couplings chosen by cross-validation on training rows",
        columns,
        rows,
        [note, *_at_edge(found)],
    )
    yield _grids(found)
    for each in found:
        if each.published:
            yield _beside_print(each)


def _at_edge(found: Sequence[Couplings]) -> list[str]:
    """Say where stronger couplings than the candidates might be better still."""
    chosen = {each.name: each.chosen for each in found if each.chosen is not None}
    names = [name for name, own in chosen.items() if _AT_EDGE in (own.parent, own.sibling)]
    if not names:
        return []
    return [
        f"The largest candidate, {_AT_EDGE:g}, is chosen on {', '.join(names)}: stronger couplings "
        "were not tried there."
    ]


def _grids(found: Sequence[Couplings]) -> Table:
    columns = ("data set, beta", *(f"alpha {alpha:g}" for alpha in STRENGTHS), "none")
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        for beta in STRENGTHS:
            cells = [_grid_cell(each, (alpha, beta)) for alpha in STRENGTHS]
            rows.append((f"{each.name}, {beta:g}", *cells, f"{each.none:.4f} ± {each.error:.4f}"))
    note = (
        "F1 of test rows, the root counted, with a fifth of the features (300 of texts); the "
        "strengths are those of Table 8, but relative to the data. 'none': without couplings, and "
        "its standard error over test rows. Nothing is chosen by this table. An asterisk: the "
        f"objective had not converged after {MAX_SWEEPS} sweeps; the cell is not judged."
    )
    return Table("Table 8 on our sets, strengths relative to the data", columns, rows, [note])


def _grid_cell(each: Couplings, pair: tuple[float, float]) -> str | None:
    if pair not in each.grid:
        return None
    return f"{each.grid[pair]:.4f}{'*' if pair in each.unsettled else ''}"


def _beside_print(each: Couplings) -> Table:
    from papers.hirr_fs.printed import PAPER_GRIDS

    printed = PAPER_GRIDS["F194"]
    strengths = tuple(f"{alpha:g}" for alpha in STRENGTHS)
    columns = ("beta \\ alpha", *strengths, "", *(f"printed {name}" for name in strengths))
    rows: list[tuple[Cell, ...]] = []
    for row, beta in enumerate(STRENGTHS):
        known = [each.published.get((alpha, beta)) for alpha in STRENGTHS]
        ours = [None if value is None else f"{value:.4f}" for value in known]
        rows.append((f"{beta:g}", *ours, "", *(f"{value:.4f}" for value in printed[row])))
    note = (
        "The published settings and units; of F194 only the test rows can be had: features are "
        f"chosen on two thirds of them, the others are scored (standard error {each.error:.4f})."
    )
    return Table("Table 8(a). F194, a fifth of the features", columns, rows, [note])


def judge_couplings(found: Sequence[Couplings]) -> Iterator[Claim]:
    """Judge whether couplings are chosen, whether they gain, and whether F1 depends on them."""
    for each in found:
        yield from _gain(each)
        yield from _sensitivity(each)
        if {(0.01, 0.01), (100.0, 0.01)} <= each.published.keys():
            yield _strong_parent(each)


def _gain(each: Couplings) -> Iterator[Claim]:
    """Whether couplings are chosen, and where they are, whether they gain on test rows."""
    own = each.chosen
    if own is None:
        return
    where = f"Couplings, {each.name}"
    coupled = (own.parent, own.sibling) != (0.0, 0.0)
    words = (
        f"{where}: F1 by cross-validation {own.cv_best:.4f} with strengths {own.parent:g} and "
        f"{own.sibling:g}, {own.cv_none:.4f} without"
    )
    if not coupled:
        words += "; it does not hold that couplings are chosen, so that they are not tested there."
        yield Claim(where, words, False)
        return
    yield Claim(where, f"{words}; couplings are chosen.", True)
    words = (
        f"{where}: strengths {own.parent:g} and {own.sibling:g} change {own.changed:.0%} of the "
        f"features; F1 of test rows {own.chosen:.4f}, without {own.none:.4f}: gain "
        f"{own.chosen - own.none:+.4f} (95% {own.low:+.4f} to {own.high:+.4f})"
    )
    holds = own.low > 0
    verdict = "" if holds else "it does not hold that "
    yield Claim(where, f"{words}; {verdict}couplings gain.", holds)


def _sensitivity(each: Couplings) -> Iterator[Claim]:
    """Whether the cells that converged differ by more than chance."""
    values = [f1 for pair, f1 in each.grid.items() if pair not in each.unsettled]
    if len(values) < 2:
        return
    where = f"Table 8, {each.name}"
    left = len(each.grid) - len(values)
    words = (
        f"{where}: F1 {min(values):.4f} to {max(values):.4f} over {len(values)} relative strengths"
        f"{f' ({left} that did not converge are left out)' if left else ''}, {each.none:.4f} "
        f"without; bound {_ERRORS} standard errors of a cell, {_ERRORS * each.error:.4f}, which is "
        "conservative: the cells share their test rows, and differences of two of them have "
        "smaller errors"
    )
    holds = max(values) - min(values) <= _ERRORS * each.error
    verdict = "" if holds else "it does not hold that "
    yield Claim(where, f"{words}; {verdict}F1 hardly depends on alpha and beta.", holds)


def _strong_parent(each: Couplings) -> Claim:
    """Whether a strong tie to the parent harms F194, as the paper says."""
    weak, strong = each.published[0.01, 0.01], each.published[100.0, 0.01]
    where = "Table 8(a), F194"
    words = (
        f"{where}: F1 {weak:.4f} with alpha = beta = .01 (printed .7171 in the text, .6752 in the "
        f"table) and {strong:.4f} with alpha = 100 (printed .6329), standard error {each.error:.4f}"
    )
    holds = strong < weak - _ERRORS * each.error
    verdict = "" if holds else "it does not hold that "
    return Claim(where, f"{words}; {verdict}a strong tie to the parent is harmful.", holds)
