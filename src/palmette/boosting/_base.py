"""What all boosted classifiers share: fitting round by round, stages, resuming."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib.metadata import version
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import check_consistent_length, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import count_rows, take_rows
from palmette.base._callbacks import (
    IterativeFitMixin,
    callbacks_of,
    monitored_fit,
    monitored_rounds,
)
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._fitting import Threads, check_weights, used_rows
from palmette.boosting._boost import RowChoice, boost, scores_of, staged_scores
from palmette.boosting._checkpoint import (
    fingerprint_of_arrays,
    fingerprint_of_parameters,
    resume_from,
)
from palmette.boosting._explain import explain
from palmette.boosting._hypotheses import Samples, extent_of
from palmette.boosting._importances import node_importances, node_map, overall_importances
from palmette.boosting._validation import Validation, split_rows, tune_marginal
from palmette.boosting._weak import ColumnMask, TrainingRows
from palmette.decisions._rules import Marginal, resolve_decoding
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._containers import row_index
from palmette.persistence.checks import numbers, require
from palmette.trees._binning import BinMapper

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BoostedClassifier"]

FloatArray = NDArray[np.float64]

# what may differ between a fit and the one that goes on from its checkpoint
_NOT_OF_THE_MODEL = ("n_estimators", "decoding", "warm_start")


class BoostedClassifier(IterativeFitMixin, HierarchicalClassifier):  # type: ignore[misc]
    """Base of classifiers that add up the votes of many rounds.

    A subclass gives `_objective`, `_learner`, `_loss_on` and, from scores, `_class_proba_from` or
    `_node_proba_from`.
    """

    _by_node = False  # whether targets are by node even with one path per row
    _may_be_none: ClassVar[tuple[str, ...]] = ()  # parameters, beyond those with a default of None

    # ------------------------------------------------------------------ for subclasses

    def _objective(self, targets: Any, weights: NDArray[np.float64]) -> Any:
        raise NotImplementedError

    def _learner(self) -> Any:
        raise NotImplementedError

    def _loss_on(self, targets: Any, weights: NDArray[np.float64]) -> Any:
        """Return a function of scores, (n_samples, n_columns), that gives their mean loss."""
        raise NotImplementedError

    def _scale(self, votes: FloatArray, n_rounds: int) -> FloatArray:
        """Scores of the model's columns from the sums of votes after some rounds."""
        return votes

    def _class_proba_from(self, scores: FloatArray, n_rounds: int) -> FloatArray:
        """Probabilities of classes from scores after some rounds."""
        raise NotImplementedError

    def _node_proba_from(self, scores: FloatArray, n_rounds: int) -> FloatArray:
        """Raw probabilities of nodes from scores after some rounds."""
        raise NotImplementedError

    def _takes_several_now(self) -> bool:
        """Whether the parameters allow several paths per row, and DAGs."""
        return True

    def _mask(self) -> ColumnMask | None:
        return None

    def _row_choice(self) -> RowChoice:
        return RowChoice()

    def _check_parameters(self) -> None:
        """Raise an error for invalid parameters; here for the numbers that all models share."""
        values = self.get_params(deep=False)
        checks = [
            ("n_estimators", _is_count, "a positive integer"),
            ("learning_rate", lambda v: _is_number(v) and v > 0, "a positive number"),
            ("subsample", lambda v: _is_number(v) and 0 < v <= 1, "a share above 0 and up to 1"),
            ("weight_trim", lambda v: _is_number(v) and 0 <= v < 1, "a share from 0 to below 1"),
            ("n_iter_no_change", lambda v: v is None or _is_count(v), "a positive integer or None"),
            (
                "validation_fraction",
                lambda v: _is_number(v) and 0 < v < 1,
                "a share above 0 and below 1",
            ),
            ("tol", lambda v: _is_number(v) and v >= 0, "a number of at least 0"),
        ]
        for name, is_valid, expected in checks:
            if name not in values or (name in self._may_be_none and values[name] is None):
                continue
            if not is_valid(values[name]):
                raise PalmetteError(f"{name}={values[name]!r}: expected {expected}.")

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
        targets = self._learn_target(
            numbers, y, weights, by_node=self._by_node, takes_several=self._takes_several_now()
        )
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
        fingerprint: dict[str, str] = {}
        if callbacks_of(self):  # one of them may be a Checkpoint
            fingerprint = {
                "estimator": type(self).__name__,
                "parameters": fingerprint_of_parameters(self, without=_NOT_OF_THE_MODEL),
                "data": fingerprint_of_arrays(codes, targets, weights),
                "palmette": version("palmette"),
            }
            self._continue_from(resume_from(self, fingerprint))
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
        if self.rounds_:
            self._check_rounds()  # they may come from a checkpoint, and are replayed
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
            if self.several_paths_:  # the user was warned when y was read
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

    def _continue_from(self, saved: dict[str, Any] | None) -> None:
        """Continue from the state of a checkpoint, with at most `n_estimators` of its rounds."""
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

    def _scores_of(self, X: Any) -> FloatArray:
        """Scores of the model's columns: (n_samples, n_columns)."""
        votes = scores_of(self._samples(X), self.rounds_, self.start_)
        return self._scale(votes, len(self.rounds_))

    def _class_proba_of(self, X: Any) -> FloatArray:
        return self._class_proba_from(self._scores_of(X), len(self.rounds_))

    def _node_proba_of(self, X: Any) -> FloatArray:
        return self._node_proba_from(self._scores_of(X), len(self.rounds_))

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

    def _staged_tables(self, X: Any) -> Iterator[Iterator[FloatArray]]:
        """Yield, for each round, the tables that `_answers` decides by, some rows at a time."""
        samples = self._samples(self._read_rows(X))
        stages = staged_scores(samples, self.rounds_, self.start_)
        for n_rounds, votes in enumerate(stages, start=1):
            yield self._tables_from(votes, n_rounds)

    def _tables_from(self, votes: FloatArray, n_rounds: int) -> Iterator[FloatArray]:
        for part in self._parts(votes):
            scores = self._scale(part, n_rounds)
            if self._answers.by_node:
                proba = self._node_proba_from(scores, n_rounds)
                yield self._answers.table_from_nodes(proba, self._dag_rule())
            else:
                yield self._class_proba_from(scores, n_rounds)

    def _staged_choices(self, X: Any) -> Iterator[Any]:
        """Yield what is chosen after each round; see `Answers.decide`."""
        rule = self._rule()
        for tables in self._staged_tables(X):
            yield self._answers.decide(tables, rule)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the labels predicted after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        labels of n_samples rows, as from `predict`
        """
        check_is_fitted(self)
        for chosen in self._staged_choices(X):
            yield self._answers.write(chosen, row_index(X))

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield the probabilities of the labels after each round, as from `predict_proba`."""
        check_is_fitted(self)
        for tables in self._staged_tables(X):
            yield self._filled(tables, count_rows(X), self._answers.label_proba)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the score after each round, as from `score`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : labels of n_samples rows
        sample_weight : array-like of shape (n_samples,), optional
        """
        check_is_fitted(self)
        check_consistent_length(X, y, sample_weight)
        for chosen in self._staged_choices(X):
            yield self._share_right(chosen, y, sample_weight)

    # ------------------------------------------------------------------ inspection

    def predict_node_scores(self, X: Any) -> FloatArray:
        """Scores of nodes, which the votes of the rounds add up to.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_columns)
            Columns as in ``nodes_``: the nodes with a training row, without the root. A model that
            votes for labels has the mean over the labels at or below a node; one of several losses
            or bags the mean over its models.
        """
        rows = self._read_rows(X)
        to_nodes = node_map(self, self.nodes_)
        return np.concatenate([self._scores_of(part) @ to_nodes for part in self._parts(rows)])

    @property
    def feature_importances_(self) -> FloatArray:
        """Importances of the features for all nodes together, of shape (n_features,).

        A split is worth what it takes off the variance of the votes, over the training rows and
        summed over nodes or labels. Importances sum to one, or to zero where nothing was split.
        Computed anew whenever they are asked for; see `feature_importances`.
        """
        check_is_fitted(self)
        try:
            return overall_importances(self)
        except PalmetteError as error:  # so that hasattr answers
            raise AttributeError(str(error)) from error

    def feature_importances(self, nodes: Any = None) -> FloatArray:
        """Importances of the features for single nodes.

        Parameters
        ----------
        nodes : list of names or paths, optional
            Nodes wanted; those of ``nodes_`` by default.

        Returns
        -------
        array of shape (n_wanted, n_features)
            Rows sum to one. They are zeros for nodes that nothing was split for, such as the root
            and those without a training row.

        Notes
        -----
        A split that sends training rows of weight a left and b right, with mean votes x and y, is
        worth ``a b / (a + b) (x - y)**2`` to its feature: what it takes off the variance of the
        votes. Rows are weighted as when the tree was grown: of one tree for all nodes by
        their own weights, of a tree for every node by the weights of that round. A model that votes
        for labels is asked for the mean vote over the labels at or below a node. With several
        losses or bags the importances are means over the models. The votes of a mask belong to no
        feature. Where a round fits estimators of other libraries, their own importances, or the
        sizes of their coefficients, are weighted by the squares of their votes.

        Examples
        --------
        >>> from palmette import AdaBoostMHClassifier
        >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> clf = AdaBoostMHClassifier(n_estimators=4).fit(X, ["a", "b", "a", "b"])
        >>> clf.feature_importances(["a"]).tolist()
        [[1.0, 0.0]]
        """
        check_is_fitted(self)
        numbers = self.nodes_ if nodes is None else self._node_numbers(nodes)
        return node_importances(self, numbers)

    def explain(
        self, X: Any, nodes: Any = None, *, by: str = "rule", max_rows: int | None = 20
    ) -> pd.DataFrame:
        """Tell what moved the scores of nodes, for one row or a few.

        A tree gives every row its mean vote over the training rows; every split on the way to
        the leaf moves that to the mean of the side taken. So contributions add up to what
        `predict_node_scores` says, exactly.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        nodes : list of names or paths, optional
            Nodes to explain; by default those that are predicted for each row, ancestors included.
        by : "rule", "feature" or "round"
            Whether to add up over the rounds what a rule contributed, or a feature, or to list the
            rules of every round.
        max_rows : int, optional
            Most lines for a row and node; the least of them are then added up in the last one. None
            lists all.

        Returns
        -------
        DataFrame with a line for every rule
            ``row`` is the number of the row in X; ``node`` a path, or in a DAG a name; ``round``
            counts from 1, or is "all"; ``feature`` is a name or number; ``rule`` says what is true
            of the row, and ``contribution`` what that added to the score of the node. The first
            line, "start", is the score that rows begin with, and the mean votes of the trees
            unless they are listed by round; the others follow by size. Lines that no feature is
            behind, as "masked by" a parent that voted -1, have an empty one.

        Examples
        --------
        >>> from palmette import AdaBoostMHClassifier
        >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> clf = AdaBoostMHClassifier(n_estimators=1).fit(X, ["a", "b", "a", "b"])
        >>> table = clf.explain(X[:1])
        >>> table[["node", "round", "feature", "rule"]]
          node round feature              rule
        0    a   all                     start
        1    a   all       0  feature 0 <= 0.5
        >>> bool(np.isclose(table["contribution"].sum(), clf.predict_node_scores(X)[0, 0]))
        True
        """
        check_is_fitted(self)
        numbers = None if nodes is None else self._node_numbers(nodes)
        return explain(self, self._read_features(X, reset=False), numbers, by, max_rows)

    def _node_numbers(self, nodes: Any) -> NDArray[np.int32]:
        listed = [nodes] if isinstance(nodes, str | tuple) else list(nodes)
        return np.asarray(self.hierarchy_.index(listed), dtype=np.int32)

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


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
