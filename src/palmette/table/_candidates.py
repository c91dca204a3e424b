"""The models of a tournament, in the order in which they are tried, and their parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from palmette._kernel_files import is_stored
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.models import ModelContext, find_model, list_models
from palmette.table._written import near_names

BASELINE = "flat-linear"  # a linear SVM over the labels, with probabilities
_NEAREST = "flat-nearest-neighbors"

# from cheap to expensive, measured on texts and on tables of numbers
_TEXT = ("class-tree", BASELINE, "flat-naive-bayes", "mf-tree", "local-per-parent", "flat",
         "local-per-node", "local-per-level")  # fmt: skip
_NUMBERS = ("class-tree", "flat-extra-trees", BASELINE, _NEAREST, "hierarchical-boosting",
            "local-per-parent", "flat", "mf-tree", "local-per-parent-forest", "flat-forest",
            "adaboost-bhc", "local-per-node", "h-ada-mh")  # fmt: skip
_SEVERAL = ("multilabel-linear", "label-tree", "label-tree-closed", "local-per-node",
            "binary-relevance", "coherent-forest", "structured-forest", "hierarchical-boosting",
            "h-ada-mh", "adaboost-mh")  # fmt: skip
_FROM_CHUNKS = ("class-tree", BASELINE, "flat-naive-bayes")
_DENSE_ONLY = ("forest", "extra-trees", "boosting", "ada", "structured", "kernel", "blend")
_ONE_LEVEL = ("local-per-parent", "local-per-node", "local-per-level")
# which kernels models share, by the beginning of their names
_KERNELS = (("class-tree", "linear"), ("flat-linear", "linear"), ("mf-tree", "linear"),
            ("dag-svm", "linear"), ("label-tree", "linear"), ("multilabel-linear", "labels"),
            ("flat", ""), ("local", ""), ("adaboost-bhc", "nodes"), ("", "others"))  # fmt: skip
_COMPILE = {  # the one that is compiled last of each, and the seconds to compile all
    "text": ("table._ngrams.weigh_rows", 9.0),
    "linear": ("class_tree._dual_descent.squared_hinge_descent", 7.0),
    "labels": ("multilabel._label_descent.sweep", 3.0),
    "nodes": ("class_tree._node_boost.add_cart_votes", 13.0),
    "others": ("boosting._heap_tree.grow_heap_tree", 9.0),
}
# The two main parameters of models, the first that a model has: values, or None to divide and
# multiply its own by 4
_MAIN: tuple[tuple[tuple[str, tuple[Any, ...] | None], ...], ...] = (
    (("learning_rate", (0.1, 0.3, 1.0)), ("min_samples_leaf", (2, 5)), ("C", None), ("alpha", None),
     ("var_smoothing", (1e-6, 1e-3))),
    (("max_leaves", (8, 32)), ("max_features", (0.1, 0.4)), ("loss", ("squared_hinge", "logistic")),
     ("class_weight", ("balanced",))),
)  # fmt: skip
_LOGISTIC = ("flat", "binary-relevance", *_ONE_LEVEL)
_MOST_WEIGHTS = 2**27  # of a model whose weights are dense
_NEAR_FEATURES = 100  # from which distances tell little, and take long
_MANY_LABELS = 500  # number of nodes above which label trees are tried first
# of texts; of tables of numbers the given hierarchy comes first: benchmarks/README.md
_FIRST = ("label-tree-closed", "label-tree")
_WIDE = 4000  # number of sparse features above which trees are left out


@dataclass(frozen=True)
class Situation:
    """The properties of a problem on which the choice of models depends.

    Parameters
    ----------
    n_features : int
    is_sparse : bool
    only_text : bool
        Whether all features are weights of words, in rows of unit norm.
    several_paths : bool
    one_level : bool
        Whether the hierarchy is a star.
    learner : estimator or None
        Learner of the hierarchy, if it is learned.
    hierarchy : Hierarchy or None
    random_state : int
    n_jobs : int or None
    is_large : bool
        Whether the table is larger than memory: models that learn from chunks are tried first.
    """

    n_features: int
    is_sparse: bool
    only_text: bool
    several_paths: bool
    one_level: bool
    learner: Any
    hierarchy: Hierarchy | None
    random_state: int
    n_jobs: int | None
    is_large: bool = False


@dataclass(frozen=True)
class Candidate:
    """A model of the registry, or the reason why it is not tried.

    Parameters
    ----------
    name : str
    reason : str or None
    """

    name: str
    reason: str | None = None


def choose(situation: Situation) -> list[Candidate]:
    """Return the candidates in the order in which they are tried.

    Parameters
    ----------
    situation : Situation

    Returns
    -------
    list of Candidate
        Candidates that are left out have a reason.
    """
    known = {spec.name: spec for spec in list_models()}
    if situation.several_paths:
        names = [name for name in _SEVERAL if name in known]
        names = [n for n in names if known[n].several_paths or n == "local-per-node"]
        if situation.hierarchy is not None and situation.hierarchy.n_nodes > _MANY_LABELS:
            # other models fit one model per label
            order = _FIRST if situation.is_sparse else _FIRST[::-1]
            names.sort(key=lambda name: order.index(name) if name in order else len(order))
    else:
        names = [name for name in (_TEXT if situation.is_sparse else _NUMBERS) if name in known]
        more = [name for name in (*_NUMBERS, *_TEXT) if name in known and name not in names]
        names += more
        if situation.is_large:
            sgd = "flat-sgd" if situation.one_level else "local-per-parent-sgd"
            first = [name for name in (*_FROM_CHUNKS, sgd) if name in known]
            names = first + [name for name in names if name not in first]
    return [Candidate(name, _reason_against(name, situation)) for name in names]


def _reason_against(name: str, situation: Situation) -> str | None:
    wide = situation.is_sparse and situation.n_features > _WIDE
    if wide and name in _LOGISTIC:
        return (
            f"for fewer features: its weights are dense, and there are {situation.n_features:,} "
            "sparse features"
        )
    n_nodes = 0 if situation.hierarchy is None else situation.hierarchy.n_nodes
    if name.endswith("sgd") and n_nodes * situation.n_features > _MOST_WEIGHTS:
        return f"its weights are dense: {n_nodes:,} nodes times {situation.n_features:,} features"
    if wide and any(word in name for word in _DENSE_ONLY):
        return f"only for tables of numbers: there are {situation.n_features:,} sparse features"
    if name == _NEAREST and (situation.is_sparse or situation.n_features > _NEAR_FEATURES):
        return f"for few columns of numbers: there are {situation.n_features:,} features"
    if situation.learner is not None and name in ("mf-tree", "adaboost-bhc", "flat-naive-bayes"):
        return "the hierarchy is learned by another method"
    one_level = situation.one_level and situation.learner is None
    if one_level and name in _ONE_LEVEL:
        return "the hierarchy has one level: the same as flat"
    if one_level and name == "label-tree-closed":
        return "the hierarchy has one level: the same as label-tree"
    if one_level and name == "local-per-parent-forest":
        return "the hierarchy has one level: the same as flat-forest"
    return None


def kernels_of(names: Sequence[str], text: bool) -> set[str]:
    """Return the groups of kernels that models need, and texts.

    Examples
    --------
    >>> sorted(kernels_of(["class-tree", "flat-linear", "flat-forest"], text=True))
    ['linear', 'text']
    """
    groups = {next(k for word, k in _KERNELS if name.startswith(word)) for name in names}
    return groups - {""} | ({"text"} if text else set())


def compile_seconds(groups: Iterable[str]) -> float:
    """Return about how long it takes to compile those kernels that are not stored yet."""
    return sum(_COMPILE[each][1] for each in groups if not is_stored(_COMPILE[each][0]))


def make(name: str, situation: Situation, settings: Mapping[str, Any] | None = None) -> Any:
    """Return the unfitted estimator of a name.

    Parameters
    ----------
    name : str
    situation : Situation
    settings : dict, optional
        Parameters to set; see `apply_settings`.

    Returns
    -------
    estimator
    """
    hierarchy = situation.hierarchy if situation.learner is None else situation.learner
    if name == BASELINE and situation.learner is not None:
        hierarchy = None  # it does not use the hierarchy, so none is learned
    context = ModelContext(hierarchy, situation.random_state, situation.n_jobs, situation.is_sparse)
    estimator = find_model(name).make(context)
    given = dict(settings or {})
    apply_settings(estimator, given, name)
    return estimator


def variants(name: str, estimator: Any, axis: int) -> list[dict[str, Any]]:
    """Return other values of the first or second main parameter of a model.

    Parameters
    ----------
    name : str
        A name of the registry.
    estimator : estimator
        As `make` returns it.
    axis : {0, 1}

    Returns
    -------
    list of dict of str to object
        One parameter each; empty if the model has no such parameter.

    Examples
    --------
    >>> from palmette.models import make_model
    >>> variants("flat-forest", make_model("flat-forest"), 1)
    [{'estimator__max_features': 0.1}, {'estimator__max_features': 0.4}]
    """
    known = estimator.get_params()
    for end, values in _MAIN[axis]:
        place = next((key for key in known if key == end or key.endswith(f"__{end}")), None)
        if place is not None:
            now = known[place]
            if values is None:  # a positive number, varied around its value
                now = now if isinstance(now, int | float) else 1.0
                values = (now / 4, now * 4)
            return [{place: value} for value in values if value != now]
    return []


def sharpen(estimator: Any, settings: Mapping[str, Any] | None) -> Any:
    """Calibrate the probabilities of the final model if it can do so itself, by another fit.

    Parameters
    ----------
    estimator : estimator
    settings : dict, optional
        Parameters that the user has set.
    """
    can_calibrate = estimator.get_params(deep=False).get("calibration", 0) is None
    if can_calibrate and "calibration" not in (settings or {}):
        estimator.set_params(calibration="out_of_fold")
    return estimator


def parse_settings(words: Sequence[str]) -> dict[str, Any]:
    """Read ``key=value`` words; values are Python literals or else plain strings.

    Examples
    --------
    >>> parse_settings(["beam_width=3", "decoding=exact", "C=None"])
    {'beam_width': 3, 'decoding': 'exact', 'C': None}
    """
    settings: dict[str, Any] = {}
    for word in words:
        key, mark, value = word.partition("=")
        if not mark or not key.strip():
            raise PalmetteError(f"got --set {word!r}: expected key=value, such as n_estimators=50.")
        try:
            settings[key.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            settings[key.strip()] = value.strip()
    return settings


def apply_settings(estimator: Any, settings: Mapping[str, Any], name: str) -> None:
    """Set parameters of a model or of its inner estimator; other names are errors.

    Parameters
    ----------
    estimator : estimator
    settings : dict of str to object
    name : str
        Name of the model, for error messages.
    """
    known = estimator.get_params()
    for key, value in settings.items():
        place = next((each for each in (key, f"estimator__{key}") if each in known), None)
        if place is None:
            names = [each.removeprefix("estimator__") for each in known]
            near = near_names(key, names)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            shown = ", ".join(sorted(each for each in set(names) if "__" not in each))
            raise PalmetteError(f"{name} has no parameter {key!r}.{hint} It has: {shown}.")
        estimator.set_params(**{place: value})
