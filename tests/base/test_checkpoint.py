"""Laws of checkpoints: a fit that was ended anyhow goes on to the very same model."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.boosting.models import StopAfter
from tests.iterative import SampledCentroids

from palmette.boosting import _checkpoint as checkpoint
from palmette.boosting._checkpoint import Checkpoint, resume_from
from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.persistence.checkpoints import read_checkpoint, write_checkpoint

Y = np.arange(60) % 3
X = np.random.default_rng(0).normal(size=(60, 4)) + Y[:, None]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


def make(given=None, **parameters):
    model = SampledCentroids(**{"random_state": 0, **parameters})
    return model if given is None else model.set_callbacks(given)


def rounds_in(path):
    return int(read_checkpoint(path)[1]["n_rounds"])


def interrupt(given, at, **parameters):
    with pytest.raises(KeyboardInterrupt):
        make(given, interrupt_at=at, **parameters).fit(X, Y)


def same(one, two):
    return one.n_rounds_ == two.n_rounds_ and one.centroids_.tobytes() == two.centroids_.tobytes()


PLAIN = make().fit(X, Y)


# ---------------------------------------------------------------------- going on


def test_a_checkpoint_changes_nothing_and_is_there_when_the_fit_ends(path):
    model = make(Checkpoint(path)).fit(X, Y)
    assert same(model, PLAIN)
    assert rounds_in(path) == 20
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("at", [1, 7, 19])
def test_an_interrupted_fit_goes_on_to_the_same_model(path, at):
    interrupt(Checkpoint(path, every_rounds=1), at)
    assert rounds_in(path) == at
    assert same(make(Checkpoint(path)).fit(X, Y), PLAIN)
    assert rounds_in(path) == 20


def test_a_fit_can_be_interrupted_again_and_again(path):
    for at in (3, 6, 7, 15):
        interrupt(Checkpoint(path, every_rounds=3), at)
    assert same(make(Checkpoint(path)).fit(X, Y), PLAIN)


def test_an_interruption_leaves_the_last_checkpoint_in_place(path):
    interrupt(Checkpoint(path, every_rounds=4), at=11)
    assert rounds_in(path) == 8
    interrupt(Checkpoint(path, every_rounds=4), at=8)
    assert rounds_in(path) == 8


def test_a_finished_fit_is_read_and_its_file_not_written_again(path):
    make(Checkpoint(path)).fit(X, Y)
    before = path.stat()
    model = make(Checkpoint(path), interrupt_at=0).fit(X, Y)
    assert same(model, PLAIN)
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_a_finished_fit_can_be_made_longer(path):
    make(Checkpoint(path), n_rounds=12).fit(X, Y)
    assert same(make(Checkpoint(path)).fit(X, Y), PLAIN)


def test_a_fit_without_a_seed_goes_on_with_the_one_it_drew(path):
    interrupt(Checkpoint(path, every_rounds=5), at=9, random_state=None)
    seed = int(read_checkpoint(path)[1]["seed"])
    model = make(Checkpoint(path), random_state=None).fit(X, Y)
    assert same(model, make(random_state=seed).fit(X, Y))


def test_it_works_beside_other_callbacks_which_see_what_is_left(path):
    own = pytest.importorskip("sklearn.callback", reason="scikit-learn has them since 1.9")
    interrupt(Checkpoint(path, every_rounds=5), at=12)
    monitor = own.ScoringMonitor(scoring="accuracy")
    model = make().set_callbacks(own.ProgressBar(), monitor, Checkpoint(path)).fit(X, Y)
    assert same(model, PLAIN)
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert [row["task_id"] for row in rows] == list(range(10, 20))


def test_a_loop_that_is_left_early_ends_with_a_checkpoint(path):
    model = make(Checkpoint(path), leave_at=4).fit(X, Y)
    assert rounds_in(path) == model.n_rounds_ == 5


def test_in_a_pipeline_it_is_the_checkpoint_of_the_last_step(path):
    def pipeline(**parameters):
        given = Checkpoint(path, every_rounds=5)
        return make_pipeline(StandardScaler(), make(given, **parameters))

    with pytest.raises(KeyboardInterrupt):
        pipeline(interrupt_at=8).fit(X, Y)
    assert rounds_in(path) == 5
    scaled = StandardScaler().fit_transform(X)
    assert same(pipeline().fit(X, Y)[-1], make().fit(scaled, Y))


# ---------------------------------------------------------------------- killed

PRINTS_FINGERPRINTS = """
import numpy as np
from sklearn.preprocessing import FunctionTransformer
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.boosting._checkpoint import fingerprint_of_arrays, fingerprint_of_parameters
words = {"h": Hierarchy.star(["a", "b"]), "s": {"c", "d", "e", "f"}, "o": object()}
print(fingerprint_of_arrays(np.arange(5.0)))
print(fingerprint_of_parameters(FunctionTransformer(np.log, kw_args=words)), flush=True)
"""

# the process says what it fingerprints; then a fork of it stands still while it writes its third
# checkpoint, and when the fork has been killed, the process fits far too many rounds to finish
CHILD = """
import os, time
from tests.boosting.models import StopAfter
from tests.iterative import SampledCentroids
from palmette.boosting._checkpoint import Checkpoint

