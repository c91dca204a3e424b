"""The guard sees what a process does to the world outside, also if the error is handled."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from tests.attack.guard import Acted, guarded


def connect(tmp_path):
    with socket.socket() as client:
        client.connect(("127.0.0.1", 9))


def look_up(tmp_path):
    socket.getaddrinfo("stranger.invalid", 80)


def send(tmp_path):
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.sendto(b"a", ("127.0.0.1", 9))


def start(tmp_path):
    subprocess.run(["true"], check=False)


def call_the_shell(tmp_path):
    os.system("true")


def import_a_stranger(tmp_path):
    __import__("a_stranger_s_module")


def unpickle(tmp_path):
    pickle.loads(b"cos\nsystem\n(S'true'\ntR.")


def write(tmp_path):
    (tmp_path / "a").write_text("a")


def make_a_folder(tmp_path):
    (tmp_path / "made").mkdir()


ACTS = [connect, look_up, send, start, call_the_shell, import_a_stranger, unpickle, write]
ACTS += [make_a_folder]


@pytest.mark.parametrize("act", ACTS)
def test_an_act_is_refused_and_noted(act, tmp_path):
    with pytest.raises(Acted), guarded() as noted:
        act(tmp_path)
    assert len(noted) == 1
    assert not list(tmp_path.iterdir())


def handle(act):
    with suppress(BaseException):
        act(None)


def in_a_thread(act):
    thread = threading.Thread(target=act, args=(None,))
    thread.start()
    thread.join()


def test_an_act_whose_error_is_handled_ends_the_run_too(tmp_path):
    with pytest.raises(Acted, match="stranger"), guarded():
        handle(look_up)


def test_what_another_thread_does_is_noted(tmp_path, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    with pytest.raises(Acted, match=r"127\.0\.0\.1:9"), guarded():
        in_a_thread(connect)


def test_what_is_allowed_by_name_happens(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
        with guarded(folders=[tmp_path], hosts=[host], programs=["true"]) as noted:
            socket.create_connection(server.getsockname()).close()
            start(tmp_path)
            write(tmp_path)
            make_a_folder(tmp_path)
            (tmp_path / "a").rename(tmp_path / "b")
        with pytest.raises(Acted), guarded(hosts=[host]):
            connect(tmp_path)
    assert noted == []


def test_a_file_that_may_not_be_touched_is_not_read(tmp_path):
    (tmp_path / "a").write_text("a")
    with guarded():
        (tmp_path / "a").read_text()
    for act in (lambda: (tmp_path / "a").read_text(), lambda: os.listdir(tmp_path)):
        with pytest.raises(Acted), guarded(untouched=[tmp_path]):
            act()


def test_nothing_is_seen_outside_of_the_guard(tmp_path):
    with guarded():
        pass
    write(tmp_path)
    subprocess.run([sys.executable, "-c", ""], check=True)
