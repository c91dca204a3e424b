"""The rows of the tables are those of public presets, parameter by parameter."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context

import palmette as pm
from palmette.compare import Problem, ResultStore, describe_estimator
from papers.cells import Options
from papers.h_ada_mh.methods import tree_methods
from papers.h_ada_mh.outcome import Setting
from papers.hirr_fs.methods import METHODS as SCORES
from papers.mf_tree.methods import methods as trees
from papers.presets import PUBLISHED, Again
from papers.soshf.methods import METHODS
from papers.soshf.methods import Options as SoshfOptions

TREE = pm.Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
SETTING = Setting(Problem("toy", TREE, np.zeros((2, 1)), ["b", "b"]), rounds=600)
MADE = {
    "h-ada-mh": {one.key: one.make(SETTING) for one in tree_methods()},
    "hirr-fs": {key: make() for key, make in SCORES.items()},
    "mf-tree": {one.key: one.make(None, Options(0)) for one in trees() if one.grow is None},
    "soshf": {key: one.make(SoshfOptions("emotions")) for key, one in METHODS.items()},
}
# what a run sets: its rows, seed and threads; one fit of H-Ada.MH is decoded in several ways
OF_RUNS = ("hierarchy", "random_state", "n_jobs")


@pytest.mark.parametrize(
    ("paper", "method"), [(paper, method) for paper, rows in PUBLISHED.items() for method in rows]
)
def test_the_model_of_a_row_is_the_preset(paper, method):
    kind, name = PUBLISHED[paper][method]
    made, preset = MADE[paper][method], getattr(pm, kind).preset(name)
    common = {key: None for key in OF_RUNS if key in preset.get_params()}
    if paper == "h-ada-mh":
        common["decoding"] = "auto"
    with config_context(print_changed_only=False):
        texts = [describe_estimator(one.set_params(**common)) for one in (made, preset)]
    assert texts[0] == texts[1]


def test_a_stored_fit_is_compared_without_its_costs():
    store = ResultStore(ignored=("made_with",))
    cell = {"dataset": "toy", "model": "m"}
    elsewhere = {"made_with": {"machine": "other"}}
    store.put({**cell, **elsewhere}, {"f1": 0.5, "fit_s": 2.0, "notes": []})
    store.put({**cell, "model": "o", **elsewhere}, {"f1": 0.25})
    again = Again(store)
    for model in ("m", "n", "o"):
        again.results({**cell, "model": model}, lambda: {"f1": 0.5, "fit_s": 1.0})
    verdicts = [row.verdict for row in again.rows]
    assert verdicts == ["equal", "no stored fit of this estimator", "not equal"]
