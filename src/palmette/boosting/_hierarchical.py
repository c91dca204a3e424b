"""HierarchicalBoostingClassifier: gradient boosting of trees that all labels share."""

from __future__ import annotations

import os
from collections.abc import Generator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from palmette._arrays import FloatArray, count_rows
from palmette.base._devices import torch_device
from palmette.base._lazy import head_of, is_lazy, lazy_rows
from palmette.base._parameters import is_count
from palmette.base._presets import Preset, preset, presets
from palmette.base._scratch import Empty
from palmette.boosting._base import BoostedClassifier
from palmette.boosting._boost import BundledLearner, BundledObjective, Round, RowChoice, boost
from palmette.boosting._hypotheses import Samples
from palmette.boosting._members import LOSSES, Member
from palmette.boosting._objectives import GradientObjective, is_small
from palmette.boosting._weak import SharedTree, TrainingRows
from palmette.decisions._rules import Marginal
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.persistence.checks import require
from palmette.trees._binning import MAX_BINS

_AUTO = Marginal(0.4, 1.5, partial=False)  # by cross-validation on four data sets
_EARLIER = Marginal(0.4, 1.0, partial=False)  # of models in files of earlier versions
# bags of small data, by cross-validation (see benchmarks/README.md); many nodes need much memory
_MANY_ROWS = 10_000  # for which workers load what they need beforehand
_FEW_ROWS, _FEW_NODES, _MODELS_OF_SMALL_DATA = 1000, 100, 4


