"""Comparisons: same seed, same scores; a killed one goes on; stale results are not taken."""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.dummy import DummyClassifier
from tests.compare.conftest import make_problem

from palmette.compare._compare import compare
from palmette.compare._problems import Problem
from palmette.compare._scores import DEFAULT_SCORES
from palmette.compare._store import ResultStore
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.models import _registry as models
from palmette.models._registry import ModelSpec, register_model

MODULE = import_module("palmette.compare._compare")
MODELS = ["flat-naive-bayes", "local-per-parent-naive-bayes"]


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr(models, "_MODELS", dict(models._MODELS))


def scores_of(comparison):
    return [[row[name] for name in comparison.scores] for row in comparison.rows]


class Watch(list):
    def __call__(self, *cell):
        self.append(cell)


@pytest.fixture(scope="module")
def whole(toys):
    """Return a comparison over two data sets, and what its watch was told."""
    watch = Watch()
    return compare(toys, MODELS, n_splits=2, seed=4, watch=watch), watch


def test_one_row_for_each_split_and_model(toys, whole):
    found, watch = whole
    places = [(row["dataset"], row["split"], row["model"]) for row in found.rows]
    assert places == [(p.name, f"random-{s}", m) for p in toys for s in (4, 5) for m in MODELS]
    assert places == watch
    assert found.scores == DEFAULT_SCORES
    assert found.datasets == ["toy0", "toy1"]
    assert all(0 <= row["hierarchical_f1"] <= 1 for row in found.rows)
    assert all(row["fit_cpu_s"] >= 0 for row in found.rows)


def test_scores_are_those_of_the_model_on_the_split(toy):
    seen = {}

    def receive(split, model, predicted):
        seen[model] = (split.y_test, predicted)

    found = compare([toy], MODELS, ["leaf_accuracy"], n_splits=1, receive=receive)
    for row in found.rows:
        truth, predicted = seen[row["model"]]
        right = [t == p for t, p in zip(truth, predicted, strict=True)]
        assert row["leaf_accuracy"] == pytest.approx(np.mean(right))


@pytest.mark.parametrize("name", ["flat-forest", "local-per-node-svm"])
def test_the_same_seed_gives_the_same_scores(toy, name):
    noisy = replace(toy, X_train=toy.X_train + np.random.default_rng(0).normal(0, 3, (60, 3)))
    first, again, other = (compare([noisy], [name], n_splits=1, seed=seed) for seed in (1, 1, 7))
    assert scores_of(first) == scores_of(again)
    assert scores_of(first) != scores_of(other)


