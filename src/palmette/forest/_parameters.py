"""Parameters of StructuredForestClassifier: checks, what they make, LabelTwoMeans, presets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from palmette._arrays import FloatArray
from palmette.base._parameters import check_counts, is_count, is_number
from palmette.base._presets import Preset, preset, presets
from palmette.exceptions import PalmetteError
from palmette.forest._growing import ForestGrower, TreeDraws, part_of
from palmette.forest._oblique_trees import ObliqueTrees, Votes
from palmette.forest._rows import DistinctRows
from palmette.forest._splits import AxisSplit, Hellinger, LogisticSplit


class LabelTwoMeans(BaseEstimator):  # type: ignore[misc]
    """Cluster the label sets at a node in two by 2-means, with larger weights for rare labels.

    Label i has weight ``beta g_i + (1 - beta) l_i`` (Eq. 1), where g_i is ``log(1 + N / n_i)`` over
    all training rows, divided by its maximum over the labels of the tree, and l_i is the same over
    the rows at the node; a label without positive rows has weight 1. Equal label sets are merged
    and weighted by their number of rows.

    Parameters
    ----------
    weights : {"idf", "none"}
        "none": all labels have weight 1.
    beta : float, sequence of floats or "oob"
        Weight of all training rows, against those at the node. Of several candidates, the forest
        takes the one with the best macro-averaged AUC of out-of-bag scores, as measured with up to
        50 trees each; "oob" is (0, 0.25, 0.5, 0.75, 1). The paper leaves learning it to future
        work.
    n_starts : int
        Number of initializations by k-means++; the clusters with the smallest inertia are kept.
    max_iter : int
        Maximum number of iterations per initialization.
    max_rows : int or None
        Largest number of a node's rows, drawn at random, that the weights of labels at the node and
        the centres are learned from; None: all. Where those drawn have one label set, all rows.

    References
    ----------
    Z. A. Daniels, D. N. Metaxas (2017). Addressing imbalance in multi-label classification using
    structured Hellinger forests. AAAI 2017, 1826-1832. doi:10.1609/aaai.v31i1.10908

    Examples
    --------
    >>> LabelTwoMeans(weights="none")
    LabelTwoMeans(weights='none')
    """

    def __init__(
        self,
        weights: str = "idf",
        *,
        beta: Any = 0.5,
        n_starts: int = 3,
        max_iter: int = 20,
        max_rows: int | None = None,
    ) -> None:
        self.weights = weights
        self.beta = beta
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.max_rows = max_rows

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"max_rows": None, **state})  # a parameter that files may lack

    def tree_settings(self) -> dict[str, Any]:
        """Return the values of `TreeSettings` that this object sets, by name."""
        if self.weights not in ("idf", "none"):
            raise PalmetteError(f"weights={self.weights!r}: expected 'idf' or 'none'.")
        betas = self.betas()
        check_counts(self, "n_starts", "max_iter")
        if self.max_rows is not None and not is_count(self.max_rows):
            raise PalmetteError(f"max_rows={self.max_rows!r}: expected a positive integer or None.")
        return {
            "idf": self.weights == "idf",
            "beta": betas[0],
            "n_starts": int(self.n_starts),
            "cluster_iterations": int(self.max_iter),
            "cluster_rows": -1 if self.max_rows is None else int(self.max_rows),
        }

    def betas(self) -> tuple[float, ...]:
        """Return the candidates of beta; if labels are not weighted, only the first one."""
        given = self.beta
        if isinstance(given, str) and given == "oob":
            given = _BETAS
        found = [given] if is_number(given) else given
        if (
            isinstance(found, str)
            or not isinstance(found, Iterable)
            or not (betas := tuple(found))
            or not all(is_number(beta) and 0 <= beta <= 1 for beta in betas)
        ):
            raise PalmetteError(
                f"beta={self.beta!r}: expected a number from 0 to 1, several of them, or 'oob'."
            )
        return tuple(map(float, betas if self.weights == "idf" else betas[:1]))


_BETAS = (0.0, 0.25, 0.5, 0.75, 1.0)
_TRIAL_TREES = 50  # of each candidate of beta
_PARTITIONS: dict[str, Callable[[], Any]] = {"two_means": LabelTwoMeans}
_ROUTERS: dict[str, Callable[[], Any]] = {
    "hellinger": Hellinger,
    "logistic": LogisticSplit,
    "axis": AxisSplit,
}


def check_forest(forest: Any) -> None:
    """Raise an error for invalid parameters of a forest."""
    for name, fine, wanted in (
        ("n_estimators", is_count, "a positive integer"),
        ("min_samples_leaf", is_count, "a positive integer"),
        ("max_depth", lambda v: v is None or is_count(v), "a positive integer or None"),
        ("label_vote", lambda v: is_number(v) and v > 0, "a positive number"),
        ("prior_vote", lambda v: is_number(v) and v >= 0, "a number of at least 0"),
        ("relevance", _is_power, "a number from 0 to 1, or 'auto'"),
        ("mixed", lambda v: isinstance(v, bool) or _is_auto(v), "True, False or 'auto'"),
        ("max_samples", _is_part, "a float above 0 and up to 1, or a positive integer"),
        ("max_labels", _is_part, "a float above 0 and up to 1, or a positive integer"),
        ("max_node_labels", _is_share, "a float above 0 and up to 1"),
        ("max_features", _is_part_or_root, "a float up to 1, a positive integer or 'sqrt'"),
        ("max_node_features", _is_part_or_root, "a float up to 1, a positive integer or 'sqrt'"),
    ):
        value = getattr(forest, name)
        if not fine(value):
            raise PalmetteError(f"{name}={value!r}: expected {wanted}.")
    if forest.multioutput and forest.hierarchy is not None:
        raise PalmetteError(
            "multioutput=True builds the hierarchy from the columns of y and their values: "
            "expected hierarchy=None."
        )
    if forest.multioutput and not _is_auto(forest.decoding):
        raise PalmetteError(
            f"decoding={forest.decoding!r}: multioutput=True predicts the most probable value of "
            "every output: expected 'auto'."
        )
    if not has_out_of_bag_rows(forest):
        check_out_of_bag(forest)


def check_out_of_bag(forest: Any, n_rows: int | None = None) -> None:
    """Raise an error if out-of-bag rows are required; called where trees leave no row out.

    Parameters
    ----------
    forest : StructuredForestClassifier
    n_rows : int, optional
        All that a tree may draw, where this is known and `max_samples` draws them all.
    """
    chosen = "oob_score=True" if forest.oob_score else ""
    if not chosen and len(beta_candidates(forest)) > 1:
        chosen = f"beta={forest.partition.beta!r}"
    if chosen:
        rows = "all rows" if n_rows is None else f"all {n_rows} rows"
        raise PalmetteError(
            f"{chosen} requires out-of-bag rows, but max_samples={forest.max_samples!r} without "
            f"bootstrap uses {rows} in every tree. Lower max_samples, or set bootstrap=True."
        )


def check_continued(forest: Any, before: Any, now: Any) -> None:
    """Raise an error unless a warm start has the labels (nodes and classes) of the fit before."""
    if not all(np.array_equal(a, b) for a, b in zip(before, now, strict=True)):
        raise PalmetteError(
            f"warm_start=True continues a fit with {len(before[0])} labels, but y has other "
            f"labels ({len(now[0])}). Fit on the same data, or set warm_start=False."
        )
    if forest.n_estimators < forest.trees_.n_trees:
        raise PalmetteError(
            f"n_estimators={forest.n_estimators} is less than the {forest.trees_.n_trees} trees of "
            "the earlier fit: with warm_start=True expected at least as many. Increase "
            "n_estimators, or set warm_start=False."
        )


def beta_candidates(forest: Any) -> tuple[float, ...]:
    """Return the candidates of the partition's beta; none if it has no such choice."""
    partition = forest.partition
    return partition.betas() if isinstance(partition, LabelTwoMeans) else ()


