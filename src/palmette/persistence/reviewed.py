"""Types and functions of other libraries that a model file may hold without being asked.

skops trusts the estimators of scikit-learn, numbers and plain containers. What else fitted models
hold was looked at one by one: each only keeps attributes or computes; none opens files, starts
processes or calls what it is given. Compiled parts whose arrays hold places in other arrays, which
skops does not trust for that reason, are here because `schema_checks` and `part_checks` look at
those arrays.
"""

from __future__ import annotations

__all__ = ["REVIEWED"]


def _in(module: str, names: str) -> set[str]:
    return {f"{module}.{name}" for name in names.split()}


_CHECKED_PARTS = (
    _in("sklearn.tree._tree", "Tree")
    | _in("sklearn.ensemble._hist_gradient_boosting.predictor", "TreePredictor")
    | _in("sklearn.neighbors._kd_tree", "KDTree")
    | _in("sklearn.neighbors._ball_tree", "BallTree")
)
_SKLEARN = (
    _in(
        "sklearn.metrics._dist_metrics",
        "EuclideanDistance64 ManhattanDistance64 ChebyshevDistance64",
    )
    | _in(
        "sklearn.model_selection._split",
        "GroupKFold KFold LeaveOneOut PredefinedSplit RepeatedKFold RepeatedStratifiedKFold "
        "ShuffleSplit StratifiedGroupKFold StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit",
    )
    | _in("sklearn.metrics._scorer", "_PassthroughScorer _Scorer")
    | _in("sklearn.calibration", "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling")
    | _in("sklearn.utils._bunch", "Bunch")
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

REVIEWED = frozenset(_CHECKED_PARTS | _SKLEARN | _SKRUB | _PLAIN | _SCIPY)
