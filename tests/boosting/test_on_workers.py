"""Rows on workers: any number of them gives the model of one process, bit by bit.

The workers are objects of this process; `tests/cluster` has workers of Dask.
"""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from tests.boosting.test_block_fits import ONE_PATH, SEVERAL, bits_of, make_data, worth_threads

import palmette as pm
from palmette._arrays import in_memory
from palmette.base import _lazy
from palmette.boosting import _block_sums, _on_workers, _weak
from palmette.boosting._on_workers import _divide
from palmette.boosting._team import LostWorkerError
from palmette.exceptions import PalmetteError
from palmette.trees import _binning

assert worth_threads  # a fixture: blocks of a few hundred rows


class Team:
    """Workers in this process; messages are pickled, as they are on their way to others."""

    n_calls = 0

    def __init__(self, kind, parts, lose_at):
        self.members = [kind(*(sent(in_memory(each)) for each in part)) for part in parts]
        self.lose_at = lose_at

    def call(self, method, *given):
        return self.call_each(method, [given] * len(self.members))

    def call_each(self, method, given):
        Team.n_calls += 1
        if Team.n_calls in self.lose_at:
            raise LostWorkerError
        pairs = zip(self.members, given, strict=True)
        return [sent(getattr(member, method)(*sent(own))) for member, own in pairs]


def sent(message):
    return pickle.loads(pickle.dumps(message))


@pytest.fixture
def workers(monkeypatch):
    """Return a function that sets the threads of each worker, and the calls that are lost."""

    def start(n_threads, lose_at=()):
        Team.n_calls = 0
        seen = []

        @contextmanager
        def team_on(client, kind, divide, *, direct):
            seen.append(direct)
            yield Team(kind, divide(n_threads), lose_at)

        monkeypatch.setattr(_on_workers, "team_on", team_on)
        return seen

    return start


def model_of(X, y, weights=None, client=None, **options):
    given = {"n_bags": 1, "n_estimators": 4, "random_state": 0, "client": client, **options}
    return pm.HierarchicalBoostingClassifier(**given).fit(X, y, sample_weight=weights)


FIRST = {name: ONE_PATH[name] for name in ("labels", "deep", "paths", "half of the rows", "nodes")}


@pytest.mark.parametrize("case", [*FIRST, "bags", "early stopping", "all features"])
def test_the_number_of_workers_changes_no_bit(case, workers):
    X, y = make_data()
    expected = bits_of(model_of(X, y, **ONE_PATH[case]))
    for n_threads in ([1] * 40, [2, 1]) if case == "labels" else ([2, 1],):
        workers(n_threads)
        found = model_of(X, y, client="here", **ONE_PATH[case])
        assert bits_of(found) == expected
        assert Team.n_calls


def test_a_round_has_two_calls_per_level_and_one_more(workers):
    workers([1, 1])
    X, y = make_data()  # of the first columns, which vary at every node
    model_of(X[:, :5], y, client="here", n_estimators=3, max_depth=4)
    assert Team.n_calls == 1 + 3 * (2 * 4 + 1)  # the ranges of all codes first


@pytest.mark.parametrize("case", ["nodes", "half of the rows", "bags"])
def test_several_paths_and_weights(case, workers):
    X, y = make_data(several=True)
    weights = np.random.default_rng(1).random(len(X)) + 0.5
    weights[::7] = 0
    expected = bits_of(model_of(X, y, weights, **SEVERAL[case]))
    workers([1, 1, 1])
    assert bits_of(model_of(X, y, weights, client="here", **SEVERAL[case])) == expected


def test_splits_by_some_of_many_labels(workers, monkeypatch):
    monkeypatch.setattr(_weak, "_MANY_COLUMNS", 100)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    y = [f"{a}" for a in np.argsort(X @ rng.normal(size=(6, 140)) + rng.normal(size=140))[:, 0]]
    y[:140] = [f"{a}" for a in range(140)]
    expected = bits_of(model_of(X, y, n_estimators=2))
    workers([1, 1])
    assert bits_of(model_of(X, y, client="here", n_estimators=2)) == expected


@pytest.mark.parametrize("lost", [{1}, {2}, {5}, {9, 15}, {13, 14, 15}])
def test_a_lost_worker_changes_nothing(lost, workers):
    X, y = make_data()
    expected = bits_of(model_of(X, y, max_depth=3, n_iter_no_change=3))
    seen = workers([1, 1], lost)
    found = model_of(X, y, client="here", max_depth=3, n_iter_no_change=3)
    assert bits_of(found) == expected
    assert seen == [True, *[False] * len(lost)]  # then by way of the scheduler


def test_workers_that_are_lost_again_and_again(workers):
    workers([1, 1], set(range(8, 1000)))
    with pytest.raises(PalmetteError, match="workers were lost 4 times in a row"):
        model_of(*make_data(), client="here")


# ---------------------------------------------------------------------- arrays of Dask


