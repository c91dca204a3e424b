"""Files to attack: a model of every estimator, models with parts of scikit-learn, checkpoints."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from tests.attack.calls import Call, arguments_of, calls_of
from tests.instances import public_estimators
from tests.iterative import SampledCentroids
from tests.laws.problems import DAG, DAG_SETS, PATH_SETS, problem, several
from tests.persistence.models import fitted, small_instances
from tests.persistence.round_trips import bytes_of

import palmette as pm
from palmette.persistence import load
from palmette.persistence.checkpoints import read_checkpoint
from palmette.weak import TreePerClass

__all__ = ["STORED_FILES", "Victim", "victims"]

STORED_FILES = Path(__file__).parents[1] / "persistence" / "stored"


@dataclass
class Victim:
    """A file, and what is done with it.

    Parameters
    ----------
    content : bytes
    load : callable
        Reads a file, and returns what it holds.
    calls : callable
        Returns what users would do with that: (name, function without arguments) pairs.
    """

    content: bytes
    load: Callable[[Path], Any]
    calls: Callable[[Any], Iterable[Call]]


def _model(content: bytes, X: Any) -> Victim:
    whole = _loaded(content)
    arguments = arguments_of(whole, X)
    return Victim(content, load, lambda model: calls_of(model, arguments))


def _loaded(content: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "whole.palmette"
        file.write_bytes(content)
        return load(file)


def _stored(name: str) -> Victim:
    told = json.loads((STORED_FILES / f"{name}.json").read_text(encoding="utf-8"))
    return _model((STORED_FILES / f"{name}.palmette").read_bytes(), np.array(told["X"]))


# ---------------------------------------------------------------------- fitted here


def _around(make: Callable[[], Any]) -> Victim:
    model, X = fitted(make(), 4)
    return _model(bytes_of(model), X[::4])


def _on_sets(model: Any) -> Victim:
    X, y = several(PATH_SETS, 4)
    return _model(bytes_of(model.fit(X, y)), X[::4])


def _on_a_dag(model: Any) -> Victim:
    X, y = several(DAG_SETS, 4)
    return _model(bytes_of(model.set_params(hierarchy=DAG).fit(X, y)), X[::4])


def _migrated() -> Victim:
    """Return a model over a changed tree: a label split, one moved, one removed, a new one."""
    X, y = problem(4)
    model = pm.LocalPerParentClassifier(GaussianNB()).fit(X, y)
    changes = [("c", "c1"), ("c", "c2"), ("d > only", "a > only"), ("d", ""), ("", "b > new")]
    now = {("d", "only"): ("a", "only"), ("c",): ("c1",), ("b", "z"): ("b", "new")}
    labels = [now.get(path, path) for path in y]
    labels[labels.index(("c1",))] = ("c2",)
    return _model(bytes_of(pm.migrate(model, changes, X, labels)), X[::4])


def _migrated_sets() -> Victim:
    X, y = several(PATH_SETS, 4)
    model = pm.BinaryRelevance(GaussianNB()).fit(X, y)
    changes = [("b > x", "a > bx"), ("c", "d", "merge"), ("", "b > new")]
    return _model(bytes_of(pm.migrate(model, changes)), X[::4])


def _few_rounds() -> Any:
    return pm.HierarchicalBoostingClassifier(n_bags=1, n_estimators=3, random_state=0)


def _svc() -> Any:
    from sklearn.svm import SVC

    return pm.LocalPerParentClassifier(SVC())


def _nu_svc() -> Any:
    from sklearn.svm import NuSVC

    return pm.FlatClassifier(NuSVC(nu=0.1))


def _neighbours(algorithm: str) -> Callable[[], Any]:
    def make() -> Any:
        from sklearn.neighbors import KNeighborsClassifier

        return pm.LocalPerParentClassifier(KNeighborsClassifier(2, algorithm=algorithm))

    return make


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return pm.FlatClassifier(RandomForestClassifier(2, max_depth=3, random_state=0))


def _boosted() -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    return pm.FlatClassifier(GradientBoostingClassifier(n_estimators=1, max_depth=2))


def _histograms() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return pm.FlatClassifier(HistGradientBoostingClassifier(max_iter=1))


def _isotonic() -> Any:
    from sklearn.calibration import CalibratedClassifierCV

    return pm.FlatClassifier(CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=2))


def _processes() -> Any:
    from sklearn.gaussian_process import GaussianProcessClassifier

    return pm.LocalPerParentClassifier(GaussianProcessClassifier(optimizer=None))


def _adaboost() -> Any:
    from sklearn.ensemble import AdaBoostClassifier

    return pm.FlatClassifier(AdaBoostClassifier(n_estimators=2, random_state=0))


def _texts(name: str, **parameters: Any) -> Victim:
    from sklearn.feature_extraction import text
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.pipeline import make_pipeline

    X = ["a red apple", "a red car", "an apple", "one blue car"] * 3
    y = [("fruit", "apple"), ("thing", "car"), ("fruit", "apple"), ("thing", "car")] * 3
    base = make_pipeline(getattr(text, name)(**parameters), BernoulliNB())
    long = "an antidisestablishmentarianistically pneumonoultramicroscopicsilicovolcanoconiotic car"
    return _model(bytes_of(pm.FlatClassifier(base).fit(X, y)), [*X[:4], long])


def _frame(name: str, **parameters: Any) -> Victim:
    """Return a classifier of tables whose texts are encoded by skrub."""
    import pandas as pd
    import skrub
    from sklearn.pipeline import make_pipeline

    n = np.arange(24)
    kinds = pd.Categorical.from_codes(n % 3, ["a", "b", "c"])
    days = pd.date_range("2020-01-01", periods=len(n))
    names = [f"a thing {i} of {i % 5}" for i in n]
    X = pd.DataFrame({"name": names, "kind": kinds, "day": days, "x": n * 1.5})
    encoder = getattr(skrub, name)(**parameters)
    table = skrub.TableVectorizer(high_cardinality=encoder, cardinality_threshold=5)
    model = pm.FlatClassifier(make_pipeline(table, GaussianNB()))
    y = [("f", "a"), ("f", "b"), ("g", "c")] * 8
    return _model(bytes_of(model.fit(X, y)), X[:5])


def _transformers() -> Any:
    """Return a classifier behind many steps of scikit-learn, each with its own parameters."""
    from sklearn import feature_selection, impute, kernel_approximation, preprocessing
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline, make_union

    union = make_union(
        preprocessing.PolynomialFeatures(2),
        preprocessing.KBinsDiscretizer(3, encode="onehot-dense", quantile_method="linear"),
        preprocessing.QuantileTransformer(n_quantiles=5),
        preprocessing.PowerTransformer(),
        preprocessing.RobustScaler(),
        kernel_approximation.Nystroem(n_components=3, random_state=0),
        kernel_approximation.RBFSampler(n_components=3, random_state=0),
        make_pipeline(preprocessing.Binarizer(), preprocessing.OneHotEncoder(sparse_output=False)),
        ColumnTransformer([("first", impute.SimpleImputer(), [0]), ("rest", "drop", [1])]),
        impute.KNNImputer(n_neighbors=2),
        feature_selection.SelectKBest(k=2),
    )
    return pm.FlatClassifier(make_pipeline(union, GaussianNB()))


def _inner_pipeline() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return pm.LocalPerParentClassifier(make_pipeline(StandardScaler(), LogisticRegression()))


def _categories() -> Any:
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Binarizer

    return pm.FlatClassifier(make_pipeline(Binarizer(), CategoricalNB()))


def _network() -> Any:
    from sklearn.neural_network import MLPClassifier

    return pm.FlatClassifier(MLPClassifier((3,), max_iter=3, random_state=0))


def _outer_pipeline() -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    local = pm.LocalPerParentClassifier(DecisionTreeClassifier(max_depth=2))
    return make_pipeline(StandardScaler(), local)


def _search() -> Any:
    from sklearn.model_selection import GridSearchCV

    return GridSearchCV(pm.ClassTreeClassifier(router="linear"), {"decoding": ["greedy"]}, cv=2)


def _bagging() -> Any:
    from sklearn.ensemble import BaggingClassifier

    return BaggingClassifier(pm.ClassTreeClassifier(router="linear"), 2, random_state=0)


def _table() -> Victim:
    from tests.table.goods import make_goods

    from palmette.table import fit_table

    frame = make_goods(40)[["title", "price", "kind"]]
    model = fit_table(frame, "kind", model="class-tree", folds=0)
    return _model(bytes_of(model), frame[:12])  # as many as a review needs


def _fitted_table() -> Victim:
    """Return a table model that has the form of its labels, and is calibrated by its folds."""
    from tests.table.goods import make_goods

    from palmette.table import TableModel

    frame = make_goods(60)[["title", "price", "kind"]]
    made = TableModel("flat-naive-bayes", folds=2, separator=" > ", random_state=0)
    model = made.fit(frame[["title", "price"]], frame["kind"])
    assert model.calibration_ is not None
    return _model(bytes_of(model), frame[:12])


def _hierarchy() -> Victim:
    return _model(bytes_of(DAG), None)


# ---------------------------------------------------------------------- checkpoints


def _checkpoint(make: Callable[[], Any], rounds: str = "n_estimators") -> Victim:
    X, y = problem(3)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fit.ckpt"
        first = make().set_params(**{rounds: 2}).set_callbacks(pm.Checkpoint(file))
        first.fit(X, y)
        content = file.read_bytes()

    def resume(file: Path) -> Any:
        model = make().set_params(**{rounds: 3})
        return clone(model).set_callbacks(pm.Checkpoint(file)).fit(X, y)

    whole = make().set_params(**{rounds: 2}).fit(X, y)
    arguments = arguments_of(whole, X[::4])
    return Victim(content, resume, lambda model: calls_of(model, arguments))


def _checkpoint_of_arrays() -> Victim:
    """Return a checkpoint that is only read: what an estimator does with arrays is up to it."""
    fit = _checkpoint(lambda: SampledCentroids(random_state=0), "n_rounds")
    return Victim(fit.content, read_checkpoint, lambda _: ())


_FEW: dict[str, Any] = {"random_state": 0}
_BOOSTED: dict[str, Callable[[], Any]] = {
    "AdaBoostECC": lambda: pm.AdaBoostECCClassifier(weak_learner="stump", **_FEW),
    "AdaBoostMH": lambda: pm.AdaBoostMHClassifier(**_FEW),
    "AdaBoostMH-cart": lambda: pm.AdaBoostMHClassifier(weak_learner="cart", **_FEW),
    "AdaBoostMH-stump": lambda: pm.AdaBoostMHClassifier(weak_learner="stump", **_FEW),
    "AdaBoostMH-tree": lambda: pm.AdaBoostMHClassifier(weak_learner=TreePerClass(2), **_FEW),
    "AdaBoostMI": lambda: pm.AdaBoostMIClassifier(**_FEW),
    "HierarchicalAdaBoost": lambda: pm.HierarchicalAdaBoostClassifier(
        weak_learner="stump", mask="search", **_FEW
    ),
    "HierarchicalBoosting": lambda: pm.HierarchicalBoostingClassifier(n_bags=1, **_FEW),
    "HierarchicalBoosting-both": lambda: pm.HierarchicalBoostingClassifier(
        loss=("leaf_softmax", "path_softmax"), n_bags=2, **_FEW
    ),
}


# ---------------------------------------------------------------------- all of them


def _variants() -> dict[str, Callable[[], Victim]]:
    """Return the estimators with other rows of their parameters than the stored files have."""
    seen: dict[str, int] = {}
    found: dict[str, Callable[[], Victim]] = {}
    for each in small_instances():
        name = type(each).__name__
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            found[f"{name}-{seen[name]}"] = lambda each=each: _around(lambda: each)
    return found


_OF_SKRUB = {
    "Skrub-hashes": lambda: _frame("MinHashEncoder", n_components=4),
    "Skrub-topics": lambda: _frame("GapEncoder", n_components=2, max_iter=2, random_state=0),
    "Skrub-strings": lambda: _frame("StringEncoder", n_components=2, random_state=0),
}

_VICTIMS: dict[str, Callable[[], Victim]] = {
    **{each.__name__: lambda n=each.__name__: _stored(n) for each in public_estimators()},
    "SVC": lambda: _around(_svc),
    "NuSVC": lambda: _around(_nu_svc),
    "KDTree": lambda: _around(_neighbours("kd_tree")),
    "BallTree": lambda: _around(_neighbours("ball_tree")),
    "RandomForest": lambda: _around(_forest),
    "GradientBoosting": lambda: _around(_boosted),
    "HistGradientBoosting": lambda: _around(_histograms),
    "InnerPipeline": lambda: _around(_inner_pipeline),
    "CategoricalNB": lambda: _around(_categories),
    "MLP": lambda: _around(_network),
    "OuterPipeline": lambda: _around(_outer_pipeline),
    "GridSearch": lambda: _around(_search),
    "Bagging": lambda: _around(_bagging),
    "Hierarchy": _hierarchy,
    "Sets-BinaryRelevance": lambda: _on_sets(pm.BinaryRelevance(GaussianNB())),
    "Sets-CoherentForest": lambda: _on_sets(pm.CoherentForestClassifier(3, random_state=0)),
    "Sets-HierarchicalBoosting": lambda: _on_sets(
        pm.HierarchicalBoostingClassifier(n_bags=1, n_estimators=3)
    ),
    # the stored file of TreesMultilabel holds a forest of scikit-learn
    "Sets-TreesMultilabel": lambda: _on_sets(
        pm.TreesMultilabel(n_estimators=3, bootstrap=False, random_state=0)
    ),
    "Migrated": _migrated,
    "Migrated-sets": _migrated_sets,
    "Dag-LocalPerNode": lambda: _on_a_dag(pm.LocalPerNodeClassifier(GaussianNB())),
    "Dag-HierarchicalBoosting": lambda: _on_a_dag(
        pm.HierarchicalBoostingClassifier(n_bags=1, n_estimators=3)
    ),
    "Brute": lambda: _around(_neighbours("brute")),
    "Brute-MLkNN": lambda: _around(lambda: pm.MLkNN(3, algorithm="brute")),
    "Isotonic": lambda: _around(_isotonic),
    "GaussianProcess": lambda: _around(_processes),
    "AdaBoost": lambda: _around(_adaboost),
    "TableModel": _table,
    "TableModel-fitted": _fitted_table,
    "Texts": lambda: _texts("HashingVectorizer", n_features=16),
    "Texts-words": lambda: _texts("TfidfVectorizer", ngram_range=(1, 2)),
    "Texts-letters": lambda: _texts("CountVectorizer", analyzer="char_wb", ngram_range=(2, 3)),
    "Transformers": lambda: _around(_transformers),
    **(_OF_SKRUB if find_spec("skrub") else {}),
    **{f"checkpoint-{name}": lambda m=make: _checkpoint(m) for name, make in _BOOSTED.items()},
    "checkpoint-SampledCentroids": _checkpoint_of_arrays,
}


@cache
def victims() -> dict[str, Callable[[], Victim]]:
    """Return what makes the files, by name; a checkpoint's name begins with "checkpoint"."""
    return {name: _quiet(make) for name, make in {**_VICTIMS, **_variants()}.items()}


def _quiet(make: Callable[[], Victim]) -> Callable[[], Victim]:
    def quiet() -> Victim:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make()

    return quiet
