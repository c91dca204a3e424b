"""`palmette models`: every model with its line."""

from __future__ import annotations

from palmette.models import list_models


def test_one_call(palmette, called):
    calls = called("palmette.cli.models.run_models")
    assert palmette("models").exit_code == 0
    assert calls == [((), {})]


def test_every_model_has_one_line(palmette):
    lines = palmette("models").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    shown = {line.split()[0]: line for line in lines if line.strip()}
    for spec in list_models():
        assert shown[spec.name].rstrip().endswith(f" {spec.summary}")