class Client:
    """Computes Dask collections in this process, and counts the numbers that it gives back."""

    n_numbers = 0

    def sync(self, function, callback_timeout):
        """Return what a scheduler knows: a worker is here."""
        return {"workers": {"tcp://host": {"status": "running"}}}

    def compute(self, lazy):
        found = [each.compute(scheduler="sync") for each in lazy]
        Client.n_numbers += sum(np.size(each) for each in found)
        return found


@pytest.fixture
def lazy(monkeypatch, workers):
    """Return a function that makes Dask collections; two workers compute them."""
    pytest.importorskip("dask")
    import dask.array as da
    import dask.dataframe as dd

    @contextmanager
    def connected(client):
        yield Client()

    monkeypatch.setattr(_lazy, "connected", connected)
    monkeypatch.setattr(_binning, "_SAMPLED_ROWS", 1500)
    workers([1, 1])
    Client.n_numbers = 0

    def make(X, kind):
        if kind == "array":
            return da.from_array(X, chunks=(700, 4))
        columns = [f"x{j}" for j in range(X.shape[1])]
        frame = dd.from_pandas(pd.DataFrame(X, columns=columns), chunksize=700)
        return frame if kind == "table" else frame.to_dask_array()

    return make


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", ["array", "table", "array of unknown length"])
def test_arrays_of_dask_stay_where_they_are(lazy, kind):
    X, y = make_data()
    X[3] = 0.5
    expected = model_of(X, y)
    found = model_of(lazy(X, kind), y, client="here")
    assert bits_of(found) == bits_of(expected)
    assert Team.n_calls
    assert Client.n_numbers <= 1500 * X.shape[1] + 10  # those that bins are found from
    assert hasattr(found, "feature_names_in_") == (kind == "table")
    np.testing.assert_array_equal(found.predict_proba(X[:9]), expected.predict_proba(X[:9]))


@pytest.mark.parametrize("options", [{"n_iter_no_change": 2}, {"subsample": 0.5}])
def test_some_rows_of_arrays_of_dask(lazy, options, monkeypatch):
    monkeypatch.setattr(_binning, "_FEW_FEATURES", 4)  # at a time
    X, y = make_data()
    weights = np.arange(len(X)) % 5 + 0.0
    expected = model_of(X, y, weights, **options)
    found = model_of(lazy(X, "array"), y, weights, client="here", **options)
    assert bits_of(found) == bits_of(expected)


def test_small_arrays_of_dask_are_gathered(lazy):
    X, y = make_data()
    model = model_of(lazy(X[:300], "array"), y[:300], client="here")
    assert bits_of(model) == bits_of(model_of(X[:300], y[:300]))
    assert Team.n_calls == 0


def test_what_is_wrong_with_a_part_is_an_error(lazy):
    X, y = make_data()
    X[-1, 0] = np.inf
    with pytest.raises(ValueError, match="contains infinity"):
        model_of(lazy(X, "array"), y, client="here", max_bins=7)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model_of(lazy(X[:-1], "table"), y, client="here")


# ---------------------------------------------------------------------- other fits


def test_rounds_go_on_where_they_stopped(workers):
    X, y = make_data()
    options = {"warm_start": True, "max_depth": 3}
    whole = model_of(X, y, **options)
    workers([1, 1])
    parts = model_of(X, y, client="here", n_estimators=2, **options)
    parts.set_params(n_estimators=4).fit(X, y)
    assert bits_of(parts) == bits_of(whole)


def test_small_data_are_fitted_here():
    X, y = make_data()
    model = model_of(X[:200], y[:200], client="nobody asks it")
    assert bits_of(model) == bits_of(model_of(X[:200], y[:200]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "exponential"}, r"loss='exponential' has no version for client='c'"),
        ({"thresholds": "best"}, r"thresholds='best' has no version for client='c': pass client=N"),
    ],
)
def test_what_workers_cannot_do(options, message):
    with pytest.raises(PalmetteError, match=message):
        model_of(*make_data(), client="c", **options)


def test_larger_blocks_are_made_of_smaller_ones():
    for n_samples in (300, 5000, 131_071, 1_000_003):
        sizes = {
            _block_sums.block_rows(n_samples, n_columns, n_sums)
            for n_columns in (1, 20, 600)
            for n_sums in (1, 64, 1000, 20_000)
        }
        assert all(b % a == 0 for a, b in pairwise(sorted(sizes)))


def test_every_worker_has_whole_units():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n_samples, unit = int(rng.integers(1, 10_000)), int(rng.integers(1, 2000))
        n_threads = rng.integers(1, 9, size=rng.integers(1, 70)).tolist()
        bounds = _divide(n_samples, unit, n_threads)
        assert bounds[0] == 0
        assert bounds[-1] == n_samples
        assert len(bounds) - 1 == min(len(n_threads), -(-n_samples // unit))
        assert all(a < b and a % unit == 0 for a, b in pairwise(bounds))
