"""BoostedClassifier: fitting round by round, warm start and checkpoints, staged predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import check_consistent_length, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray, IntArray, count_rows, take_rows, texts_error
from palmette._text import caller_level
from palmette.base._callbacks import (
    IterativeFitMixin,
    callbacks_of,
    monitored_fit,
    monitored_rounds,
)
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._column_units import Kind, unit_kind_of
from palmette.base._fitting import Threads, check_jobs, check_weights, used_rows
from palmette.base._lazy import gathered, is_lazy
from palmette.base._parameters import is_count, is_number
from palmette.base._scratch import Empty, Scratch
from palmette.boosting._boost import Round, RowChoice, boost, scores_of, staged_scores
from palmette.boosting._checkpoint import (
    fingerprint_of_arrays,
    fingerprint_of_parameters,
    resume_from,
)
from palmette.boosting._explain import explain
from palmette.boosting._hypotheses import ClassModels, Samples, extent_of
from palmette.boosting._importances import node_importances, node_map, overall_importances
from palmette.boosting._validation import HeldOutScores, Validation, split_rows, tune_marginal
from palmette.boosting._weak import ColumnMask, TrainingRows
from palmette.decisions._rules import Marginal, resolve_decoding
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._containers import row_index
from palmette.persistence.checks import numbers, refused_unless_whole, require
from palmette.trees._binning import BinMapper

if TYPE_CHECKING:
    import pandas as pd


# parameters that may change between a fit and its continuation from a checkpoint
_NOT_OF_THE_MODEL = ("n_estimators", "decoding", "warm_start", "scratch", "client")


class BoostedClassifier(IterativeFitMixin, HierarchicalClassifier):  # type: ignore[misc]
    """Base class of classifiers whose scores are sums of votes over the rounds.

    A subclass defines `_objective`, `_learner`, `_loss_on`, and `_class_proba_from` or
    `_node_proba_from`.
    """

    _by_node = False  # whether targets are by node even with one path per row
    _may_be_none: ClassVar[tuple[str, ...]] = ()  # parameters, beyond those with a default of None
    scratch: Any = None  # in models of files that do not know the parameter, or have none
    verbose: int = 0  # in models of files that do not know the parameter

    # ------------------------------------------------------------------ for subclasses

    def _set_rounds(
        self,
        n_iter_no_change: int | None,
        validation_fraction: float,
        tol: float,
        warm_start: bool,
        verbose: int,
    ) -> None:
        """Set the parameters that all subclasses have; for their `__init__`."""
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def _objective(self, targets: Any, weights: FloatArray, empty: Empty) -> Any:
        """Return the objective; `empty` makes its arrays of rows and columns, as np.empty does."""
        raise NotImplementedError

    def _learner(self) -> Any:
        raise NotImplementedError

    def _loss_on(self, targets: Any, weights: FloatArray) -> Any:
        """Return a function that computes the mean loss of scores, (n_samples, n_columns)."""
        raise NotImplementedError

    def _held_out(self, samples: Samples, targets: Any, weights: FloatArray) -> Any:
        """Return a function that makes scores of validation rows; see `Validation`."""
        return partial(HeldOutScores, samples, self._loss_on(targets, weights))

    def _scale(self, votes: FloatArray, n_rounds: int) -> FloatArray:
        """Return the scores of the columns, given the sums of votes after some rounds."""
        return votes

    def _class_proba_from(self, scores: FloatArray, n_rounds: int) -> FloatArray:
        """Return the probabilities of classes, given the scores after some rounds."""
        raise NotImplementedError

    def _node_proba_from(self, scores: FloatArray, n_rounds: int) -> FloatArray:
        """Return the probabilities of nodes before they are made coherent, given scores."""
        raise NotImplementedError

    def _choose_size(self, n_rows: float, continues: bool) -> None:
        """Set parameters that depend on the number of rows, unless a fit continues with them."""

    def _chosen_parameters(self) -> dict[str, Any]:
        """Return the parameters that `_choose_size` has chosen, for models of folds."""
        return {}

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
        checks: list[tuple[str, Callable[[Any], bool], str]] = [
            ("n_estimators", is_count, "a positive integer"),
            ("learning_rate", lambda v: is_number(v) and v > 0, "a positive number"),
            ("subsample", lambda v: is_number(v) and 0 < v <= 1, "a share above 0 and up to 1"),
            ("weight_trim", lambda v: is_number(v) and 0 <= v < 1, "a share from 0 to below 1"),
            ("n_iter_no_change", lambda v: v is None or is_count(v), "a positive integer or None"),
            (
                "validation_fraction",
                lambda v: is_number(v) and 0 < v < 1,
                "a share above 0 and below 1",
            ),
            ("tol", lambda v: is_number(v) and v >= 0, "a number of at least 0"),
        ]
        for name, is_valid, expected in checks:
            if name not in values or (name in self._may_be_none and values[name] is None):
                continue
            if not is_valid(values[name]):
                raise PalmetteError(f"{name}={values[name]!r}: expected {expected}.")

    # ------------------------------------------------------------------ fitting

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads.
        sample_weight : array-like of shape (n_samples,), optional
            Only their ratios count; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        check_jobs(self)
        self._check_parameters()
        numbers = self._read_training(X)
        weights = check_weights(sample_weight, count_rows(numbers))
        before = self._fitted_labels()
        targets = self._learn_target(
            numbers, y, weights, by_node=self._by_node, takes_several=self._takes_several_now()
        )
        self._warn_of_unseen()
        used = used_rows(weights)
        if weights is None:
            weights = np.ones(targets.shape[0])
        elif used is not None:
            numbers, weights = take_rows(numbers, np.flatnonzero(used)), weights[used]
        continues = self._continues(before)
        self._choose_size(max(float(weights.sum()), float(len(weights))), continues)
        given = {
            "X": X,
            "y": y,
            "metadata": None if sample_weight is None else {"sample_weight": sample_weight},
        }
        with Threads(getattr(self, "n_jobs", None)) as threads, self._arrays() as empty:
            if not continues:
                self.bins_ = BinMapper.fit(
                    numbers, self.max_bins, threads=threads, client=self.client
                )
                self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
                self._reset_rounds()
            self._choose_rule(numbers, targets, weights)
            self._run(numbers, targets, weights, given, threads, empty)
        return self

    def _read_training(self, X: Any) -> Any:
        """Return the numbers of training rows; they may be a Dask array, see `_divides`."""
        return self._numbers(self._read_features(X, reset=True))

    def _divides(self, n_rows: int) -> bool:
        """Whether workers of a cluster divide the training rows; Dask arrays then stay there."""
        return False

    @contextmanager
    def _arrays(self) -> Iterator[Empty]:
        """Yield a function that makes the large arrays of a fit, in memory or on disk."""
        if self.scratch is None:
            yield np.empty
            return
        with Scratch(self.scratch) as folder:
            yield folder.empty

    def _choose_rule(self, X: Any, targets: Any, weights: FloatArray) -> None:
        """Set ``decoding_`` if the decision rule has parameters to tune."""
        self.__dict__.pop("decoding_", None)
        if self.several_paths_ or self.decoding in ("auto", "sign") or not self._has_choice():
            return
        rule = resolve_decoding(self.decoding)
        if isinstance(rule, Marginal) and rule.is_open:
            nodes = self._terminals(targets)
            self.decoding_ = tune_marginal(rule, self, X, nodes, weights, self._seed)

    def _terminals(self, targets: Any) -> IntArray:
        """Return the node of every row, given targets by class or by node."""
        if not sparse.issparse(targets):
            return np.asarray(self.space_.classes[targets])
        # nodes are in preorder: the last one of a row is the end of its path
        return np.asarray(self.nodes_[targets.indices[targets.indptr[1:] - 1]])

    def _reset_rounds(self) -> None:
        self.rounds_: list[Any] = []
        self.train_loss_ = np.empty(0)
        self.edges_ = np.empty(0)
        self.validation_loss_ = np.empty(0)

    def _run(
        self,
        X: Any,
        targets: Any,
        weights: FloatArray,
        given: dict[str, Any],
        threads: Threads,
        empty: Empty,
    ) -> None:
        codes = self.bins_.transform(X, threads, empty)
        fingerprint: dict[str, str] = {}
        if callbacks_of(self):  # one of them may be a Checkpoint
            codes = gathered(codes, self.client)
            fingerprint = {
                "estimator": type(self).__name__,
                "parameters": fingerprint_of_parameters(self, without=_NOT_OF_THE_MODEL),
                "data": fingerprint_of_arrays(codes, targets, weights),
                "palmette": version("palmette"),
            }
            self._continue_from(resume_from(self, fingerprint))
        validation = None
        raw = X if self._sees_values() else None  # codes suffice for our own weak learners
        if self.n_iter_no_change is not None:
            kept, held = split_rows(targets, self.validation_fraction, self._seed)
            kept_out = None if raw is None else take_rows(raw, held)
            samples = Samples(gathered(codes[held], self.client), kept_out)
            held_out = self._held_out(samples, targets[held], weights[held])
            validation = Validation(held_out, self.n_iter_no_change, self.tol)
            raw = None if raw is None else take_rows(raw, kept)
            codes = _some_rows(codes, kept, empty)
            targets, weights = targets[kept], weights[kept]
        if is_lazy(X) and not self._divides(len(weights)):
            codes = gathered(codes, self.client)
        self._n_rows = max(float(weights.sum()), float(len(weights)))
        objective = self._objective(targets, weights, empty)
        self.start_ = objective.start
        if self.rounds_:  # they may come from a checkpoint, and are replayed
            with refused_unless_whole("the rounds of an earlier fit"):
                self._check_rounds()
                is_fitted = isinstance(self.rounds_[0], ClassModels)
                require(raw is not None or not is_fitted, "its estimators are not of this model")
        rows = TrainingRows(
            codes, self.bins_.n_bins, weights.astype(np.float32), raw, self._mask(), threads, empty
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
        coming = self._rounds_from(objective, rows, rounds)
        # with a single label there is nothing to learn
        stop = self.n_estimators if self._has_choice() else first
        with closing(coming):
            for turn in monitored_rounds(
                self,
                first,
                stop,
                **given,
                fitted=lambda: {"rounds_": list(rounds), **self._summary(rounds)},
                state=lambda: (fingerprint, self._state(rounds, losses, edges, validation)),
            ):
                if validation is not None and validation.is_over:
                    self._print(f"stopped: the best loss was that after round {validation.best}")
                    break
                done = next(coming, None)
                if done is None:
                    self._warn_of_stop(turn, objective)
                    break
                if rounds and type(rounds[0]) is not type(done.hypothesis):
                    raise PalmetteError(
                        "the rounds of an earlier fit have another type than those of this one. If "
                        "they are from a checkpoint, it was changed: delete it to start over."
                    )
                rounds.append(done.hypothesis)
                losses.append(done.loss)
                edges.append(done.edge)
                if validation is not None:
                    validation.add(done.hypothesis)
                self._print_round(turn + 1, done.loss, validation)
        kept = len(rounds) if validation is None else validation.best
        self.rounds_ = rounds[:kept]
        self.__dict__.update(self._summary(self.rounds_))
        self.train_loss_, self.edges_ = np.asarray(losses[:kept]), np.asarray(edges[:kept])
        if validation is not None:
            self.validation_loss_ = np.asarray(validation.losses[:kept])

    def _print_round(self, n_rounds: int, loss: float, validation: Validation | None) -> None:
        """Print the losses, in every round or about ten times during the fit."""
        every = 1 if self.verbose > 1 else max(1, self.n_estimators // 10)
        if n_rounds % every and n_rounds != self.n_estimators:
            return
        held_out = "" if validation is None else f", validation loss {validation.losses[-1]:.5f}"
        self._print(f"round {n_rounds} of {self.n_estimators}: loss {loss:.5f}{held_out}")

    def _print(self, line: str) -> None:
        if self.verbose:
            print(line, flush=True)  # also seen at once in a log file

    def _rounds_from(
        self, objective: Any, rows: TrainingRows, rounds: list[Any]
    ) -> Generator[Round, None, None]:
        """Return a generator of the rounds after some, to which they will be appended."""
        return boost(objective, self._learner(), rows, self._seed, rounds, self._row_choice())

    def _summary(self, rounds: list[Any]) -> dict[str, Any]:
        """Return the attributes that are computed from the rounds."""
        return {}

    def _has_choice(self) -> bool:
        return bool(self.several_paths_ or self.space_.n_classes > 1)

    def _warn_of_stop(self, turn: int, objective: Any) -> None:
        warnings.warn(
            f"boosting stopped at round {turn + 1} of {self.n_estimators}: no weak learner better "
            f"than chance was found (the edge of the last one was {objective.edge:.2g}).",
            stacklevel=caller_level(),
        )

    def _warn_of_unseen(self) -> None:
        """Warn if classes of the given hierarchy have no training row."""
        hierarchy, form = self.hierarchy_, self.label_form_
        listed: NDArray[np.signedinteger[Any]]
        if form.kind == "indicator":
            if self.several_paths_:  # the user was already warned when y was read
                return
            assert form.columns is not None  # a matrix has columns
            listed, where = form.columns[form.columns > 0], "columns of y"
        elif isinstance(self.hierarchy, Hierarchy):
            listed, where = np.arange(1, hierarchy.n_nodes), "classes of the hierarchy"
        else:
            return
        unseen = np.setdiff1d(listed, self.nodes_, assume_unique=True)
        if unseen.size:
            has, they = ("has", "it is") if unseen.size == 1 else ("have", "they are")
            warnings.warn(
                f"{unseen.size} of the {listed.size} {where} {has} no training row, e.g. "
                f"{hierarchy.path_strings[unseen[0]]!r}: {they} never predicted.",
                stacklevel=caller_level(),
            )

    # ------------------------------------------------------------------ warm start

    def _fitted_labels(self) -> tuple[Any, Any] | None:
        """Return the nodes and, with one path per row, the labels of the last fit."""
        if not hasattr(self, "nodes_"):
            return None
        return self.nodes_, None if self.several_paths_ else self.space_.classes

    def _continues(self, before: Any) -> bool:
        """Whether rounds are added to those of the last fit, which must have the same labels."""
        if not self.warm_start or not getattr(self, "rounds_", None):
            return False
        now: Any = self._fitted_labels()
        if not all(np.array_equal(a, b) for a, b in zip(before, now, strict=True)):
            raise PalmetteError(
                f"warm_start=True continues a fit with {len(before[0])} nodes, but y has other "
                f"nodes or other labels among them ({len(now[0])} nodes). Fit on the same data, or "
                "set warm_start=False."
            )
        if self.n_estimators < len(self.rounds_):
            raise PalmetteError(
                f"n_estimators={self.n_estimators} is less than the {len(self.rounds_)} rounds "
                "already fitted. Increase n_estimators, or set warm_start=False."
            )
        return True

    def _state(
        self, rounds: list[Any], losses: list[float], edges: list[float], validation: Any
    ) -> dict[str, Any]:
        """Return the state that a checkpoint stores."""
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
        with refused_unless_whole("the state of the checkpoint"):
            seed, rounds = saved["seed"], saved["rounds"]
            require(type(seed) is int and 0 <= seed < 2**63, "its seed is not a number")
            require(isinstance(rounds, list), "its rounds are not a list")
            n_kept = self.n_estimators
            self._seed, self.rounds_ = seed, rounds[:n_kept]
            n_losses = len(rounds) if self.n_iter_no_change is not None else 0
            for name, kept, size in (
                ("losses", "train_loss_", len(rounds)),
                ("edges", "edges_", len(rounds)),
                ("validation", "validation_loss_", n_losses),
            ):
                values = numbers(saved[name], np.float64, 1, name)
                require(len(values) == size, f"{name} and rounds do not fit together")
                setattr(self, kept, values[:n_kept])

    # ------------------------------------------------------------------ files

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if hasattr(self, "bins_") or hasattr(self, "rounds_"):
            self._check_rounds()

    def _check_rounds(self) -> None:
        """Require that rounds use features that have bins, and vote for the model's columns."""
        require(isinstance(self.bins_, BinMapper), "the bins of a model are not a BinMapper")
        self.bins_.check_arrays()
        require(
            isinstance(getattr(self, "rounds_", None), list), "the rounds of a model are not a list"
        )
        numbers(self.start_, np.float32, 1, "initial scores of a model")
        for each in self.rounds_:
            require(
                type(each) is type(self.rounds_[0]), "the rounds of a model have different types"
            )
            n_columns, largest = extent_of(each)
            require(n_columns == len(self.start_), "a round votes for other columns than the model")
            require(largest < self.bins_.n_features, "a round uses a feature that does not exist")

    # ------------------------------------------------------------------ scores

    def _samples(self, X: Any) -> Samples:
        numbers = self._numbers(X)
        return Samples(self.bins_.transform(numbers), numbers)

    def _scores_of(self, X: Any) -> FloatArray:
        """Return the scores of the columns: (n_samples, n_columns)."""
        votes = scores_of(self._samples(X), self.rounds_, self.start_)
        return self._scale(votes, len(self.rounds_))

    def _class_proba_of(self, X: Any) -> FloatArray:
        return self._class_proba_from(self._scores_of(X), len(self.rounds_))

    def _node_proba_of(self, X: Any) -> FloatArray:
        return self._node_proba_from(self._scores_of(X), len(self.rounds_))

    def _numbers(self, X: Any) -> Any:
        """Return X as an array of numbers, or a sparse matrix."""
        if sparse.issparse(X):
            return X
        try:
            return np.asarray(X, dtype=np.float64)
        except ValueError:
            raise texts_error(self) from None

    # ------------------------------------------------------------------ stages

    def _staged_tables(self, X: Any) -> Iterator[Iterator[FloatArray]]:
        """Yield, for each round, the scores that `_answers` decides by, in chunks of rows."""
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
        """Yield the decisions after each round; see `Answers.decide`."""
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
        """Return the scores of nodes: the sums of the votes over the rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_columns)
            Columns as in ``nodes_``: the nodes with a training row, without the root. If a model
            votes for labels, the score of a node is the mean over the labels at or below it; with
            several losses or bags it is the mean over the models.
        """
        rows = self._read_rows(X)
        to_nodes = node_map(self, self.nodes_)
        return np.concatenate([self._scores_of(part) @ to_nodes for part in self._parts(rows)])

    @property
    def feature_importances_(self) -> FloatArray:
        """Importances of the features for all nodes together, of shape (n_features,).

        The importance of a split is the decrease of the variance of the votes over the training
        rows, summed over nodes or labels. Importances sum to one, or to zero if there is no split.
        They are computed on each access; see `feature_importances`.
        """
        check_is_fitted(self)
        try:
            return overall_importances(self)
        except PalmetteError as error:  # so that hasattr returns False
            raise AttributeError(str(error)) from error

    def feature_importances(self, nodes: Any = None) -> FloatArray:
        """Return the importances of the features for each node.

        Parameters
        ----------
        nodes : list of names or paths, optional
            By default those of ``nodes_``.

        Returns
        -------
        array of shape (n_wanted, n_features)
            Rows sum to one. They are zero for nodes without a split, such as the root and nodes
            without a training row.

        Notes
        -----
        A split with training rows of weight a on the left and b on the right, whose mean votes are
        x and y, adds ``a b / (a + b) (x - y)**2`` to the importance of its feature: the decrease of
        the variance of the votes. Rows have the weights with which the tree was grown: their sample
        weights for one tree for all nodes, the weights of the round for one tree per node. If a
        model votes for labels, the vote for a node is the mean over the labels at or below it. With
        several losses or bags the importances are means over the models. Votes of masked rows
        belong to no feature. For estimators of other libraries, their own importances, or the
        absolute values of their coefficients, are weighted by the squares of their votes.

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
        """Return the contributions of the rules to the scores of nodes, for one row or a few.

        A tree starts with its mean vote over the training rows; every split on the path to the
        leaf changes it to the mean of the chosen side. The contributions therefore sum exactly to
        the result of `predict_node_scores`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        nodes : list of names or paths, optional
            Nodes to explain; by default those predicted for each row, with their ancestors.
        by : "rule", "feature" or "round"
            Sum the contributions over the rounds per rule or per feature, or list the rules of
            every round.
        max_rows : int, optional
            Maximum number of lines per row and node; the smallest contributions are summed in the
            last line. None lists all.

        Returns
        -------
        DataFrame with one line per rule
            ``row`` is the position of the row in X; ``node`` a path, or in a DAG a name; ``round``
            counts from 1, or is "all"; ``feature`` is a name or number; ``rule`` is a condition
            that the row meets, and ``contribution`` its part of the score of the node. The first
            line, "start", is the initial score, including the mean votes of the trees unless they
            are listed by round; the others are sorted by size. Lines that involve no feature, such
            as "masked by" a parent that votes -1, have an empty ``feature``.

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

    def _node_numbers(self, nodes: Any) -> IntArray:
        listed = [nodes] if isinstance(nodes, str | tuple) else list(nodes)
        return np.asarray(self.hierarchy_.index(listed), dtype=np.int32)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        inner = self._wrapped_classifier()
        if inner is not None:
            own = get_tags(inner).input_tags  # the limits of a wrapped classifier are ours
            tags.input_tags.allow_nan, tags.input_tags.sparse = own.allow_nan, own.sparse
        return tags

    def _wrapped_classifier(self) -> Any:
        """Return the classifier of scikit-learn that is boosted; None for weak learners of ours."""
        inner = self._inner_estimator()
        return inner if inner is not None and is_classifier(inner) else None

    def _sees_values(self) -> bool:
        """Whether an estimator of another library is boosted, which is fitted to values of X."""
        return self._inner_estimator() is not None

    def _inner_estimator(self) -> Any:
        learner = getattr(self, "weak_learner", None)
        inner = getattr(learner, "estimator", learner)
        return inner if hasattr(inner, "fit") else None

    def _kind_of_units(self) -> Kind:
        inner = self._inner_estimator()  # our weak learners see bins
        return "own" if inner is None else unit_kind_of(inner)

    def _takes_any_scale(self) -> bool:
        return self._wrapped_classifier() is None  # our weak learners see bins


def _some_rows(codes: Any, rows: IntArray, empty: Empty) -> Any:
    """Return some rows of codes; of a Dask array lazily."""
    if is_lazy(codes):
        return codes[rows]
    return codes.take(rows, 0, empty((len(rows), codes.shape[1]), codes.dtype))