def beta_scores(
    forest: Any,
    grower: ForestGrower,
    truth: sparse.csr_array,
    weights: FloatArray | None,
    votes: Votes,
) -> dict[float, float]:
    """Return the out-of-bag scores of the candidates of beta, of a few trees each."""
    return scores_of_betas(
        grower,
        beta_candidates(forest),
        truth,
        weights,
        n_trees=min(forest.n_estimators, _TRIAL_TREES),
        votes=votes,
        n_jobs=forest.n_jobs,
        client=forest.client,
    )


def scores_of_betas(
    grower: ForestGrower,
    betas: Sequence[float],
    truth: sparse.csr_array,
    weights: FloatArray | None,
    *,
    n_trees: int,
    votes: Votes,
    n_jobs: int | None = None,
    client: Any = None,
) -> dict[float, float]:
    """Return the macro-averaged AUC of the out-of-bag scores of small forests, by beta of Eq. 1.

    The forests have the same samples of rows, features and labels. Rows that no tree left out do
    not count.

    Parameters
    ----------
    grower : ForestGrower
    betas : sequence of float
    truth : sparse bool array of shape (n_samples, n_columns)
    weights : array of shape (n_samples,) or None
    n_trees : int
    votes : Votes
    n_jobs : int, optional
    client : distributed.Client or str, optional
        Where trees are grown.

    Returns
    -------
    dict of float to float
        All 0 if no label varies among the rows that count.
    """
    from palmette.metrics import multilabel_auc_score

    scores = dict.fromkeys(betas, 0.0)
    rows = np.flatnonzero(grower.are_left_out(n_trees, n_jobs))
    known = sparse.csr_array(truth[rows])
    n_true = np.asarray(known.sum(axis=0)).ravel()
    varying = np.flatnonzero((n_true > 0) & (n_true < len(rows)))
    if not varying.size:
        return scores
    known = sparse.csr_array(known[:, varying])
    weights = None if weights is None else weights[rows]
    for beta in scores:
        own = grower.with_beta(beta)
        coming = (
            own.grow_all(0, n_trees, n_jobs) if client is None else own.grow_on(client, 0, n_trees)
        )
        proba = own.out_of_bag(ObliqueTrees.of(list(coming)), votes, n_jobs)[np.ix_(rows, varying)]
        proba = proba.astype(np.float32)  # as out-of-bag scores are kept
        scores[beta] = float(multilabel_auc_score(known, proba, sample_weight=weights))
    return scores


