"""What the parts of structured Hellinger forests do, one changed at a time.

The paper says of many parts that they matter, or hardly matter, without figures.
`palmette bench soshf-parts` measures them on the same splits.

It also answers why the base forest SF is far better here than in Table 2 (macro-F on medical .77,
printed .454). The vote of the prior, the votes of labels, Eq. 1 (which SF does not use), sampling
with replacement and the measure are not the reason, and thresholds of one half cost .1 only. The
printed figures come out if a node draws a single feature at random, instead of taking the best of
all features of the tree: a word of a text is rare, so most nodes find no split, and trees remain
small. On scene and yeast, with numeric features, that explains a part of the gap only; trees of two
levels come nearest there, so small trees are the reason there too, but not which setting made them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from palmette.compare import ResultStore, check_problem, environment
from palmette.exceptions import PalmetteError
from papers.cells import Cells
from papers.result import Cell, Claim, PublishedResult, Table
from papers.soshf.claims import claim_of
from papers.soshf.methods import Method, Options, read_set, short_name
from papers.soshf.outcome import Answer, Gain, Outcome, find_outcome, gain_of
from papers.soshf.published import PAPER_AUC, PAPER_F, REFERENCE
from papers.soshf.tables import paper_score

__all__ = ["PARTS", "judge_parts", "make_parts"]

_SPLITS = 3
_MEASURES = (("f_own", "macro-F"), ("auc", "macro-AUC"))
_PRINTED = (PAPER_F, PAPER_AUC)

# ---------------------------------------------------------------------- variants


def _variant(preset: str, **changed: Any) -> Callable[[Options], Any]:
    def make(options: Options) -> Any:
        from palmette.forest import StructuredForestClassifier

        model = StructuredForestClassifier.preset(preset, decoding="f1", **options.shared)
        return model.set_params(**changed)

    return make


def _part(key: str, words: str, preset: str, **changed: Any) -> Method:
    return Method(key, words, _variant(preset, **changed), 0)


_BASE = (
    _part("sf", "the base forest as described", "sf"),
    _part("sf, prior", "with the vote of the prior", "sf", prior_vote=1.0),
    _part("sf, equal votes", "all trees vote alike for a label", "sf", label_vote=1.0),
    _part("sf, threshold .5", "thresholds are not tuned", "sf", decoding=0.5),
    _part("sf, bootstrap", "rows with replacement", "sf", bootstrap=True, max_samples=1.0),
    _part("sf, depth 2", "trees of two levels", "sf", max_depth=2),
    _part("sf, root of features", "a node draws as many features as the root of their number", "sf",
          max_node_features="sqrt"),
    _part("sf, one feature", "a node draws one feature", "sf", max_node_features=1),
)  # fmt: skip
_WHOLE = (
    _part("sf-h-cs", "SOSHF as published", "sf-h-cs"),
    _part("prior", "with the vote of the prior", "sf-h-cs", prior_vote=1.0),
    *(
        _part(f"beta {beta}", f"beta {beta} instead of .5", "sf-h-cs", partition__beta=beta)
        for beta in (0.0, 0.25, 0.75, 1.0)
    ),
    _part("beta learned", "beta chosen of these five out of bag", "sf-h-cs", partition__beta="oob"),
    _part("no penalty", "weights are not penalized", "sf-h-cs", router__sparsity=0.0),
    _part("batches of 100", "instead of 1,000 rows", "sf-h-cs", router__batch_size=100),
    _part("30 iterations", "instead of 110", "sf-h-cs", router__max_iter=30),
    _part("65%", "of rows, features and labels instead of 75%", "sf-h-cs",
          max_samples=0.65, max_features=0.65, max_labels=0.65),
)  # fmt: skip
PARTS = (*_BASE, *_WHOLE)


def make_parts(
    datasets: Sequence[str],
    rounds: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Callable[[str, str], None] | None = None,
    *,
    quick: bool = False,
    splits: int | None = None,
    minutes: float | None = None,
    methods: Sequence[Method] = PARTS,
) -> PublishedResult:
    """Measure all variants on some data sets; see `papers.run`."""
    if rounds is not None:
        raise PalmetteError(
            f"rounds={rounds!r} was given, but soshf-parts boosts nothing and has no rounds."
        )
    for name in datasets:
        check_problem(name)
    if splits is None:
        splits = 1 if quick else _SPLITS
    made_with = {**environment(), "n_jobs": 1 if n_jobs is None else n_jobs}
    cells = Cells(store, made_with, watch, minutes)
    outcomes = [
        find_outcome(
            read_set(name), methods, cells, n_splits=splits, seed=seed, n_jobs=n_jobs, quick=quick
        )
        for name in datasets
    ]
    return PublishedResult(
        "soshf-parts",
        REFERENCE,
        _tables(outcomes, methods),
        judge_parts(outcomes),
        {},
        lambda facts: {},
        {o.name: {key: answer.means() for key, answer in o.answers.items()} for o in outcomes},
        {**made_with, "seed": seed, "splits": splits},
        cells.notes,
    )


# ---------------------------------------------------------------------- tables


def _tables(outcomes: Sequence[Outcome], methods: Sequence[Method]) -> list[Table]:
    columns = ("forest", "what is changed", *(short_name(outcome.name) for outcome in outcomes))
    tables = []
    for value, title in (*_MEASURES, ("depth", "mean depth of a row's leaf"),
                         ("weights", "features of a split"), ("fit_s", "CPU seconds")):  # fmt: skip
        rows: list[tuple[Cell, ...]] = []
        for method in methods:
            found = [outcome.answers.get(method.key) for outcome in outcomes]
            rows.append((method.key, method.words, *(_told(one, value) for one in found)))
        for key in ("sf", "sf-h-cs"):
            scores = PAPER_AUC if value == "auc" else PAPER_F
            if value in ("f_own", "auc"):
                cells = [paper_score(scores, key, outcome.name) for outcome in outcomes]
                rows.append((f"{key}, printed", "the paper", *cells))
        tables.append(Table(f"Parts: {title}", columns, rows, [_NOTE] if value == "f_own" else []))
    return tables


def _told(answer: Answer | None, value: str) -> str | None:
    if answer is None or np.isnan(answer.mean(value)):
        return None
    digits = 3 if value in ("f_own", "auc") else 1
    spread = answer.deviation(value)
    n_splits = len(answer.splits)
    error = "" if spread is None else f" ± {spread / np.sqrt(n_splits):.{digits}f}"
    return f"{answer.mean(value):.{digits}f}{error} ({n_splits})"


_NOTE = (
    "Means over even splits with their standard errors, and the number of splits. A feature of a "
    "split counts if its weight is at least 1% of the largest one. SF is above print because its "
    "nodes take the best of all features of the tree, as the text has it: if they draw one feature "
    "each, it does as printed on medical, emotions, cal500 and enron; on scene and yeast trees of "
    "two levels come nearest to print."
)


# ---------------------------------------------------------------------- claims

_NEAR = 0.03  # of the printed scores
_SMALL = 0.01  # "a small amount of predictive power"


def judge_parts(outcomes: Sequence[Outcome]) -> list[Claim]:
    """Judge what the paper says of the parts.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Of the methods of `PARTS`.

    Returns
    -------
    list of Claim
    """
    claims = [*_smooth_norm(), *_flipped()]
    for outcome in outcomes:
        claims += [*_base_as_printed(outcome), *_depths(outcome), *_sparse(outcome)]
        claims += [*_betas(outcome), *_learnt(outcome), *_penalty(outcome), *_cheaper(outcome)]
        claims += _prior(outcome)
    return claims


def _smooth_norm() -> Iterator[Claim]:
    """Eq. 8 as printed is not a norm; with a plus it is."""
    w = np.array([-0.5, -1e-3, 2e-3, 0.7])
    eta = 1e3
    terms = np.logaddexp(0, -eta * w), np.logaddexp(0, eta * w)
    printed, meant = (terms[0] - terms[1]) / eta, (terms[0] + terms[1]) / eta
    gap, other = np.abs(printed - np.abs(w)).max(), np.abs(meant - np.abs(w)).max()
    words = (
        f"for w = {', '.join(f'{x:g}' for x in w)} and eta = 1,000 the printed difference is off "
        f"|w| by up to {gap:.3f} (it is -w); the sum of both logarithms by {other:.4f}"
    )
    yield claim_of("Eq. 8", words, "the printed formula approximates |w|", bool(gap < 0.01))


def _flipped() -> Iterator[Claim]:
    """Eq. 2 does not change if both rates are flipped."""
    rates = np.random.default_rng(0).random((2, 100))
    gap = np.abs(_distance(*rates) - _distance(*(1 - rates))).max()
    words = f"of 100 random pairs of rates the distance changes by {gap:.1g} at most"
    yield claim_of("Eq. 2", words, "flipping the assignments changes nothing", bool(gap < 1e-9))


def _distance(tpr: Any, fpr: Any) -> Any:
    """Eq. 2."""
    first = np.sqrt(tpr) - np.sqrt(fpr)
    second = np.sqrt(1 - tpr) - np.sqrt(1 - fpr)
    return np.sqrt(first**2 + second**2)


def _base_as_printed(outcome: Outcome) -> Iterator[Claim]:
    """SF as described does as printed, or one of its variants does."""
    printed = tuple(paper_score(scores, "sf", outcome.name) or np.nan for scores in _PRINTED)
    found = {
        method.key: (answer.mean("f_own"), answer.mean("auc"))
        for method in _BASE
        if (answer := outcome.answers.get(method.key)) is not None
    }
    if np.isnan(printed).any() or "sf" not in found:
        return
    gaps = {key: np.abs(np.subtract(pair, printed)).sum() for key, pair in found.items()}
    nearest = min(gaps, key=gaps.__getitem__)
    words = (
        f"macro-F/AUC {_pair(found['sf'])}, printed {_pair(printed)}; the nearest variant "
        f"is {nearest!r} with {_pair(found[nearest])} ({_counted(outcome, nearest)})"
    )
    near = abs(found["sf"][0] - printed[0]) <= _NEAR
    yield claim_of(f"Table 2, SF, {outcome.name}", words, "SF as described does as printed", near)


def _pair(pair: Sequence[Any]) -> str:
    return f"{pair[0]:.3f}/{pair[1]:.3f}"


def _counted(outcome: Outcome, key: str) -> str:
    return f"splits: {len(outcome.answers[key].splits)}"


def _depths(outcome: Outcome) -> Iterator[Claim]:
    sf, whole = outcome.answers.get("sf"), outcome.answers.get("sf-h-cs")
    gain = None if sf is None or whole is None else gain_of(whole, sf, "depth")
    if gain is not None and sf is not None and whole is not None:
        words = f"a row's leaf is at depth {whole.mean('depth'):.1f} in SF-H-CS and at "
        words += f"{sf.mean('depth'):.1f} in SF: {gain}"
        yield claim_of(
            f"Depth, {outcome.name}", words, "oblique trees are shallower", gain.mean < 0
        )


def _sparse(outcome: Outcome) -> Iterator[Claim]:
    whole, free = outcome.answers.get("sf-h-cs"), outcome.answers.get("no penalty")
    if whole is not None and free is not None:
        kept, before = whole.mean("weights"), free.mean("weights")
        words = f"{kept:.1f} features of a split have at least 1% of the largest weight, "
        words += f"{before:.1f} without the penalty"
        yield claim_of(
            f"Sparsity, {outcome.name}", words, "the penalty makes weights sparse (half as many)",
            kept <= before / 2,
        )  # fmt: skip


def _gains(outcome: Outcome, key: str) -> list[tuple[str, Gain]]:
    """Return the gains of a variant over SF-H-CS by measure."""
    one, whole = outcome.answers.get(key), outcome.answers.get("sf-h-cs")
    if one is None or whole is None:
        return []
    found = [(title, gain_of(one, whole, value)) for value, title in _MEASURES]
    return [(title, gain) for title, gain in found if gain is not None]


def _betas(outcome: Outcome) -> Iterator[Claim]:
    gains = {m.key: _gains(outcome, m.key) for m in _WHOLE if m.key.startswith("beta ")}
    fixed = {key: found for key, found in gains.items() if found and key != "beta learned"}
    for place, (_, title) in enumerate(_MEASURES):
        if fixed:
            told = ", ".join(f"{key} {found[place][1]}" for key, found in fixed.items())
            best = max(found[place][1].mean for found in fixed.values())
            yield claim_of(
                f"Beta, {outcome.name}", f"gains in {title} over beta .5: {told}",
                f".5 is within {_SMALL} of the best", best <= _SMALL,
            )  # fmt: skip


def _learnt(outcome: Outcome) -> Iterator[Claim]:
    for title, gain in _gains(outcome, "beta learned"):
        yield claim_of(
            f"Future work, beta, {outcome.name}", f"learned less .5 in {title}: {gain}",
            "beta learned out of bag gains", gain.mean > 0,
        )  # fmt: skip


def _penalty(outcome: Outcome) -> Iterator[Claim]:
    for title, gain in _gains(outcome, "no penalty"):
        yield claim_of(
            f"Penalty, {outcome.name}", f"without it less with it in {title}: {gain}",
            "the penalty prevents overfitting (it loses without)", gain.mean < 0,
        )  # fmt: skip


def _prior(outcome: Outcome) -> Iterator[Claim]:
    for title, gain in _gains(outcome, "prior"):
        yield claim_of(
            f"Prior, {outcome.name}", f"with it less without it in {title}: {gain}",
            f"the vote of the prior changes less than {_SMALL}", abs(gain.mean) < _SMALL,
        )  # fmt: skip


def _cheaper(outcome: Outcome) -> Iterator[Claim]:
    """Fewer iterations, smaller batches and samples lose little and save time."""
    for key in ("batches of 100", "30 iterations", "65%"):
        gains = _gains(outcome, key)
        if not gains:
            continue
        one, whole = outcome.answers[key], outcome.answers["sf-h-cs"]
        ratio = one.mean("fit_s") / max(whole.mean("fit_s"), 1e-9)
        told = ", ".join(f"{title} {gain}" for title, gain in gains)
        words = f"{key}: {told}; {ratio:.2f} of the CPU time"
        holds = all(gain.mean > -_SMALL for _, gain in gains) and ratio < 1
        statement = f"it is quicker and loses less than {_SMALL}"
        yield claim_of(f"Scalability, {key}, {outcome.name}", words, statement, holds)