Y = np.arange(60) % 3
X = np.random.default_rng(0).normal(size=(60, 4)) + Y[:, None]

def fit(path, n_rounds):
    model = SampledCentroids(random_state=0, n_rounds=n_rounds)
    model.set_callbacks(Checkpoint(path, every_rounds=1)).fit(X, Y)

def stand_still(*args):
    calls.append(args)
    if len(calls) == 2:  # the first checkpoint is linked, the others replace it
        print(os.getpid(), flush=True)
        time.sleep(60)
    return real(*args)

real, calls = os.replace, []
fork = os.fork()
if fork == 0:
    os.replace = stand_still
    fit({writing!r}, 20)
else:
    print(os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]), flush=True)
    fit({running!r}, 10**6)
"""

needs_fork = pytest.mark.skipif(
    not hasattr(os, "fork"),
    reason="the writer that is killed is a fork",
)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """What a process said and left that was killed while it wrote, and between rounds."""
    found = SimpleNamespace(
        writing=tmp_path_factory.mktemp("writing") / "run.ckpt",
        running=tmp_path_factory.mktemp("running") / "run.ckpt",
    )
    script = CHILD.format(writing=str(found.writing), running=str(found.running))
    with subprocess.Popen(
        [sys.executable, "-c", PRINTS_FINGERPRINTS + script],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        found.said = child.stdout.readline() + child.stdout.readline()
        fork = int(child.stdout.readline())
        found.while_writing = list(found.writing.parent.iterdir())
        os.kill(fork, signal.SIGKILL)
        assert int(child.stdout.readline()) == -signal.SIGKILL
        deadline = time.monotonic() + 60
        while not found.running.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        child.kill()
        assert child.wait() == -signal.SIGKILL
    return found


@needs_fork
def test_a_fit_that_is_killed_goes_on_to_the_same_model(killed):
    done = rounds_in(killed.running)
    assert done > 0
    goal = done + 10
    model = make(Checkpoint(killed.running), n_rounds=goal).fit(X, Y)
    assert same(model, make(n_rounds=goal).fit(X, Y))


@needs_fork
def test_a_fit_killed_while_it_writes_keeps_the_checkpoint_before(killed):
    assert len(killed.while_writing) == 2  # the good file, and what is being written
    assert rounds_in(killed.writing) == 2
    assert same(make(Checkpoint(killed.writing)).fit(X, Y), PLAIN)


@needs_fork
def test_fingerprints_are_the_same_in_every_process(killed, capsys):
    exec(PRINTS_FINGERPRINTS, {})
    assert killed.said == capsys.readouterr().out


# ---------------------------------------------------------------------- pace


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(checkpoint.time, "monotonic", lambda: self.now)


def rounds_written(monkeypatch, given, seconds_a_round=1.0, seconds_a_write=0.0):
    """Rounds after which a fit of twenty writes a checkpoint."""
    clock, written = Clock(monkeypatch), []
    real_round = SampledCentroids._one_round

    def one_round(self, *args):
        real_round(self, *args)
        clock.now += seconds_a_round

    def write(path, fingerprint, arrays, **options):
        write_checkpoint(path, fingerprint, arrays, **options)
        written.append(int(arrays["n_rounds"]))
        clock.now += seconds_a_write

    monkeypatch.setattr(SampledCentroids, "_one_round", one_round)
    monkeypatch.setattr(checkpoint, "write_checkpoint", write)
    make(given).fit(X, Y)
    return written


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [20]),
        ({"every_seconds": 8}, [8, 16, 20]),
        ({"every_seconds": 0.5}, list(range(1, 21))),
        ({"every_rounds": 10}, [10, 20]),
        ({"every_rounds": 9, "every_seconds": None}, [9, 18, 20]),
        ({"every_rounds": 3, "every_seconds": 7}, [3, 6, 9, 12, 15, 18, 20]),
        ({"every_rounds": 7, "every_seconds": 5}, [5, 10, 15, 20]),
        ({"every_seconds": None}, [20]),
    ],
)
def test_checkpoints_are_written_at_their_time_and_at_the_end(path, monkeypatch, options, expected):
    assert rounds_written(monkeypatch, Checkpoint(path, **options)) == expected


def test_slow_disks_are_written_to_less_often(path, monkeypatch):
    given = Checkpoint(path, every_seconds=2)
    assert rounds_written(monkeypatch, given, seconds_a_write=0.5) == [2, 12, 20]


def test_a_write_that_fails_does_not_end_the_fit(path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    interrupt(Checkpoint(path, every_rounds=3), at=7)
    monkeypatch.setattr(checkpoint, "write_checkpoint", full)
    with pytest.warns(RuntimeWarning, match=r"run\.ckpt.*No space left.*continues"):
        model = make(Checkpoint(path, every_rounds=3)).fit(X, Y)
    assert same(model, PLAIN)
    assert rounds_in(path) == 6


@pytest.mark.parametrize(
    "options",
    [
        {"every_rounds": 0},
        {"every_rounds": 1.5},
        {"every_rounds": "3"},
        {"every_seconds": 0},
        {"every_seconds": float("inf")},
        {"every_seconds": float("nan")},
        {"every_seconds": "1"},
    ],
)
def test_a_pace_that_is_none_is_refused(options):
    with pytest.raises(PalmetteError, match=rf"{next(iter(options))}=.*expected a positive"):
        Checkpoint("run.ckpt", **options)


# ---------------------------------------------------------------------- files of other fits


def refuse(path, given=None, rows=X, labels=Y, **parameters):
    """Fit, and return the message by which the file was refused; the file must stay as it is."""
    before = path.read_bytes()
    with pytest.raises(ReadError) as caught:
        make(given or Checkpoint(path), **parameters).fit(rows, labels)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_other_parameters_are_named_with_both_values(path):
    make(Checkpoint(path), shrinkage=0.5).fit(X, Y)
    message = refuse(path, random_state=3)
    assert "shrinkage=0.5 there, 0.7 here" in message
    assert "random_state=0 there, 3 here" in message
    assert "decoding" not in message
    assert "delete this one to start over" in message
    assert "checkpoints/" in message


def test_a_parameter_that_only_one_of_the_fits_has_is_named(path):
    make(Checkpoint(path)).fit(X, Y)
    assert "random_state=0 there, unset here" in refuse(path, random_state=None)


def test_another_hierarchy_is_another_parameter(path):
    def named(a):
        return make(Checkpoint(path), hierarchy=Hierarchy.from_paths([(a, 0), (a, 1), ("q", 2)]))

    named("p").fit(X, Y)
    with pytest.raises(ReadError, match=r"hierarchy=.*Hierarchy of 6 nodes.*there.*here"):
        named("r").fit(X, Y)


def test_other_data_are_named(path):
    make(Checkpoint(path)).fit(X, Y)
    for changes in ({"rows": X + 1e-9}, {"labels": Y[::-1]}, {"rows": X[:, :3]}):
        assert "its data differ (rows, labels or weights)" in refuse(path, **changes)
    with pytest.raises(ReadError, match="its data differ"):
        make(Checkpoint(path)).fit(X, Y, sample_weight=np.arange(60))


class OtherCentroids(SampledCentroids):
    pass


def test_another_estimator_is_named(path):
    make(Checkpoint(path)).fit(X, Y)
    other = OtherCentroids(random_state=0, shrinkage=0.1).set_callbacks(Checkpoint(path))
    with pytest.raises(
        ReadError, match="estimator is SampledCentroids, not OtherCentroids"
    ) as told:
        other.fit(X, Y)
    assert "shrinkage" not in str(told.value)  # another estimator has its own


def test_another_version_of_palmette_is_named(path):
    make(Checkpoint(path)).fit(X, Y)
    fingerprint, arrays = read_checkpoint(path)
    write_checkpoint(path, {**fingerprint, "palmette": "9.1"}, arrays)
    assert "it was written by palmette 9.1, and this is palmette 0" in refuse(path)


def test_all_differences_are_told_also_those_of_keys_that_are_unknown(path):
    odd = {"estimator": "SampledCentroids", "parameters": "no json", "codes": "7"}
    write_checkpoint(path, odd, {})
    message = refuse(path)
    for part in ("all=no json there", "data differ", "codes is 7, not None"):
        assert part in message


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"x,y\n1,2\n", "not a checkpoint of Palmette"),
        (pickle.dumps({"a": 1}), "not a checkpoint of Palmette"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_never_overwritten(path, content, reason):
    path.write_bytes(content)
    assert reason in refuse(path)


def test_a_broken_checkpoint_is_an_error_and_no_reason_to_start_over(path):
    make(Checkpoint(path)).fit(X, Y)
    whole = path.read_bytes()
    for broken in (whole[:-1], whole[:200], whole.replace(b"NUMPY", b"NUMPX", 1)):
        path.write_bytes(broken)
        assert "truncated or was changed" in refuse(path)


def test_a_file_that_appears_while_a_fit_is_under_way_is_not_overwritten(path, monkeypatch):
    class Intruder(Checkpoint):
        """Puts a file there when the rounds begin."""

        def on_fit_task_begin(self, estimator, context):
            path.write_bytes(b"of someone else")

    with pytest.raises(ReadError, match="not a checkpoint of Palmette"):
        make(Intruder(path, every_rounds=5)).fit(X, Y)
    assert path.read_bytes() == b"of someone else"


@pytest.mark.parametrize("rival", [{"estimator": "Faster"}, None])
def test_a_file_that_appears_while_the_first_is_written_is_refused_unless_of_this_fit(
    path, monkeypatch, rival
):
    def write_slowly(path, fingerprint, arrays, **options):
        found = fingerprint if rival is None else rival
        write_checkpoint(path, found, {"n_rounds": np.array(7)})
        write_checkpoint(path, fingerprint, arrays, **options)

    monkeypatch.setattr(checkpoint, "write_checkpoint", write_slowly)
    if rival is None:
        make(Checkpoint(path)).fit(X, Y)
    else:
        with pytest.raises(ReadError, match="estimator is Faster"):
            make(Checkpoint(path)).fit(X, Y)
    assert rounds_in(path) == (20 if rival is None else 7)
    assert list(path.parent.iterdir()) == [path]


def test_a_disk_without_links_will_do(path, monkeypatch):
    def no_links(*paths):
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    assert same(make(Checkpoint(path, every_rounds=7)).fit(X, Y), PLAIN)
    assert rounds_in(path) == 20
    assert list(path.parent.iterdir()) == [path]


# ---------------------------------------------------------------------- several fits


def test_a_file_is_not_shared_by_the_fits_of_a_cross_validation(path):
    with pytest.raises(ReadError, match=r"its data differ.*a cross-validation needs a folder"):
        cross_validate(make(Checkpoint(path)), X, Y, cv=3, error_score="raise")
    assert rounds_in(path) == 20


@pytest.mark.thorough
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_that_was_killed_goes_on_from_its_folder(tmp_path, monkeypatch, n_jobs):
    folder, done = f"{tmp_path}/all/", []
    one_round = SampledCentroids._one_round

    def search(given, n_jobs=1):
        return GridSearchCV(make(given), {"shrinkage": [0.2, 0.9]}, cv=2, n_jobs=n_jobs).fit(X, Y)

    def counted(self, *args):
        if len(done) == 53:
            raise KeyboardInterrupt
        done.append(args[0])
        one_round(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(SampledCentroids, "_one_round", counted)
        with pytest.raises(KeyboardInterrupt):
            search(Checkpoint(folder, every_rounds=5))
    assert sorted(map(rounds_in, Path(folder).iterdir())) == [10, 20, 20]
    again, plain = search(Checkpoint(folder), n_jobs), search(None)
    # 2 x 2 fits, and the last one on all rows
    assert [rounds_in(file) for file in Path(folder).iterdir()] == [20] * 5
    assert same(again.best_estimator_, plain.best_estimator_)
    assert np.array_equal(
        again.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )


def test_a_folder_serves_every_fit_of_a_cross_validation(tmp_path):
    model = make(Checkpoint(tmp_path, every_rounds=7))
    scores = cross_val_score(model, X, Y, cv=3, error_score="raise")
    assert np.array_equal(scores, cross_val_score(make(), X, Y, cv=3))
    assert len(list(tmp_path.iterdir())) == 3


def test_copies_share_the_checkpoint(path):
    model = make(Checkpoint(path, every_rounds=5), interrupt_at=7)
    for twin in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        with pytest.raises(KeyboardInterrupt):
            twin.fit(X, Y)
        assert rounds_in(path) == 5
    assert same(clone(model).set_params(interrupt_at=None).fit(X, Y), PLAIN)


def test_a_fitted_model_with_a_checkpoint_is_copied_without_the_fit(path):
    given = Checkpoint(path)
    model = make(given).fit(X, Y)
    assert given._paces == {}
    assert same(pickle.loads(pickle.dumps(model)), PLAIN)


# ---------------------------------------------------------------------- wrong use


def test_without_a_checkpoint_there_is_nothing_to_resume():
    assert resume_from(make(), {"data": "x"}) is None
    assert resume_from(make(StopAfter(3)), {"data": "x"}) is None


def test_two_checkpoints_are_one_too_many(tmp_path):
    model = make().set_callbacks(Checkpoint(tmp_path / "a"), Checkpoint(tmp_path / "b"))
    with pytest.raises(PalmetteError, match=r"2 checkpoints were set.*expected one at most"):
        model.fit(X, Y)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), GridSearchCV(make(), {"shrinkage": [0.5]})]
)
def test_an_estimator_whose_fits_cannot_go_on_is_named(path, model):
    name = type(model).__name__
    if not hasattr(model, "set_callbacks"):
        pytest.skip("scikit-learn's estimators have callbacks since 1.9")
    with pytest.raises(PalmetteError, match=f"set on {name}, whose fits cannot be continued"):
        model.set_callbacks(Checkpoint(path)).fit(X, Y)
    assert not path.exists()


@pytest.mark.parametrize("place", ["absent/run.ckpt", "absent/all/"])
def test_a_folder_that_is_not_there_is_told_at_once(tmp_path, place):
    with pytest.raises(PalmetteError, match=r"absent.*it does not exist"):
        make(Checkpoint(f"{tmp_path}/{place}")).fit(X, Y)


def test_a_file_is_no_folder(path):
    path.write_bytes(b"of someone else")
    with pytest.raises(PalmetteError, match="it does not exist"):
        make(Checkpoint(f"{path}/")).fit(X, Y)


def test_a_folder_that_may_not_be_written_to_is_told_at_once(path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *args: False)
    with pytest.raises(PalmetteError, match="it is not writable"):
        make(Checkpoint(path)).fit(X, Y)
