"""What classifiers share that wrap another one and ask it for probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_consistent_length, get_tags

from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.core.rows import take_rows
from palmette.core.seeds import seed_each
from palmette.engine.adapters import final_step
from palmette.engine.answers import lists_as_matrix
from palmette.engine.classifier import HierarchicalClassifier
from palmette.engine.multilabel import MultilabelClassifier
from palmette.engine.target import check_target
from palmette.engine.weights import used_rows, weight_keyword
from palmette.engine.wrapping import WrappedClassifier, check_wrapped, learns_its_tree
from palmette.exceptions import LabelError, PalmetteError

__all__ = ["WrappingClassifier", "used_part"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class WrappingClassifier(HierarchicalClassifier):
    """Base of classifiers around another one, ours or any of scikit-learn's interface.

    A subclass sets the parameters ``estimator``, ``hierarchy``, ``decoding`` and
    ``random_state``.
    """

    def _base(self) -> Any:
        """Return the estimator that is wrapped; a flat logistic regression by default."""
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    def _unfitted(self, count: int, *, learns_tree: bool = False) -> list[WrappedClassifier]:
        """Copies of the estimator, each with a seed of its own where there is a `random_state`."""
        models = [clone(self._base()) for _ in range(count)]
        if self.random_state is not None:
            seed_each(models, self.random_state)
        return [WrappedClassifier(model, learns_tree=learns_tree) for model in models]

    # ------------------------------------------------------------------ labels

    def _hierarchy_setting(self) -> Any:
        if self.hierarchy is not None:
            return self.hierarchy
        setting = getattr(final_step(self._base()), "_hierarchy_setting", None)
        found = None if setting is None else setting()
        return None if hasattr(found, "fit") else found  # the estimator learns it

    def _dag_rule(self) -> str:
        return getattr(final_step(self._base()), "dag_rule", "all")

    def _check_base(self) -> None:
        check_wrapped(self._base())
        if self.hierarchy is not None and learns_its_tree(self._base(), from_names=False):
            raise PalmetteError(
                f"hierarchy={self.hierarchy!r} is given, but the estimator learns one of its own: "
                "expected one of both. Leave hierarchy at None, or give it to the estimator."
            )

    def _learns_tree(self, y: Any) -> bool:
        """Whether the estimator has to be fitted before the hierarchy is known."""
        if self.hierarchy is not None or isinstance(y, NodeLabels):
            return False
        return learns_its_tree(self._base(), from_names=_holds_names(y))

    def _read_labelled(
        self, X: Any, y: Any, weights: FloatArray | None, along: Hierarchy | None = None
    ) -> NodeLabels:
        """Read y, set what follows from it, and return the labels of the used rows.

        Parameters
        ----------
        X : rows
        y : labels of n_samples rows
        weights : array of shape (n_samples,), optional
        along : Hierarchy, optional
            One that was found elsewhere, in a fitted estimator, say.
        """
        if along is not None and not isinstance(y, NodeLabels):
            y = NodeLabels.encode(check_target(lists_as_matrix(y, along)), along)
        by_node = isinstance(final_step(self._base()), MultilabelClassifier)
        targets = self._learn_target(X, y, weights, by_node=by_node)
        if self._answers.by_node:
            given = self._answers.columns.sets_of_nodes(targets)
            labels = NodeLabels(self.hierarchy_, given, self.label_form_)
            self._check_several(labels)
            return labels
        if by_node:  # the last of a path's nodes, in preorder, is the deepest
            terminals = self.nodes_[targets.indices[targets.indptr[1:] - 1]]
        else:
            terminals = self.space_.classes[targets]
        return NodeLabels.from_terminals(terminals, self.hierarchy_, self.label_form_)

    def _check_several(self, labels: NodeLabels) -> None:
        """Refuse several paths, and DAGs, for those of ours who cannot take them."""
        last = final_step(self._base())
        if isinstance(last, HierarchicalClassifier) and not last._takes_several_paths:
            self.hierarchy_.require_tree(type(self).__name__)
            _ = labels.terminals  # says which row has several paths

    def _add_known(self, model: WrappedClassifier) -> None:
        """Add what a fitted model tells apart to what y holds: it may answer with it."""
        known = model.known_nodes()
        inner = getattr(final_step(model.estimator), "_answers", None)
        listed = inner.class_nodes if inner is not None and inner.by_node else known
        self._set_answers(self._answers.with_nodes(known, listed))

    def _adopt(self, fitted: Any) -> WrappedClassifier:
        """Wrap an estimator that has been fitted already, once y has been read."""
        model = WrappedClassifier(fitted).adopt(self.hierarchy_, several=self.several_paths_)
        self._add_known(model)
        return model

    def _fit_tree_learner(
        self, X: Any, y: Any, weights: FloatArray | None, *, is_weighted: bool = True
    ) -> Any:
        """Fit an estimator that learns its hierarchy, on labels as they are; X has been checked.

        Rows of weight 0 are left out; the estimator gets the weights if they are more than that.
        """
        if not _holds_names(y):
            raise LabelError(
                "the estimator learns a hierarchy over labels, but y holds paths or sets. Give one "
                "label a row."
            )
        names = np.asarray(y)
        check_consistent_length(X, names)
        used = used_rows(weights)
        if used is not None:
            y = names[used]
        X, weights = used_part(X, weights)
        estimator = self._unfitted(1)[0].estimator
        hands_on = weights is not None and is_weighted
        keywords = {weight_keyword(estimator): weights} if hands_on else {}
        return estimator.fit(X, y, **keywords)

    # ------------------------------------------------------------------ tags

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = self._base()
        if not hasattr(base, "fit"):
            return tags  # refused when it is fitted
        inner = get_tags(base)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        last = final_step(base)
        is_ours = hasattr(last, "_hierarchy_setting")
        tags.classifier_tags.multi_label = (
            inner.classifier_tags.multi_label if is_ours else hasattr(base, "predict_proba")
        )
        return tags


def used_part(X: Any, weights: FloatArray | None) -> tuple[Any, FloatArray | None]:
    """Rows that have a weight, and their weights."""
    used = used_rows(weights)
    if weights is None or used is None:
        return X, weights
    return take_rows(X, np.flatnonzero(used)), weights[used]


def _holds_names(y: Any) -> bool:
    """Whether y is one plain label a row."""
    try:
        labels = np.asarray(y)
    except ValueError:  # paths of unequal length
        return False
    return labels.ndim == 1 and not (
        len(labels) and isinstance(labels[0], tuple | list | set | frozenset)
    )
