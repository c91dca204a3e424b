"""`palmette serve`: options reach the server, and what it cannot do is told at once."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from tests.serving.fitted import of_subjects

from palmette.cli.serve import serve
from palmette.persistence import save
from palmette.serving import Limits


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "my thesaurus.palmette"
    save(of_subjects(), path)
    return path


def test_every_option_is_a_parameter(parse):
    parameters = parse(
        serve,
        *["m.palmette", "--port", "80", "--host", "0.0.0.0", "--name", "n", "--language", "fi"],
        *["--jobs", "2", "--max-rows", "5", "--max-body", "1.5", "--timeout", "3"],
        *["--read-timeout", "4", "--trust", "some.Type"],
    )
    assert parameters == {
        "model": Path("m.palmette"), "port": 80, "host": "0.0.0.0", "name": "n", "language": "fi",
        "n_jobs": 2, "max_rows": 5, "max_body": 1.5, "timeout": 3.0, "read_timeout": 4.0,
        "trusted": ["some.Type"],
    }  # fmt: skip


def test_options_reach_the_server(palmette, stored, called):
    calls = called("palmette.serving.make_app")
    palmette("serve", stored, "--max-rows", 5, "--max-body", 1.5, "--jobs", 2, "--language", "fi")
    [(_, name), options] = calls[0]
    assert name == "my-thesaurus"
    limits = Limits(body_bytes=3 * 2**19, rows=5)
    assert options == {"limits": limits, "n_jobs": 2, "language": "fi"}


def test_a_port_that_is_taken_is_told(fails, stored):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = fails("serve", stored, "--port", port)
    assert message.startswith(f"cannot listen on 127.0.0.1, port {port}: ")
    assert "Choose another --port" in message


def test_wrong_options_are_told(fails, stored, tmp_path):
    assert "no label has it" in fails("serve", stored, "--language", "sv")
    assert "--jobs 0" in fails("serve", stored, "--jobs", "0")
    assert "none.palmette" in fails("serve", tmp_path / "none.palmette")
