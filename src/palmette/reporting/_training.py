"""Description of the model: parameters, data, training curves, features, conformal coverage."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, is_text, joined
from palmette.base._adapters import find_in_parts, hierarchy_of, model_parts, parts_with_rows
from palmette.labels._labels import NodeLabels
from palmette.metrics._counts import row_overlap
from palmette.metrics._pairs import LabelPair
from palmette.reporting._evaluation import Evaluation, places_of
from palmette.reporting._intervals import (
    Interval,
    bootstrap,
    share_of_rows,
    with_spread,
)
from palmette.reporting._parts import in_parts
from palmette.reporting._plain import cut, plain_facts

_PACKAGES = ("palmette", "scikit-learn", "numpy", "scipy", "skrub", "pandas")
_LONGEST_VALUE = 160
_MOST_POINTS = 300  # of a training curve
# attributes of estimators that hold training curves, and the names of the curves
_SERIES = (
    ("train_loss_", "training loss"),
    ("validation_loss_", "validation loss"),
    ("train_score_", "training score"),
    ("validation_score_", "validation score"),
    ("loss_curve_", "training loss"),
    ("validation_scores_", "validation score"),
    ("objective_", "objective"),
)
N_OVERALL = 30
N_AT_NODE = 12
_MOST_NUMBERS = 10_000_000  # importances of all nodes together
_SINGLE_SIZES = 8  # smaller set sizes are counted one by one, larger ones in ranges that double


def setting_facts(
    model: Any, X: Any, evaluation: Evaluation, n_left_out: int = 0
) -> dict[str, Any]:
    """Describe the model and the data.

    Parameters
    ----------
    model : fitted classifier
    X : rows
    evaluation : Evaluation
    n_left_out : int
        Number of rows of the table that were left out because they have no label.

    Returns
    -------
    dict
        ``model``, ``wraps``, ``parameters`` (as texts), ``data``, ``hierarchy``, ``fitted`` (the
        summary of the fit of a table model), ``versions``.
    """
    parts = [type(part).__name__ for part in model_parts(model)]
    innermost = list(model_parts(model))[-1]
    hierarchy = hierarchy_of(model)  # without labels that only the rows of the report have
    return plain_facts(
        {
            "model": parts[0],
            "wraps": parts[1:],
            "parameters": _parameters(innermost),
            "data": {
                "rows": evaluation.n_rows,
                "features": _n_features(model, X),
                "labels": len(set(evaluation.pair.true.specific.indices.tolist())),
                "rows_with_unseen_labels": evaluation.n_unseen,
                "rows_left_out": n_left_out,
                "several_paths": evaluation.several,
            },
            "hierarchy": {
                "is_tree": hierarchy.is_tree,
                "nodes": hierarchy.n_nodes - 1,
                "leaves": hierarchy.n_leaves,
                "depth": hierarchy.max_depth,
                "by_level": hierarchy.level_sizes[1:],
            },
            "fitted": _fitted(model),
            "versions": _versions(),
        }
    )


def _fitted(model: Any) -> Any:
    """Return the summary of a fit, without the numbers of rows, which other sections show."""
    found = find_in_parts(model, "summary_")
    if not isinstance(found, dict):
        return found
    return {name: value for name, value in found.items() if name != "class_rows"}


def _parameters(model: Any) -> dict[str, str]:
    if not hasattr(model, "get_params"):
        return {}
    found = model.get_params(deep=False)
    return {name: cut(repr(value), _LONGEST_VALUE) for name, value in found.items()}


def _n_features(model: Any, X: Any) -> int | None:
    found = find_in_parts(model, "n_features_in_")
    if found is not None:
        return int(found)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return None if is_text(X) or len(shape) < 2 else int(shape[1])


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # optional packages
            continue
    return found


def training_facts(model: Any) -> dict[str, Any] | None:
    """Return the training curves of a model, its wrapped model or its feature selector.

    Parameters
    ----------
    model : fitted classifier

    Returns
    -------
    dict or None
        ``n_rounds`` and ``series``, each with ``name``, ``rounds`` and ``values``; long curves
        are thinned, with first and last point kept.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> training_facts(SimpleNamespace(train_loss_=np.array([0.5, 0.25])))["series"]
    [{'name': 'training loss', 'rounds': [1, 2], 'values': [0.5, 0.25]}]
    """
    for part in model_parts(model):
        for source in (part, getattr(part, "feature_selector_", None)):
            series = [_series(name, values) for name, values in _curves(source)]
            if series:
                n_rounds = max(each["rounds"][-1] for each in series)
                return plain_facts({"n_rounds": n_rounds, "series": series})
    return None


def _curves(source: Any) -> list[tuple[str, FloatArray]]:
    found = []
    for attribute, name in _SERIES:
        values = getattr(source, attribute, None)
        if values is None or isinstance(values, dict | str):
            continue
        curve = np.asarray(values)
        if curve.ndim == 1 and curve.dtype.kind in "fiu" and len(curve) > 1:
            found.append((name, curve.astype(np.float64)))
    return found


def _series(name: str, values: FloatArray) -> dict[str, Any]:
    kept = np.unique(np.linspace(0, len(values) - 1, _MOST_POINTS).round().astype(int))
    return {"name": name, "rounds": (kept + 1).tolist(), "values": values[kept].tolist()}


def feature_names(model: Any) -> list[str] | None:
    """Return the feature names that the innermost classifier was fitted on, None if unknown."""
    for part in model_parts(model):
        maker: Any = getattr(part, "vectorizer_", None)
        if maker is None and hasattr(part, "steps") and len(part.steps) > 1:
            maker = part[:-1]
        if hasattr(maker, "get_feature_names_out"):
            try:
                return [str(name) for name in maker.get_feature_names_out()]
            except (AttributeError, ValueError):  # a step does not support feature names
                return None
    names = find_in_parts(model, "feature_names_in_")
    return None if names is None else [str(name) for name in names]


def feature_facts(
    model: Any, evaluation: Evaluation, names: Sequence[str] | None
) -> dict[str, Any] | None:
    """Return the features that a model uses, overall and per node.

    Parameters
    ----------
    model : fitted classifier
    evaluation : Evaluation
    names : sequence of str, optional
        Names of the features; x0, x1, ... by default.

    Returns
    -------
    dict or None
        ``kind`` is "selected" or "importance"; ``n_features``; ``overall`` and, per node,
        ``nodes`` with ``node``, ``count`` and ``features``, best first: [name, value].
    """
    selector = find_in_parts(model, "feature_selector_")
    if selector is not None and hasattr(selector, "node_supports_"):
        return plain_facts(_selected(selector, evaluation, names))
    for part in model_parts(model):
        values = getattr(part, "feature_importances_", None)
        if values is not None and np.ndim(values) == 1:
            return plain_facts(_importances(part, np.asarray(values), evaluation, names))
    return None


def _selected(selector: Any, evaluation: Evaluation, names: Sequence[str] | None) -> dict[str, Any]:
    supports, scores = selector.node_supports_, selector.node_scores_
    place = places_of(selector.hierarchy_, evaluation)
    nodes = []
    for node in np.flatnonzero(np.diff(supports.indptr)).tolist():
        chosen = supports.indices[supports.indptr[node] : supports.indptr[node + 1]]
        values = np.asarray(scores[[node]].toarray())[0, chosen]
        nodes.append(_at_node(int(place[node]), chosen, values, names))
    n_nodes = np.bincount(supports.indices, minlength=supports.shape[1])
    return {
        "kind": "selected",
        "n_features": int(supports.shape[1]),
        "n_chosen": int(np.count_nonzero(n_nodes)),
        "overall": _ranked(np.arange(len(n_nodes)), n_nodes.astype(float), names, N_OVERALL),
        "nodes": nodes,
    }


def _importances(
    part: Any, values: FloatArray, evaluation: Evaluation, names: Sequence[str] | None
) -> dict[str, Any]:
    return {
        "kind": "importance",
        "n_features": len(values),
        "n_chosen": int(np.count_nonzero(values)),
        "overall": _ranked(np.arange(len(values)), values, names, N_OVERALL),
        "nodes": _importances_of_nodes(part, len(values), evaluation, names),
    }


def _importances_of_nodes(
    part: Any, n_features: int, evaluation: Evaluation, names: Sequence[str] | None
) -> list[dict[str, Any]]:
    """Return importances per node, if the model has them and the table is not too large."""
    nodes = getattr(part, "nodes_", None)
    if nodes is None or not hasattr(part, "feature_importances"):
        return []
    if len(nodes) * n_features > _MOST_NUMBERS:
        return []
    place = places_of(part.hierarchy_, evaluation)
    table = part.feature_importances()
    columns = np.arange(n_features)
    return [
        _at_node(int(place[node]), columns, row, names)
        for node, row in zip(nodes.tolist(), table, strict=True)
        if row.any()
    ]


def _at_node(
    node: int, columns: NDArray[Any], values: FloatArray, names: Sequence[str] | None
) -> dict[str, Any]:
    best = _ranked(columns, values, names, N_AT_NODE)
    return {"node": node, "count": int(np.count_nonzero(values)), "features": best}


def _ranked(
    columns: NDArray[Any], values: FloatArray, names: Sequence[str] | None, n: int
) -> list[list[Any]]:
    order = np.lexsort((columns, -values))[:n]
    order = order[values[order] > 0]
    return [[_name(names, int(columns[j])), float(f"{values[j]:.4g}")] for j in order]


def _name(names: Sequence[str] | None, column: int) -> str:
    return f"x{column}" if names is None or column >= len(names) else cut(str(names[column]), 80)


def conformal_facts(
    model: Any,
    X: Any,
    evaluation: Evaluation,
    *,
    n_bootstrap: int,
    seed: int,
    client: Any = None,
) -> dict[str, Any] | None:
    """Measure the coverage of conformal predictions on the rows of the report.

    Parameters
    ----------
    model : fitted classifier
        A classifier with `predict_set_nodes`, or an estimator that wraps one.
    X : rows
    evaluation : Evaluation
    n_bootstrap, seed : int
        Number and seed of the bootstrap resamples for the intervals.
    client : distributed.Client, optional
        The cluster whose workers predict.

    Returns
    -------
    dict or None
        ``answers``: the smallest set and, with one path per row, the deepest node, each with
        ``target``, ``coverage`` and its interval, ``mean_size`` and ``mean_depth``; ``sizes`` of
        the sets.
    """
    for part in model_parts(model):
        if hasattr(part, "predict_set_nodes"):
            wanted = _Sets(model, with_nodes=not evaluation.several)
            parts = list(in_parts(wanted, X, evaluation.hierarchy.n_nodes, client))
            sets, nodes = (joined([each[i] for each in parts]) for i in range(2))
            answers = _Answers(part, sets, nodes, evaluation, n_bootstrap, seed)
            return plain_facts(answers.facts())
    return None


@dataclass(frozen=True)
class _Sets:
    """Predicts with the conformal classifier in a model.

    Parameters
    ----------
    model : fitted classifier
    with_nodes : bool
        Whether the deepest nodes are predicted, too.
    """

    model: Any
    with_nodes: bool

    def __call__(self, X: Any) -> tuple[sparse.csr_array, NDArray[Any]]:
        for part, rows_of in parts_with_rows(self.model, X):
            if hasattr(part, "predict_set_nodes"):
                rows = rows_of()
                sets = sparse.csr_array(part.predict_set_nodes(rows))
                nodes = (
                    part.predict_node_numbers(rows) if self.with_nodes else np.empty(0, np.int32)
                )
                return sets, nodes
        raise AssertionError("the model has a conformal classifier")


class _Answers:
    """Predictions of one conformal classifier for all rows, compared with the true labels."""

    def __init__(
        self,
        part: Any,
        sets: sparse.csr_array,
        nodes: NDArray[Any],
        evaluation: Evaluation,
        n_bootstrap: int,
        seed: int,
    ) -> None:
        self._part = part
        self._found, self._nodes = sets, nodes
        self._evaluation = evaluation
        self._place = places_of(part.hierarchy_, evaluation)
        self._draws = {"n_resamples": n_bootstrap, "seed": seed}

    def facts(self) -> dict[str, Any]:
        sets = self._sets()
        sizes = np.diff(sets.indptr)
        answers = [
            self._answer("smallest set", self._covered_share(sets), mean_size=float(sizes.mean()))
        ]
        if not self._evaluation.several:
            nodes = self._place[self._nodes]
            depth = float(self._evaluation.hierarchy.depth[nodes].mean())
            answers.append(
                self._answer("deepest node", self._contains_truth(nodes), mean_depth=depth)
            )
        return {"answers": answers, "sizes": _size_table(sizes)}

    def _sets(self) -> sparse.csr_array:
        """Return the prediction set per row, on the hierarchy of the report."""
        found = self._found
        shape = (found.shape[0], self._evaluation.hierarchy.n_nodes)
        return sparse.csr_array((found.data, self._place[found.indices], found.indptr), shape=shape)

    def _covered_share(self, sets: sparse.csr_array) -> FloatArray:
        """Return the share of true nodes in the set per row; 0 or 1 unless ``control="label"``."""
        pair = self._evaluation.pair
        if not self._evaluation.several:
            rows = np.arange(sets.shape[0])
            return np.asarray(sets[rows, pair.nodes[0]], dtype=np.float64).ravel()
        true = sparse.csr_array(pair.true.closed[:, 1:])
        n_true = np.diff(true.indptr)
        n_covered = np.asarray(true.multiply(sets[:, 1:]).sum(axis=1)).ravel()
        share: FloatArray = np.divide(n_covered, n_true, out=np.ones(len(n_true)), where=n_true > 0)
        return share if getattr(self._part, "control", "row") == "label" else np.floor(share)

    def _contains_truth(self, nodes: NDArray[Any]) -> FloatArray:
        """Return per row whether the true node is the given node or a descendant of it."""
        pair = self._evaluation.pair
        answers = NodeLabels.from_terminals(nodes, self._evaluation.hierarchy, pair.true.form)
        overlap = row_overlap(LabelPair(pair.true, answers, pair.weight))
        return np.asarray(overlap.both == overlap.pred, dtype=np.float64)

    def _answer(
        self,
        title: str,
        covered: FloatArray,
        mean_size: float | None = None,
        mean_depth: float | None = None,
    ) -> dict[str, Any]:
        found = self._interval(covered)
        return {
            "title": title,
            "target": float(self._part.coverage),
            "coverage": found.value,
            "low": found.low,
            "high": found.high,
            "mean_size": mean_size,
            "mean_depth": mean_depth,
        }

    def _interval(self, covered: FloatArray) -> Interval:
        values, sizes = np.unique(covered, return_counts=True)
        [found] = bootstrap(
            lambda drawn: (drawn @ values / drawn.sum(axis=1))[:, None], sizes, **self._draws
        )
        if np.isin(values, (0.0, 1.0)).all():
            return share_of_rows(found, covered.sum(), len(covered))
        return with_spread(found, len(covered), (0.0, 1.0))


def _size_table(sizes: NDArray[Any]) -> list[dict[str, int]]:
    """Count sets by size."""
    table = []
    low, high = int(sizes.min(initial=0)), 0
    while low <= sizes.max(initial=-1):
        high = low if low < _SINGLE_SIZES else 2 * low - 1
        rows = int(np.count_nonzero((sizes >= low) & (sizes <= high)))
        if rows:
            table.append({"low": low, "high": high, "rows": rows})
        low = high + 1
    return table
