"""Compiled parts of scikit-learn that point outside of themselves are refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.metrics import DistanceMetric
from sklearn.metrics.pairwise import linear_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import BallTree, KDTree, KNeighborsClassifier
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree

from palmette.persistence._parts import check_parts

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def spoilt_tree(field: str, value: int) -> Tree:
    tree = DecisionTreeClassifier().fit(X, Y + (X[:, 1] > 0)).tree_
    _, arguments, state = tree.__reduce__()
    made = Tree(*arguments)
    nodes = state["nodes"].copy()
    nodes[field][0] = value
    made.__setstate__({**state, "nodes": nodes})
    return made


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("left_child", 10**6),
        ("right_child", -7),
        ("left_child", 0),
        ("feature", 3),
        ("feature", -2),
    ],
)
def test_trees_lead_to_their_own_nodes_and_features(field, value):
    with pytest.raises(ValueError, match="that it lacks"):
        check_parts([{"deep": (spoilt_tree(field, value),)}])


def test_good_parts_pass():
    parts = [
        DecisionTreeClassifier().fit(X, Y),
        DecisionTreeClassifier(),
        GradientBoostingClassifier(n_estimators=2).fit(X, Y),
        HistGradientBoostingClassifier(max_iter=2).fit(X, Y),
        KDTree(X, leaf_size=5),
        BallTree(X, leaf_size=5),
        KDTree(X[:1]),
    ]
    check_parts(np.array([*parts, None], dtype=object))


@pytest.mark.parametrize("field", ["left", "right", "feature_idx"])
def test_histogram_trees_lead_to_their_own_nodes_and_features(field):
    model = HistGradientBoostingClassifier(max_iter=1).fit(X, Y)
    nodes = model._predictors[0][0].nodes.copy()
    nodes[field][0] = 1000
    model._predictors[0][0].nodes = nodes
    with pytest.raises(ValueError, match="that it lacks"):
        check_parts([model])


def test_boosting_knows_the_features_of_its_trees():
    model = GradientBoostingClassifier(n_estimators=1).fit(X, Y)
    model.n_features_in_ = 2
    with pytest.raises(ValueError, match="other features"):
        check_parts(model)


def test_first_scores_of_boosting_are_of_the_rows():
    model = GradientBoostingClassifier(n_estimators=1).fit(X, Y + (X[:, 1] > 0))
    model.init_.class_prior_ = model.init_.class_prior_[:, np.newaxis]
    with pytest.raises(ValueError, match="first scores"):
        check_parts(model)


@pytest.mark.parametrize(("part", "place", "value"), [(1, 0, 99), (1, 0, -1), (2, 0, 99)])
def test_search_trees_name_their_own_rows(part, place, value):
    tree = KDTree(X, leaf_size=5)
    state = list(tree.__getstate__())
    array = np.array(state[part], copy=True)
    if array.dtype.names:
        array["idx_end"][place] = value
    else:
        array[place] = value
    state[part] = array
    made = KDTree.__new__(KDTree)
    made.__setstate__(tuple(state))
    with pytest.raises(ValueError, match="search tree"):
        check_parts({"tree": made})


@pytest.mark.parametrize(
    ("metric", "given", "wrong"),
    [
        ("minkowski", {"p": 3.0, "w": np.ones(3)}, {"p": 3.0, "w": np.ones(2)}),
        ("seuclidean", {"V": np.ones(3)}, {"V": np.ones(1)}),
        ("mahalanobis", {"V": np.eye(3)}, {"V": np.eye(2)}),
    ],
)
def test_distances_have_the_features_of_their_tree(metric, given, wrong):
    tree = BallTree(np.random.default_rng(0).normal(size=(20, 3)), metric=metric, **given)
    check_parts([tree])
    state = list(tree.__getstate__())
    state[11] = DistanceMetric.get_metric(metric, **wrong)
    made = BallTree.__new__(BallTree)
    made.__setstate__(tuple(state))
    with pytest.raises(ValueError, match="other features"):
        check_parts([made])


def test_sparse_matrices_point_inside():
    matrix = sparse.csr_array(np.eye(3))
    check_parts([matrix])
    matrix.indices[0] = 7
    with pytest.raises(ValueError, match=r"indices|index"):
        check_parts({"a": [matrix]})


# ---------------------------------------------------------------------- parts and their owners

CSR = sparse.csr_array(X)
THREE = Y + (X[:, 1] > 0)


def spoilt(fitted, **attributes):
    """Return a fitted estimator with other attributes."""
    for name, value in attributes.items():
        vars(fitted)[name] = value
    return fitted


def deeper_than_it_says() -> Tree:
    tree = DecisionTreeClassifier().fit(X, THREE).tree_
    _, arguments, state = tree.__reduce__()
    made = Tree(*arguments)
    made.__setstate__({**state, "max_depth": 1})
    return made


def machine(rows=X, **settings):
    return SVC(**settings).fit(rows, THREE)


WRONG = {
    "depth of a tree": (deeper_than_it_says, "deeper"),
    "wide tree": (
        lambda: spoilt(DecisionTreeClassifier().fit(X, Y), n_features_in_=1),
        "other features",
    ),
    "no tree": (lambda: spoilt(DecisionTreeClassifier().fit(X, Y), tree_="tree"), "not a Tree"),
    "hidden method": (
        lambda: spoilt(DecisionTreeClassifier().fit(X, Y), _validate_X_predict=np.mean),
        "no attribute",
    ),
    "columns of boosting": (
        lambda: spoilt(
            GradientBoostingClassifier(n_estimators=1).fit(X, THREE),
            init_=DummyClassifier().fit(X, Y),
        ),
        "fit together",
    ),
    "other first scores": (
        lambda: GradientBoostingClassifier(n_estimators=1, init=GaussianNB()).fit(X, Y),
        "GradientBoostingClassifier",
    ),
    "categories": (
        lambda: HistGradientBoostingClassifier(max_iter=1, categorical_features=[0]).fit(
            np.column_stack([Y, X[:, 1]]), Y
        ),
        "HistGradientBoostingClassifier",
    ),
    "vectors": (lambda: spoilt(machine(), support_vectors_=X[:2].copy()), "are missing"),
    "features of vectors": (lambda: spoilt(machine(), n_features_in_=2), "are missing"),
    "counts of vectors": (
        lambda: spoilt(machine(), _n_support=np.array([1, 1, 10**6], dtype=np.int32)),
        "other classes",
    ),
    "coefficients": (lambda: spoilt(machine(), _dual_coef_=np.zeros((2, 1))), "are missing"),
    "intercepts": (lambda: spoilt(machine(), _intercept_=np.zeros(1)), "intercepts"),
    "probabilities": (lambda: spoilt(machine(), _probA=np.zeros(1)), "probabilities"),
    "another machine": (lambda: spoilt(machine(), _impl="one_class"), "was changed"),
    "own kernel": (lambda: machine(kernel=linear_kernel), "SVC"),
    "rows of a kernel": (
        lambda: spoilt(
            SVC(kernel="precomputed").fit(X @ X.T, THREE),
            support_=np.full(3, 10**6, dtype=np.int32),
        ),
        "classes",
    ),
    "sparse coefficients": (
        lambda: spoilt(machine(CSR), _dual_coef_=sparse.csr_array(np.ones((2, 1)))),
        "are missing",
    ),
    "sparse probabilities": (
        lambda: spoilt(machine(CSR), _effective_probability=True),
        "probabilities",
    ),
    "rows of neighbours": (
        lambda: spoilt(KNeighborsClassifier(algorithm="brute").fit(X, Y), _fit_X=X[:, :1].copy()),
        "other features",
    ),
    "classes of neighbours": (
        lambda: spoilt(KNeighborsClassifier(algorithm="brute").fit(X, Y), _y=Y + 10**6),
        "does not exist",
    ),
    "tree of neighbours": (
        lambda: spoilt(KNeighborsClassifier(algorithm="kd_tree").fit(X, Y), _tree=KDTree(X[:5])),
        "differ",
    ),
    "centres": (
        lambda: spoilt(KMeans(2, n_init=1).fit(X), cluster_centers_=np.zeros((2, 1))),
        "other features",
    ),
    "words": (lambda: spoilt(CountVectorizer().fit(["aa"]), vocabulary_={"aa": 7}), "column"),
    **{
        f"words by {pattern}": (
            lambda pattern=pattern: TfidfVectorizer(token_pattern=pattern),
            "TfidfVectorizer",
        )
        # their time doubles with each letter, or grows with a high power of their number
        for pattern in [r"(\w+)+!", r"(?:\w|\w\w)+!", r"\w*\w*\w*!", r"(\w)\1+", "a" * 201, 3]
    },
    **{
        f"n-grams {sizes}": (lambda sizes=sizes: CountVectorizer(ngram_range=sizes), "n-grams")
        for sizes in [(1, 10**9), (-(10**9), 1), (3, 2)]
    },
    "hashed words": (lambda: HashingVectorizer(n_features=2**31 - 1), "HashingVectorizer"),
    "columns of categories": (
        lambda: spoilt(OneHotEncoder().fit([["a"], ["b"]]), _n_features_outs=[1]),
        "no column",
    ),
    "order of categories": (
        lambda: spoilt(OneHotEncoder().fit([[1.0], [2.0]]), categories_=[np.array([2.0, 1.0])]),
        "not sorted",
    ),
    "dropped category": (
        lambda: spoilt(
            OneHotEncoder(drop="first").fit([["a"], ["b"]]),
            _drop_idx_after_grouping=np.array([5], dtype=object),
        ),
        "missing",
    ),
    "rare categories": (
        lambda: OneHotEncoder(min_frequency=2).fit([["a"], ["a"], ["b"]]),
        "OneHotEncoder",
    ),
}


SIMPLE = [r"(?u)\b\w\w+\b", r"[a-z']{3,}", r"\w+|[^\w\s]", r"(?u)(\S+)", r"[^\]]+?", None]


@pytest.mark.parametrize("name", WRONG)
def test_parts_fit_their_owners(name):
    make, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        check_parts([make()])


def test_good_owners_pass():
    parts = [
        machine(),
        machine(CSR),
        SVC(kernel="precomputed").fit(X @ X.T, THREE),
        OneClassSVM().fit(X),
        SVR(),
        KNeighborsClassifier(algorithm="brute").fit(X, Y),
        KNeighborsClassifier().fit(CSR, np.column_stack([Y, THREE])),
        KMeans(2, n_init=1).fit(X),
        CountVectorizer().fit(["aa bb", "cc"]),
        CountVectorizer(),
        HashingVectorizer(analyzer="char_wb", ngram_range=(1, 5)),
        *(TfidfVectorizer(token_pattern=each) for each in SIMPLE),
        OneHotEncoder(drop="if_binary").fit([["a", 1], ["b", 2], ["b", 3]]),
        OneHotEncoder().fit([[1.0], [np.nan]]),
    ]
    check_parts(parts)


def test_trusted_types_are_not_checked():
    model = machine(kernel=linear_kernel)
    check_parts(model, {"sklearn.svm._classes.SVC"})
