"""Laws of fitting a table of tasks: it is a plain loop, however many work at it."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from joblib import effective_n_jobs
from scipy import sparse
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.spies import Deaf, Spy

from palmette._arrays import seed_each
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace, TaskTable
from palmette.local._tasks import fit_tasks

H = Hierarchy.from_paths([(a, b, c) for a in "pqr" for b in "st" for c in "uvw"])
SPACE = LabelSpace(H, H.leaves)
TABLE = TaskTable.per_parent(SPACE)
CODES = np.random.default_rng(0).permutation(np.arange(90) % SPACE.n_classes).astype(np.int32)
X = np.random.default_rng(1).normal(size=(90, 3)) + CODES[:, None] / 4
WEIGHTS = np.arange(90.0) + 1


def fit(estimator, rows=X, table=TABLE, **options):
    return fit_tasks(table, rows, CODES, lambda task: estimator, **options)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_task_sees_its_rows_in_order_with_their_weights(n_jobs):
    fitted = fit(Spy(), sample_weight=WEIGHTS, n_jobs=n_jobs)
    targets = TABLE.to_array()[:, CODES]
    assert len(fitted) == len(TABLE) == 10
    for spy, target in zip(fitted, targets, strict=True):
        seen = target != TABLE.UNSEEN
        assert np.array_equal(spy.X_, X[seen])
        assert np.array_equal(spy.y_, target[seen])
        assert np.array_equal(spy.weights_, WEIGHTS[seen])


def test_estimators_are_clones_and_the_given_one_stays_unfitted():
    given = Spy()
    fitted = fit(given)
    assert not hasattr(given, "classes_")
    assert len({id(spy) for spy in fitted}) == len(TABLE)
    assert all(spy.weights_ is None for spy in fitted)


@pytest.mark.parametrize(
    "rows",
    [
        sparse.csr_array(X),
        pd.DataFrame(X, columns=list("abc")),
        pd.DataFrame(X, index=np.arange(90)[::-1]),
        [f"text {i}" for i in range(90)],
        np.array([f"text {i}" for i in range(90)], dtype=object),
    ],
    ids=["sparse", "frame", "frame with an index", "texts", "array of texts"],
)
def test_rows_stay_of_their_kind(rows):
    for spy, target in zip(fit(Spy(), rows), TABLE.to_array()[:, CODES], strict=True):
        seen = np.flatnonzero(target != TABLE.UNSEEN)
        assert type(spy.X_) is type(rows)
        if isinstance(rows, list):
            assert [rows[i] for i in seen] == spy.X_
        elif isinstance(rows, pd.DataFrame):
            pd.testing.assert_frame_equal(spy.X_, rows.iloc[seen])
        elif sparse.issparse(rows):
            assert (rows[seen] != spy.X_).nnz == 0
        else:
            assert np.array_equal(spy.X_, rows[seen])


def test_all_cores_are_used():
    if effective_n_jobs(-1) == 1:
        pytest.skip("this machine has one core")
    processes = {spy.process_ for spy in fit(Spy(pause=0.05), n_jobs=-1)}
    assert len(processes) > 1
    assert os.getpid() not in processes


def test_one_job_stays_in_this_process():
    assert {spy.process_ for spy in fit(Spy())} == {os.getpid()}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_seeds_are_drawn_before_any_task_runs(n_jobs):
    seeds = [spy.random_state for spy in fit(Spy(), random_state=5, n_jobs=n_jobs)]
    assert len(set(seeds)) == len(TABLE)
    assert seeds == [spy.random_state for spy in fit(Spy(), random_state=5)]
    assert seeds != [spy.random_state for spy in fit(Spy(), random_state=6)]


def test_without_a_random_state_estimators_keep_their_own():
    assert {spy.random_state for spy in fit(Spy(random_state=7))} == {7}


def test_seeds_reach_the_parts_of_a_pipeline():
    pipelines = [make_pipeline(StandardScaler(), DecisionTreeClassifier()) for _ in range(3)]
    seed_each(pipelines, 0)
    seeds = [pipe.get_params()["decisiontreeclassifier__random_state"] for pipe in pipelines]
    assert None not in seeds
    assert len(set(seeds)) == 3
    seed_each([StandardScaler()], 0)  # nothing to seed


def test_weights_that_nobody_takes_are_an_error_before_any_work():
    with pytest.raises(PalmetteError, match=r"Deaf\.fit does not accept it"):
        fit(Deaf(pause=60.0), sample_weight=WEIGHTS)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_the_end_of_a_pipeline(n_jobs, routing):
    with config_context(enable_metadata_routing=routing):
        last = Spy().set_fit_request(sample_weight=True) if routing else Spy()
        fitted = fit(make_pipeline(last), sample_weight=WEIGHTS, n_jobs=n_jobs)
        for pipe, target in zip(fitted, TABLE.to_array()[:, CODES], strict=True):
            assert np.array_equal(pipe[-1].weights_, WEIGHTS[target != TABLE.UNSEEN])


def test_with_metadata_routing_weights_that_no_step_requested_raise():
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=r"sample_weight.* are passed but are not explicitly set"),
    ):
        fit(make_pipeline(LogisticRegression()), sample_weight=WEIGHTS)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_table_without_tasks_fits_nothing(n_jobs):
    assert fit_tasks(TaskTable([], 1), X, np.zeros(90, np.int32), None, n_jobs=n_jobs) == []
