"""NodeBoostingClassifier: AdaBoost over pairs of a row and a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, softmax

from palmette._arrays import FloatArray, count_rows
from palmette.base._scratch import Empty
from palmette.boosting._base import BoostedClassifier
from palmette.boosting._boost import RowChoice, staged_scores
from palmette.boosting._hypotheses import ColumnParents
from palmette.boosting._objectives import AdaBoostWeights
from palmette.boosting._path_scores import best_positive_path, path_scores
from palmette.boosting._weak import ColumnMask
from palmette.boosting._weak_answers import resolve_weak_learner
from palmette.decisions._losses import hierarchical_costs
from palmette.decisions._rules import BestPath
from palmette.decisions._thresholds import LabelRule, Threshold
from palmette.exceptions import PalmetteError


def total_reach(rounds: list[Any], n_columns: int, by_column: bool) -> FloatArray:
    """Return the largest score that the votes of the first rounds can sum to.

    Parameters
    ----------
    rounds : list of hypotheses
    n_columns : int
    by_column : bool
        Whether the result is per column; else it is the mean over the columns.

    Returns
    -------
    array of shape (n_rounds + 1, n_columns) or (n_rounds + 1, 1)
        After 0, 1, ... rounds; positive.
    """
    width = n_columns if by_column else 1
    reach = np.zeros((len(rounds) + 1, width))
    for turn, hypothesis in enumerate(rounds, start=1):
        largest = np.abs(hypothesis.table()).max(axis=1)
        reach[turn] = largest if by_column else largest.mean()
    reach = np.cumsum(reach, axis=0)
    reach[reach <= 0] = 1.0  # columns without votes have scores of zero, in any scale
    return reach


class NodeBoostingClassifier(BoostedClassifier):
    """Base class of AdaBoost over (row, node) pairs.

    A subclass has the parameters that `_settings` reads, or overrides it.
    """

    _by_node = True

    def _settings(self) -> dict[str, Any]:
        """Return the initial weights, the mask and the kind of coefficient."""
        return {
            "initial_weights": self.initial_weights,
            "mask": self.mask,
            "coefficient": self.coefficient,
        }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        settings = self._settings()
        _check_choice("mask", settings["mask"], ("none", "search", "literal"))
        _check_choice("coefficient", settings["coefficient"], ("global", "per_class"))
        learner = resolve_weak_learner(self.weak_learner)
        if settings["mask"] != "none":
            if learner.votes != "sign":
                raise PalmetteError(
                    f"mask={settings['mask']!r} requires votes -1 and +1, but {learner!r} has "
                    "confidence-rated votes. Set its votes='sign', or mask='none'."
                )
            if not learner.by_column:
                raise PalmetteError(
                    f"mask={settings['mask']!r} requires one hypothesis per class, but "
                    f"{learner!r} grows one for all. Use 'stump' or 'tree', or set mask='none'."
                )

    # ------------------------------------------------------------------ fitting

    def _objective(
        self, targets: sparse.csr_array, weights: FloatArray, empty: Empty
    ) -> AdaBoostWeights:
        learner = resolve_weak_learner(self.weak_learner)
        return AdaBoostWeights(
            targets,
            weights,
            self._costs(),
            coefficient=self._settings()["coefficient"],
            votes=learner.votes,
            learning_rate=self.learning_rate,
            by_column=learner.by_column,
        )

    def _learner(self) -> Any:
        return resolve_weak_learner(self.weak_learner)

    def _row_choice(self) -> RowChoice:
        return RowChoice(self.subsample, self.weight_trim)

    def _costs(self) -> FloatArray:
        """Return the initial weight of every column."""
        wanted, hierarchy = self._settings()["initial_weights"], self.hierarchy_
        if isinstance(wanted, str):
            _check_choice("initial_weights", wanted, ("hierarchical", "uniform"))
            if wanted == "uniform":
                return np.ones(len(self.nodes_))
            return np.asarray(hierarchical_costs(hierarchy, nodes=self.nodes_)[self.nodes_])
        costs = np.ones(hierarchy.n_nodes)
        if isinstance(wanted, Mapping):
            for node, cost in wanted.items():
                costs[hierarchy.index(node)] = cost
        else:
            try:
                costs = np.asarray(wanted, dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise PalmetteError(
                    f"initial_weights={wanted!r}: expected 'hierarchical', 'uniform', one weight "
                    "per node, or a mapping of nodes."
                ) from error
        if costs.shape != (hierarchy.n_nodes,):
            raise PalmetteError(
                f"initial_weights has shape {costs.shape}: expected ({hierarchy.n_nodes},), one "
                "weight per node of the hierarchy, including the root, or a mapping of nodes."
            )
        costs = costs[self.nodes_]
        if not (np.isfinite(costs) & (costs > 0)).all():
            raise PalmetteError("initial_weights has a number that is not positive or finite.")
        return np.asarray(costs)

    def _mask(self) -> ColumnMask | None:
        mask = self._settings()["mask"]
        if mask == "none":
            return None
        hierarchy, edges = self.hierarchy_, self._answers.columns.edges
        if (
            self._dag_rule() == "any"
        ):  # the root votes +1 for every row: its children are not masked
            tops = hierarchy.edges[hierarchy.edges[:, 0] == 0, 1]
            edges = edges[~np.isin(self.nodes_[edges[:, 1]], tops)]
        order = np.argsort(edges[:, 1], kind="stable")
        counts = np.bincount(edges[:, 1], minlength=len(self.nodes_))
        parents = ColumnParents(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            edges[order, 0].astype(np.int32),
            self._dag_rule() == "all",
        )
        depth = hierarchy.depth[self.nodes_]
        levels = [np.flatnonzero(depth == d).astype(np.int32) for d in np.unique(depth)]
        return ColumnMask(parents, levels, mask == "search")

    def _loss_on(self, targets: sparse.csr_array, weights: FloatArray) -> Any:
        signs = np.where(targets.toarray(), 1.0, -1.0)
        costs = self._costs()
        costs, shares = costs / costs.sum(), weights / weights.sum()
        return lambda scores: float(shares @ (np.exp(-signs * scores) @ costs))

    # ------------------------------------------------------------------ scores

    def _summary(self, rounds: list[Any]) -> dict[str, Any]:
        per_class = self._settings()["coefficient"] == "per_class"
        return {"_reach": total_reach(rounds, len(self.nodes_), per_class)}

    def _scale(self, votes: FloatArray, n_rounds: int) -> FloatArray:
        if self._settings()["coefficient"] == "global":
            return votes
        # columns have different coefficients: bring them to one scale
        reach = self._reach[n_rounds]
        return np.asarray(votes * (reach.mean() / reach))

    def _log_odds_factor(self, n_rounds: int) -> float:
        """Return the factor that turns scores into log-odds: at most 2, less after many rounds.

        A score is half the log-odds of a node, but rounds keep adding votes after the training rows
        are separated; the log-odds are limited by the number of rows.
        """
        largest = float(np.log1p(self._n_rows))
        return 2.0 * min(1.0, largest / float(self._reach[n_rounds].mean()))

    def _path_scores(self, scores: FloatArray) -> FloatArray:
        """Return the scores of the paths to the classes; see `path_scores`.

        With few stumps there are many ties, which rounding must not decide.
        """
        return np.round(path_scores(scores, self.space_), 9)

    def _class_proba_from(self, scores: FloatArray, n_rounds: int) -> FloatArray:
        paths = self._path_scores(scores)
        return np.asarray(softmax(self._log_odds_factor(n_rounds) * paths, axis=1))

    def _node_proba_from(self, scores: FloatArray, n_rounds: int) -> FloatArray:
        proba: FloatArray = expit(self._log_odds_factor(n_rounds) * scores)
        return np.clip(proba, 1e-12, 1 - 1e-12)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of the labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns as in ``classes_``: the score of the path to the label, or with several paths
            per row that of its node. With two labels and one path per row the difference, of shape
            (n_samples,).
        """
        scores = self._scores_of(self._read_rows(X))
        return np.asarray(self._answers.margins(scores, self._path_scores))

    # ------------------------------------------------------------------ deciding

    def _decision_rule(self) -> Any:
        self._check_decoding(False)
        return BestPath() if self.decoding == "auto" else super()._decision_rule()

    def _check_decoding(self, several: bool) -> None:
        if self.decoding != "sign":
            super()._check_decoding(several)

    def _threshold_rule(self) -> LabelRule:
        return Threshold(0.5) if self.decoding == "sign" else super()._threshold_rule()

    def _decide(self, X: Any) -> Any:
        if self.decoding != "sign" or self._answers.by_node:
            return super()._decide(X)
        return self._follow_signs(self._scores_of(part) for part in self._parts(X))

    def _staged_choices(self, X: Any) -> Iterator[Any]:
        if self.decoding != "sign" or self._answers.by_node:
            yield from super()._staged_choices(X)
            return
        samples = self._samples(self._read_rows(X))
        stages = staged_scores(samples, self.rounds_, self.start_)
        for n_rounds, votes in enumerate(stages, start=1):
            yield self._follow_signs(self._scale(part, n_rounds) for part in self._parts(votes))

    def _follow_signs(self, scores: Iterable[FloatArray]) -> NDArray[np.int32]:
        """Return the node of each row by the signs of scores, given in chunks of rows."""
        return np.concatenate([best_positive_path(part, self.space_) for part in scores])

    def predict_signs(self, X: Any) -> sparse.csr_array:
        """Predict every node independently, by the sign of its score (eq. 12).

        These sets need not be coherent: a node may be true without its parent.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        sparse bool array of shape (n_samples, n_nodes)
        """
        X = self._read_rows(X)
        n_nodes = self.hierarchy_.n_nodes
        parts = []
        for part in self._parts(X):
            rows, columns = np.nonzero(self._scores_of(part) > 0)
            flags = np.ones(len(rows), dtype=bool)
            shape = (count_rows(part), n_nodes)
            parts.append(sparse.csr_array((flags, (rows, self.nodes_[columns])), shape=shape))
        return sparse.vstack(parts, format="csr")


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        expected = ", ".join(repr(choice) for choice in choices)
        raise PalmetteError(f"{name}={value!r}: expected one of {expected}.")
