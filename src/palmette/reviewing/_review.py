"""`review`: read a table, find its doubtful rows, and list them with reasons."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray, row_chunks
from palmette.exceptions import PalmetteError
from palmette.persistence._guarded import of_a_file
from palmette.reviewing._cross_fit import HeldOut, class_similarity, equal_rows
from palmette.reviewing._doubts import PathDoubts, SetDoubts
from palmette.table import TableModel
from palmette.table._folds import fold_count
from palmette.table._reading import CHUNK_ROWS, as_part
from palmette.table._sources import TableSource
from palmette.table._writing import OURS

if TYPE_CHECKING:
    import pandas as pd

FINDINGS = {
    "wrong label": "the label is probably wrong",
    "equal rows": "equal rows have different labels",
    "unknown label": "the label is not in the hierarchy of the model",
    "no class": "the row fits no class",
    "uncertain": "the answer is least certain",
}
_ALARM = 0.01  # share of labelled rows that fit their classes less than rows that fit no class
_MIN_LABELLED = 10  # rows for cross-fitting


def review(
    model: TableModel,
    table: Any,
    *,
    folds: int | None = None,
    time: float | None = None,
    top: int | None = 100,
    by_level: bool = False,
    seed: int = 0,
    watch: Callable[[str, float], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> pd.DataFrame:
    """List the rows of a table that a person should look at, the most doubtful first.

    Models of the same kind are fitted on parts of the table and predict the rest, so that no row is
    judged by a model that has learned its label. Five kinds of findings are listed:

    - ``wrong label``: the label is wrong with a probability of at least one half. If rows have one
      label each, it is calibrated with labels that are planted in the held-out rows and wrong for
      certain (`palmette.reviewing._planting`);
    - ``equal rows``: rows with the same cells have different labels;
    - ``unknown label``: the label is not in the hierarchy of the model;
    - ``no class``: the row has no known words or values, or it fits all classes less than 99 % of
      the labelled rows fit theirs: the similarity to the nearest class times the probability of the
      best label is so low, and that label is not the given one;
    - ``uncertain``: the most probable label has a probability below one half. These rows are worth
      labelling first.

    Parameters
    ----------
    model : TableModel
        Fitted by `fit_table`, with probabilities.
    table : DataFrame, dict of columns, name of a file, or TableSource
        With the columns of the model. Rows without a label are only judged as ``no class`` and
        ``uncertain``, and so are all rows of a table without the target.
    folds : int or None
        Number of folds, by default that of `fit_table` without a time limit. 0 uses the given
        model, for a table that it was not fitted on.
    time : float, optional
        Approximate limit in seconds. If it is short, models are fitted on fewer rows.
    top : int or None
        Maximum number of rows per finding, and, of ``uncertain``, for rows with and without a
        label; None for all.
    by_level : bool
        Whether wrong labels are mostly similar to the right ones: the labels that the model
        confuses, and siblings. Choose it only if the model is accurate: where it is not, its own
        errors look like these.
    seed : int
        Seed of the folds.
    watch : callable, optional
        Called with the current step and the seconds spent.
    tell : callable, optional
        Called with messages for the user, one sentence at a time.

    Returns
    -------
    DataFrame
        One line per finding: ``line`` (of a text file; otherwise ``row``, the number of a row, or
        the index of a DataFrame under its name), ``finding``, ``rank``, ``given``,
        ``given_probability``, ``proposed``, ``proposed_probability``, ``corrected`` (empty: see
        `fit_table`), ``distance``
        (edges between both labels; with several labels per row the number of labels that differ),
        ``score`` (of a wrong label, the probability that it is wrong; of ``equal rows``, the share
        of rows with another label; otherwise from 0, fits and is certain, to 1), ``reason``; with
        several labels per row also ``missing`` and ``superfluous``; then the columns of the model.
        ``attrs["review"]`` has the counts, and the estimated number of wrong labels,
        ``expected_wrong``, with its interval at 95 %, ``expected_interval`` (None with several
        labels per row).

    Examples
    --------
    >>> from palmette.table import fit_table
    >>> words = {"Fruit": ["red apple", "ripe pear"], "Saws": ["steel blade", "saw teeth"]}
    >>> texts = [f"{word} {i}" for i in range(20) for pair in words.values() for word in pair]
    >>> kinds = [kind for _ in range(20) for kind, pair in words.items() for _ in pair]
    >>> kinds[6] = "Fruit"
    >>> goods = {"name": texts, "kind": kinds}
    >>> model = fit_table(goods, "kind", model="class-tree", columns={"name": "text"}, folds=0)
    >>> found = review(model, goods)
    >>> found.loc[found["finding"] == "wrong label", ["row", "name", "given", "proposed"]]
       row           name  given proposed
    0    6  steel blade 1  Fruit     Saws
    """
    _check(model, folds, time, top)
    say = tell or (lambda words: None)
    with of_a_file(model, "review"):
        numbered = numbered_rows(table)
        frame = numbered.reset_index(drop=True)
        model.check_columns(frame.columns, "the table")
        given = _Given(model, frame)
        groups = equal_rows(model, frame)
        n_labelled = int(given.labelled.sum())
        if folds is None:
            folds = fold_count(n_labelled, groups[given.labelled])
        if folds and n_labelled < _MIN_LABELLED:
            few = f"{n_labelled} rows with a known label are too few for folds"
            say(f"{few}: the given model is used")
            folds = 0
        held_out = HeldOut(
            model, frame, given.labels(folds), given.labelled, given.codes(), groups,
            n_folds=folds, seconds=time, seed=seed, watch=watch,
        )  # fmt: skip
        kind = SetDoubts if model.several_paths_ else PathDoubts
        doubts = kind(model, held_out.labels, given.nodes, given.labelled, by_level)
        doubts.read(held_out)
        if held_out.smallest_share < 1:
            share = f"{held_out.smallest_share:.0%}"
            say(f"models were fitted on {share} of their rows: allow more time")
        similar, empty = _similarity(model, frame, doubts.indicators())
        listed = _Listing(model, doubts, given, top)
        listed.wrong_labels()
        listed.equal_rows(groups)
        listed.unknown_labels()
        listed.no_class(similar, empty, groups)
        listed.uncertain(groups)
        found = listed.frame(frame, numbered.index)
        found.attrs["review"] = _summary(model, found, doubts, given, held_out)
        return found


def _check(model: Any, folds: int | None, time: float | None, top: int | None) -> None:
    if not isinstance(model, TableModel):
        raise PalmetteError(
            f"model is a {type(model).__name__}: expected a model fitted by fit_table or "
            "`palmette fit`."
        )
    check_is_fitted(model, "estimator_")
    if folds is not None and (folds < 0 or folds == 1):
        raise PalmetteError(f"folds={folds}: expected 2 or more, or 0 for the model as it is.")
    if time is not None and not time > 0:
        raise PalmetteError(f"time={time!r}: expected a positive number of seconds, or None.")
    if top is not None and top < 1:
        raise PalmetteError(f"top={top}: expected at least 1, or None for all rows.")


def numbered_rows(table: Any) -> pd.DataFrame:
    """Return the rows of a table, with the lines of its file or the numbers of rows as index.

    Parameters
    ----------
    table : DataFrame, dict of columns, path-like or TableSource
        A DataFrame keeps its index.
    """
    import pandas as pd

    part = as_part(table)
    frame = part.frame
    if not isinstance(table, str | os.PathLike | TableSource):
        return frame
    if part.lines is not None:
        return frame.set_axis(pd.Index(part.lines, name="line"), axis=0)
    return frame.set_axis(pd.Index(range(1, len(frame) + 1), name="row"), axis=0)


class _Given:
    """The labels of a table as nodes.

    Attributes
    ----------
    nodes : list of n_samples int arrays
        Nodes of the labels; empty without a known label.
    labelled, unknown : bool arrays of shape (n_samples,)
        Rows with a label of the hierarchy, and with another one.
    cells : list of n_samples str
        Labels as texts; empty without one.
    """

    def __init__(self, model: TableModel, frame: Any) -> None:
        self._model, n_rows = model, len(frame)
        self.nodes: list[Any] = [np.zeros(0, dtype=np.int64)] * n_rows
        self.cells = [""] * n_rows
        self.labelled = np.zeros(n_rows, dtype=bool)
        self.unknown = np.zeros(n_rows, dtype=bool)
        if model.target_.columns[-1] not in frame.columns:
            return
        rows = model.target_.read(frame)
        self.labelled = model.labelled_rows(frame)
        self.unknown = np.array([row is not None for row in rows], dtype=bool) & ~self.labelled
        known = np.flatnonzero(self.labelled)
        h, several = model.hierarchy_, model.several_paths_
        if len(known):
            labels = model.read_target(frame.iloc[known])
            flat = [list(row) for row in labels] if several else [[row] for row in labels]
            place: dict[Any, int] = {}
            for row in flat:
                for label in row:
                    if label not in place:
                        place[label] = int(h.index(label))
            for i, row in zip(known.tolist(), flat, strict=True):
                self.nodes[i] = np.array(sorted(place[label] for label in row), dtype=np.int64)
        write, mark = model.target_.write, model.target_.labels_mark
        for i, row in enumerate(rows):
            if row is not None:
                paths = row if model.target_.several else [row]
                self.cells[i] = mark.join(write(path) for path in paths)

    def labels(self, folds: int) -> NDArray[np.int64]:
        """Return the nodes that are labels, ascending."""
        found = [np.concatenate(self.nodes)] if self.nodes else []
        if not folds:
            found.append(np.asarray(self._model.hierarchy_.index(list(self._model.class_paths_))))
        return np.unique(np.concatenate(found)).astype(np.int64)

    def codes(self) -> NDArray[np.int64] | None:
        """Return one label per row, for strata; None with several labels per row."""
        if self._model.several_paths_:
            return None
        return np.array([row[0] if len(row) else -1 for row in self.nodes], dtype=np.int64)


def _similarity(model: TableModel, frame: Any, given: sparse.csr_array) -> tuple[Any, Any]:
    """Return the similarity of rows to the nearest class, and which have no known features."""
    parts = [model.features(frame.iloc[part]) for part in row_chunks(len(frame), 1, CHUNK_ROWS)]
    if not sparse.issparse(parts[0]):
        X = np.concatenate(parts)
        cells = frame[list(model.schema_.names())]
        empty = cells.isna().to_numpy().all(axis=1)
    else:
        X = sparse.vstack(parts, format="csr")
        empty = np.diff(X.indptr) == 0
    similar = class_similarity(X, given) if given.nnz else np.ones(len(frame))
    return similar, empty


# ---------------------------------------------------------------------- the list


class _Listing:
    """Collects findings, and writes them as a table."""

    def __init__(self, model: TableModel, doubts: Any, given: _Given, top: int | None) -> None:
        self._model, self._doubts, self._given, self._top = model, doubts, given, top
        self._rows: list[dict[str, Any]] = []
        self._taken = np.zeros(len(given.nodes), dtype=bool)

    def _add(self, finding: str, rows: Any, score: FloatArray, reasons: Any, **more: Any) -> None:
        for rank, row in enumerate(rows.tolist(), start=1):
            facts = self._doubts.facts(row, finding)
            facts.update({name: values[row] for name, values in more.items() if row in values})
            head = {"place": row, "finding": finding, "rank": rank, "given": self._given.cells[row]}
            self._rows.append({**head, **facts, "score": float(score[row]), "reason": reasons(row)})
        self._taken[rows] = True

    def _best(self, rows: Any, score: FloatArray) -> Any:
        """Order rows by a score, the greatest first, and keep as many as wanted."""
        return rows[np.argsort(-score[rows], kind="stable")][: self._top]

    def wrong_labels(self) -> None:
        """List labels that are more probably wrong than right."""
        doubts = self._doubts
        rows = self._best(np.flatnonzero(doubts.wrong >= 0.5), doubts.priority)
        self._add("wrong label", rows, doubts.wrong, doubts.why_wrong)

    def equal_rows(self, groups: Any) -> None:
        """List equal rows with different labels, group by group."""
        cells = np.array(self._given.cells, dtype=object)
        rows = np.flatnonzero(cells != "")
        rows = rows[np.argsort(groups[rows], kind="stable")]
        starts = np.flatnonzero(np.diff(groups[rows], prepend=-1))
        score, proposed, words = np.zeros(len(cells)), {}, {}
        chosen: list[Any] = []
        for group in np.split(rows, starts[1:]):
            counted = Counter(sorted(cells[group].tolist()))
            if len(counted) < 2:
                continue
            (best, most), (_, second) = counted.most_common(2)
            best = best if most > second else ""
            for row in group.tolist():
                own = counted[cells[row]]
                score[row] = 1.0 - own / len(group)
                proposed[row] = best
                others = [f"{n} with {name}" for name, n in counted.items() if name != cells[row]]
                words[row] = f"{len(group)} rows are equal: {own} with this label, " + ", ".join(
                    others[:3] + ["..."] * (len(others) > 3)
                )
            chosen.append((-score[group].max(), group))
        ordered = [group for _, group in sorted(chosen, key=lambda each: float(each[0]))]
        found = np.concatenate(ordered) if ordered else np.zeros(0, dtype=np.int64)
        self._add("equal rows", found[: self._top], score, words.__getitem__, proposed=proposed)

    def unknown_labels(self) -> None:
        """List labels that the model cannot know."""
        rows = np.flatnonzero(self._given.unknown)[: self._top]
        where = "the hierarchy of the model does not have this label"
        self._add("unknown label", rows, np.ones(len(self._taken)), lambda row: where)

    def no_class(self, similar: FloatArray, empty: Any, groups: Any) -> None:
        """List rows that fit no class."""
        doubts = self._doubts
        fit = np.where(empty, 0.0, doubts.best * similar)
        usual = fit[doubts.assessed & ~empty] if doubts.assessed.any() else fit[~empty]
        self.threshold = float(np.quantile(usual, _ALARM)) if len(usual) else 0.0
        far = (fit < self.threshold) & ~doubts.confirmed
        rows = self._best(_first_of_equals(np.flatnonzero(empty | far), groups), -fit)

        def why(row: int) -> str:
            if empty[row]:
                return "no word or value of the row is known to the model"
            return (
                f"similarity {similar[row]:.2f} to the nearest class, times the probability "
                f"{doubts.best[row]:.2f} of the best label, is less than {self.threshold:.3f}, "
                f"which {1 - _ALARM:.0%} of the labelled rows reach"
            )

        self._add("no class", rows, 1.0 - fit, why)

    def uncertain(self, groups: Any) -> None:
        """List rows whose most probable label is more probably wrong than right."""
        doubts = self._doubts
        rows = _first_of_equals(np.flatnonzero((doubts.best < 0.5) & ~self._taken), groups)
        has_label = self._given.labelled[rows] | self._given.unknown[rows]
        kept = [self._best(rows[mask], doubts.uncertainty) for mask in (~has_label, has_label)]
        both = np.concatenate(kept)
        both = both[np.argsort(-doubts.uncertainty[both], kind="stable")]
        self._add("uncertain", both, doubts.uncertainty, doubts.why_uncertain)

    def frame(self, table: Any, places: Any) -> pd.DataFrame:
        """Return the findings beside the columns of the model."""
        import pandas as pd

        extra = ["missing", "superfluous"] if self._model.several_paths_ else []
        names = ["place", "finding", "rank", "given", "given_probability", "proposed",
                 "proposed_probability", "corrected", "distance", "score", "reason",
                 *extra]  # fmt: skip
        found = pd.DataFrame(self._rows, columns=names)
        rows = found["place"].to_numpy(dtype=np.int64)
        found["place"] = places.to_numpy()[rows]
        title = "row" if places.name is None or places.name in names else str(places.name)
        found = found.rename(columns={"place": title})
        found["distance"] = found["distance"].astype("Int64")
        found["corrected"] = pd.Series([None] * len(found), dtype=object)  # a person fills it in
        cells = table[list(self._model.schema_.names())].iloc[rows].reset_index(drop=True)
        ours = list(found.columns)
        taken = set(ours)
        cells = cells.rename(columns={name: f"{name}_" for name in cells.columns if name in taken})
        found = pd.concat([found, cells], axis=1)
        found.attrs[OURS] = ours
        return found


def _first_of_equals(rows: Any, groups: Any) -> Any:
    return rows[np.sort(np.unique(groups[rows], return_index=True)[1])]


def _summary(
    model: TableModel, found: Any, doubts: Any, given: _Given, held_out: HeldOut
) -> dict[str, Any]:
    """Return plain facts about a review."""
    counts = found["finding"].value_counts()
    n_assessed = int(doubts.assessed.sum())
    wrong = float(doubts.wrong[doubts.assessed].sum())
    limits = doubts.interval and [round(share * n_assessed, 1) for share in doubts.interval]
    return {
        "rows": len(given.nodes),
        "labelled": int(given.labelled.sum()),
        "unknown_labels": int(given.unknown.sum()),
        "assessed": n_assessed,
        "expected_wrong": round(wrong, 1),
        "expected_share": round(wrong / n_assessed, 4) if n_assessed else None,
        "expected_interval": limits,
        "noise": doubts.noise_facts(),
        "likely_wrong": int((doubts.wrong >= 0.5).sum()),
        "listed": {name: int(counts.get(name, 0)) for name in FINDINGS},
        "folds": held_out.n_folds,
        "share_of_training_rows": round(held_out.smallest_share, 3),
        "model": str(model.summary_.get("model")),
        "several_labels": bool(model.several_paths_),
    }
