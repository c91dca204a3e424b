"""Two models on the same rows: paired differences, classes that changed, rows that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import binomtest

from palmette.base._adapters import find_in_parts
from palmette.exceptions import PalmetteError
from palmette.reporting._classes import count_labels
from palmette.reporting._evaluation import Evaluation, RowTexts
from palmette.reporting._headline import plain_scores, score_differences
from palmette.reporting._intervals import CONFIDENCE
from palmette.reporting._plain import plain_facts, rounded

_MOST_CLASSES = 2000  # that changed, in the report
_MOST_ROWS = 1000  # for which the models differ, in the report
_LEVEL = 0.05  # of the tests of classes, divided by their number

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """One of two models.

    Parameters
    ----------
    name : str
    evaluation : Evaluation
    answer : array of shape (n_samples,), optional
        Probability of the predictions.
    acceptance : dict, optional
        As from `acceptance_facts`.
    """

    name: str
    evaluation: Evaluation
    answer: NDArray[np.float64] | None
    acceptance: dict[str, Any] | None


def require_comparable(models: Sequence[Any]) -> None:
    """Raise an error for models whose predictions cannot be compared node by node."""
    learned = [bool(find_in_parts(model, "learnt_")) for model in models]
    if any(learned):
        raise PalmetteError(
            "two models can be compared if their labels are on one hierarchy, but that of the "
            f"{'first' if learned[0] else 'second'} model was learned, so its nodes are its own. "
            "Make one report per model instead."
        )
    several = [bool(find_in_parts(model, "several_paths_")) for model in models]
    if several[0] != several[1]:
        raise PalmetteError(
            "one of the models predicts one label per row and the other one several: expected two "
            "models of the same kind."
        )


def versus_facts(
    first: Side, second: Side, texts: RowTexts, *, n_bootstrap: int, seed: int
) -> dict[str, Any]:
    """Compare two models on the same rows.

    Parameters
    ----------
    first, second : Side
        Evaluated on one hierarchy. Differences are those of the second minus those of the first.
    texts : RowTexts
    n_bootstrap, seed : int
        Number and seed of the resamples, which are the same for both models.

    Returns
    -------
    dict
        ``verdict``, one sentence; ``names``; ``figures`` with ``first``, ``second``,
        ``difference``, ``low``, ``high``; ``right``, the rows that both, one or none of the models
        predict correctly, with the two-sided p-value of McNemar's exact test; ``accepted``, the
        shares that could be accepted automatically; ``classes``, columns of the labels that
        changed; ``rows`` for which the models differ, of ``n_differing``.
    """
    right = first.evaluation.is_right, second.evaluation.is_right
    only = [int(np.count_nonzero(right[k] & ~right[1 - k])) for k in (0, 1)]
    names = [first.name, second.name]
    rows, n_differing = _differing_rows(first, second, texts)
    facts = plain_facts(
        {
            "verdict": "",
            "names": names,
            "figures": _figures(first, second, n_bootstrap, seed),
            "right": {
                "both": int(np.count_nonzero(right[0] & right[1])),
                "only_first": only[0],
                "only_second": only[1],
                "neither": int(np.count_nonzero(~right[0] & ~right[1])),
                "p_value": mcnemar(*only),
            },
            "accepted": [_accepted(each.acceptance) for each in (first, second)],
            "classes": _changed_classes(first.evaluation, second.evaluation),
            "rows": rows,
            "n_differing": n_differing,
        }
    )
    facts["verdict"] = _verdict(facts)
    return facts


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the p-value of McNemar's exact test, two-sided.

    Examples
    --------
    >>> mcnemar(2, 10) == 2 * (1 + 12 + 66) / 2**12
    True
    """
    total = only_first + only_second
    return float(binomtest(only_first, total).pvalue) if total else 1.0


def _figures(first: Side, second: Side, n_bootstrap: int, seed: int) -> list[dict[str, Any]]:
    sides = [plain_scores(each.evaluation)[0] for each in (first, second)]
    found = score_differences(
        first.evaluation, second.evaluation, n_bootstrap=n_bootstrap, seed=seed
    )
    return [
        {
            "name": score.name,
            "title": score.title,
            "first": sides[0][score.name],
            "second": sides[1][score.name],
            "difference": each.value,
            "low": each.low,
            "high": each.high,
            "higher_is_better": score.higher_is_better,
        }
        for score, each in found
    ]


def _accepted(found: dict[str, Any] | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "asked": found["precision"],
        "complete": found["whole"]["share"],
        "share": found["accepted"]["share"],
        "precision": found["accepted"]["precision"],
    }


