"""What held-out probabilities say about every row: its answer, its label, and how certain it is."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit

from palmette._arrays import FloatArray
from palmette.reviewing._cross_fit import IntArray, Part
from palmette.reviewing._noise import LabelNoise, SetNoise
from palmette.reviewing._planting import Calibration, any_labels, confused_labels, n_planted
from palmette.table._model import TableModel

_SAMPLE = 3_000  # rows on which probabilities are calibrated
_ENOUGH = 500  # labelled rows before the calibration
_MISSING = 3  # most probable labels of a row that may be missing
_UNSURE = 1e-5  # no probability counts as nearer to 0 or 1
_CELLS = 100_000  # on which probabilities of several labels are calibrated


class _Doubts:
    """Arrays of all rows, from probabilities that come in parts.

    Attributes
    ----------
    assessed : bool array of shape (n_samples,)
        Rows with labels that their model has seen in other rows.
    wrong : array of shape (n_samples,)
        Probability that the label is wrong; 0 for rows that are not assessed.
    interval : tuple of two floats, or None
        Share of wrong labels among assessed rows, at 95 %; None with several labels per row.
    priority : array of shape (n_samples,)
        Order in which doubtful labels are listed (-inf for rows that are not assessed).
    best : array of shape (n_samples,)
        Probability of the most probable label.
    confirmed : bool array of shape (n_samples,)
        Whether the most probable label is a given one.
    uncertainty : array of shape (n_samples,)
    """

    def __init__(
        self,
        model: TableModel,
        labels: IntArray,
        given: list[Any],
        labelled: NDArray[np.bool_],
        by_level: bool = False,
    ) -> None:
        self.model, self.labels, self.given, self.labelled = model, labels, given, labelled
        n_rows = len(given)
        self.assessed = np.zeros(n_rows, dtype=bool)
        self.confirmed = np.zeros(n_rows, dtype=bool)
        self.wrong = np.zeros(n_rows)
        self.interval: tuple[float, float] | None = None
        self.priority = np.full(n_rows, -np.inf)
        self.best = np.zeros(n_rows)
        self.uncertainty = np.zeros(n_rows)
        self._texts: dict[int, str] = {}

    def indicators(self) -> sparse.csr_array:
        """Return the given labels as a sparse bool array: (n_samples, n_labels)."""
        sizes = [len(nodes) for nodes in self.given]
        columns = np.searchsorted(self.labels, np.concatenate(self.given))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        ones = np.ones(len(columns), dtype=bool)
        return sparse.csr_array((ones, columns, starts), shape=(len(sizes), len(self.labels)))

    def read(self, parts: Iterable[Part]) -> None:
        """Read all parts; the first ones also calibrate the probabilities."""
        first: list[Part] = []
        stream, n_found = iter(parts), 0
        for part in stream:
            first.append(part)
            n_found += int(self.labelled[part.rows].sum())
            if n_found >= _ENOUGH:
                break
        self._calibrate(first)
        for part in chain(first, stream):
            self._read(part)
        self._conclude()

    def _calibrate(self, parts: list[Part]) -> None:
        raise NotImplementedError

    def _read(self, part: Part) -> None:
        raise NotImplementedError

    def _conclude(self) -> None:
        raise NotImplementedError

    def text(self, code: int) -> str:
        """Return a label as in the table."""
        if code not in self._texts:
            self._texts[code] = self.node_text(int(self.labels[code]))
        return self._texts[code]

    def node_text(self, node: int) -> str:
        """Return a node as in the table."""
        h = self.model.hierarchy_
        return self.model.label_text(h.path(node) if h.is_tree else h.names[node])


class PathDoubts(_Doubts):
    """Doubts about one label per row.

    The uncertainty of a row is the expected distance in the tree between the most probable label
    and the true one, divided by the sum of their depths: two probable siblings are less uncertain
    than two probable labels of different branches. On one level it is 1 minus the probability.
    """

    def __init__(
        self,
        model: TableModel,
        labels: IntArray,
        given: list[Any],
        labelled: NDArray[np.bool_],
        by_level: bool = False,
    ) -> None:
        super().__init__(model, labels, given, labelled)
        n_rows = len(given)
        self.noise = LabelNoise(model.hierarchy_, labels, by_level)
        self.codes = np.full(n_rows, -1, dtype=np.int64)
        nodes = np.array([each[0] if len(each) else 0 for each in given], dtype=np.int64)
        self.codes[labelled] = np.searchsorted(labels, nodes[labelled])
        self.likelihoods = np.zeros((n_rows, len(self.noise.weights_)))
        self._rng = np.random.default_rng(0)
        self._n_planted = n_planted(int(labelled.sum()))
        # of planted labels by kind: their likelihoods, and probabilities of the proposed labels
        kinds = ("confused",) if by_level else ("any", "confused")
        self._planted: dict[str, list[tuple[FloatArray, FloatArray]]] = {k: [] for k in kinds}
        self.tops = np.zeros((n_rows, 2), dtype=np.int64)  # the two most probable labels
        self.top_proba = np.zeros((n_rows, 2))
        self._depth = np.asarray(model.hierarchy_.depth)[labels].astype(np.float64)

    def _known(self, part: Part) -> NDArray[np.bool_]:
        codes = self.codes[part.rows]
        return np.asarray((codes >= 0) & part.known[codes.clip(min=0)])

    def _calibrate(self, parts: list[Part]) -> None:
        rows = [(part, np.flatnonzero(self._known(part))) for part in parts]
        proba = np.concatenate([part.proba[kept] for part, kept in rows])
        codes = np.concatenate([self.codes[part.rows[kept]] for part, kept in rows])
        step = max(len(codes) / _SAMPLE, 1.0)
        few = np.arange(0, len(codes), step).astype(np.int64)
        self.noise.fit_temperature(proba[few], codes[few])

    def _read(self, part: Part) -> None:
        proba, rows = self.noise.scaled(part.proba), part.rows
        proba[:, ~part.known] = 0.0
        n_top = min(2, proba.shape[1])
        tops = np.argpartition(-proba, n_top - 1, axis=1)[:, :n_top]
        values = np.take_along_axis(proba, tops, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        tops = np.take_along_axis(tops, order, axis=1)
        values = np.take_along_axis(values, order, axis=1)
        self.tops[rows, :n_top], self.top_proba[rows, :n_top] = tops, values
        self.best[rows] = values[:, 0]
        # expected distance of the best label to the true one
        shared = self.noise.below(proba, tops[:, 0])[:, 1:].sum(axis=1)
        depth, mean_depth = self._depth[tops[:, 0]], proba @ self._depth
        last = np.where(depth == self.model.hierarchy_.max_depth, values[:, 0], 0.0)
        lengths = np.maximum(depth + mean_depth, 1e-12)
        self.uncertainty[rows] = np.clip(1.0 - 2.0 * (shared + last) / lengths, 0.0, 1.0)
        known = self._known(part)
        self.assessed[rows] = known
        codes = self.codes[rows].clip(min=0)
        self.likelihoods[rows] = self.noise.likelihoods(proba, codes)
        self.confirmed[rows] = tops[:, 0] == self.codes[rows]
        self._plant(proba[known], rows[known], np.flatnonzero(part.known))

    def _plant(self, proba: FloatArray, rows: IntArray, labels: IntArray) -> None:
        """Note how likely wrong labels of every kind would be, in rows of one chunk."""
        if len(labels) < 2 or not len(rows):
            return
        for _ in range(self._n_planted):
            for kind, planted in self._planted.items():
                if kind == "any":
                    codes = any_labels(self.codes[rows], labels, self._rng)
                else:
                    codes = confused_labels(proba, self.codes[rows], labels, self._rng)
                planted.append((self.noise.likelihoods(proba, codes), self._other(rows, codes)))

    def _other(self, rows: IntArray, codes: IntArray) -> FloatArray:
        """Return the probability of the most probable label but one, per row."""
        place = (self.tops[rows, 0] == codes).astype(np.int64)
        return np.asarray(self.top_proba[rows, place])

    def _conclude(self) -> None:
        rows = np.flatnonzero(self.assessed)
        self.noise.fit_weights(self.likelihoods[rows])
        doubts = self._doubt(self.likelihoods[rows], self._other(rows, self.codes[rows]))
        planted = [
            np.concatenate([self._doubt(*part) for part in parts] or [doubts[:0]])
            for parts in self._planted.values()
        ]
        if len(doubts) and all(len(part) for part in planted):
            calibration = Calibration(doubts, planted)
            self.wrong[rows] = calibration.wrong(doubts)
            self.priority[rows] = calibration.scores(doubts)
            self.interval = calibration.interval_

    def _doubt(self, likelihoods: FloatArray, other: FloatArray) -> FloatArray:
        """Return what makes labels doubtful: they are improbable, and another one is probable."""
        certain = np.clip(other, _UNSURE, 1.0 - _UNSURE)
        return np.column_stack([self.noise.log_odds(likelihoods), logit(certain)])

    def facts(self, row: int, finding: str) -> dict[str, Any]:
        """Return the proposed label of a row, probabilities and distance."""
        code = int(self.codes[row])
        place = self._proposed(row) if finding in ("wrong label", "equal rows") else 0
        top = int(self.tops[row, place])
        found = {
            "given_probability": self.likelihoods[row, 0] if self.assessed[row] else np.nan,
            "proposed": self.text(top),
            "proposed_probability": self.top_proba[row, place],
            "distance": None,
        }
        if code >= 0 and finding != "equal rows":
            pair = self.labels[[code, top]]
            found["distance"] = int(self.model.hierarchy_.distance(*pair.tolist()))
        if finding == "equal rows":
            found["proposed_probability"] = np.nan
        return found

    def _proposed(self, row: int) -> int:
        """Return which of the two most probable labels is not the given one."""
        return int(self.tops[row, 0] == self.codes[row])

    def why_wrong(self, row: int) -> str:
        """Say why a label is probably wrong."""
        h = self.model.hierarchy_
        code, top = int(self.codes[row]), int(self.tops[row, self._proposed(row)])
        given, other = int(self.labels[code]), int(self.labels[top])
        parting = int(h.lca(given, other))
        if self.model.learnt_ or h.max_depth == 1:
            where = ""
        elif parting == given:
            where = "; the given path ends too early"
        elif parting == other:
            where = "; the given path goes too deep"
        elif parting == 0:
            where = "; the paths part at the top"
        else:
            where = f"; the paths part below {self.node_text(parting)}"
        own, p = self.likelihoods[row, 0], self.top_proba[row, self._proposed(row)]
        return (
            f"fits {self.text(top)} ({percent(p)}) rather than the given label "
            f"({percent(own)}){where}"
        )

    def why_uncertain(self, row: int) -> str:
        """Say between which labels a row is uncertain."""
        first, second = (
            f"{self.text(int(code))} ({percent(p)})"
            for code, p in zip(self.tops[row], self.top_proba[row], strict=True)
        )
        return f"between {first} and {second}"

    def noise_facts(self) -> list[dict[str, Any]]:
        """Return the estimated share of wrong labels by the level at which they leave the path."""
        levels = self.noise.weights_[1:] / self.noise.weights_[1:].sum()
        share = self.wrong[self.assessed].mean() if self.assessed.any() else 0.0
        return [
            {"level": level, "share": round(float(part), 4)}
            for level, part in enumerate(levels * share, start=1)
        ]


class SetDoubts(_Doubts):
    """Doubts about several labels per row: labels that are missing, and superfluous ones.

    The odds of a row are those of its most doubtful label. The uncertainty is the mean of
    4 p (1 - p) over the given labels and the most probable others.
    """

    def __init__(
        self,
        model: TableModel,
        labels: IntArray,
        given: list[Any],
        labelled: NDArray[np.bool_],
        by_level: bool = False,
    ) -> None:
        super().__init__(model, labels, given, labelled)
        self.noise = SetNoise()
        # a label is also given if one below it is
        self._above = sparse.csr_array(model.hierarchy_.closure[labels][:, labels])
        self._implied = sparse.csr_array(self.indicators().astype(np.int32) @ self._above > 0)
        self._own: dict[int, tuple[IntArray, FloatArray]] = {}  # given labels, and
        self._other: dict[int, tuple[IntArray, FloatArray]] = {}  # others, by row

    def _calibrate(self, parts: list[Part]) -> None:
        proba, given = [], []
        n_cells = sum(len(part.rows) * int(part.known.sum()) for part in parts)
        step = max(n_cells // _CELLS, 1)
        for part in parts:
            few = np.flatnonzero(self.labelled[part.rows])[::step]
            proba.append(part.proba[few][:, part.known].ravel())
            given.append(self._implied[part.rows[few]].toarray()[:, part.known].ravel())
        self.noise.fit(np.concatenate(proba), np.concatenate(given))

    def _read(self, part: Part) -> None:
        rows = part.rows
        scaled = np.where(part.known, self.noise.scaled(part.proba), 0.0)
        implied = self._implied[rows].toarray()
        others = np.where(implied, -1.0, scaled)
        n_other = min(_MISSING, scaled.shape[1])
        places = np.argpartition(-others, n_other - 1, axis=1)[:, :n_other]
        self.best[rows] = scaled.max(axis=1)
        self.confirmed[rows] = implied[np.arange(len(rows)), scaled.argmax(axis=1)]
        for i, row in enumerate(rows.tolist()):
            own = np.searchsorted(self.labels, self.given[row])
            own = own[part.known[own]]
            other = places[i][others[i, places[i]] >= 0]
            other = other[np.argsort(-scaled[i, other], kind="stable")]
            self._own[row] = own, part.proba[i, own]
            self._other[row] = other, part.proba[i, other]
            self.assessed[row] = len(own) > 0
            p = scaled[i, np.concatenate([own, other])]
            self.uncertainty[row] = float((4 * p * (1 - p)).mean()) if len(p) else 1.0

    def _conclude(self) -> None:
        odds = np.full(len(self.given), -np.inf)
        for row in np.flatnonzero(self.assessed).tolist():
            cells = [self.noise.log_odds(self._own[row][1], True),
                     self.noise.log_odds(self._other[row][1], False)]  # fmt: skip
            odds[row] = np.concatenate(cells).max()
        self.wrong, self.priority = np.asarray(expit(odds)), odds

    def _wrong(self, row: int) -> tuple[IntArray, IntArray]:
        """Return the labels that are probably superfluous and missing, the most specific ones."""
        if not self.assessed[row]:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        (own, own_proba), (other, other_proba) = self._own[row], self._other[row]
        superfluous = own[self.noise.log_odds(own_proba, True) >= 0]
        missing = other[self.noise.log_odds(other_proba, False) >= 0]
        above = self._above[missing].toarray().sum(axis=0)
        return superfluous, missing[above[missing] == 1]

    def facts(self, row: int, finding: str) -> dict[str, Any]:
        """Return the proposed labels of a row, probabilities and the number of changes."""
        mark = self.model.target_.labels_mark
        codes = np.searchsorted(self.labels, self.given[row])
        superfluous, missing = self._wrong(row)
        kept = np.setdiff1d(codes, superfluous)
        above = self._above[missing].toarray().sum(axis=0)
        proposed = np.concatenate([kept[above[kept] == 0], missing])
        if not self.labelled[row]:
            other, proba = self._other[row]
            likely = self.noise.scaled(proba) >= 0.5
            proposed = other[likely] if likely.any() else other[:1]

        known = {
            int(code): float(p)
            for cells in (self._own[row], self._other[row])
            for code, p in zip(*cells, strict=True)
        }

        def least(places: IntArray) -> float:
            found = [known[code] for code in places.tolist() if code in known]
            return float(self.noise.scaled(np.array(found)).min()) if found else np.nan

        return {
            "given_probability": least(codes),
            "proposed": mark.join(map(self.text, proposed.tolist())),
            "proposed_probability": least(proposed),
            "distance": len(superfluous) + len(missing) if self.labelled[row] else None,
            "missing": mark.join(map(self.text, missing.tolist())),
            "superfluous": mark.join(map(self.text, superfluous.tolist())),
        }

    def why_wrong(self, row: int) -> str:
        """Say which labels are probably missing or superfluous."""
        superfluous, missing = self._wrong(row)
        words = []
        for codes, (known, proba), verb in (
            (missing, self._other[row], "missing"),
            (superfluous, self._own[row], "superfluous"),
        ):
            p = dict(zip(known.tolist(), self.noise.scaled(proba).tolist(), strict=True))
            if len(codes):
                named = ", ".join(f"{self.text(c)} ({percent(p[c])})" for c in codes.tolist())
                words.append(f"probably {verb}: {named}")
        return "; ".join(words)

    def why_uncertain(self, row: int) -> str:
        """Say which labels are the most probable."""
        cells = [
            pair for part in (self._own[row], self._other[row]) for pair in zip(*part, strict=True)
        ]
        cells.sort(key=lambda pair: -float(pair[1]))
        named = [f"{self.text(int(c))} ({percent(self.noise.scaled(p))})" for c, p in cells[:3]]
        return f"the most probable labels are {', '.join(named)}"

    def noise_facts(self) -> list[dict[str, Any]]:
        """Return the estimated shares of labels that were left out, and of other labels added."""
        return [
            {"error": "missing", "share": round(self.noise.missing_, 5)},
            {"error": "added", "share": round(self.noise.added_, 5)},
        ]


def percent(p: Any) -> str:
    """Write a probability; small ones are not rounded to zero.

    Examples
    --------
    >>> percent(0.973), percent(0.0004), percent(0.99999)
    ('97 %', '< 0.1 %', '> 99.9 %')
    """
    if p < 0.001 or p > 0.999:
        return "< 0.1 %" if p < 0.001 else "> 99.9 %"
    return f"{100 * float(p):.{0 if 0.01 <= p <= 0.99 else 1}f} %"