def has_out_of_bag_rows(forest: Any) -> bool:
    """Return whether trees are fitted on a sample of the rows, unless there are too few of them.

    A number of rows may be all rows: `ForestGrower.leaves_rows_out` tells.
    """
    return bool(forest.bootstrap) or not (_is_share(forest.max_samples) and forest.max_samples == 1)


def is_mixed(forest: Any) -> bool:
    """Return whether trees of three kinds take turns."""
    if _is_auto(forest.mixed):
        return isinstance(forest.router, Hellinger) or forest.router == "hellinger"
    return bool(forest.mixed)


def power_of_relevance(forest: Any, X: Any) -> float:
    """Return the power of the relevance of features: "auto" depends on the share of zeros."""
    if not _is_auto(forest.relevance):
        return float(forest.relevance)
    n_filled = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return 0.5 if 2 * n_filled >= X.shape[0] * X.shape[1] else 0.0


def grower_of(
    forest: Any, X: Any, scaled: Any, Y: sparse.csr_array, rows: DistinctRows, seed: int
) -> ForestGrower:
    """Return what grows the trees of a forest, from its distinct rows before and after scaling."""
    return ForestGrower(
        scaled,
        Y,
        rows,
        tree_draws(forest),
        tree_settings(forest, X.shape[1]),
        seed,
        power_of_relevance(forest, X),
        is_mixed(forest),
    )


def tree_settings(forest: Any, n_features: int) -> dict[str, Any]:
    """Return the values of `TreeSettings` by name, those of partition and router included."""
    n_drawn = part_of(forest.max_features, n_features)
    return {
        **_part("partition", forest.partition, _PARTITIONS).tree_settings(),
        **_part("router", forest.router, _ROUTERS).tree_settings(),
        "feature_share": part_of(forest.max_node_features, n_drawn) / n_drawn,
        "label_share": float(forest.max_node_labels),
        "min_samples_leaf": int(forest.min_samples_leaf),
        "max_depth": -1 if forest.max_depth is None else int(forest.max_depth),
    }


def tree_draws(forest: Any) -> TreeDraws:
    """Return how rows, features and labels are drawn per tree."""
    return TreeDraws(
        forest.max_samples, forest.max_features, forest.max_labels, bool(forest.bootstrap)
    )


def _part(name: str, given: Any, known: dict[str, Callable[[], Any]]) -> Any:
    if isinstance(given, str) and given in known:
        return known[given]()
    if not isinstance(given, str) and hasattr(given, "tree_settings"):
        return given
    names = ", ".join(map(repr, known))
    objects = ", ".join(getattr(part, "__name__", "") for part in known.values())
    raise PalmetteError(f"{name}={given!r}: expected {names}, or an object ({objects}).")


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _is_power(value: Any) -> bool:
    return _is_auto(value) or (is_number(value) and 0 <= value <= 1)


def _is_share(value: Any) -> bool:
    return is_number(value) and not isinstance(value, Integral) and 0 < value <= 1


