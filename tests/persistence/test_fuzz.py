"""Whatever is done to a file: it loads, or the error is one of ours, and nothing falls over."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.laws.problems import PATH_SETS, problem, several
from tests.persistence.mutations import mutated
from tests.persistence.round_trips import bytes_of

import palmette as pm
from palmette import PalmetteError
from palmette.persistence import inspect, load

pytestmark = pytest.mark.thorough

ROUNDS = 420


@cache
def files() -> list[bytes]:
    """Small models of all makes: trees, rounds, neighbours, a pipeline, sparse arrays."""
    X, paths = problem()
    names = np.array(["/".join(path) for path in paths])
    models = [
        pm.LocalPerParentClassifier(DecisionTreeClassifier(max_depth=2)).fit(X, paths),
        pm.HierarchicalBoostingClassifier(n_estimators=2).fit(X, paths),
        pm.StructuredForestClassifier(n_estimators=2).fit(X, paths),
        pm.MLkNN(n_neighbors=3).fit(*several(PATH_SETS)),
        make_pipeline(StandardScaler(), pm.ClassTreeClassifier(router="linear")).fit(X, names),
        pm.FlatClassifier(HistGradientBoostingClassifier(max_iter=1)).fit(X, paths),
        pm.HierarchicalFeatureSelector(score="fisher", n_features_to_select=2).fit(X, paths),
    ]
    return [bytes_of(model) for model in models]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore")
def test_a_spoilt_file_loads_or_says_what_is_wrong(seed, tmp_path):
    file = tmp_path / "spoilt.palmette"
    outcomes = {"loaded": 0, "refused": 0}
    for turn in range(ROUNDS // 6):
        rng = random.Random(1000 * seed + turn)
        kind, content = mutated(files()[turn % len(files())], rng)
        file.write_bytes(content)
        refusals = [refusal_of(load, file), refusal_of(inspect, file)]
        for said in filter(None, refusals):
            assert said.startswith(str(file)), kind
            assert len(said) < 1500, kind
        outcomes["refused" if refusals[0] else "loaded"] += 1
    assert min(outcomes.values()) > 0


def refusal_of(read, file) -> str | None:
    """Return what the error says, if there is one; other errors than ours go through."""
    try:
        read(file)
    except PalmetteError as error:
        return str(error)
    return None
