"""What all boosted classifiers share: fitting round by round, stages, resuming."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from palmette.boosting.insights import InsightsMixin
from palmette.boosting.stages import Scored
from palmette.boosting.validation import Validation, split_rows
from palmette.core.binning import BinMapper
from palmette.core.containers import row_index
from palmette.core.decoding import resolve_decoding
from palmette.core.hierarchy import Hierarchy
from palmette.core.marginal import Marginal
from palmette.core.rows import count_rows, take_rows
from palmette.engine.boost import RowChoice, boost, scores_of, staged_scores
from palmette.engine.callbacks import IterativeFitMixin, monitored_fit, monitored_rounds
from palmette.engine.checkpoint import resume_from
from palmette.engine.fingerprints import fingerprint_of_arrays, fingerprint_of_parameters
from palmette.engine.hypotheses import Samples, extent_of
from palmette.engine.path_classifier import PathClassifier
from palmette.engine.threads import Threads
from palmette.engine.tuning import tune_marginal
from palmette.engine.weak.base import ColumnMask, TrainingRows
from palmette.engine.weights import check_weights, used_rows
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import numbers, require

__all__ = ["BoostedClassifier"]

# what may differ between a fit and the one that goes on from its checkpoint
_NOT_OF_THE_MODEL = ("n_estimators", "decoding", "warm_start")


class BoostedClassifier(InsightsMixin, IterativeFitMixin, PathClassifier):
    """Base of classifiers that add up the votes of many rounds.

    A subclass gives `_objective`, `_learner`, `_loss_on` and, from scores, `_class_proba_from` or
    `_node_proba_from`.
    """

    _by_node = False  # whether targets are wanted by node, even with one path a row

    # ------------------------------------------------------------------ for subclasses

    def _objective(self, targets: Any, weights: NDArray[np.float64]) -> Any:
        raise NotImplementedError

    def _learner(self) -> Any:
        raise NotImplementedError

    def _loss_on(self, targets: Any, weights: NDArray[np.float64]) -> Any:
        """Return a function of scores, (n_samples, n_columns), that gives their mean loss."""
        raise NotImplementedError

    def _class_proba_from(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError

    def _node_proba_from(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError

    def _mask(self) -> ColumnMask | None:
        return None

    def _row_choice(self) -> RowChoice:
        return RowChoice()

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _read_single_target(self, X: Any, y: Any, weights: Any) -> NDArray[np.int32]:
        """Read y where several paths a row are refused."""
        codes = self._read_target(X, y, weights)
        self.several_paths_ = False
        self.nodes_ = self.space_.nodes[1:]
        return codes

    # ------------------------------------------------------------------ fitting

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Boost.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Numbers; NaN is missing.
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_parameters()
        numbers = self._numbers(self._read_features(X, reset=True))
        weights = check_weights(sample_weight, count_rows(numbers))
        before = self._labels_learnt()
        targets = self._read_any_target(numbers, y, weights, force_several=self._by_node)
        self._warn_of_unseen()
        used = used_rows(weights)
        if weights is None:
            weights = np.ones(targets.shape[0])
        elif used is not None:
            numbers, weights = take_rows(numbers, np.flatnonzero(used)), weights[used]
        if not self._goes_on(before):
            self.bins_ = BinMapper.fit(numbers, self.max_bins)
            self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            self._forget()
        given = {
            "X": X,
            "y": y,
            "metadata": None if sample_weight is None else {"sample_weight": sample_weight},
        }
        self._choose_rule(numbers, targets, weights)
        self._run(numbers, targets, weights, given)
        return self

    def _choose_rule(self, X: Any, targets: Any, weights: NDArray[np.float64]) -> None:
        """Set ``decoding_`` where the decision rule leaves something to be chosen."""
        self.__dict__.pop("decoding_", None)
        if self.several_paths_ or self.decoding in ("auto", "sign") or not self._has_choice():
            return
        rule = resolve_decoding(self.decoding)
        if isinstance(rule, Marginal) and rule.is_open:
            nodes = self._terminals(targets)
            self.decoding_ = tune_marginal(rule, self, X, nodes, weights, self._seed)

    def _terminals(self, targets: Any) -> NDArray[np.int32]:
        """Node of every row, from targets by class or by node."""
        if not sparse.issparse(targets):
            return np.asarray(self.space_.classes[targets])
        # nodes are in preorder, so the last one of a row is the end of its path
        return np.asarray(self.nodes_[targets.indices[targets.indptr[1:] - 1]])

    def _forget(self) -> None:
        self.rounds_: list[Any] = []
        self.train_loss_ = np.empty(0)
        self.edges_ = np.empty(0)
        self.validation_loss_ = np.empty(0)

    def _run(
        self, X: Any, targets: Any, weights: NDArray[np.float64], given: dict[str, Any]
    ) -> None:
        codes = self.bins_.transform(X)
        fingerprint = {
            "estimator": type(self).__name__,
            "parameters": fingerprint_of_parameters(self, without=_NOT_OF_THE_MODEL),
            "data": fingerprint_of_arrays(codes, targets, weights),
            "palmette": version("palmette"),
        }
        self._take_up(resume_from(self, fingerprint))
        validation = None
        if self.n_iter_no_change is not None:
            kept, held = split_rows(targets, self.validation_fraction, self._seed)
            loss = self._loss_on(targets[held], weights[held])
            validation = Validation(
                Samples(codes[held], take_rows(X, held)), loss, self.n_iter_no_change, self.tol
            )
            X, codes = take_rows(X, kept), codes[kept]
            targets, weights = targets[kept], weights[kept]
        self._n_rows = max(float(weights.sum()), float(len(weights)))
        objective = self._objective(targets, weights)
        self.start_ = objective.start
        self._check_rounds()  # of a checkpoint, before they are replayed
        with Threads(getattr(self, "n_jobs", None)) as threads:
            rows = TrainingRows(
                codes, self.bins_.n_bins, weights.astype(np.float32), X, self._mask(), threads
            )
            self._boost(objective, rows, validation, given, fingerprint)

    def _boost(
        self,
        objective: Any,
        rows: TrainingRows,
        validation: Validation | None,
        given: dict[str, Any],
        fingerprint: dict[str, str],
    ) -> None:
        rounds, first = self.rounds_, len(self.rounds_)
        losses, edges = self.train_loss_.tolist(), self.edges_.tolist()
        if validation is not None:
            validation.begin(self.start_, rounds, self.validation_loss_)
        coming = boost(objective, self._learner(), rows, self._seed, rounds, self._row_choice())
        # one label has nothing to be told from
        stop = self.n_estimators if self._has_choice() else first
        for turn in monitored_rounds(
            self,
            first,
            stop,
            **given,
            fitted=lambda: {"rounds_": list(rounds), **self._summary(rounds)},
            state=lambda: (fingerprint, self._state(rounds, losses, edges, validation)),
        ):
            if validation is not None and validation.is_over:
                break
            done = next(coming, None)
            if done is None:
                self._stopped_for_want_of_an_edge(turn, objective)
                break
            rounds.append(done.hypothesis)
            losses.append(done.loss)
            edges.append(done.edge)
            if validation is not None:
                validation.see(done.hypothesis)
        kept = len(rounds) if validation is None else validation.best
        self.rounds_ = rounds[:kept]
        self.__dict__.update(self._summary(self.rounds_))
        self.train_loss_, self.edges_ = np.asarray(losses[:kept]), np.asarray(edges[:kept])
        if validation is not None:
            self.validation_loss_ = np.asarray(validation.losses[:kept])

    def _summary(self, rounds: list[Any]) -> dict[str, Any]:
        """Attributes that follow from the rounds."""
        return {}

    def _has_choice(self) -> bool:
        return self.several_paths_ or self.space_.n_classes > 1

    def _stopped_for_want_of_an_edge(self, turn: int, objective: Any) -> None:
        warnings.warn(
            f"boosting stopped at round {turn + 1} of {self.n_estimators}: no weak hypothesis with "
            f"an edge is left (the last one had {objective.edge:.2g}).",
            stacklevel=6,
        )

    def _warn_of_unseen(self) -> None:
        """Say once that some classes of a given hierarchy have nothing to be learnt from."""
        hierarchy, form = self.hierarchy_, self.label_form_
        listed: NDArray[np.signedinteger[Any]]
        if form.kind == "indicator":
            if self.several_paths_:  # said when y was read
                return
            assert form.columns is not None  # a matrix has columns
            listed, where = form.columns[form.columns > 0], "columns of y"
        elif isinstance(self.hierarchy, Hierarchy):
            listed, where = np.arange(1, hierarchy.n_nodes), "classes of the hierarchy"
        else:
            return
        unseen = np.setdiff1d(listed, self.nodes_, assume_unique=True)
        if unseen.size:
            warnings.warn(
                f"{unseen.size} of the {listed.size} {where} have no training row, e.g. "
                f"{hierarchy.path_strings[unseen[0]]!r}: they are never predicted.",
                stacklevel=5,
            )

    # ------------------------------------------------------------------ going on

    def _labels_learnt(self) -> tuple[Any, Any] | None:
        """Nodes and, with one path a row, labels of the last fit."""
        if not hasattr(self, "nodes_"):
            return None
        return self.nodes_, None if self.several_paths_ else self.space_.classes

    def _goes_on(self, before: Any) -> bool:
        """Whether rounds are added to those of an earlier fit, which must be of the same labels."""
        if not self.warm_start or not getattr(self, "rounds_", None):
            return False
        now: Any = self._labels_learnt()
        if not all(np.array_equal(a, b) for a, b in zip(before, now, strict=True)):
            raise PalmetteError(
                f"warm_start=True goes on with {len(before[0])} nodes, but y has other ones, or "
                f"other labels among them ({len(now[0])} nodes). Fit on the same data, or set "
                "warm_start=False."
            )
        if self.n_estimators < len(self.rounds_):
            raise PalmetteError(
                f"n_estimators={self.n_estimators} is less than the {len(self.rounds_)} rounds "
                "that warm_start=True would go on from. Ask for more, or set warm_start=False."
            )
        return True

    def _state(
        self, rounds: list[Any], losses: list[float], edges: list[float], validation: Any
    ) -> dict[str, Any]:
        """State of a checkpoint."""
        seen = [] if validation is None else validation.losses
        return {
            "seed": self._seed,
            "losses": np.asarray(losses, dtype=np.float64),
            "edges": np.asarray(edges, dtype=np.float64),
            "validation": np.asarray(seen, dtype=np.float64),
            "rounds": list(rounds),
        }

    def _take_up(self, saved: dict[str, Any] | None) -> None:
        """Go on from the state of a checkpoint, as far as it is asked for."""
        if saved is None:
            return
        n_kept = self.n_estimators
        self._seed = int(saved["seed"])
        self.rounds_ = saved["rounds"][:n_kept]
        self.train_loss_, self.edges_ = saved["losses"][:n_kept], saved["edges"][:n_kept]
        self.validation_loss_ = saved["validation"][:n_kept]

    # ------------------------------------------------------------------ files

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if hasattr(self, "rounds_"):
            self._check_rounds()

    def _check_rounds(self) -> None:
        """Require that rounds use features that have bins, and vote for the model's columns."""
        require(isinstance(self.bins_, BinMapper), "the bins of a model are no BinMapper")
        numbers(self.bins_.starts, np.int64, 1, "starts of bins")
        require(isinstance(self.rounds_, list), "the rounds of a model are no list")
        require(isinstance(self.start_, np.ndarray) and self.start_.ndim == 1, "no starting scores")
        for each in self.rounds_:
            require(type(each) is type(self.rounds_[0]), "the rounds of a model differ in kind")
            n_columns, largest = extent_of(each)
            require(n_columns == len(self.start_), "a round votes for other columns than the model")
            require(largest < self.bins_.n_features, "a round uses a feature that does not exist")

    # ------------------------------------------------------------------ scores

    def _samples(self, X: Any) -> Samples:
        numbers = self._numbers(X)
        return Samples(self.bins_.transform(numbers), numbers)

    def _scores_of(self, X: Any) -> NDArray[np.float64]:
        """Raw scores of the model's columns: (n_samples, n_columns)."""
        if isinstance(X, Scored):
            return X.scores
        return scores_of(self._samples(X), self.rounds_, self.start_)

    def _class_proba_of(self, X: Any) -> NDArray[np.float64]:
        return self._class_proba_from(self._scores_of(X))

    def _node_proba_of(self, X: Any) -> NDArray[np.float64]:
        return self._node_proba_from(self._scores_of(X))

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        return X if isinstance(X, Scored) else super()._read_features(X, reset=reset)

    def _numbers(self, X: Any) -> Any:
        """Features as an array of numbers, or a sparse matrix."""
        if sparse.issparse(X):
            return X
        try:
            return np.asarray(X, dtype=np.float64)
        except ValueError:
            raise PalmetteError(
                f"{type(self).__name__} takes numbers only, but X holds texts or categories. "
                "Encode them first, for example with skrub.TableVectorizer or TfidfVectorizer."
            ) from None

    # ------------------------------------------------------------------ stages

    def _stages(self, X: Any) -> Iterator[Scored]:
        check_is_fitted(self)
        samples = self._samples(self._read_features(X, reset=False))
        stages = staged_scores(samples, self.rounds_, self.start_)
        for n_rounds, scores in enumerate(stages, start=1):
            yield Scored(scores, n_rounds, row_index(X))

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the labels predicted after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        labels of n_samples rows, as from `predict`
        """
        for stage in self._stages(X):
            answer = self.predict(stage)
            if stage.index is not None and hasattr(answer, "iloc"):
                answer.index = stage.index
            yield answer

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities of the labels after each round, as from `predict_proba`."""
        for stage in self._stages(X):
            yield self.predict_proba(stage)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the score after each round, as from `score`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : labels of n_samples rows
        sample_weight : array-like of shape (n_samples,), optional
        """
        for stage in self._stages(X):
            yield self.score(stage, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        learner = getattr(self, "weak_learner", None)
        inner = getattr(learner, "estimator", learner)
        if hasattr(inner, "fit") and is_classifier(
            inner
        ):  # of another library: what it cannot do with, we cannot
            own = get_tags(inner).input_tags
            tags.input_tags.allow_nan, tags.input_tags.sparse = own.allow_nan, own.sparse
        return tags
