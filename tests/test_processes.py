"""What a process of its own shows: which libraries an import loads, and what no process changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from tests.persistence.round_trips import bytes_of

from palmette.compare._problems import Problem
from palmette.compare._store import fingerprint
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.persistence import save
from palmette.table import fit_table

# one process for all of them, since its start takes longer than what it does
SCRIPT = """
import json, sys
told = {}

import palmette
told["import palmette"] = list(sys.modules)

import numpy as np
from palmette.labels._containers import unwrap
unwrap([1])
unwrap(np.eye(2))
told["labels are read"] = list(sys.modules)

import palmette.cli.main
told["the commands are known"] = list(sys.modules)

import palmette.metrics
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_score
X, y = [[0]] * 6, list("aabbab")
scores = cross_val_score(DummyClassifier(), X, y, scoring="hierarchical_f1", cv=2)
told["scores"] = scores.tolist()

from palmette.compare._problems import Problem
from palmette.compare._store import fingerprint
from palmette.persistence import save
told["hierarchy"] = palmette.Hierarchy.from_paths([("a", 1), ("ä", 2.5)]).fingerprint
y = [frozenset("ab"), frozenset("c"), frozenset("abc")]
told["problem"] = fingerprint(Problem("p", palmette.Hierarchy.star("abc"), ["u", "v", "w"], y))
words = {"x", "y", "z", "w", ("a", 1)}
save([palmette.Hierarchy.star("ab"), words, frozenset(words), {"k": words}], sys.argv[1])
with open(sys.argv[1], "rb") as file:
    told["saved"] = file.read().hex()

from palmette.persistence import load
save([DummyClassifier()], sys.argv[1])
load(sys.argv[1])
told["a model file is read"] = list(sys.modules)
print(json.dumps(told))
"""


# what a prediction of texts leaves alone; a postponed library is there, but has no content
PREDICTION = """
import json, sys
from pathlib import Path
from palmette.cli.predict import predict
predict(Path(sys.argv[1]), sys.argv[2], out=Path(sys.argv[3]))
loaded = [n for n, m in sys.modules.items() if type(m).__name__ != "_Postponed"]
print(json.dumps(loaded))
"""
UNUSED = """
skrub skops.io matplotlib dask distributed polars torch scipy.stats scipy.optimize
sklearn.linear_model sklearn.metrics sklearn.model_selection sklearn.pipeline sklearn.preprocessing
sklearn.tree palmette.compare palmette.metrics palmette.models palmette.table._tournament
"""


def test_a_prediction_of_texts_starts_without_what_it_does_not_use(tmp_path):
    things = ["red apple", "green pear", "small saw", "long nail"] * 15
    goods = {"thing": things, "kind": ["Food > Fruit", "Food > Fruit", "Tools > Saws",
                                       "Tools > Nails"] * 15}  # fmt: skip
    model = fit_table(
        goods, "kind", model="class-tree", columns={"thing": "text"}, folds=0, time=None
    )
    save(model, tmp_path / "model.palmette")
    (tmp_path / "new.csv").write_text("thing\nred pears\n")
    names = [tmp_path / "model.palmette", tmp_path / "new.csv", tmp_path / "out.csv"]
    done = subprocess.run(
        [sys.executable, "-c", PREDICTION, *names], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout))
    assert "palmette.class_tree._classifier" in loaded
    assert not loaded & set(UNUSED.split())
    assert "red pears,Food > Fruit," in (tmp_path / "out.csv").read_text()


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> dict[str, Any]:
    """Return what another process said, in which sets have another order."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path_factory.mktemp("other") / "words.palmette"],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("step", "heavy"),
    [
        (
            "import palmette",
            "sklearn pandas polars pyarrow matplotlib numba networkx scipy.stats rich",
        ),
        ("labels are read", "pandas polars pyarrow"),
        (
            "the commands are known",
            "sklearn pandas pyarrow matplotlib scipy.stats joblib rich.table",
        ),
        ("a model file is read", "torch dask cupy matplotlib polars networkx"),
    ],
)
def test_heavy_libraries_wait_until_they_are_needed(told, step, heavy):
    assert "palmette" in told[step]
    assert not set(heavy.split()) & set(told[step])


def test_estimators_of_scikit_learn_in_a_file_are_read_by_skops(told):
    assert "skops.io" in told["a model file is read"]


def test_the_commands_are_imported_with_the_first(told):
    assert "palmette.cli.compare" in told["the commands are known"]


def test_names_of_scorers_serve_where_palmette_is_imported_first(told):
    # in other tests it comes after scikit-learn. If this or the tests by name fail, scikit-learn
    # checks `scoring` in another way: see metrics/_scorers.py
    assert all(0 < score < 1 for score in told["scores"])


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    "mine", ["palmette.table import TableModel", "palmette import FlatClassifier"]
)
def test_names_of_scorers_serve_with_any_estimator(mine, late):
    imports = ["from sklearn.model_selection import cross_val_score", f"from {mine}"]
    program = [
        *imports[:: -1 if late else 1],
        "from sklearn.dummy import DummyClassifier",
        "X, y = [[0]] * 6, list('aabbab')",
        "cross_val_score(DummyClassifier(), X, y, scoring='hierarchical_f1', cv=2)",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(program)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_fingerprint_of_a_hierarchy_is_the_same_in_every_process(told):
    assert told["hierarchy"] == Hierarchy.from_paths([("a", 1), ("ä", 2.5)]).fingerprint


def test_the_fingerprint_of_a_problem_is_the_same_in_every_process(told):
    y = [frozenset("ab"), frozenset("c"), frozenset("abc")]
    assert told["problem"] == fingerprint(Problem("p", Hierarchy.star("abc"), list("uvw"), y))


def test_the_bytes_of_a_file_do_not_depend_on_the_process(told):
    words = {("a", 1), "w", "z", "y", "x"}
    here = bytes_of([Hierarchy.star("ab"), words, frozenset(words), {"k": words}])
    assert bytes.fromhex(told["saved"]) == here
