"""Claims on the parts of structured Hellinger forests, judged by the scores of variants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.compare import Problem
from palmette.forest._parameters import PRESETS
from palmette.forest._splits import Hellinger
from papers.result import Claim
from papers.soshf.judging import claim_of
from papers.soshf.methods import even_split
from papers.soshf.outcome import Gain, Outcome, gain_of
from papers.soshf.published import PAPER_AUC, PAPER_F
from papers.soshf.tables import paper_score
from papers.soshf.variants import BASE, LOGISTIC, WHOLE

__all__ = ["judge_clusters", "judge_parts", "smaller_clusters"]

_MEASURES = (("f_own", "macro-F"), ("auc", "macro-AUC"))

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
    claims = [*_smooth_norm(), *_flipped(), *_gradient()]
    for outcome in outcomes:
        claims += [*_as_printed(outcome), *_depths(outcome), *_sparse(outcome)]
        claims += _single_features(outcome)
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


def _gradient() -> Iterator[Claim]:
    """Eq. 7 is the gradient of Eq. 6."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(40, 5)), np.ones(40)])
    y, alpha, step, gap = rng.random(40) < 0.3, 0.7, 1e-6, 0.0
    for w in rng.normal(size=(20, 6)):
        found = [
            (_loss(alpha, w + move, X, y) - _loss(alpha, w - move, X, y)) / (2 * step)
            for move in step * np.eye(6)
        ]
        gap = max(gap, float(np.abs(_printed_gradient(alpha, w, X, y) - found).max()))
    words = f"at 20 random weights it differs from central differences by {gap:.1g} at most"
    yield claim_of("Eq. 7", words, "it is the gradient of Eq. 6", gap < 1e-6)


def _soft(alpha: float, w: Any, X: Any) -> Any:
    """Eq. 3."""
    return (np.tanh(alpha * X @ w) + 1) / 2


def _loss(alpha: float, w: Any, X: Any, y: Any) -> float:
    """Eq. 6, with the rates of Eq. 5."""
    phi = _soft(alpha, w, X)
    return -float(_distance(phi[y].mean(), phi[~y].mean()) ** 2)


def _printed_gradient(alpha: float, w: Any, X: Any, y: Any) -> Any:
    """Eq. 7, with the sums of Eq. 4."""
    phi = _soft(alpha, w, X)
    slopes = alpha * X * (1 / np.cosh(alpha * X @ w) ** 2)[:, None] / 2
    tpr, fpr = phi[y].mean(), phi[~y].mean()
    of_first, of_second = slopes[y].mean(axis=0), slopes[~y].mean(axis=0)
    below = (np.sqrt(fpr) - np.sqrt(tpr)) * (of_first / np.sqrt(tpr) - of_second / np.sqrt(fpr))
    rest = np.sqrt(1 - fpr) - np.sqrt(1 - tpr)
    return below + rest * (-of_first / np.sqrt(1 - tpr) + of_second / np.sqrt(1 - fpr))


_GROUPS = (("SF", "sf", BASE), ("logistic", "sf-lr", LOGISTIC))


def _as_printed(outcome: Outcome) -> Iterator[Claim]:
    """SF and SF-LR as described do as printed; or one of their variants does, by both measures."""
    for title, key, variants in _GROUPS:
        printed = tuple(
            paper_score(scores, key, outcome.name) or np.nan for scores in (PAPER_F, PAPER_AUC)
        )
        found = {
            method.key: (answer.mean("f_own"), answer.mean("auc"))
            for method in variants
            if (answer := outcome.answers.get(method.key)) is not None
        }
        if np.isnan(printed).any() or key not in found:
            continue
        gaps = {name: np.abs(np.subtract(pair, printed)) for name, pair in found.items()}
        nearest = min(gaps, key=lambda name: float(gaps[name].sum()))
        near = bool(gaps[key].max() <= _NEAR)
        words = f"macro-F/AUC {_pair(found[key])}, printed {_pair(printed)}; the nearest variant "
        words += f"is {nearest!r} with {_pair(found[nearest])} ({_counted(outcome, nearest)})"
        if not near:
            reproduced = bool(gaps[nearest].max() <= _NEAR)
            words += (
                ", a setting that reproduces it (whether the authors had it is not known)"
                if reproduced
                else f": none of {len(found)} variants is within {_NEAR} of both, unexplained"
            )
        statement = f"{key} as described is within {_NEAR} of both printed scores"
        yield claim_of(f"Table 2, {title}, {outcome.name}", words, statement, near)


def _pair(pair: Sequence[Any]) -> str:
    return f"{pair[0]:.3f}/{pair[1]:.3f}"


def _counted(outcome: Outcome, key: str) -> str:
    return f"splits: {len(outcome.answers[key].splits)}"


def _depths(outcome: Outcome) -> Iterator[Claim]:
    """Trees of oblique splits are shallower than those of single features."""
    for key in ("sf-h-cs", "sf-lr"):
        sf, one = outcome.answers.get("sf"), outcome.answers.get(key)
        gain = None if sf is None or one is None else gain_of(one, sf, "depth")
        if gain is not None and sf is not None and one is not None:
            words = f"a row's leaf is at depth {one.mean('depth'):.1f} in {key} and at "
            words += f"{sf.mean('depth'):.1f} in sf: {gain}"
            yield claim_of(
                f"Depth, {outcome.name}", words, "oblique trees are shallower", gain.mean < 0
            )


