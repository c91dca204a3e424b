"""A small iterative classifier, rows for it, and a callback that records what it hears."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from scipy.special import softmax

from palmette.base._callbacks import IterativeFitMixin, monitored_fit, monitored_rounds
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._fitting import check_weights
from palmette.boosting._checkpoint import (
    fingerprint_of_arrays,
    fingerprint_of_parameters,
    resume_from,
)

__all__ = ["Recorder", "SampledCentroids", "X", "Y"]

# workers take over the path of imports: the folder above lets them find this module
sys.path.append(str(Path(__file__).parents[1]))


class SampledCentroids(IterativeFitMixin, HierarchicalClassifier):
    """Centroids of the classes, which every round nears by random steps.

    Rounding depends on all steps in their order: a fit that goes on must take the very same ones.
    `interrupt_at` is a round in which Ctrl-C is pressed, `leave_at` one that ends the loop early.
    """

    _takes_several_paths = False

    def __init__(
        self,
        hierarchy=None,
        n_rounds=20,
        shrinkage=0.7,
        decoding="auto",
        pause=0.0,
        interrupt_at=None,
        leave_at=None,
        random_state=None,
    ):
        self.hierarchy = hierarchy
        self.n_rounds = n_rounds
        self.shrinkage = shrinkage
        self.decoding = decoding
        self.pause = pause
        self.interrupt_at = interrupt_at
        self.leave_at = leave_at
        self.random_state = random_state

    @monitored_fit
    def fit(self, X, y, sample_weight=None):
        given = {"X": X, "y": y, "metadata": None}
        if sample_weight is not None:
            given["metadata"] = {"sample_weight": sample_weight}
        X = self._numbers(self._read_features(X, reset=True))
        weights = check_weights(sample_weight, len(X))
        used = np.ones(len(X), dtype=bool) if weights is None else weights > 0
        codes, X = self._learn_target(X, y, weights), X[used]
        weights = np.ones(len(X)) if weights is None else weights[used]
        told_apart = fingerprint_of_parameters(
            self, without=("n_rounds", "pause", "interrupt_at", "leave_at")
        )
        fingerprint = {
            "estimator": type(self).__name__,
            "parameters": told_apart,
            "data": fingerprint_of_arrays(X, codes, weights),
            "palmette": "0",
        }
        saved = resume_from(self, fingerprint)
        self._begin(saved, X)

        def state():
            arrays = {"centroids": self.centroids_, "n_rounds": np.array(self.n_rounds_)}
            return fingerprint, {**arrays, "seed": np.array(self.seed_)}

        for turn in monitored_rounds(
            self,
            self.n_rounds_,
            self.n_rounds,
            **given,
            fitted=lambda: {"centroids_": self.centroids_.copy()},
            state=state,
        ):
            if turn == self.interrupt_at:
                raise KeyboardInterrupt
            self._one_round(turn, X, codes, weights)
            if turn == self.leave_at:
                break
        return self

    def _begin(self, saved, X):
        if saved is not None:
            self.n_rounds_, self.seed_ = int(saved["n_rounds"]), int(saved["seed"])
            self.centroids_ = saved["centroids"]
            return
        self.n_rounds_ = 0
        self.seed_ = self.random_state
        if self.seed_ is None:
            self.seed_ = int(np.random.default_rng().integers(2**31))
        self.centroids_ = np.zeros((self.space_.n_classes, X.shape[1]))

    def _one_round(self, turn, X, codes, weights):
        members = np.eye(len(self.centroids_))[codes] * weights[:, None]
        missing = (members.T @ X) / members.sum(axis=0)[:, None] - self.centroids_
        shares = np.random.default_rng([self.seed_, turn]).random(X.shape[1])
        self.centroids_ = self.centroids_ + self.shrinkage * shares * missing
        self.n_rounds_ = turn + 1
        time.sleep(self.pause)

    def _class_proba_of(self, X):
        distance = self._numbers(X)[:, None, :] - self.centroids_[None]
        return softmax(-(distance**2).sum(axis=2), axis=1)

    def _numbers(self, X):
        return X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


Y = np.arange(60) % 3
X = np.random.default_rng(0).normal(size=(60, 4)) + Y[:, None]


class Recorder:
    """Writes down every call; asks to stop after some round, or fails at it."""

    def __init__(self, stop_after=None, fail_at=None):
        self.seen = []
        self.stop_after = stop_after
        self.fail_at = fail_at

    def setup(self, estimator, context):
        self.seen.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.seen.append(f"begin {context.task_name} {context.task_id}")

    def on_fit_task_end(self, estimator, context):
        self.seen.append(f"end {context.task_name} {context.task_id}")
        is_round = context.task_name == "round"
        if is_round and context.task_id == self.fail_at:
            raise ZeroDivisionError
        return is_round and context.task_id == self.stop_after

    def teardown(self, estimator, context):
        self.seen.append("teardown")
