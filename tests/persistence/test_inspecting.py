"""What a file tells without being built."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.persistence.mutations import members_of, sealed
from tests.persistence.round_trips import bytes_of

import palmette
from palmette import ReadError
from palmette.persistence import inspect, save

X, Y = np.eye(4), list("abab")


def test_versions_types_sizes_and_the_summary_are_told(tmp_path):
    file = tmp_path / "model.palmette"
    model = palmette.FlatClassifier().fit(X, Y)
    model.summary_ = {"rows": 4, "score": np.float64(0.5), "nothing": None}
    save(model, file)
    facts = inspect(file)
    assert facts["kind"] == "local.FlatClassifier"
    assert facts["version"] == 1
    assert facts["libraries"]["palmette"] == palmette.__version__
    assert facts["summary"] == {"rows": 4, "score": 0.5, "nothing": None}
    assert facts["types"]["hierarchy.Hierarchy"] == 1
    assert facts["types"]["another library"] >= 1
    assert facts["members"]["state.json"] > 100
    assert facts["untrusted"] == []


def test_nothing_is_built(tmp_path, monkeypatch):
    file = tmp_path / "model.palmette"
    save(make_pipeline(StandardScaler(), palmette.FlatClassifier()).fit(X, Y), file)

    def never(*_):
        raise AssertionError("an object was built")

    monkeypatch.setattr("palmette.persistence._graph.Decoder.value", never)
    assert "sklearn.pipeline.Pipeline" in inspect(file)["types"]


def test_types_that_need_trust_are_listed(tmp_path):
    members = members_of(bytes_of(make_pipeline(StandardScaler(), palmette.FlatClassifier())))
    state = json.loads(members["state.json"])
    holder = next(each["holder"] for each in state["objects"] if "holder" in each)
    holder["class"] = "subprocess.Popen"
    members["state.json"] = json.dumps(state).encode()
    file = tmp_path / "model.palmette"
    file.write_bytes(sealed(members))
    assert inspect(file)["untrusted"] == ["subprocess.Popen"]
    with pytest.raises(ReadError, match="decompresses to"):
        inspect(file, max_bytes=10)
