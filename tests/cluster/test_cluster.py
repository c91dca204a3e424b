"""Fits on a Dask cluster of two processes equal those on one machine; lost workers cost time."""

from __future__ import annotations

import gc
import pickle
import socket
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from tests.boosting.test_block_fits import bits_of, make_data
from tests.cluster.conftest import PATIENCE
from tests.cluster.jobs import (
    Counter,
    add,
    add_pair_slowly,
    add_slowly,
    divide,
    kill,
    kill_at,
    kill_at_job,
    run_out_of_time,
)
from tests.table.calls import fail_at, square, warn
from tests.table.goods import make_goods

import palmette as pm
from palmette.base import _cluster
from palmette.base._clients import connected, started, workers_of
from palmette.base._cluster import GONE, computed_on, map_on, stream_on
from palmette.boosting import _team
from palmette.boosting._team import LostWorkerError, team_on
from palmette.compare import Problem, ResultStore, compare
from palmette.exceptions import PalmetteError, ReadError
from palmette.table import fit_table
from palmette.table._predicting import predict_chunks
from palmette.table._sources import TableSource
from palmette.table._workers import map_in_order

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.thorough

TREE = pm.Hierarchy.from_paths([("a", "x"), ("a", "y"), ("a", "z"), ("b", "u"), ("b", "v"), ("c",)])


