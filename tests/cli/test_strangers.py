"""Commands with a stranger's files: nothing is connected to, started, imported or written."""

from __future__ import annotations

import random
import tempfile
from functools import cache

import pytest
from tests.attack.acts import acting_inside, put_everywhere
from tests.attack.files import Taken
from tests.attack.guard import guarded
from tests.persistence.round_trips import bytes_of
from tests.serving.fitted import TestClient
from tests.table.goods import make_goods

from palmette.cli.compare import _write_diagram
from palmette.compare import Comparison
from palmette.compare._comparison import COSTS
from palmette.persistence import load
from palmette.serving import make_app
from palmette.table import fit_table

MODELS = {
    "boosted": {"model": "hierarchical-boosting", "settings": {"n_estimators": 2, "n_bags": 1}},
    "local": {"model": "local-per-parent"},
    "learned": {"model": "class-tree", "hierarchy": "learn"},
}


NAMES = [pytest.param(n, marks=() if n == "local" else pytest.mark.thorough) for n in MODELS]


@cache
def fitted(name):
    table = make_goods(40)[["title", "price", "kind"]]
    return bytes_of(fit_table(table, "kind", folds=0, **MODELS[name]))


@pytest.fixture(params=NAMES)
def folder(request, tmp_path, monkeypatch):
    """A folder with a model that has settings that act in every place, and a table."""
    taken = Taken(fitted(request.param))
    assert put_everywhere(taken, random.Random(0)) > 50
    (tmp_path / "m.palmette").write_bytes(taken.sealed())
    make_goods(40).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "map.csv").write_text("old,new\nFood > Fish,Food > Sea\n", encoding="utf-8")
    (tmp_path / "palmette.toml").write_text("[predict]\ntop = 2\n", encoding="utf-8")
    (tmp_path / "own").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "own"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = [
    "review m.palmette t.csv --folds 2 --out own/r.csv --html own/r.html",
    "predict m.palmette t.csv --out own/p.csv --explain",
    "report m.palmette t.csv --html own/r.html --json own/r.json",
    "card m.palmette t.csv --out own/c.md",
    "eval m.palmette t.csv",
    "migrate m.palmette --map map.csv --table t.csv --out own/n.palmette",
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words.split()[0])
def test_a_model_of_a_stranger_does_not_act(words, folder, palmette):
    with guarded(folders=[folder / "own"]):
        result = palmette(*words.split())
    # names of a learned hierarchy cannot be written as paths, which migrate says
    assert result.exit_code in ((0, 2) if "migrate" in words else (0,)), result.output


def test_a_server_of_a_stranger_s_model_does_not_act(folder):
    model = load(folder / "m.palmette")
    assert not list(acting_inside(model))
    with TestClient(make_app(model)) as client, guarded(folders=[folder / "own"]):
        reply = client.post("/predict", json={"rows": [{"title": "pear", "price": "3.5"}]})
        assert reply.status_code == 200
        assert client.get("/card").status_code == 200


TAXONOMIES = {
    "a.jsonld": '{"@context": "http://127.0.0.1:9/c", "@id": "a:b", "skos:broader": "a:c"}',
    "b.xml": '<!DOCTYPE labels SYSTEM "http://127.0.0.1:9/d" [<!ENTITY x SYSTEM "file:///etc/passwd">'
    ']><labels><label name="&x;"/></labels>',
    "c.rdf": '<!DOCTYPE r [<!ENTITY x SYSTEM "http://127.0.0.1:9/e">]><rdf:RDF '
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&x;</rdf:RDF>',
    "d.ttl": "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    "<http://127.0.0.1:9/o> a owl:Ontology ; owl:imports <http://127.0.0.1:9/p> .\n",
    "e.obo": "format-version: 1.2\nimport: http://127.0.0.1:9/i.obo\n\n[Term]\nid: a\n",
}


@pytest.mark.parametrize("name", TAXONOMIES)
def test_a_taxonomy_of_a_stranger_fetches_nothing(name, tmp_path, palmette):
    (tmp_path / name).write_text(TAXONOMIES[name], encoding="utf-8")
    with guarded():
        palmette("hierarchy", "check", tmp_path / name)
        palmette("hierarchy", "show", tmp_path / name)


def test_a_diagram_is_not_drawn_as_a_file_in_the_folder_says(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("scikit_posthocs")
    values = {"good": 0.9, "fair": 0.7, "poor": 0.5}
    rows = [
        {"dataset": f"d{d}", "split": "a", "model": model, "h_loss": value + d / 100}
        | dict.fromkeys(COSTS, 1.0)
        for d in range(6)
        for model, value in values.items()
    ]
    comparison = Comparison(rows, ("h_loss",), list(values), [f"d{d}" for d in range(6)], {})
    _write_diagram(comparison, tmp_path / "first.svg")  # libraries are imported
    # as matplotlib reads it from a file matplotlibrc: LaTeX would be started
    with matplotlib.rc_context({"text.usetex": True}), guarded(folders=[tmp_path]):
        _write_diagram(comparison, tmp_path / "d.svg")
    assert b"<svg" in (tmp_path / "d.svg").read_bytes()
