"""Structured forests with one part changed at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from papers.soshf.methods import Method, Options

__all__ = ["BASE", "BETAS", "CHEAPER", "LOGISTIC", "PARTS", "WHOLE", "Part", "chosen_for"]


@dataclass(frozen=True)
class Part(Method):
    """A variant.

    Parameters
    ----------
    most_rows : int, optional
        Data sets with more rows are left out; None: with any number.
    most_values : int, optional
        The same for the number of rows times that of features.
    """

    most_rows: int | None = None
    most_values: int | None = None


_SMALL, _MIDDLE = 1_000, 3_000  # rows
_VALUES = 1_000_000


def chosen_for(n_rows: int, n_features: int, parts: Sequence[Method]) -> list[Method]:
    """Return the variants that are measured on a data set of some size.

    Examples
    --------
    >>> len(chosen_for(593, 72, PARTS)) == len(PARTS)
    True
    >>> [one.key for one in chosen_for(5000, 499, PARTS)]
    ['sf-h-cs', 'full batch', 'batches of 300', 'batches of 100', 'samples of 100', 'samples of 30']
    """
    return [one for one in parts if not isinstance(one, Part) or _fits(one, n_rows, n_features)]


def _fits(part: Part, n_rows: int, n_features: int) -> bool:
    few_rows = part.most_rows is None or n_rows <= part.most_rows
    return few_rows and (part.most_values is None or n_rows * n_features <= part.most_values)


def _forest(preset: str, **changed: Any) -> Callable[[Options], Any]:
    def make(options: Options) -> Any:
        from palmette.forest import StructuredForestClassifier

        model = StructuredForestClassifier.preset(preset, **options.shared)
        return model.set_params(**changed)

    return make


def _part(
    key: str, words: str, preset: str, most_rows: int | None = _MIDDLE, **changed: Any
) -> Part:
    return Part(key, words, _forest(preset, **changed), 0, most_rows)


def _label_trees(criterion: str) -> Callable[[Options], Any]:
    def make(options: Options) -> Any:
        from papers.soshf.single_features import LabelTrees

        return LabelTrees(criterion)

    return make


BASE = (
    _part("sf", "the base forest as described", "sf"),
    _part("sf, prior", "with the vote of the prior", "sf", _SMALL, prior_vote=1.0),
    _part("sf, equal votes", "all trees vote alike for a label", "sf", _SMALL, label_vote=1.0),
    _part("sf, threshold .5", "thresholds are not tuned", "sf", decoding=0.5),
    _part("sf, bootstrap", "rows with replacement", "sf", bootstrap=True, max_samples=1.0),
    _part("sf, depth 2", "trees of two levels", "sf", max_depth=2),
    _part("sf, root of features", "a node draws as many features as the root of their number", "sf",
          max_node_features="sqrt"),
    _part("sf, one feature", "a node draws one feature", "sf", max_node_features=1),
)  # fmt: skip
LOGISTIC = (
    _part("sf-lr", "logistic splits as described", "sf-lr"),
    _part("sf-lr, threshold .5", "thresholds are not tuned", "sf-lr", decoding=0.5),
    _part("sf-lr, depth 2", "trees of two levels", "sf-lr", max_depth=2),
    _part("sf-lr, root of features", "a node draws the root of the number of features", "sf-lr",
          max_node_features="sqrt"),
    _part("sf-lr, one feature", "a node draws one feature", "sf-lr", max_node_features=1),
    _part("sf-lr, ridge .1", "a penalty of .1 instead of .0001", "sf-lr", router__ridge=0.1),
    _part("sf-lr, no ridge", "no penalty, up to 300 iterations", "sf-lr",
          router__ridge=0.0, router__max_iter=300, router__tol=0.0),
    _part("sf-lr, one iteration", "instead of 50", "sf-lr", router__max_iter=1),
    _part("sf-lr, least squares", "the start, solved to the end, and one iteration", "sf-lr",
          router__ridge=0.0, router__max_iter=1, router__start_iter=500),
    _part("sf-lr, no start", "one step to the start, and one iteration", "sf-lr",
          router__max_iter=1, router__start_iter=1),
)  # fmt: skip
BETAS = (
    *(
        _part(f"beta {beta}", f"beta {beta} instead of .5", "sf-h-cs", most, partition__beta=beta)
        for beta, most in ((0.0, _MIDDLE), (0.25, _SMALL), (0.75, _SMALL), (1.0, _MIDDLE))
    ),
    _part("beta learned", "beta chosen of these five out of bag", "sf-h-cs", _SMALL,
          partition__beta="oob"),
)  # fmt: skip
CHEAPER = (
    _part("full batch", "instead of 1,000 rows", "sf-h-cs", None, router__batch_size=10**6),
    _part("batches of 300", "instead of 1,000 rows", "sf-h-cs", None, router__batch_size=300),
    _part("batches of 100", "instead of 1,000 rows", "sf-h-cs", None, router__batch_size=100),
    _part("samples of 100", "rows of a node for centres and first weights", "sf-h-cs", None,
          partition__max_rows=100, router__start_rows=100),
    _part("samples of 30", "rows of a node for centres and first weights", "sf-h-cs", None,
          partition__max_rows=30, router__start_rows=30),
    _part("30 iterations", "instead of 110", "sf-h-cs", router__max_iter=30),
    _part("30 iterations, alpha grows sooner", "after every third one", "sf-h-cs",
          router__max_iter=30, router__alpha_every=3),
    _part("rate .01", "a learning rate of .01 instead of .05", "sf-h-cs",
          router__learning_rate=0.01),
    _part("rate .2", "a learning rate of .2 instead of .05", "sf-h-cs", router__learning_rate=0.2),
    _part("rate .2, 30 iterations", "and alpha grows after every third one", "sf-h-cs",
          router__learning_rate=0.2, router__max_iter=30, router__alpha_every=3),
    _part("65%", "of rows, features and labels instead of 75%", "sf-h-cs",
          max_samples=0.65, max_features=0.65, max_labels=0.65),
)  # fmt: skip
WHOLE = (
    _part("sf-h-cs", "SOSHF as published", "sf-h-cs", None),
    _part("prior", "with the vote of the prior", "sf-h-cs", _SMALL, prior_vote=1.0),
    *BETAS,
    _part("no penalty", "weights are not penalized", "sf-h-cs", router__sparsity=0.0),
    *CHEAPER,
)
_TREES = (
    Part("trees, gain", "a tree of single features per label, information gain",
         _label_trees("gain"), 0, _MIDDLE, _VALUES),
    Part("trees, Hellinger", "the same, Hellinger distance",
         _label_trees("hellinger"), 0, _MIDDLE, _VALUES),
)  # fmt: skip
PARTS = (*BASE, *LOGISTIC, *WHOLE, *_TREES)
