"""Killed writers lose nothing; `python -m tests.attack.kills` kills whole fits and commands."""

from __future__ import annotations

import os
import random
import signal
import sys
import time

import numpy as np
import pandas as pd
import pytest

from palmette.compare import ResultStore
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.persistence import load, save
from palmette.persistence.checkpoints import read_checkpoint, write_checkpoint
from palmette.table._writing import open_writer


def write_model(path, turn):
    save(Hierarchy.star([turn, *range(-500, 0)]), path)


def read_model(path):
    return load(path).names[1]


def write_state(path, turn):
    write_checkpoint(path, {"data": "7"}, {"turn": turn, "rounds": np.full(20_000, turn)})


def read_state(path):
    state = read_checkpoint(path)[1]
    assert (state["rounds"] == state["turn"]).all()
    return state["turn"]


def write_table(path, turn):
    with open_writer(path) as writer:
        for _ in range(5):
            writer.write(pd.DataFrame({"turn": np.full(100, turn)}))


def read_table(path):
    (turn,) = set(pd.read_csv(path)["turn"])
    return turn


def add_result(path, turn):
    ResultStore(path).put({"dataset": "d", "split": "s", "model": str(turn)}, {"score": "x" * 500})


def count_results(path):
    found = len(ResultStore(path)) - 1
    assert len(path.read_bytes().splitlines()) == found + 1
    return found


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="processes are forked, and locks are those of Linux",
)
@pytest.mark.parametrize(
    ("write", "read"),
    [
        (write_model, read_model),
        (write_state, read_state),
        (write_table, read_table),
        (add_result, count_results),
    ],
)
def test_a_kill_loses_nothing_that_was_written(tmp_path, write, read):
    path, rng = tmp_path / "file.csv", random.Random(0)
    write(path, 0)
    for _ in range(5):
        before = read(path)
        seen, told = os.pipe()
        child = os.fork()
        if child == 0:
            turn = before
            while True:
                turn += 1
                write(path, turn)
                os.write(told, b".")
        os.close(told)
        os.read(seen, 1)
        time.sleep(rng.random() / 50)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        finished = 1
        while more := os.read(seen, 65536):
            finished += len(more)
        os.close(seen)
        after = read(path)
        assert after - before - finished in (0, 1)  # killed after a write, before it was told
        write(path, after + 1)
        assert read(path) == after + 1
        assert [*tmp_path.iterdir()] == [path]
