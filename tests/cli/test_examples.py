"""Every example works: those in the help of commands, in the README and in the documentation."""

from __future__ import annotations

import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from tests.docs.goods import KINDS, make_goods
from tests.docs.pages import PAGES, blocks_of

from palmette.cli.main import app
from palmette.table._candidates import choose

COMMANDS = typer.main.get_command(app).commands
# examples that take minutes or are run by other tests: only their options are read here
READ_ONLY = {
    "palmette demo": "tests/cli/test_demo.py runs it",
    "palmette compile": "minutes; tests/cli/test_compile.py runs it with one model",
    "palmette serve model.palmette --port 8000": "endless; tests/serving/test_process.py runs it",
    "palmette bench h-ada-mh --out folder": "an hour, on the data home",
    "palmette bench soshf --quick": "minutes, on the data home",
    "palmette compare digits --models flat-forest,local-per-parent-forest --splits 5": "a minute",
    "palmette compare products.csv --target category --separator ' > '": "half a minute; the same "
    "with quick models runs",
    "palmette compare imclef07a imclef07d diatoms --resume run.jsonl --out results.md --diagram "
    "cd.png": "minutes, on the data home",
}


def all_commands() -> list[Any]:
    parts = [(command, *getattr(command, "commands", {}).values()) for command in COMMANDS.values()]
    return [command for group in parts for command in group]


def examples() -> list[str]:
    """Return the distinct command lines of help, README and documentation."""
    texts = [command.help or "" for command in all_commands()]
    lines = re.findall(r"Example: (palmette .*)", "\n".join(texts))
    for page in PAGES:
        for block in blocks_of(page, "sh"):
            lines += [line for line in block.code.splitlines() if line.startswith("palmette ")]
    return list(dict.fromkeys(shlex.join(shlex.split(line, comments=True)) for line in lines))


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """Return a folder with the files that examples name."""
    from palmette.cli.fit import fit

    folder = tmp_path_factory.mktemp("examples")
    products = make_goods(40, 0)
    products.to_csv(folder / "products.csv", index=False)
    make_goods(20, 1).to_csv(folder / "test.csv", index=False)
    new = make_goods(12, 2).drop(columns="category")
    new.to_csv(folder / "new.csv", index=False)
    new.rename(columns={"title": "name"}).to_csv(folder / "renamed.csv", index=False)
    customers = [f"C{i % 9}" for i in range(40)]
    days = [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(40)]
    orders = products.assign(customer=customers, ordered=days)
    orders.to_csv(folder / "orders.csv", index=False)
    levels = products["category"].str.split(" > ", expand=True).set_axis(["group", "kind"], axis=1)
    products.drop(columns="category").join(levels).to_csv(folder / "levels.csv", index=False)
    tags = levels["kind"].where(products["price"] < 9, levels["group"] + ";" + levels["kind"])
    products[["title", "price"]].assign(tags=tags).to_csv(folder / "tags.csv", index=False)
    products.assign(label=levels["kind"]).drop(columns=["category", "title"]).assign(
        weight=np.arange(40) % 7
    ).to_csv(folder / "data.csv", index=False)
    (folder / "taxonomy.txt").write_text("\n".join(KINDS))
    (folder / "new_taxonomy.txt").write_text("\n".join([*KINDS, "Tools > Drills"]))
    (folder / "renames.csv").write_text("old,new\nFood > Fruit,Garden > Fruit\n")
    (folder / "taxonomy.obo").write_text(
        "format-version: 1.2\n\n[Term]\nid: A\nname: a\n\n[Term]\nid: B\nname: b\nis_a: A ! a\n"
    )
    (folder / "thesaurus.ttl").write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        '<http://x.org/1> a skos:Concept ; skos:prefLabel "cat"@en, "kissa"@fi .\n'
    )
    (folder / "review.csv").write_text("line,given,corrected\n2,Food > Fruit,Bread\n")
    fit(
        str(folder / "products.csv"), ["category"], folder / "model.palmette",
        model="class-tree", folds=0,
    )  # fmt: skip
    shutil.copy(folder / "model.palmette", folder / "old.palmette")
    shutil.copy(folder / "model.palmette", folder / "new.palmette")
    return folder


@pytest.mark.parametrize("line", [line for line in examples() if line not in READ_ONLY])
def test_an_example_works(line, files, palmette, tmp_path, monkeypatch):
    # the test below compares all models
    monkeypatch.setattr("palmette.table._fit.choose", lambda situation: choose(situation)[:3])
    check_example(line, files, palmette, tmp_path, monkeypatch)


@pytest.mark.thorough
def test_an_example_that_compares_all_models(files, palmette, tmp_path, monkeypatch):
    line = "palmette fit products.csv --target category --out model.palmette"
    assert line in examples()
    check_example(line, files, palmette, tmp_path, monkeypatch)


def check_example(line, files, palmette, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line)[1:]
    result = palmette(*words)
    assert result.exit_code == 0, result.output
    for option, name in pairwise(words):
        if option in ("--out", "--html", "--json", "--md", "--diagram", "--svg"):
            written = Path(name)
            assert any(written.iterdir()) if written.is_dir() else written.stat().st_size > 0


@pytest.mark.parametrize("line", READ_ONLY)
def test_a_long_example_has_options_that_exist(line):
    _, name, *words = shlex.split(line)
    COMMANDS[name].make_context(name, words)  # an unknown option, or a wrong value, is an error


def test_examples_that_are_only_read_are_in_use():
    assert set(READ_ONLY) <= set(examples())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example(name):
    assert f"Example: palmette {name}" in (COMMANDS[name].help or "")