def test_the_number_of_jobs_changes_no_score(toy):
    names = ["local-per-node", "local-per-parent-svm"]
    with parallel_config("threading"):  # tests of local classifiers start processes
        one, two = (compare([toy], names, n_splits=1, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert scores_of(one) == scores_of(two)
    assert (one.facts["n_jobs"], two.facts["n_jobs"]) == (1, 2)


# ---------------------------------------------------------------------- going on


def test_a_killed_comparison_goes_on_to_the_same_end(toys, whole, tmp_path):
    path = tmp_path / "run.jsonl"
    whole, _ = whole
    run = {"n_splits": 2, "seed": 4}

    class Killed(Exception):
        pass

    watch = Watch()

    def kill_at_the_sixth(*cell):
        watch(*cell)
        if len(watch) == 6:
            raise Killed

    with pytest.raises(Killed):
        compare(toys, MODELS, **run, store=ResultStore(path), watch=kill_at_the_sixth)
    path.write_bytes(path.read_bytes()[:-20])  # in the midst of writing the fifth
    rest = Watch()
    resumed = compare(toys, MODELS, **run, store=ResultStore(path), watch=rest)
    assert watch[:4] + rest == [(r["dataset"], r["split"], r["model"]) for r in whole.rows]
    assert scores_of(resumed) == scores_of(whole)
    assert resumed.notes == []
    nothing = Watch()
    again = compare(toys, MODELS, **run, store=ResultStore(path), watch=nothing)
    assert nothing == []
    assert again == resumed  # times included


def test_more_scores_need_the_fits_again_once(toy, tmp_path):
    path = tmp_path / "run.jsonl"
    run = {"n_splits": 1, "store": ResultStore(path)}
    compare([toy], MODELS[:1], ["leaf_accuracy"], **run)
    watch = Watch()
    compare([toy], MODELS[:1], ["h_loss"], **run, watch=watch)
    assert len(watch) == 1
    run["store"] = ResultStore(path)
    both = compare([toy], MODELS[:1], ["leaf_accuracy", "h_loss"], **run, watch=watch)
    assert len(watch) == 1
    assert set(both.rows[0]) >= {"leaf_accuracy", "h_loss"}


def changed_data(toy, monkeypatch):
    return replace(toy, X_train=toy.X_train + 1e-6), {}


def changed_seed(toy, monkeypatch):
    return toy, {"seed": 1}


def changed_test_size(toy, monkeypatch):
    return toy, {"test_size": 0.4}


def changed_jobs(toy, monkeypatch):
    return toy, {"n_jobs": 2}


def changed_version(toy, monkeypatch):
    facts = {**MODULE.environment(), "scikit-learn": "0.0"}
    monkeypatch.setattr(MODULE, "environment", lambda: facts)
    return toy, {}


def changed_model(toy, monkeypatch):
    spec = models.find_model(MODELS[0])
    other = replace(spec, make=models.find_model("flat-forest").make)
    monkeypatch.setitem(models._MODELS, MODELS[0], other)
    return toy, {}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return the lines of a stored comparison."""
    path = tmp_path_factory.mktemp("stored") / "run.jsonl"
    compare([make_problem()], MODELS[:1], n_splits=1, store=ResultStore(path))
    return path.read_bytes()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (changed_data, ["data"]),
        (changed_test_size, ["test_size"]),
        (changed_jobs, ["n_jobs"]),
        (changed_version, ["scikit-learn"]),
        (changed_model, ["estimator"]),
        (changed_seed, []),  # another seed has other splits
    ],
)
def test_stale_results_are_not_taken(toy, stored, tmp_path, monkeypatch, change, named):
    path = tmp_path / "run.jsonl"
    path.write_bytes(stored)
    problem, options = change(toy, monkeypatch)
    watch = Watch()
    found = compare(
        [problem], MODELS[:1], n_splits=1, store=ResultStore(path), watch=watch, **options
    )
    assert len(watch) == 1
    notes = [note["note"] for note in found.notes]
    assert notes == [f"computed again, as these have changed: {name}" for name in named]


# ---------------------------------------------------------------------- what can go wrong


def test_warnings_become_notes(toy, registry, recwarn, tmp_path):
    class Warner(DummyClassifier):
        def fit(self, X, y):
            for _ in range(3):
                warnings.warn("slow\nvery", UserWarning, stacklevel=2)
            return super().fit(X, [label[0] for label in y])

    register_model(ModelSpec("warner", lambda context: Warner(), ""))
    for _ in range(2):  # the second time from the file
        store = ResultStore(tmp_path / "run.jsonl")
        found = compare([toy], ["warner"], n_splits=1, store=store)
        assert found.notes == [
            {"dataset": "toy", "split": "random-0", "model": "warner", "note": "slow"}
        ]
    assert len(recwarn) == 0


def test_errors_name_model_and_data(toy, registry):
    class Picky(DummyClassifier):
        def fit(self, X, y):
            raise ValueError("X is ugly.\nSee page 7.")

    register_model(ModelSpec("picky", lambda context: Picky(), ""))
    with pytest.raises(PalmetteError, match=r"^picky on toy, random-0: X is ugly\.$"):
        compare([toy], ["picky"], n_splits=1)


def test_our_own_mistakes_stay_tracebacks(toy, registry):
    class Broken(DummyClassifier):
        def fit(self, X, y):
            raise RuntimeError("a bug")

    register_model(ModelSpec("broken", lambda context: Broken(), ""))
    with pytest.raises(RuntimeError, match="a bug"):
        compare([toy], ["broken"], n_splits=1)


def test_two_data_sets_of_one_name(toy):
    with pytest.raises(PalmetteError, match="two data sets named 'toy'"):
        compare([toy, toy], MODELS[:1], n_splits=1)


@pytest.mark.parametrize("part", ["train", "test"])
def test_several_paths_are_refused_before_any_fit(part, registry):
    register_model(ModelSpec("broad", lambda context: DummyClassifier(), "", several_paths=True))
    star = Hierarchy.star(["a", "b"])
    labels = {"train": [{"a"}, {"b"}], "test": [{"a"}, {"b"}]}
    labels[part] = [{"a", "b"}, {"b"}]
    X = np.eye(2)
    problem = Problem("pairs", star, X, labels["train"], X, labels["test"])
    watch = Watch()
    with pytest.raises(PalmetteError, match=r"pairs has several paths per row.*which flat cannot"):
        compare([problem], ["broad", "flat"], watch=watch)
    assert watch == []


def test_text_models_see_texts(texts):
    found = compare([texts], ["flat-naive-bayes"], n_splits=1)
    assert found.rows[0]["hierarchical_f1"] == 1.0
    assert "MixedNaiveBayes" in found.estimators["texts"]["flat-naive-bayes"]


def test_estimators_are_written_out(toy):
    found = compare([toy], ["flat-forest"], n_splits=2, seed=3)
    assert found.estimators == {
        "toy": {"flat-forest": "FlatClassifier(estimator=RandomForestClassifier(random_state=3))"}
    }


@pytest.mark.data
def test_real_data_with_categories_and_gaps(data_home):
    from palmette.compare._problems import find_problem

    problems = [find_problem(name, data_home=data_home) for name in ("zoo", "bridges")]
    found = compare(problems, ["flat", "local-per-parent-naive-bayes"], ["leaf_accuracy"])
    means = found.means("zoo")
    assert means[0]["leaf_accuracy"] > 0.8
    assert [row["split"] for row in found.rows if row["dataset"] == "bridges"] == ["published"] * 2