def _is_part(value: Any) -> bool:
    return _is_share(value) or is_count(value)


def _is_part_or_root(value: Any) -> bool:
    return _is_part(value) or (isinstance(value, str) and value == "sqrt")


_REFERENCE = (
    "Daniels and Metaxas, Addressing imbalance in multi-label classification using structured "
    "Hellinger forests, AAAI 2017, doi:10.1609/aaai.v31i1.10908"
)
_STAGES = (
    "Not printed: 50 iterations of the stage without penalty, and ten with the last value of alpha."
)
_RIDGE = "The penalty of the logistic regression is not printed."

# about ten stages of ten iterations: 0.1 * 1.5**10 exceeds 4
_HELLINGER = Hellinger(
    alpha=0.1,
    alpha_growth=1.5,
    alpha_max=4.0,
    alpha_every=10,
    solver="adam",
    max_iter=110,  # eleven stages of ten: alpha is 3.84 in the tenth and 4 in the last
    start_iter=50,
    prune=0.0,
    refit_bias=False,
)


def _published(summary: str, router: Any, weights: str, row: str, differs: str = "") -> Preset:
    parameters = {
        "n_estimators": 50,
        "partition": LabelTwoMeans(weights=weights),
        "router": router,
        "max_samples": 0.75,
        "max_features": 0.75,
        "max_node_features": 1.0,
        "max_labels": 0.75,
        "max_node_labels": 1.0,
        "label_vote": 5.0,
        "prior_vote": 0.0,
        "min_samples_leaf": 3,
        "relevance": 0.0,
        "mixed": False,
        "decoding": "f1",  # thresholds of the best F1 on out-of-bag votes
    }
    return Preset(summary, parameters, f"{_REFERENCE}; Table 2, {row}", differs)


PRESETS = {
    "sf": _published("splits of one feature by information gain", AxisSplit(), "none", "SF"),
    "sf-lr": _published("splits by logistic regression", LogisticSplit(), "none", "SF-LR", _RIDGE),
    "sf-lr-cs": _published(
        "the same, larger weights for rare labels", LogisticSplit(), "idf", "SF-LR-CS", _RIDGE
    ),
    "sf-h": _published("splits by the sparse Hellinger loss", _HELLINGER, "none", "SF-H", _STAGES),
    "sf-h-cs": _published(
        "SOSHF: the same, larger weights for rare labels",
        _HELLINGER,
        "idf",
        "SF-H-CS, equations 1 to 10",
        _STAGES,
    ),
}


# ---------------------------------------------------------------------- parameters of parts


_CLASSES = {
    "partition": "palmette.partition.LabelTwoMeans",
    "router": "palmette.routing.Hellinger, LogisticSplit or AxisSplit",
}


class NestedParameters:
    """Set parameters of ``partition`` and ``router`` where these are objects.

    Examples
    --------
    >>> from palmette import StructuredForestClassifier
    >>> StructuredForestClassifier.preset("sf-h-cs", partition__beta="oob").partition
    LabelTwoMeans(beta='oob')
    """

    presets = classmethod(presets)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Any:
        """Return an estimator with the parameters of a preset.

        Parameters
        ----------
        name : str
            One of `presets`.
        **changes
            Parameters that replace those of the preset, also those of its parts, such as
            ``partition__beta``.

        Returns
        -------
        estimator
        """
        own = {key: value for key, value in changes.items() if "__" not in key}
        model = preset(cls, name, **own)
        nested = {key: value for key, value in changes.items() if "__" in key}
        return model.set_params(**nested) if nested else model

    def set_params(self, **params: Any) -> Any:
        """Set parameters, also those of ``partition`` and ``router`` if these are objects.

        Parameters
        ----------
        **params
            By name; ``partition__beta`` is the parameter ``beta`` of ``partition``.

        Returns
        -------
        self
        """
        check_nested(self, params)
        return super().set_params(**params)  # type: ignore[misc]


def check_nested(forest: Any, params: Mapping[str, Any]) -> None:
    """Raise an error if a parameter of a part is set, and the part is named by a string."""
    for key, value in params.items():
        part, _, name = key.partition("__")
        if not name or part not in _CLASSES:
            continue
        given = params.get(part, getattr(forest, part))
        if isinstance(given, str):
            raise PalmetteError(
                f"{key}={value!r} was given, but {part}={given!r} is a name, whose parameters "
                f"cannot be set: expected an object as {part} ({_CLASSES[part]}). Set "
                f"{part}=...({name}={value!r})."
            )