def _single_features(outcome: Outcome) -> Iterator[Claim]:
    """Of single features, trees by Hellinger distance are deeper than those by information gain."""
    one, other = (outcome.answers.get(f"trees, {key}") for key in ("Hellinger", "gain"))
    gain = None if one is None or other is None else gain_of(one, other, "depth")
    if gain is not None and one is not None and other is not None:
        words = f"in a tree per label a row's leaf is at depth {one.mean('depth'):.1f} by "
        words += f"Hellinger distance and at {other.mean('depth'):.1f} by information gain: {gain}"
        statement = "trees by Hellinger distance are deeper"
        yield claim_of(f"Hellinger depth, {outcome.name}", words, statement, gain.mean > 0)


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
    gains = {m.key: _gains(outcome, m.key) for m in WHOLE if m.key.startswith("beta ")}
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


_ROWS = (  # of the page: the variants that belong to it
    ("iterations", ("30 iterations", "30 iterations, alpha grows sooner")),
    ("rates", ("rate .01", "rate .2", "rate .2, 30 iterations")),
    ("65%", ("65%",)),
)
_FEW_ROWS = (  # by the row of the page; their CPU time is told, but not judged
    ("batches", ("batches of 300", "batches of 100")),
    ("samples at nodes", ("samples of 100", "samples of 30")),
)


def _cheaper(outcome: Outcome) -> Iterator[Claim]:
    """Fewer iterations, smaller samples, other learning rates lose little and save time."""
    for title, keys in _ROWS:
        for key in keys:
            gains = _gains(outcome, key)
            if gains:
                words, ratio = _told_cheaper(outcome, key, gains)
                holds = all(gain.mean > -_SMALL for _, gain in gains) and ratio < 1
                statement = f"it is quicker and loses less than {_SMALL}"
                yield claim_of(f"Scalability, {title}, {outcome.name}", words, statement, holds)
    for title, keys in _FEW_ROWS:
        for key in keys:
            gains = _gains(outcome, key)
            if gains:
                words, _ = _told_cheaper(outcome, key, gains)
                words += f"; a tree has {_rows_of_tree(outcome):,} rows"
                holds = all(gain.mean > -_SMALL for _, gain in gains)
                statement = f"it loses less than {_SMALL}"
                yield claim_of(f"Scalability, {title}, {outcome.name}", words, statement, holds)
    yield from _published_batches(outcome)


def _told_cheaper(outcome: Outcome, key: str, gains: list[tuple[str, Gain]]) -> tuple[str, float]:
    one, whole = outcome.answers[key], outcome.answers["sf-h-cs"]
    ratio = one.mean("fit_s") / max(whole.mean("fit_s"), 1e-9)
    told = ", ".join(f"{title} {gain}" for title, gain in gains)
    return f"{key}: {told}; {ratio:.2f} of the CPU time", ratio


def _rows_of_tree(outcome: Outcome) -> int:
    """Return the rows that a tree draws of the training half."""
    share = float(PRESETS["sf-h-cs"].parameters["max_samples"])
    return round(outcome.facts.table.instances // 2 * share)


def _published_batches(outcome: Outcome) -> Iterator[Claim]:
    """Batches of 1,000 rows do as well as all rows, where a tree has more."""
    gains = _gains(outcome, "full batch")
    n_rows, size = _rows_of_tree(outcome), Hellinger().batch_size
    if gains and n_rows > size:
        told = ", ".join(f"{title} {gain}" for title, gain in gains)
        words = f"a tree has {n_rows:,} rows; all rows at once less batches of {size:,}: {told}"
        holds = all(gain.mean < _SMALL for _, gain in gains)
        statement = f"batches lose less than {_SMALL}"
        yield claim_of(f"Published batches, {outcome.name}", words, statement, holds)


# ---------------------------------------------------------------------- sizes of clusters

_UNEQUAL = 1 / 3  # the share of rows of a cluster that is much the smaller one
_DRAWS = 10  # of labels, per split


def smaller_clusters(problem: Problem, n_splits: int, seed: int) -> NDArray[np.float64]:
    """Return the shares of rows of the smaller cluster of 2-means over label sets, at roots.

    Parameters
    ----------
    problem : Problem
        As `papers.soshf.methods.prepare` gives it.
    n_splits, seed : int
        Of the even splits.

    Returns
    -------
    array of shape (n_splits * 10,)
        Each of a sample of 75% of the training rows and labels, as for a tree.
    """
    from sklearn.cluster import KMeans

    shares = []
    for number in range(n_splits):
        labels = even_split(problem, number, seed).y_train
        rng = np.random.default_rng((seed, number))
        for _ in range(_DRAWS):
            drawn = [rng.permutation(n)[: max(1, round(0.75 * n))] for n in labels.shape]
            part = labels[np.ix_(*drawn)].astype(np.float64)
            found = KMeans(2, n_init=3, random_state=number).fit(part).labels_
            shares.append(min(found.mean(), 1 - found.mean()))
    return np.array(shares)


def judge_clusters(clusters: Mapping[str, NDArray[np.float64]]) -> Iterator[Claim]:
    """Judge whether 2-means often gives clusters of unequal size."""
    for name, shares in clusters.items():
        n_unequal = int((shares < _UNEQUAL).sum())
        words = f"of {len(shares)} samples at the root the smaller cluster has "
        words += f"{np.median(shares):.0%} of the rows (median), less than a third in {n_unequal}"
        statement = "it has less than a third in most"
        yield claim_of(f"Sizes of clusters, {name}", words, statement, 2 * n_unequal > len(shares))
