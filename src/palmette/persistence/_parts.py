"""Objects of scikit-learn and skrub: which a file may contain, and the checks of compiled parts.

scikit-learn traverses trees, support vectors and neighbours without bounds checks, and relies on
what `fit` has set. `check_parts` checks everything that was loaded. What was not reviewed is
refused unless the caller trusts it; `REVIEWED` and `is_reviewed` say what was.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from palmette._arrays import check_indices
from palmette.persistence._acting import without_acting
from palmette.persistence.checks import (
    check_attributes,
    integers,
    numbers,
    require,
    within,
)


class Untrusted(ValueError):
    """A type of another library that neither Palmette nor the caller trusts."""


def check_parts(objects: Any, trusted: Collection[str] = ()) -> None:
    """Check all objects of other libraries.

    Parameters
    ----------
    objects : object
        Containers and attributes are searched.
    trusted : collection of str
        Names of types that the caller trusts, which are not checked.

    Raises
    ------
    ValueError
        If parts do not fit together, or an index is out of bounds.
    """
    seen: set[int] = set()
    waiting = [objects]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        check_part(each, trusted)
        waiting.extend(_parts_of(each))


def check_part(part: Any, trusted: Collection[str] = ()) -> None:
    """Check one object, without its parts; see `check_parts`."""
    if _is_checked(part, trusted):
        if not isinstance(part, dict):
            check_attributes(type(part), getattr(part, "__dict__", {}))  # methods are not replaced
            _check_what_is_called(part)
        if type(part).__name__ in _CHECKS:
            _CHECKS[type(part).__name__](part)
    elif isinstance(part, np.random.RandomState | np.random.Generator):
        check_random_state(part)
    elif sparse.issparse(part) and part.format in ("bsr", "csc", "csr"):
        check_indices(part)


def set_defaults(objects: Any, trusted: Collection[str] = ()) -> None:
    """Give estimators of scikit-learn and skrub the defaults of parameters.

    A file may come from another version of scikit-learn. A parameter that only the installed one
    has gets its default, with which the estimator does what it did without it; so does one that
    acts, whatever the file has there (see `_acting`).

    Parameters
    ----------
    objects : object
        Containers and attributes are searched.
    trusted : collection of str
        Names of types that the caller trusts, which are left as they are.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> estimator = LogisticRegression(C=3, n_jobs=1000)
    >>> del estimator.max_iter
    >>> set_defaults([estimator])
    >>> estimator
    LogisticRegression(C=3)
    """
    seen: set[int] = set()
    waiting = [objects]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, BaseEstimator) and _is_checked(each, trusted):
            kept = without_acting(type(each), vars(each))
            vars(each).clear()
            vars(each).update(kept)
            for name, parameter in inspect.signature(type(each)).parameters.items():
                if parameter.default is not parameter.empty and name not in kept:
                    setattr(each, name, parameter.default)
        waiting.extend(_parts_of(each))


def _is_checked(part: Any, trusted: Collection[str]) -> bool:
    name = _name(part)
    return name.startswith(("sklearn.", "skrub.")) and name not in trusted


# attributes of scikit-learn that name a method, which is called with the rows
_METHOD_NAMES = {"chain_method", "chain_method_", "response_method", "_response_method"}
_METHOD_NAMES |= {"stack_method", "stack_method_"}
_ANSWERS = {"auto", "decision_function", "predict", "predict_log_proba", "predict_proba"}
_ANSWERS |= {"score_samples", "transform"}
# which make a text of rows of texts; the next step of a pipeline could read a file of that name
_REDUCING = {"max", "mean", "median", "min", "prod", "std", "sum", "var"}


def _check_what_is_called(part: Any) -> None:
    """Check names of methods: those of arrays write files, too."""
    for name in _METHOD_NAMES & getattr(part, "__dict__", {}).keys():
        value = vars(part)[name]
        for each in value if isinstance(value, list | tuple) else [value]:
            is_answer = each is None or (isinstance(each, str) and each in _ANSWERS)
            require(is_answer, f"{name} names a method that gives no answers")
    if type(part).__name__ == "FunctionTransformer":
        for each in (part.func, part.inverse_func):
            is_reducing = getattr(each, "__name__", "") in _REDUCING
            require(not (inspect.isclass(each) or is_reducing), "a function returns no rows")


def _parts_of(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if isinstance(value, np.ndarray):
        return list(value.ravel()) if value.dtype == object else []
    return list(getattr(value, "__dict__", {}).values())


_MAX_COLUMNS = 2**24  # of sparse rows, which another step could make dense

# ---------------------------------------------------------------------- trees


def _check_estimator_of_trees(estimator: Any) -> None:
    """Raise an error if a tree and its estimator differ in features or outputs."""
    tree = getattr(estimator, "tree_", None)
    if tree is None:
        return  # not fitted
    require(_name(tree) == "sklearn.tree._tree.Tree", "tree_ is not a Tree")
    if tree.n_features != estimator.n_features_in_ or tree.n_outputs != estimator.n_outputs_:
        raise ValueError("a tree has other features or outputs than its estimator")


def _check_boosted_trees(estimator: Any) -> None:
    """Raise an error if trees differ from their estimator in features, or from the first scores."""
    if not hasattr(estimator, "estimators_"):
        return
    trees = estimator.estimators_
    require(isinstance(trees, np.ndarray) and trees.ndim == 2, "the trees are not a table")
    for each in trees.ravel():
        _check_estimator_of_trees(each)
        if each.tree_.n_features != estimator.n_features_in_:
            raise ValueError("a tree has other features than its estimator")
    first_scores = 1, estimator.n_trees_per_iteration_  # the shape of those of one row
    if not isinstance(estimator.init_, str):
        from sklearn.base import is_classifier
        from sklearn.ensemble._gb import _init_raw_predictions

        # another estimator than the default may give any number of columns
        if not _name(estimator.init_).startswith("sklearn.dummy."):
            raise Untrusted(_name(estimator))
        row, loss = np.zeros((1, 1)), estimator._loss
        scores = _init_raw_predictions(row, estimator.init_, loss, is_classifier(estimator))
        first_scores = scores.shape
    require(first_scores == (1, trees.shape[1]), "trees and first scores do not fit together")


def _check_histogram_trees(estimator: Any) -> None:
    for stage in getattr(estimator, "_predictors", ()):
        is_stage = isinstance(stage, list) and len(stage) == estimator.n_trees_per_iteration_
        require(is_stage, "a stage has another number of trees")
        for each in stage:
            inner = each.nodes["is_leaf"] == 0
            used = each.nodes["feature_idx"][inner]
            require(within(used, estimator.n_features_in_), "a tree uses a feature that it lacks")
            # categories are encoded by a transformer inside, which may return any columns
            if estimator._preprocessor is not None or each.nodes["is_categorical"][inner].any():
                raise Untrusted(_name(estimator))


def _check_tree(tree: Any) -> None:
    n_nodes = tree.node_count
    require(0 < n_nodes <= tree.capacity, "a tree has another number of nodes")
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = np.flatnonzero(left != -1)
    _check_children(inner, left[inner], right[inner], n_nodes)
    require(within(feature[inner], tree.n_features), "a tree uses a feature that it lacks")
    require(tree.n_features <= _MAX_COLUMNS, "a tree has too many features")
    parents = np.bincount(np.concatenate([left[inner], right[inner]]), minlength=n_nodes)
    require(parents <= 1, "a node of a tree has two parents")
    reached, depth = np.zeros(1, dtype=np.int64), 0
    while (reached := reached[left[reached] != -1]).size:
        reached, depth = np.concatenate([left[reached], right[reached]]), depth + 1
    require(depth <= tree.max_depth, "a tree is deeper than it states")


def _check_predictor(predictor: Any) -> None:
    nodes = predictor.nodes
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    left, right = (nodes[name][inner].astype(np.int64) for name in ("left", "right"))
    require(len(nodes) > 0, "a tree has no nodes")
    _check_children(inner, left, right, len(nodes))
    sets = [predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets]
    for each in sets:
        require(numbers(each, np.uint32, 2, "categories").shape[1] == 8, "categories lack bits")
    is_category = nodes["is_categorical"][inner] != 0
    rows = nodes["bitset_idx"][inner][is_category].astype(np.int64)
    require(rows < min(map(len, sets)), "a tree names a set of categories that it lacks")


def _check_children(inner: Any, left: Any, right: Any, n_nodes: int) -> None:
    for child in (left, right):
        # children come after their parents, so that there are no cycles
        require((child > inner) & (child < n_nodes), "a tree leads to a node that it lacks")


# ---------------------------------------------------------------------- neighbours and vectors


def _check_neighbours(tree: Any) -> None:
    data, index, nodes, bounds = tree.get_arrays()
    require((index >= 0) & (index < len(data)), "a search tree names a row that it lacks")
    start, end = nodes["idx_start"], nodes["idx_end"]
    inside = (start >= 0) & (start <= end) & (end <= len(data))
    require(inside, "a search tree names rows that it lacks")
    n_bounds = 2 if type(tree).__name__ == "KDTree" else 1
    fits = len(index) == len(data) and bounds.shape == (n_bounds, len(nodes), data.shape[1])
    fits = fits and tree.__getstate__()[6] == len(nodes) > 0  # the stored number of nodes
    require(fits, "the parts of a search tree do not fit together")
    metric = tree.__getstate__()[11]
    _, scales, matrix = metric.__getstate__()
    name, n_columns = type(metric).__name__.rstrip("3264"), data.shape[1]
    has_scales = name == "SEuclideanDistance" or (name == "MinkowskiDistance" and len(scales))
    require(not has_scales or len(scales) == n_columns, "a distance has other features")
    is_wide = name != "MahalanobisDistance" or matrix.shape == (n_columns, n_columns)
    require(is_wide, "a distance has other features")
    inner = np.flatnonzero(nodes["is_leaf"] == 0)  # the children of i are 2 i + 1 and 2 i + 2
    require(2 * inner + 2 < len(nodes), "a search tree leads to a node that it lacks")


def _check_neighbour_rows(estimator: Any) -> None:
    if not hasattr(estimator, "_fit_X"):
        return
    rows, n_features = estimator._fit_X, estimator.n_features_in_
    is_table = sparse.issparse(rows) or (type(rows) is np.ndarray and rows.flags.c_contiguous)
    require(is_table and rows.ndim == 2 and rows.dtype.kind in "biuf", "the rows are not numbers")
    require(rows.shape[1] == n_features, "the rows of neighbours have other features")
    require(
        estimator.n_samples_fit_ == rows.shape[0],
        "it has other rows than it states",
    )
    if estimator._tree is not None:
        data = estimator._tree.get_arrays()[0]
        require(data.shape == rows.shape, "the rows of neighbours and their tree differ")
    if hasattr(estimator, "classes_"):
        several = isinstance(estimator.classes_, list)
        kinds = estimator.classes_ if several else [estimator.classes_]
        codes = integers(estimator._y, "classes of neighbours", 2 if several else 1)
        codes = codes.reshape(len(codes), -1)
        require(codes.shape == (rows.shape[0], len(kinds)), "neighbours have no classes")
        require(codes >= 0, "a neighbour has a class that does not exist")
        require(
            codes < [len(each) for each in kinds], "a neighbour has a class that does not exist"
        )


def _check_support_vectors(estimator: Any) -> None:
    """Check what libsvm, which checks nothing, gets from a classifier or regressor."""
    if not hasattr(estimator, "support_vectors_"):
        return
    own = type(estimator)
    hidden = {"_impl", "_sparse_kernels"} & vars(estimator).keys()
    require(not hidden, "the kind of a support vector machine was changed")
    if not isinstance(estimator.kernel, str):
        raise Untrusted(_name(estimator))  # its rows of the training are not checked
    kernels = {"linear", "poly", "rbf", "sigmoid"}
    is_matrix = estimator.kernel not in kernels
    vectors, n_features = estimator.support_vectors_, estimator.n_features_in_
    support = numbers(estimator.support_, np.int32, 1, "support_")
    counts = numbers(estimator._n_support, np.int32, 1, "_n_support")
    n_classes, n_vectors = len(counts), len(support)
    n_pairs = n_classes * (n_classes - 1) // 2
    require(n_classes > 1 and (counts >= 0).all(), "support vectors have no classes")
    if own._impl in ("c_svc", "nu_svc"):
        require(counts.sum(dtype=np.int64) == n_vectors, "support vectors have other classes")
        require(n_classes == len(estimator.classes_), "support vectors have other classes")
    if estimator._sparse:
        require(not is_matrix, "a matrix of kernels is sparse")
        coefficients = estimator._dual_coef_
        for each in (vectors, coefficients):
            require(sparse.issparse(each) and each.format == "csr", "vectors are not sparse")
            numbers(each.data, np.float64, 1, "vectors")
        numbers(vectors.indices, np.int32, 1, "vectors")
        numbers(vectors.indptr, np.int32, 1, "vectors")
        require(vectors.shape == (n_vectors, n_features), "support vectors are missing")
        require(coefficients.data.size == (n_classes - 1) * n_vectors, "coefficients are missing")
    else:
        shape = numbers(vectors, np.float64, 2, "support_vectors_").shape
        require(is_matrix or shape == (n_vectors, n_features), "support vectors are missing")
        coefficients = numbers(estimator._dual_coef_, np.float64, 2, "_dual_coef_")
        require(coefficients.shape == (n_classes - 1, n_vectors), "coefficients are missing")
    if is_matrix:
        require(within(support, estimator.shape_fit_[0]), "a support vector is not a row")
        require(estimator.shape_fit_[0] == n_features, "a matrix of kernels is not square")
    require(
        numbers(estimator._intercept_, np.float64, 1, "intercept_").size == n_pairs, "intercepts"
    )
    sizes = {numbers(getattr(estimator, n), np.float64, 1, n).size for n in ("_probA", "_probB")}
    given = n_pairs if getattr(estimator, "_effective_probability", False) else 0
    require(sizes in ({n_pairs}, {given}), "the coefficients of probabilities are missing")


def _check_centres(estimator: Any) -> None:
    if hasattr(estimator, "cluster_centers_"):
        centres = estimator.cluster_centers_
        kind = np.float32 if centres.dtype == np.float32 else np.float64
        shape = numbers(centres, kind, 2, "cluster_centers_").shape
        require(shape[1] == estimator.n_features_in_, "centres have other features")


# ---------------------------------------------------------------------- columns of sparse rows


# A pattern with one repetition needs at most the square of the time that a text has letters; with
# two, one in the other, time that doubles with each letter.
_ONE = r"(?:\\[A-Za-z.'-]|\[\^?(?:\\.|[^\\\]])+\]|[^\\\[\](){}|*+?^$])"
_MANY = rf"(?:{_ONE}(?:[*+?]|\{{\d{{1,3}}(?:,\d{{0,3}})?\}})\??)?"
_SIMPLE_PATTERN = re.compile(
    rf"(?:\(\?[aiu]+\))?\(?{_ONE}*{_MANY}{_ONE}*(?:\|{_ONE}*{_MANY}{_ONE}*)*\)?"
)
_MAX_PATTERN = 200  # characters
_MAX_NGRAM = 100  # of all n-grams of a text, the memory grows with the third power


def _check_texts(estimator: Any) -> None:
    """Check what makes columns of texts: their pattern, n-grams and number."""
    _check_vocabulary(estimator)
    pattern = estimator.token_pattern
    is_simple = pattern is None or (
        isinstance(pattern, str)
        and len(pattern) <= _MAX_PATTERN
        and _SIMPLE_PATTERN.fullmatch(pattern)
    )
    if not is_simple or getattr(estimator, "n_features", 0) > _MAX_COLUMNS:
        raise Untrusted(_name(estimator))
    _check_ngrams(estimator)


def _check_ngrams(estimator: Any) -> None:
    least, most = estimator.ngram_range
    require(1 <= least <= most <= _MAX_NGRAM, f"n-grams of {least} to {most} parts")


def _check_hashes(estimator: Any) -> None:
    """Check how many hashes there are of each text."""
    if max(estimator.n_components, getattr(estimator, "n_components_", 0)) > _MAX_COLUMNS:
        raise Untrusted(_name(estimator))
    _check_ngrams(estimator)


def _check_vocabulary(estimator: Any) -> None:
    """Check columns, from which sparse rows are made without bounds checks."""
    for name in ("vocabulary_", "vocabulary"):
        words = getattr(estimator, name, None)
        if isinstance(words, dict):
            columns = integers(np.array([*words.values()] or np.empty(0, np.int64)), name)
            require(within(columns, len(words)), "a word has a column that does not exist")
    names = getattr(estimator, "feature_names_", None)  # of DictVectorizer
    if names is not None:
        require(len(names) == len(estimator.vocabulary_), "names and columns do not fit together")


def _check_one_hot(estimator: Any) -> None:
    if not hasattr(estimator, "categories_"):
        return
    if estimator._infrequent_enabled:
        raise Untrusted(_name(estimator))  # the columns of rare categories are not checked
    dropped = estimator._drop_idx_after_grouping
    dropped = [None] * len(estimator.categories_) if dropped is None else list(dropped)
    sizes = list(estimator._n_features_outs)
    require(len(sizes) == len(dropped) == len(estimator.categories_), "a feature has no columns")
    for known, drop, size in zip(estimator.categories_, dropped, sizes, strict=True):
        require(type(known) is np.ndarray and known.ndim == 1, "categories are not an array")
        if known.dtype.kind not in "OUST":  # found by a binary search
            steps = known[1:] > known[:-1]
            require(
                steps[: len(steps) - int(np.isnan(known[-1:]).sum())], "categories are not sorted"
            )
        require(
            drop is None or within(np.asarray(drop), len(known)), "a dropped category is missing"
        )
        require(size == len(known) - (drop is not None), "a category has no column")


# ---------------------------------------------------------------------- all of them


def _name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def check_random_state(generator: Any) -> None:
    """Check the position of a random generator in its buffer, which numpy does not check.

    Raises
    ------
    ValueError
        If it is out of bounds.
    """
    is_legacy = isinstance(generator, np.random.RandomState)
    state = generator.get_state(legacy=False) if is_legacy else generator.bit_generator.state
    if state["bit_generator"] == "MT19937":
        require(
            0 <= state["state"]["pos"] <= 624, "the position of a random generator is out of bounds"
        )
    elif state["bit_generator"] == "Philox":
        require(
            0 <= state["buffer_pos"] <= 4, "the position of a random generator is out of bounds"
        )


def _in(module: str, names: str) -> set[str]:
    return {f"{module}.{name}" for name in names.split()}


# by the name of a class of scikit-learn
_CHECKS: dict[str, Callable[[Any], None]] = {
    name: check
    for check, names in (
        (_check_tree, "Tree"),
        (_check_predictor, "TreePredictor"),
        (_check_neighbours, "KDTree BallTree"),
        (_check_one_hot, "OneHotEncoder"),
        (_check_estimator_of_trees, "DecisionTreeClassifier DecisionTreeRegressor"),
        (_check_estimator_of_trees, "ExtraTreeClassifier ExtraTreeRegressor"),
        (_check_boosted_trees, "GradientBoostingClassifier GradientBoostingRegressor"),
        (_check_histogram_trees, "HistGradientBoostingClassifier HistGradientBoostingRegressor"),
        (_check_neighbour_rows, "KNeighborsClassifier KNeighborsRegressor NearestNeighbors"),
        (_check_support_vectors, "NuSVC NuSVR OneClassSVM SVC SVR"),
        (_check_centres, "KMeans MiniBatchKMeans"),
        (_check_vocabulary, "DictVectorizer"),
        (_check_texts, "CountVectorizer HashingVectorizer TfidfVectorizer"),
        (_check_hashes, "MinHashEncoder"),
    )
    for name in names.split()
}


_CHECKED_PARTS = (
    _in("sklearn.tree._tree", "Tree")
    | _in("sklearn.ensemble._hist_gradient_boosting.predictor", "TreePredictor")
    | _in("sklearn.neighbors._kd_tree", "KDTree")
    | _in("sklearn.neighbors._ball_tree", "BallTree")
)
_SKLEARN = (
    _in(
        "sklearn.metrics._dist_metrics",
        "EuclideanDistance64 ManhattanDistance64 ChebyshevDistance64 MinkowskiDistance64 "
        "SEuclideanDistance64 MahalanobisDistance64",
    )
    | _in(
        "sklearn.model_selection._split",
        "GroupKFold KFold LeaveOneOut PredefinedSplit RepeatedKFold RepeatedStratifiedKFold "
        "ShuffleSplit StratifiedGroupKFold StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit",
    )
    | _in("sklearn.metrics._scorer", "_PassthroughScorer _Scorer")
    | _in("sklearn.calibration", "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling")
    | _in("sklearn.utils._bunch", "Bunch")
    | _in("sklearn.utils._metadata_requests", "MetadataRequest MethodMetadataRequest")
    | _in("sklearn.neural_network._stochastic_optimizers", "AdamOptimizer SGDOptimizer")
    | _in("sklearn.gaussian_process._gpc", "_BinaryGaussianProcessClassifierLaplace")
    | _in(
        "sklearn.gaussian_process.kernels",
        "ConstantKernel DotProduct Matern Product RBF RationalQuadratic Sum WhiteKernel",
    )
    | _in(
        "sklearn.feature_selection._univariate_selection",
        "chi2 f_classif f_oneway f_regression r_regression",
    )
    | _in("sklearn.feature_selection._mutual_info", "mutual_info_classif mutual_info_regression")
    | _in(
        "sklearn.metrics._classification",
        "accuracy_score balanced_accuracy_score f1_score log_loss matthews_corrcoef "
        "precision_score recall_score",
    )
    | _in("sklearn.metrics._ranking", "average_precision_score roc_auc_score")
)
_SKRUB = (
    _in("skrub._apply_to_cols", "ApplyToCols")
    | _in("skrub._apply_to_each_col", "ApplyToEachCol")
    | _in("skrub._apply_to_sub_frame", "ApplyToSubFrame")
    | _in("skrub._check_input", "CheckInputDataFrame")
    | _in("skrub._clean_categories", "CleanCategories")
    | _in("skrub._clean_null_strings", "CleanNullStrings")
    | _in("skrub._dataframe._common", "is_any_date is_categorical is_numeric is_string")
    | _in("skrub._datetime_encoder", "DatetimeEncoder")
    | _in("skrub._drop_uninformative", "DropUninformative")
    | _in("skrub._duration_to_float", "DurationToFloat")
    | _in("skrub._gap_encoder", "GapEncoder")
    | _in("skrub._minhash_encoder", "MinHashEncoder")
    | _in("skrub._squashing_scaler", "MinMaxScaler SquashingScaler _MinMaxScaler")
    | _in("skrub._string_encoder", "StringEncoder")
    | _in("skrub._table_vectorizer", "Cleaner PassThrough ShortReprDict TableVectorizer")
    | _in("skrub._table_vectorizer", "_created_by_predicate")
    | _in("skrub._to_categorical", "ToCategorical")
    | _in("skrub._to_datetime", "ToDatetime")
    | _in("skrub._to_float", "ToFloat ToFloat32")
    | _in("skrub._to_str", "ToStr")
    | _in("skrub._utils", "LRUDict")
    | _in("skrub.selectors._base", "All And Cols Filter Inv NameFilter Or Sub XOr")
    | _in("skrub.selectors._selectors", "_cardinality_below")
)
_PLAIN = {"collections.OrderedDict", "numpy.dtype", "numpy.mean"}
_SCIPY = {
    f"scipy.sparse._{form}.{form}_{kind}"
    for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    for kind in ("array", "matrix")
}

# Types in fitted models that are not estimators were reviewed one by one: each only has attributes
# or computes; none opens files, starts processes or calls objects of the file. Compiled parts with
# indices in their arrays are included because `check_schema` and `check_parts` check those arrays.
REVIEWED = frozenset(_CHECKED_PARTS | _SKLEARN | _SKRUB | _PLAIN | _SCIPY)

# packages of scikit-learn whose estimators, once fitted, compute with numpy and scipy only, which
# check shapes and indices
_PACKAGES = _in(
    "sklearn",
    "base calibration compose cross_decomposition discriminant_analysis dummy feature_extraction "
    "feature_selection frozen gaussian_process impute isotonic kernel_approximation kernel_ridge "
    "linear_model model_selection multiclass multioutput naive_bayes neural_network pipeline "
    "preprocessing random_projection _loss",
)
# of other packages, by name; those that `_CHECKS` has are checked
_ESTIMATORS = {f"sklearn.{name}" for name in _CHECKS} | _in(
    "sklearn",
    "AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor ExtraTreesClassifier "
    "ExtraTreesRegressor FactorAnalysis FastICA IncrementalPCA KernelPCA LinearSVC LinearSVR "
    "MiniBatchNMF NMF NearestCentroid NeighborhoodComponentsAnalysis PCA RandomForestClassifier "
    "RandomForestRegressor RandomTreesEmbedding StackingClassifier StackingRegressor TruncatedSVD "
    "VotingClassifier VotingRegressor _BinMapper",
)
_LEFT_OUT = "MultiLabelBinarizer"  # makes sparse rows from columns that are not checked


def is_reviewed(name: str) -> bool:
    """Return whether a file may contain a type of scikit-learn, by its full name.

    Examples
    --------
    >>> is_reviewed("sklearn.svm._classes.SVC")
    True
    >>> is_reviewed("sklearn.cluster._birch.Birch")
    False
    """
    package, own = ".".join(name.split(".")[:2]), name.rpartition(".")[2]
    is_listed = name.startswith("sklearn.") and f"sklearn.{own}" in _ESTIMATORS
    return name in REVIEWED or is_listed or (package in _PACKAGES and own != _LEFT_OUT)