def problem(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(6, size=n_rows)
    X = rng.normal(size=(n_rows, 5)) + 2 * rng.normal(size=(6, 5))[codes]
    names = np.array(["x", "y", "z", "u", "v", "c"])
    return X, names[codes]


# ---------------------------------------------------------------------- calls on workers


def test_results_come_in_the_order_of_the_jobs(client):
    jobs = [(i,) for i in range(30)]
    assert map_on(client, add, (100,), jobs) == list(range(100, 130))
    sizes = np.random.default_rng(0).random(30).tolist()
    assert map_on(client, add, (100,), jobs, sizes=sizes) == list(range(100, 130))


def test_small_jobs_are_sent_together():
    rng = np.random.default_rng(0)
    for n_jobs in (1, 3, 40, 700):
        for sizes in (rng.random(n_jobs) ** 9, np.ones(n_jobs), np.zeros(n_jobs)):
            groups = _cluster._grouped(sizes.tolist(), 3)
            assert sorted(chain(*groups)) == list(range(n_jobs))
            assert len(groups) <= min(n_jobs, 2 * 16 * 3)
            largest = [sizes[group].max() for group in groups]
            assert largest == sorted(largest, reverse=True)
            assert all(sizes[g].sum() <= max(sizes[g].max(), sizes.sum() / 47) for g in groups)


def test_errors_of_a_job_are_raised_at_once(client):
    with pytest.raises(ZeroDivisionError):
        map_on(client, divide, (1,), [(1,), (0,)])


def test_time_outs_of_a_job_are_errors_of_its_own(client):
    with pytest.raises(TimeoutError, match="of the job"):
        map_on(client, run_out_of_time, (1,), [(0,), (1,)])
    with pytest.raises(TimeoutError, match="of the job"):
        list(stream_on(client, run_out_of_time, (1,), iter([0, 1])))


def test_calls_at_the_same_time_do_not_mix(client):
    with ThreadPoolExecutor(2) as pool:
        found = [
            pool.submit(map_on, client, add, (start,), [(i,) for i in range(20)])
            for start in (0, 100)
        ]
    assert [each.result()[19] for each in found] == [19, 119]


def test_clients_that_are_none(cluster):
    with connected(cluster.scheduler_address) as live:
        assert map_on(live, add, (1,), [(2,)]) == [3]
    with (
        pytest.raises(PalmetteError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"),
        connected("tcp://127.0.0.1:1", timeout=0.2),
    ):
        pass
    with pytest.raises(PalmetteError, match=r"client is a int: expected a distributed\.Client"):
        pm.LocalPerParentClassifier(client=3).fit(*problem())


def test_a_cluster_without_workers():
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as empty,
        distributed.Client(empty, set_as_default=False) as client,
        dask.config.set({"palmette.timeout": 0.2}),
    ):
        with (
            pytest.raises(PalmetteError, match=r"the cluster has no workers after 0.2 s"),
            connected(client),
        ):
            pass
        for job in (
            lambda: map_on(client, add, (1,), [(1,)]),
            lambda: list(stream_on(client, add, (1,), iter([1]))),
            lambda: computed_on(client, [da.ones(3)]),
        ):
            with pytest.raises(PalmetteError, match=r"the cluster has no workers after 0.2 s"):
                job()


# ---------------------------------------------------------------------- streams


def test_a_stream_has_results_errors_and_warnings_of_one_process(client):
    read = []
    items = (read.append(i) or i for i in range(30))
    for i, found in enumerate(map_in_order(square, items, client=client)):
        assert found == i * i
        assert len(read) <= i + 5
    found = []
    with pytest.raises(ReadError, match=r"a\.csv:7: wrong"):
        found.extend(map_in_order(partial(fail_at, 7), range(30), client=client))
    assert found == list(range(7))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        assert list(map_in_order(warn, range(6), client=client)) == list(range(6))
    assert [str(each.message) for each in told] == ["doubtful"]


@pytest.mark.thorough
def test_predictions_are_the_same_bytes(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    goods = make_goods()
    pm.save(fit_table(goods, "kind", model="flat-naive-bayes", folds=0), "model.palmette")
    goods.to_csv("new.csv", index=False)
    model, source = pm.load("model.palmette"), TableSource.of("new.csv")
    expected = pd.concat(predict_chunks(model, source, rows=7))
    found = pd.concat(predict_chunks(model, source, rows=7, client=client))
    assert found.to_csv() == expected.to_csv()


# ---------------------------------------------------------------------- objects on workers


def starts_of(n_threads):
    return [(10 * i,) for i in range(len(n_threads))]


def objects_on(client):
    """Return the numbers of results and of objects that every worker has."""
    return client.run(lambda dask_worker: (len(dask_worker.data), len(dask_worker.state.actors)))


def nothing_stays_on(client, patience=120.0):
    """Return whether workers let go of all that they have: they hear of it a little later."""
    gc.collect()
    late = time.monotonic() + patience
    while set(objects_on(client).values()) != {(0, 0)} and time.monotonic() < late:
        time.sleep(0.05)
    return set(objects_on(client).values()) == {(0, 0)}


@pytest.mark.parametrize("direct", [True, False])
def test_objects_on_workers_remember(client, direct):
    with team_on(client, Counter, starts_of, direct=direct) as team:
        assert team.call("add", 1) == [1, 11]
        assert team.call_each("add", [(1,), (2,)]) == [2, 13]
        with pytest.raises(ZeroDivisionError) as error:
            team.call("fail")
        assert "in fail" in error.value.__notes__[0]  # the line on the worker
        assert team.call("add", 0) == [2, 13]


def test_calls_have_connections_of_their_own(client, monkeypatch):
    with team_on(client, Counter, starts_of) as team:
        assert len(team._lines) == 2
        port = team._actors[0].listen("127.0.0.1", b"known").result()
        stranger = _team._line(socket.create_connection(("127.0.0.1", port)))
        stranger.send_bytes(b"wrong")  # who does not know the token is not answered
        with pytest.raises((EOFError, OSError)):
            stranger.recv_bytes()
        assert team.call("add", 1) == [1, 11]
    monkeypatch.setattr(_team.socket, "create_connection", refuse)
    with team_on(client, Counter, starts_of) as team:
        assert not team._lines
        assert team.call("add", 1) == [1, 11]  # by Dask
    assert nothing_stays_on(client)


def refuse(address, timeout):
    raise ConnectionRefusedError


def test_there_may_be_more_workers_than_parts(client):
    with team_on(client, Counter, lambda n_threads: [(5,)]) as team:
        assert team.call("add", 1) == [6]


# ---------------------------------------------------------------------- estimators


MODELS = {
    "per parent": pm.LocalPerParentClassifier(LogisticRegression(), hierarchy=TREE),
    "per node": pm.LocalPerNodeClassifier(LogisticRegression(), hierarchy=TREE),
    "per level": pm.LocalPerLevelClassifier(LogisticRegression(), hierarchy=TREE),
    "forest": pm.StructuredForestClassifier(5, random_state=0, hierarchy=TREE),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_model_is_that_of_one_machine(client, name, kind, tmp_path):
    X, y = problem()
    X = sparse.csr_array(X * (X > 0)) if kind == "sparse" else X
    weights = np.arange(len(y)) % 3 + 1.0
    expected = clone(MODELS[name]).fit(X, y, weights).predict_node_proba(X)
    model = clone(MODELS[name]).set_params(client=client).fit(X, y, weights)
    np.testing.assert_array_equal(model.predict_node_proba(X), expected)
    pm.save(model, tmp_path / "model.palmette")
    again = pm.load(tmp_path / "model.palmette")
    assert again.client is None
    np.testing.assert_array_equal(again.predict_node_proba(X), expected)
    assert pickle.loads(pickle.dumps(model)).client is None


def test_label_sets_and_a_dag(client):
    X, y = problem()
    sets = [{name, "c"} if i % 4 == 0 else {name} for i, name in enumerate(y)]
    model = pm.LocalPerNodeClassifier(LogisticRegression(), hierarchy=TREE)
    expected = clone(model).fit(X, sets).predict_node_proba(X)
    found = model.set_params(client=client).fit(X, sets).predict_node_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12)  # all rows, at other addresses


def test_jobs_carry_row_numbers_and_data_are_placed_once(client, monkeypatch):
    _, y = problem()
    X = np.random.default_rng(0).normal(size=(len(y), 400))
    jobs, data = [], []
    submit, scatter = client.submit, client.scatter
    monkeypatch.setattr(
        client,
        "submit",
        lambda f, *a, **k: jobs.append(len(pickle.dumps(a[2]))) or submit(f, *a, **k),
    )
    monkeypatch.setattr(client, "scatter", lambda *a, **k: data.append(a) or scatter(*a, **k))
    model = pm.LocalPerParentClassifier(LogisticRegression(max_iter=2), hierarchy=TREE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(client=client).fit(X, y)
    assert len(data) == 1
    assert sum(jobs) < X.nbytes / 50
    assert nothing_stays_on(client)


def test_a_clone_has_the_same_client(client):
    X, y = problem()
    model = pm.LocalPerParentClassifier(LogisticRegression(), hierarchy=TREE, client=client)
    assert clone(model).client is client
    expected = cross_val_score(clone(model).set_params(client=None), X, y, cv=2)
    np.testing.assert_array_equal(cross_val_score(model, X, y, cv=2), expected)


# ---------------------------------------------------------------------- arrays and tables of Dask


@pytest.mark.parametrize(
    "model",
    [
        pm.LocalPerParentClassifier(LogisticRegression(), hierarchy=TREE),
        pm.HierarchicalBoostingClassifier(n_estimators=5, random_state=0, hierarchy=TREE),
        pm.StructuredForestClassifier(3, random_state=0, hierarchy=TREE),
        pm.ClassTreeClassifier(TREE, router="linear", random_state=0),
        pm.CoherentForestClassifier(5, random_state=0, hierarchy=TREE),
    ],
    ids=lambda model: type(model).__name__,
)
def test_arrays_of_dask_are_read_like_ordinary_ones(model):
    X, y = problem()
    expected = clone(model).fit(X, y).predict_proba(X)
    lazy = da.from_array(X, chunks=(70, 5))
    with pytest.warns(UserWarning, match="all of it is gathered"):
        found = clone(model).fit(lazy, da.from_array(y, chunks=110))
    np.testing.assert_array_equal(found.predict_proba(lazy), expected)


def test_tables_of_dask():
    X, y = problem()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = pm.LocalPerParentClassifier(LogisticRegression(), hierarchy=TREE)
    expected = clone(model).fit(frame, pd.Series(y)).predict(frame)
    lazy = dd.from_pandas(frame, npartitions=3)
    weights = da.ones(len(y), chunks=100)
    with pytest.warns(UserWarning, match="all of it is gathered"):
        found = clone(model).fit(lazy, dd.from_pandas(pd.Series(y), npartitions=3), weights)
    assert found.predict(lazy).compute().tolist() == expected.tolist()
    assert found.feature_names_in_.tolist() == list("abcde")


@pytest.mark.parametrize("moments", ["mean", "scatter"])
def test_statistics_are_added_on_the_workers(client, moments):
    X, y = problem()
    codes, weights = np.unique(y, return_inverse=True)[1], np.arange(len(y)) % 3 + 1.0
    parts = [slice(start, start + 70) for start in range(0, len(y), 70)]
    chunks = [(X[rows], codes[rows], weights[rows]) for rows in parts]
    expected = pm.ClassStatistics.gather_chunks(chunks, 6, moments)
    lazy, lazy_codes = da.from_array(X, chunks=(70, 2)), da.from_array(codes, chunks=100)
    found = pm.ClassStatistics.gather(lazy, lazy_codes, 6, weights, moments, client=client)
    frame = dd.from_pandas(pd.DataFrame(X), chunksize=70)  # by threads of this process
    for each in (found, pm.ClassStatistics.gather(frame, codes, 6, weights, moments)):
        np.testing.assert_array_equal(each.sum, expected.sum)
        np.testing.assert_array_equal(each.weight, expected.weight)
        if moments == "scatter":
            np.testing.assert_array_equal(each.scatter, expected.scatter)
    with pytest.raises(PalmetteError, match=r"shape \(299,\): expected one number for each of the"):
        pm.ClassStatistics.gather(lazy, codes[1:], 6, client=client)


# ---------------------------------------------------------------------- comparisons and tables


def test_the_cells_of_a_comparison(client, tmp_path):
    X, y = problem(80)
    toy = [Problem("toy", TREE, X, y)]
    models = ["flat-naive-bayes", "local-per-parent-naive-bayes"]
    expected = compare(toy, models, n_splits=2)
    store = ResultStore(tmp_path / "cells.jsonl")
    seen, received = [], []
    found = compare(
        toy, models, n_splits=2, store=store, client=client,
        watch=lambda *cell: seen.append(cell),
        receive=lambda split, model, labels: received.append((split.name, model)),
    )  # fmt: skip
    keys = ("dataset", "split", "model", "hierarchical_f1")
    assert [[row[k] for k in keys] for row in found.rows] == [
        [row[k] for k in keys] for row in expected.rows
    ]
    assert len(seen) == len(received) == 4
    seen.clear()
    again = compare(
        toy, models, n_splits=2, store=ResultStore(tmp_path / "cells.jsonl"), client=client,
        watch=lambda *cell: seen.append(cell),
    )  # fmt: skip
    assert seen == []
    assert again.rows == found.rows


def test_an_error_in_a_cell_names_it(client):
    X, y = problem(40)
    broken = [Problem("toy", TREE, np.where(X > 0, X, np.inf), y)]
    with pytest.raises(PalmetteError, match="mf-tree on toy, "):
        compare(broken, ["mf-tree"], n_splits=1, client=client)


def test_a_table_is_fitted_on_the_workers(client):
    X, y = problem(100)
    table = pd.DataFrame(X, columns=list("abcde")).assign(kind=y)
    options = {"target": "kind", "model": "local-per-parent", "folds": 0, "hierarchy": TREE}
    expected = fit_table(table, **options).predict_proba(table)
    found = fit_table(table, **options, client=client)
    np.testing.assert_array_equal(found.predict_proba(table), expected)


def test_what_options_ask_for():
    with started(None, None) as nothing:
        assert nothing is None
    with (
        pytest.raises(PalmetteError, match="both a number of workers and a scheduler"),
        started(2, "tcp://h:1"),
    ):
        pass
    with pytest.raises(PalmetteError, match="got 0 workers"), started(0, None):
        pass


# ---------------------------------------------------------------------- lost workers


def test_calls_that_dask_forgets_are_sent_again(client, monkeypatch):
    """As if their data were lost: such a call is never done."""
    submit, forgotten = client.submit, []

    class Forgotten:
        status = "lost"

        def add_done_callback(self, call):
            """Nothing will ever call it."""

    def forget_two(*given, **options):
        if len(forgotten) == 2:
            return submit(*given, **options)
        forgotten.append(Forgotten())
        return forgotten[-1]

    monkeypatch.setattr(client, "submit", forget_two)
    assert map_on(client, add, (1,), [(i,) for i in range(3)]) == [1, 2, 3]
    assert len(forgotten) == 2


@pytest.mark.thorough
def test_a_lost_worker_costs_its_job_only(client, tmp_path):
    jobs = [(i, str(tmp_path / "died")) for i in range(20)]
    assert map_on(client, add_slowly, (np.arange(3),), jobs)[19].tolist() == [19, 20, 21]
    assert (tmp_path / "died").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["per node", "forest", "cells of a comparison"])
def test_every_kind_of_job_outlives_a_worker(client, kind, tmp_path):
    X, y = problem(80)

    def result(cluster):
        if kind in MODELS:
            return (
                clone(MODELS[kind]).set_params(client=cluster).fit(X, y).predict_proba(X).tobytes()
            )
        models = ["flat-naive-bayes", "local-per-parent-naive-bayes"]
        found = compare([Problem("toy", TREE, X, y)], models, n_splits=2, client=cluster)
        return [row["hierarchical_f1"] for row in found.rows]

    expected = result(None)
    client.wait_for_workers(2, timeout=PATIENCE)
    client.run(kill_at_job, 2, str(tmp_path / "died"))
    assert result(client) == expected
    assert (tmp_path / "died").exists()


@pytest.mark.thorough
def test_a_stream_outlives_a_worker(client, tmp_path, monkeypatch):
    died = str(tmp_path / "died")
    jobs = iter([(i, died) for i in range(20)])
    found = stream_on(client, add_pair_slowly, (100,), jobs)
    assert list(found) == list(range(100, 120))
    assert (tmp_path / "died").exists()
    monkeypatch.setattr(_cluster, "ATTEMPTS", 1)
    with pytest.raises(PalmetteError, match="a part was lost with its worker 1 times"):
        list(stream_on(client, kill, (1,), iter([1])))


@pytest.mark.thorough
def test_a_lost_object_is_known(client, tmp_path):
    with (
        pytest.raises(LostWorkerError),
        team_on(client, Counter, starts_of) as team,
    ):
        team.call("die", str(tmp_path / "died"))
    client.wait_for_workers(2, timeout=PATIENCE)


class ForgottenFuture:
    """As of Dask, if data that a call needs were lost with another worker: it is never done."""

    def __init__(self, status):
        self.status = status

    def result(self, timeout):
        raise TimeoutError


@pytest.mark.parametrize("status", GONE)
def test_objects_that_dask_forgets_are_lost(client, status):
    [address, *_] = workers_of(client)  # which is there
    with pytest.raises(LostWorkerError):
        _team._awaited(client, ForgottenFuture(status), address)


def test_an_object_whose_worker_ends_is_lost(client, monkeypatch):
    """A worker that ends answers with an error of its pool of threads."""
    with team_on(client, Counter, starts_of) as team:

        def sync(function, callback_timeout):
            raise RuntimeError("cannot schedule new futures after shutdown")

        monkeypatch.setattr(team, "_lines", ())
        monkeypatch.setattr(team._client, "sync", sync)
        with pytest.raises(LostWorkerError):
            team.call("add", 1)
        monkeypatch.undo()


def test_the_last_worker_may_be_lost_before_objects_are_placed(client, monkeypatch):
    monkeypatch.setattr(_team, "workers_of", lambda client: {})
    with pytest.raises(LostWorkerError), team_on(client, Counter, starts_of):
        pass


@pytest.mark.thorough
def test_boosting_goes_on_when_a_worker_is_lost(client, tmp_path):
    X, y = make_data()
    options = {"n_bags": 1, "n_estimators": 3, "random_state": 0}
    expected = bits_of(pm.HierarchicalBoostingClassifier(**options).fit(X, y))
    model = pm.HierarchicalBoostingClassifier(**options, client=client)
    assert bits_of(model.fit(X, y)) == expected
    client.run(kill_at, 17, str(tmp_path / "died"))
    assert bits_of(model.fit(da.from_array(X, chunks=(900, 3)), y)) == expected
    assert (tmp_path / "died").exists()
    with ThreadPoolExecutor(2) as pool:  # at the same time
        found = [pool.submit(clone(model).fit, X, y) for _ in range(2)]
        assert [bits_of(each.result()) == expected for each in found] == [True, True]
    assert nothing_stays_on(client)


@pytest.mark.thorough
def test_jobs_that_kill_every_worker_are_an_error(client, monkeypatch):
    monkeypatch.setattr(_cluster, "ATTEMPTS", 1)
    with pytest.raises(PalmetteError, match="1 of 1 jobs were lost with their workers 1 times"):
        map_on(client, kill, (1,), [(1,)])