class HierarchicalBoostingClassifier(BoostedClassifier):
    """Gradient boosting of trees that all labels share, with a hierarchical decision rule.

    Every round grows one shallow tree whose leaves have one vote per label. Its splits are chosen
    by their gain for the gradients of all labels together; their thresholds are drawn at random,
    which is as accurate as the best thresholds and much faster. With one path per row the scores
    pass through a softmax over the labels, and the probability of a node is the sum over the labels
    below it; with several paths per row, or a DAG, every node has its own probability.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        A tree or DAG. By default it is built from the paths in y, or has one level.
    loss : str, or tuple of str
        "auto" is "leaf_softmax" with one path per row and "logistic" otherwise. "leaf_softmax" has
        scores of labels, "path_softmax" scores of nodes that are summed along paths, "logistic"
        independent scores of nodes; "exponential" is the loss of AdaBoost. With several losses, one
        model is fitted per loss, and their log-probabilities are averaged.
    n_bags : int or "auto"
        Number of models per loss, each with its own seed. ``"auto"`` is 4 (2 with two losses) if
        there are fewer than 1,000 rows and at most 100 nodes, and 1 otherwise. On small data the
        mean of four models is more accurate, by .003 on average, and costs four times as much: 0.7
        to 6 s instead of 0.2 to 1.5 s. A row of weight k counts as k rows.
    n_estimators : int
        Number of rounds.
    learning_rate : float, optional
        Factor of the votes of each tree; by default 0.1, 0.07 for "path_softmax", 0.05 for
        "logistic" (but 0.1 with more than 1,024 nodes) and 0.3 for "exponential".
    max_depth : int, optional
        Maximum depth of the trees, 1 to 12; by default 5, 8 for "logistic" (but 5 with more than
        1,024 nodes) and 6 for "exponential".
    max_features : int, float, "sqrt" or None
        Features considered at a node: a number, a share, the square root of all, or all.
    thresholds : "random" or "best"
        One threshold per feature, drawn uniformly from the bins at a node, or the best one.
    min_samples_leaf : int
        Minimum number of rows in a leaf.
    subsample : float
        Share of the rows that a round uses.
    max_bins : int
        Maximum number of bins per feature, up to 255. Missing values have their own bin and go
        right at a split.
    dag_rule : "all" or "any"
        Whether a node of a DAG requires all of its parents to be true, or one of them.
    decoding : str or object of `palmette.decoding`
        Decision rule; ``"auto"`` is ``Marginal(0.4, 1.5, partial=False)``, the label whose path has
        the largest sum of probability minus 0.4 over its nodes, where the probabilities of the
        labels are raised to the power 1.5; with several paths per row, the nodes of a probability
        above 0.5.
    n_iter_no_change : int, optional
        Stop if the loss on validation rows has not improved for this number of rounds.
    validation_fraction : float
        Share of the rows used for validation.
    tol : float
        Minimum improvement of the loss.
    warm_start : bool
        Whether `fit` adds rounds to those of the last call, on the same data; the result equals
        that of one longer fit.
    n_jobs : int, optional
        Number of threads; None is 1, and -1 all processors. They find bins, compute gradients and
        grow trees: of several models (losses, bags) at once, or else, if there are more threads
        than models, of one model after another, whose rows they divide. Rows of small data, up to
        65,536 scores, are not divided, nor is the search for the best thresholds. The model is the
        same, bit by bit, for any number.
    device : str
        "cpu", or a CUDA device of torch such as "cuda" or "cuda:1", where scores, gradients and
        sums are then computed (see Notes).
    random_state : int, RandomState or None
        Seed of the random draws.
    verbose : int
        Print the training loss: 1 about ten times during the fit, 2 in every round.
    scratch : path-like, optional
        Folder for what a fit would hold in memory: codes, scores and gradients. They are in files
        without a name, whose space is free again after the fit; pages of them are in memory as far
        as there is room. With X in a file that is mapped, the rows may be more than fit in memory.
        The model is the same, bit by bit.
    client : distributed.Client or str, optional
        Dask cluster, or the address of its scheduler, whose workers divide the rows of large data
        among them (see Notes). The model is the same, bit by bit, and has no part of the cluster.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
        Labels of the training rows.
    n_bags_ : int
        Number of models per loss.
    rounds_ : list
        One hypothesis per round.
    train_loss_ : array of shape (n_rounds,)
        Mean loss before each round.
    validation_loss_ : array of shape (n_rounds,)
        Loss on the validation rows after each round, with early stopping.
    bins_ : BinMapper

    Notes
    -----
    Memory: the codes (one byte per value) and, while fitting, scores and gradients: two float32
    arrays of shape (n_samples, n_columns), where columns are labels or nodes; on large data also
    sums of blocks of rows, up to a quarter of one such array; with `scratch`, all but the sums are
    on disk. The model stores rounds x leaves x columns float32 numbers.

    With ``device="cuda"`` codes, scores and gradients are in the memory of the device during the
    fit, and must fit there. The model is an ordinary one, which predicts and is saved without
    torch. It is the same in every run, and that of the CPU up to rounding: a split that is as good
    as another one to about six digits may be chosen in its place. The losses are "leaf_softmax",
    "path_softmax" and "logistic", with random thresholds.

    With a `client`, codes are sent to the workers, one byte per value, and scores and gradients are
    in their memory: a level of a tree sends sums over blocks of rows, at most 64, for every node,
    draw and label. A worker uses all threads that it has. Data of up to 65,536 scores are fitted
    here. Losses and thresholds are those of a device; both at once are an error. If a worker is
    lost, its rows are sent to others, and the fit goes on with the round in which it was.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")]
    >>> clf = HierarchicalBoostingClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> clf.predict(X)
    [('animal', 'cat'), ('animal', 'dog'), ('plant', 'oak'), ('plant', 'fern')]
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _may_be_none = ("learning_rate",)
    device = "cpu"  # in models of files that do not know the parameter
    _presets: ClassVar = {
        "accurate": Preset(
            "two models of labels and two of paths, log-probabilities averaged",
            {"loss": ("leaf_softmax", "path_softmax"), "n_bags": 2},
        )
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        loss: str | tuple[str, ...] = "auto",
        n_bags: int | str = "auto",
        n_estimators: int = 800,
        learning_rate: float | None = None,
        max_depth: int | None = None,
        max_features: int | float | str | None = "sqrt",
        thresholds: str = "random",
        min_samples_leaf: int = 1,
        subsample: float = 1.0,
        max_bins: int = MAX_BINS,
        dag_rule: str = "all",
        decoding: Any = "auto",
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        device: str = "cpu",
        random_state: Any = None,
        verbose: int = 0,
        scratch: str | os.PathLike[str] | None = None,
        client: Any = None,
    ) -> None:
        self.loss = loss
        self.n_bags = n_bags
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_features = max_features
        self.thresholds = thresholds
        self.min_samples_leaf = min_samples_leaf
        self.subsample = subsample
        self.max_bins = max_bins
        self.dag_rule = dag_rule
        self.device = device
        self.scratch = scratch
        self.client = client
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self._set_rounds(n_iter_no_change, validation_fraction, tol, warm_start, verbose)

    # ------------------------------------------------------------------ fitting

    def _check_parameters(self) -> None:
        super()._check_parameters()
        known, named = {"auto", *LOSSES}, self._losses()
        if not named or not known.issuperset(named):
            raise PalmetteError(
                f"loss={self.loss!r}: expected 'auto', one of {sorted(LOSSES)}, or a tuple of "
                "these."
            )
        if self.n_bags != "auto" and not is_count(self.n_bags):
            raise PalmetteError(f"n_bags={self.n_bags!r}: expected a positive integer or 'auto'.")
        self._tree(LOSSES["leaf_softmax"]).check()
        places = {"device": self._torch_device(), "client": self.client}
        given = [name for name, place in places.items() if place is not None]
        if len(given) == 2:
            raise PalmetteError(
                f"got device={self.device!r} and a client: expected one of them, since workers "
                "compute on their CPUs."
            )
        if given:
            self._check_place(given[0])

    def _check_place(self, place: str) -> None:
        """Raise an error for parameters that have no version for a device, or for a cluster."""
        unable = {name for name, kind in LOSSES.items() if not kind.by_gradients}
        for name, found in (
            ("loss", sorted(unable.intersection(self._losses()))),
            ("thresholds", self.thresholds),
        ):
            if found not in ([], "random"):
                raise PalmetteError(
                    f"{name}={getattr(self, name)!r} has no version for "
                    f"{place}={getattr(self, place)!r}: pass {place}="
                    f"{'cpu' if place == 'device' else None!r}, a softmax or logistic loss, and "
                    "random thresholds."
                )

    def _torch_device(self) -> Any:
        """Return the device of torch, or None for the compiled code of the CPU."""
        return None if self.device == "cpu" else torch_device(self.device)

    def _losses(self) -> tuple[str, ...]:
        return tuple(self.loss) if isinstance(self.loss, tuple | list) else (self.loss,)

    def _choose_size(self, n_rows: float, continues: bool) -> None:
        if self.n_bags != "auto":
            self.n_bags_ = int(self.n_bags)
        elif not continues or not hasattr(self, "n_bags_"):
            small = n_rows < _FEW_ROWS and len(self.nodes_) <= _FEW_NODES
            self.n_bags_ = -(-_MODELS_OF_SMALL_DATA // len(self._losses())) if small else 1

    def _chosen_parameters(self) -> dict[str, Any]:
        return {"n_bags": self.n_bags_}

    def _takes_several_now(self) -> bool:
        """Whether all losses are defined for several paths per row."""
        named = [name for name in self._losses() if name in LOSSES]
        return all(LOSSES[name].several for name in named)

    def _members(self) -> list[Member]:
        """Return one member per model: every loss `n_bags_` times."""
        auto = "logistic" if self.several_paths_ else "leaf_softmax"
        kinds = [LOSSES[auto if name == "auto" else name] for name in self._losses()]
        return [kind(self) for kind in kinds for _ in range(self._bags())]

    def _bags(self) -> Any:
        """Return `n_bags_`; models in files of earlier versions have a number as `n_bags` only."""
        return getattr(self, "n_bags_", self.n_bags)

    def _read_training(self, X: Any) -> Any:
        if self.client is not None and (is_lazy(X) or count_rows(X) >= _MANY_ROWS):
            from palmette.boosting._on_workers import load_on_workers

            load_on_workers(self.client, HierarchicalBoostingClassifier, self.loss)
        is_tuned = self.decoding == "marginal" or getattr(self.decoding, "is_open", False)
        is_learnt = self.hierarchy is not None and not isinstance(self.hierarchy, Hierarchy)
        if self.client is None or not is_lazy(X) or is_tuned or is_learnt:
            return super()._read_training(X)
        self._read_features(head_of(X), reset=True)
        return lazy_rows(X, self.client)

    def _divides(self, n_rows: int) -> bool:
        fewest = min(member.n_columns for member in self._members())
        return self.client is not None and not is_small(n_rows * fewest)

    def _objective(self, targets: Any, weights: FloatArray, empty: Empty) -> Any:
        members, device = self._members(), self._torch_device()
        divided = self._divides(len(weights))
        objectives = [
            member.objective(
                targets, weights, self.learning_rate or member.learning_rate, empty, device, divided
            )
            for member in members
        ]
        return objectives[0] if len(objectives) == 1 else BundledObjective(objectives)

    def _rounds_from(
        self, objective: Any, rows: TrainingRows, rounds: list[Any]
    ) -> Generator[Round, None, None]:
        objectives = getattr(objective, "objectives", [objective])
        if self.client is None or isinstance(objectives[0], GradientObjective):
            return super()._rounds_from(objective, rows, rounds)
        from palmette.boosting._on_workers import WorkersLearner, rounds_on_workers

        learners = [WorkersLearner(self._tree(member)) for member in self._members()]
        learner: Any = learners[0] if len(learners) == 1 else BundledLearner(learners)
        given = objective, learner, rows, self._seed, rounds, self._row_choice()
        return rounds_on_workers(self.client, objectives, learners, rows, partial(boost, *given))

    def _learner(self) -> Any:
        trees: list[Any] = [self._tree(member) for member in self._members()]
        device = self._torch_device()
        if device is not None:
            from palmette.boosting._device_tree import DeviceTreeLearner

            trees = [DeviceTreeLearner(tree, device) for tree in trees]
        return trees[0] if len(trees) == 1 else BundledLearner(trees)

    def _tree(self, kind: Member | type[Member]) -> SharedTree:
        return SharedTree(
            kind.max_depth if self.max_depth is None else self.max_depth,
            max_features=self.max_features,
            thresholds=self.thresholds,
            min_samples_leaf=self.min_samples_leaf,
            criterion=kind.criterion,
        )

    def scratch_bytes(self, n_samples: int, n_features: int, n_nodes: int) -> int:
        """Return the most bytes that a fit writes to its scratch folder.

        Parameters
        ----------
        n_samples, n_features : int
            The shape of X.
        n_nodes : int
            Number of nodes of the hierarchy.

        Returns
        -------
        int
            One byte per code; per node and model, scores and gradients in float32.

        Examples
        --------
        >>> HierarchicalBoostingClassifier().scratch_bytes(1_000_000, 20, 200)
        1620000000
        """
        n_models = len(self._losses()) * (1 if self.n_bags == "auto" else int(self.n_bags))
        return n_samples * (n_features + 8 * n_models * n_nodes)

    def _held_out(self, samples: Samples, targets: Any, weights: FloatArray) -> Any:
        device = self._torch_device()
        if device is None:
            return super()._held_out(samples, targets, weights)
        from palmette.boosting._device_objective import HeldOutOnDevice

        losses = [member.loss(targets, weights) for member in self._members()]
        return partial(HeldOutOnDevice, samples, losses, weights, device)

    def _row_choice(self) -> RowChoice:
        return RowChoice(self.subsample)

    def _loss_on(self, targets: Any, weights: FloatArray) -> Any:
        members = self._members()
        losses = [member.mean_loss(targets, weights) for member in members]
        return lambda scores: float(
            np.mean(
                [loss(part) for loss, part in zip(losses, _blocks(members, scores), strict=True)]
            )
        )

    # ------------------------------------------------------------------ files

    def _check_rounds(self) -> None:
        super()._check_rounds()
        n_bags, n_columns = self._bags(), len(self.start_)
        require(is_count(n_bags) and n_bags <= n_columns, "n_bags_ is not a number of models")
        found = sum(member.n_columns for member in self._members())
        require(found == n_columns, "n_bags_ is not the number of models in the rounds")

    # ------------------------------------------------------------------ predicting

    def _decision_rule(self) -> Any:
        if self.decoding == "auto" and self.space_.depth.max() > 1:
            return _AUTO if hasattr(self, "n_bags_") else _EARLIER
        return super()._decision_rule()

    def _class_proba_from(self, scores: FloatArray, n_rounds: int) -> FloatArray:
        members = self._members()
        logs = [
            member.log_proba(part)
            for member, part in zip(members, _blocks(members, scores), strict=True)
        ]
        return np.asarray(softmax(sum(logs) / len(logs), axis=1))

    def _node_proba_from(self, scores: FloatArray, n_rounds: int) -> FloatArray:
        members = self._members()
        parts = [
            member.node_proba(part)
            for member, part in zip(members, _blocks(members, scores), strict=True)
        ]
        # strictly between 0 and 1, as scikit-learn requires of probabilities of several labels
        return np.clip(sum(parts) / len(parts), 1e-12, 1 - 1e-12)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._takes_several_now()
        return tags


def _blocks(members: list[Member], scores: FloatArray) -> list[FloatArray]:
    """Return the scores of every member, (n_samples, n_columns) each."""
    return np.split(scores, np.cumsum([member.n_columns for member in members])[:-1], axis=1)
