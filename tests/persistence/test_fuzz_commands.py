"""Spoilt model files through the commands: one message or an answer, never half a file."""

from __future__ import annotations

import random
from functools import cache

import pytest
import typer
from tests.persistence.mutations import mutated
from tests.persistence.round_trips import bytes_of
from tests.table.goods import make_goods
from typer.testing import CliRunner

from palmette.cli.main import app
from palmette.table import fit_table

pytestmark = pytest.mark.thorough

ROUNDS = 50
COLUMNS = ["title", "price", "kind"]
COMMAND = typer.main.get_command(app)  # made once, because it takes longer than to run it


@cache
def model() -> bytes:
    """Return the file of a small model of a table."""
    return bytes_of(fit_table(make_goods(40)[COLUMNS], "kind", model="class-tree", folds=0))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.filterwarnings("ignore")
def test_predict_answers_or_says_what_is_wrong(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("typer.testing._get_command", lambda _: COMMAND)
    make_goods(8)[COLUMNS].to_csv("new.csv", index=False)
    codes = set()
    for turn in range(ROUNDS // 2):
        kind, content = mutated(model(), random.Random(1000 * seed + turn))
        (tmp_path / "spoilt.palmette").write_bytes(content)
        words = ["predict", "spoilt.palmette", "new.csv", "--out", "out.csv"]
        result = CliRunner().invoke(app, words)
        came_through = result.exception is not None and not isinstance(result.exception, SystemExit)
        assert not came_through, (kind, turn, result.exception)
        assert "Traceback" not in result.output, kind
        there = {file.name for file in tmp_path.iterdir()}
        expected = {"spoilt.palmette", "new.csv"} | ({"out.csv"} if not result.exit_code else set())
        assert there == expected, kind
        if result.exit_code:
            assert result.stderr.startswith("error: "), kind
        else:
            (tmp_path / "out.csv").unlink()
        codes.add(result.exit_code)
    assert codes <= {0, 1, 2}
    assert 2 in codes