def _changed_classes(first: Evaluation, second: Evaluation) -> dict[str, Any]:
    """Compare the labels one by one: rows of a label that only one of the models gets right."""
    true = sparse.csr_array(first.pair.true.specific, dtype=np.int64)
    hits = [
        sparse.csr_array(true.multiply(each.pair.pred.specific.astype(np.int64)))
        for each in (first, second)
    ]
    both = sparse.csr_array(hits[0].multiply(hits[1]))
    counts = [np.asarray(each.sum(axis=0)).ravel().astype(np.int64) for each in (*hits, both)]
    lost, gained = counts[0] - counts[2], counts[1] - counts[2]
    labels = [count_labels(each) for each in (first, second)]
    scores = [each.f1 for each in labels]
    changed = np.flatnonzero((lost > 0) | (gained > 0) | (scores[0] != scores[1]))
    changed = changed[np.isfinite(scores[0][changed]) & np.isfinite(scores[1][changed])]
    gap = (gained - lost)[changed]
    gap_f1 = (scores[1] - scores[0])[changed]
    kept = changed[np.lexsort((changed, -np.abs(gap_f1), -np.abs(gap)))]
    shown = kept[:_MOST_CLASSES]
    tested = int(np.count_nonzero((gained + lost)[kept] > 0))
    return {
        "better": int(np.count_nonzero(gap_f1 > 0)),
        "worse": int(np.count_nonzero(gap_f1 < 0)),
        "node": shown.tolist(),
        "rows": labels[0].true[shown].tolist(),
        "lost": lost[shown].tolist(),
        "gained": gained[shown].tolist(),
        "f1_first": rounded(scores[0][shown]),
        "f1_second": rounded(scores[1][shown]),
        "clear": [
            mcnemar(int(lost[node]), int(gained[node])) < _LEVEL / max(tested, 1)
            for node in shown.tolist()
        ],
    }


def _differing_rows(first: Side, second: Side, texts: RowTexts) -> tuple[list[dict[str, Any]], int]:
    """List the rows with different predictions; those that one model gets right come first."""
    sides = (first.evaluation, second.evaluation)
    preds = [sparse.csr_array(each.pair.pred.specific, dtype=np.int8) for each in sides]
    apart = np.asarray(abs(preds[0] - preds[1]).sum(axis=1)).ravel() > 0
    rows = np.flatnonzero(apart)
    right = [each.is_right[rows] for each in sides]
    sure = sum(
        np.zeros(len(rows)) if each.answer is None else np.nan_to_num(each.answer[rows])
        for each in (first, second)
    )
    order = np.lexsort((rows, -np.asarray(sure), ~(right[0] | right[1])))
    shown = rows[order][:_MOST_ROWS]
    texts.hold(shown)
    true = first.evaluation.pair.true.specific
    found = [
        {
            "row": row,
            "name": texts.name(row),
            "text": texts.text(row),
            "true": _nodes(true, row),
            "first": _nodes(preds[0], row),
            "second": _nodes(preds[1], row),
            "confidence": [
                None if each.answer is None else round(float(each.answer[row]), 4)
                for each in (first, second)
            ],
            "right": [bool(each.is_right[row]) for each in sides],
        }
        for row in shown.tolist()
    ]
    return found, len(rows)


def _nodes(labels: Any, row: int) -> list[int]:
    found: list[int] = labels.indices[labels.indptr[row] : labels.indptr[row + 1]].tolist()
    return found


def _verdict(versus: dict[str, Any]) -> str:
    """Say in one sentence which of two models is better, and how sure that is."""
    figure = next(each for each in versus["figures"] if each["name"] == "accuracy")
    first, second = versus["names"]
    values = [100 * figure[key] for key in ("first", "second")]
    text = (
        f"{second} is right for {values[1]:.1f} of 100 rows and {first} for {values[0]:.1f}: "
        f"{abs(100 * figure['difference']):.1f} {'more' if figure['difference'] >= 0 else 'fewer'}"
    )
    p_value = versus["right"]["p_value"]
    said = "p < .001" if p_value < 0.001 else f"p = {p_value:.3f}".replace("0.", ".")
    bounds = ""
    if figure["low"] is not None:
        low, high = 100 * figure["low"], 100 * figure["high"]
        bounds = f"{100 * CONFIDENCE:.0f} % interval of the difference {low:+.1f} to {high:+.1f}, "
    clear = p_value < 1 - CONFIDENCE
    ending = "" if clear else "; on these rows the difference is not clear"
    return f"{text} ({bounds}McNemar's test {said}){ending}."
