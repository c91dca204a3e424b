"""CoherentBlendClassifier: the weighted mean of the probabilities of several classifiers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import _BaseComposition

from palmette._arrays import FloatArray, count_rows, seed_each, take_rows
from palmette.base._fitting import weight_keyword
from palmette.base._parameters import is_number
from palmette.decisions._thresholds import Threshold
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._containers import Container
from palmette.labels._forms import LabelForm
from palmette.labels._labels import NodeLabels
from palmette.metrics._counts import average_precision_of_cells
from palmette.multipath._base import CoherentClassifier
from palmette.multipath._forest import CoherentForestClassifier
from palmette.multipath._kernel import CoherentKernelClassifier
from palmette.multipath._network import CoherentNetworkClassifier

_STEP = 8  # weights are multiples of 1 / 8
_SETS = LabelForm("sets", Container("list"), row_type=frozenset)


class CoherentBlendClassifier(_BaseComposition, CoherentClassifier):  # type: ignore[misc]
    """Blend of classifiers over a hierarchy: a forest, kernel ridge regression and a network.

    Their errors differ, so that the weighted mean of their probabilities is more accurate than each
    of them. A mean of coherent probabilities is coherent.

    Parameters
    ----------
    estimators : list of (str, estimator), optional
        Any classifiers of this library for several paths per row. By default a
        `CoherentForestClassifier`, a `CoherentKernelClassifier` and a `CoherentNetworkClassifier`.
    weights : "validation", "equal" or array of shape (n_estimators,)
        "validation" chooses the weights with the best micro-averaged average precision on held-out
        rows, and then fits on all rows, which takes twice the time. The weights are multiples of
        1 / 4, or of 1 / 8 if moving 1 / 8 from one member to another improves the best of them.
    validation_fraction : float
        Proportion of rows held out.
    missing, categorical_features, hierarchy, decoding, dag_rule
        As in `CoherentForestClassifier`; they apply to all members.
    n_jobs : int, optional
        Passed to the members.
    random_state : int, RandomState or None
    verbose : int
        Whether to print a line per member that is fitted; positive numbers are passed to the
        members.

    Attributes
    ----------
    estimators_ : list of fitted classifiers
    named_estimators_ : dict of str to fitted classifier
    weights_ : array of shape (n_estimators,)
        Weights, which sum to one; members of weight 0 are not fitted on all rows, and are None.
    validation_scores_ : dict of str to float
        Micro-averaged average precision of each member and of the blend on the held-out rows.

    Examples
    --------
    >>> from palmette import CoherentBlendClassifier, CoherentForestClassifier
    >>> from palmette import CoherentKernelClassifier
    >>> X = [[0.0, 1], [0.1, 1], [1, 0.1], [1, 0.0]]
    >>> y = [{"a/b"}, {"a/b"}, {"a/c", "d"}, {"a/c", "d"}]
    >>> members = [
    ...     ("forest", CoherentForestClassifier(10, min_samples_leaf=1)),
    ...     ("kernel", CoherentKernelClassifier(ridge=0.1, gamma=1.0)),
    ... ]
    >>> blend = CoherentBlendClassifier(members, weights="equal", random_state=0)
    >>> sorted(blend.fit(X, y).predict([[1, 0.05]])[0])
    ['a/c', 'd']
    """

    def __init__(
        self,
        estimators: list[tuple[str, Any]] | None = None,
        *,
        weights: str | ArrayLike = "validation",
        validation_fraction: float = 1 / 3,
        missing: str = "mean",
        categorical_features: Any = "from_dtype",
        hierarchy: Hierarchy | None = None,
        decoding: str | float | Threshold = "auto",
        dag_rule: str = "all",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.validation_fraction = validation_fraction
        self.missing = missing
        self.categorical_features = categorical_features
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.dag_rule = dag_rule
        self.verbose = verbose

    # ------------------------------------------------------------------ parameters

    def _members(self) -> list[tuple[str, Any]]:
        if self.estimators is not None:
            return list(self.estimators)
        return [
            ("forest", CoherentForestClassifier()),
            ("kernel", CoherentKernelClassifier()),
            ("network", CoherentNetworkClassifier()),
        ]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; those of the members are named ``name__parameter``."""
        if self.estimators is None:
            return dict(super(_BaseComposition, self).get_params(deep=deep))
        return dict(self._get_params("estimators", deep=deep))

    def set_params(self, **params: Any) -> CoherentBlendClassifier:
        """Set parameters; those of the members are named ``name__parameter``."""
        if self.estimators is None and "estimators" not in params:
            super(_BaseComposition, self).set_params(**params)
        else:
            self._set_params("estimators", **params)
        return self

    def _check_parameters(self) -> None:
        members = self.estimators
        pairs = members if isinstance(members, list | tuple) else (() if members is None else [0])
        if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
            raise PalmetteError(
                f"estimators={members!r}: expected a list of (name, classifier), or None for the "
                "three coherent classifiers."
            )
        members = self._members()
        if not members:
            raise PalmetteError("estimators is empty: expected at least one (name, classifier).")
        self._validate_names([name for name, _ in members])
        if not (is_number(self.validation_fraction) and 0 < self.validation_fraction < 1):
            raise PalmetteError(
                f"validation_fraction={self.validation_fraction!r}: expected a number between "
                "0 and 1."
            )
        if isinstance(self.weights, str):
            if self.weights not in ("validation", "equal"):
                raise PalmetteError(
                    f"weights={self.weights!r}: expected 'validation', 'equal' or numbers."
                )
            return
        try:
            values = np.asarray(self.weights, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape != (len(members),) or not (values >= 0).all() or not values.any():
            raise PalmetteError(
                f"weights={self.weights!r}: expected {len(members)} numbers of at least 0, one per "
                "estimator, not all of them 0."
            )

    # ------------------------------------------------------------------ fitting

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        rng = check_random_state(self.random_state)
        members = self._members()
        names = [name for name, _ in members]
        prepared = {name: self._prepare(estimator) for name, estimator in members}
        seed_each(list(prepared.values()), rng)
        self.validation_scores_: dict[str, float] = {}
        self.weights_ = self._blend_weights(prepared, X, Y, weights, rng)
        self.estimators_ = []
        for name, weight in zip(names, self.weights_, strict=True):
            self._print(f"{name}: weight {weight:g}" + (", fitting all rows" if weight else ""))
            member = self._fit_member(prepared[name], X, Y, weights) if weight else None
            self.estimators_.append(member)
        self.named_estimators_ = dict(zip(names, self.estimators_, strict=True))

    def _print(self, line: str) -> None:
        if self.verbose:
            print(line, flush=True)

    def _prepare(self, estimator: Any) -> Any:
        """Return a copy of a member with the settings of the blend."""
        member = clone(estimator)
        known = member.get_params(deep=False)
        settings = {
            "hierarchy": self.hierarchy_,
            "dag_rule": self.dag_rule,
            "missing": self.missing,
            "decoding": 0.5,
            "n_jobs": self.n_jobs,
        }
        if self.verbose:
            settings["verbose"] = self.verbose
        if self.is_categorical_ is not None:  # members see codes
            settings["categorical_features"] = np.flatnonzero(self.is_categorical_).tolist()
        return member.set_params(**{k: v for k, v in settings.items() if k in known})

    def _fit_member(self, member: Any, X: Any, Y: sparse.csr_array, weights: Any) -> Any:
        labels = NodeLabels(self.hierarchy_, self._answers.columns.sets_of_nodes(Y), _SETS)
        given = {} if weights is None else {weight_keyword(member): weights}
        return clone(member).fit(X, labels, **given)

    def _blend_weights(
        self, members: dict[str, Any], X: Any, Y: sparse.csr_array, weights: Any, rng: Any
    ) -> FloatArray:
        n_members = len(members)
        if not isinstance(self.weights, str):
            values = np.asarray(self.weights, dtype=np.float64)
            return np.asarray(values / values.sum())
        n_held = round(self.validation_fraction * Y.shape[0])
        if self.weights == "equal" or n_members == 1 or not 1 <= n_held < Y.shape[0]:
            return np.full(n_members, 1.0 / n_members)
        order = rng.permutation(Y.shape[0])
        held, kept = np.sort(order[:n_held]), np.sort(order[n_held:])
        rest = None if weights is None else weights[kept]
        rows = take_rows(X, held)
        scores = []
        for name, member in members.items():
            self._print(f"{name}: fitting {len(kept)} rows, to choose the weights")
            fitted = self._fit_member(member, take_rows(X, kept), Y[kept], rest)
            scores.append(self._proba_of_member(fitted, rows))
        return self._best_weights(Y[held], scores, list(members))

    def _best_weights(
        self, truth: sparse.csr_array, scores: list[FloatArray], names: list[str]
    ) -> FloatArray:
        """Return the weights with the best average precision; among ties, the most equal."""

        def score_of(candidate: tuple[int, ...]) -> float:
            blended = sum(x * s for x, s in zip(candidate, scores, strict=True) if x)
            return average_precision_of_cells(truth, np.asarray(blended))

        parts = range(0, _STEP + 1, 2)
        grid = [w for w in itertools.product(parts, repeat=len(scores)) if sum(w) == _STEP]
        grid.sort(key=lambda w: sum(x * x for x in w))
        found = {candidate: score_of(candidate) for candidate in grid}
        near = neighbouring_weights(max(grid, key=lambda w: found[w]))
        found.update({candidate: score_of(candidate) for candidate in near})
        best = max(found, key=lambda w: found[w])
        for i, name in enumerate(names):
            alone = tuple(_STEP if i == j else 0 for j in range(len(names)))
            self.validation_scores_[name] = found[alone]
        self.validation_scores_["blend"] = found[best]
        return np.asarray(best) / _STEP

    # ------------------------------------------------------------------ predicting

    def _proba_of_member(self, member: Any, X: Any) -> FloatArray:
        """Return the coherent probabilities of a member, of shape (n_samples, n_columns)."""
        return np.asarray(member._proba_of_nodes(member._read_rows(X), self.nodes_))

    def _node_proba_of(self, X: Any) -> FloatArray:
        proba = np.zeros((count_rows(X), len(self.nodes_)))
        for weight, member in zip(self.weights_, self.estimators_, strict=True):
            if member is not None:
                proba += weight * self._proba_of_member(member, X)
        return np.minimum(proba, 1.0)


def neighbouring_weights(weights: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the weights after moving one unit from a member to another, the most equal first."""
    moved = []
    for source, target in itertools.permutations(range(len(weights)), 2):
        if weights[source] > 0:
            changed = list(weights)
            changed[source] -= 1
            changed[target] += 1
            moved.append(tuple(changed))
    return sorted(moved, key=lambda w: sum(x * x for x in w))
