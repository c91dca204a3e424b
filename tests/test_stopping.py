"""Calls that are given up: in Python, in kernels, and after an interrupt."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from palmette import _stopping
from palmette._stopping import OutOfTime, call_within, stop_flag, without_interrupts
from palmette.class_tree import ClassTreeClassifier
from palmette.routing import LinearRouter


def running(before):
    return [t for t in threading.enumerate() if t not in before and t.is_alive()]


def ends_soon(before, seconds=2.0):
    end = time.monotonic() + seconds
    while running(before) and time.monotonic() < end:
        time.sleep(0.02)
    return not running(before)


def test_results_and_errors_are_those_of_the_function():
    assert call_within(5.0, lambda: "done") == "done"
    with pytest.raises(ZeroDivisionError):
        call_within(np.inf, lambda: 1 // 0)
    assert stop_flag()[0] == 0


def test_a_call_that_is_given_up_ends_at_its_next_line():
    before, steps = threading.enumerate(), []

    def count():
        while True:
            steps.append(time.sleep(0.01))

    with pytest.raises(OutOfTime, match=r"stopped after 0\.1 s"):
        call_within(0.1, count)
    assert ends_soon(before)
    assert len(steps) < 100


def test_seconds_of_compilation_do_not_count(monkeypatch):
    start = time.monotonic()
    monkeypatch.setattr(_stopping, "seconds_compiling", lambda: min(time.monotonic() - start, 0.4))
    assert call_within(0.2, lambda: time.sleep(0.45)) is None
    with pytest.raises(OutOfTime):
        call_within(0.2, lambda: time.sleep(0.45))


def test_an_interrupt_arrives_while_waiting():
    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = threading.enumerate()
    old = signal.signal(signal.SIGALRM, interrupt)  # SIGINT is ignored by workers of the tests
    start = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            call_within(np.inf, lambda: [time.sleep(0.01) for _ in range(10_000)])
    finally:
        signal.signal(signal.SIGALRM, old)
    assert time.monotonic() - start < 2.0
    assert ends_soon(before)


FITS_UNTIL_INTERRUPTED = """
import warnings
import numpy as np
from palmette import AdaBoostBHCClassifier

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
codes = np.repeat(np.arange(6), 20)
X = rng.normal(size=(120, 8)) + codes[:, None]
model = AdaBoostBHCClassifier(n_estimators=8, random_state=0).fit(X, codes)
proba = model.predict_proba(X)
while True:
    try:
        print("ready", flush=True)
        while True:
            model.fit(X, codes)
            model.predict_proba(X)
    except BaseException as error:
        again = model.fit(X, codes).predict_proba(X)
        print(type(error).__name__, np.array_equal(again, proba), flush=True)
"""


def test_ctrl_c_in_fits_and_predictions_is_a_keyboard_interrupt(tmp_path):
    # those who start the tests may ignore the signal, which children inherit
    words = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = tmp_path / "fits.py"
    program.write_text(words + FITS_UNTIL_INTERRUPTED)
    rng = np.random.default_rng(0)
    found = []
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as child:
        try:
            for wait in rng.uniform(0.005, 0.1, 8):
                assert child.stdout.readline() == "ready\n"
                time.sleep(wait)
                child.send_signal(signal.SIGINT)
                found.append(child.stdout.readline())
        finally:
            child.kill()
    assert found == ["KeyboardInterrupt True\n"] * 8


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_a_kernel_is_stopped(loss):
    rng = np.random.default_rng(0)
    X = sparse.random_array((3000, 2000), density=0.02, random_state=rng, format="csr")
    y = rng.integers(0, 12, len(range(3000)))
    router = LinearRouter(loss, C=1e5, tol=1e-300, max_iter=2**31 - 1)  # does not end by itself
    before = threading.enumerate()
    with pytest.raises(OutOfTime):
        call_within(0.5, lambda: ClassTreeClassifier(router=router).fit(X, y))
    assert ends_soon(before, 5.0)


def test_ticks_while_waiting():
    ticks = []
    call_within(10.0, lambda: time.sleep(1.3), lambda: ticks.append(time.monotonic()))
    assert len(ticks) == 1


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system has no masks")
@pytest.mark.parametrize("receiver", ["the main thread", "a thread that was started before"])
def test_ctrl_c_waits_until_processes_have_started(receiver):
    came, done = [], threading.Event()
    other = threading.Thread(target=done.wait)  # has no mask
    other.start()
    before = signal.signal(signal.SIGINT, lambda *_: came.append("now"))
    received, sent = os.pipe()
    os.set_blocking(sent, False)
    former = signal.set_wakeup_fd(sent)
    try:
        with without_interrupts():
            if receiver == "the main thread":
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            else:
                signal.pthread_kill(other.ident, signal.SIGINT)
                assert os.read(received, 1) == bytes([signal.SIGINT])  # waits for the thread
            assert not came
        assert came == ["now"]
    finally:
        signal.set_wakeup_fd(former)
        signal.signal(signal.SIGINT, before)
        done.set()
        other.join()
        os.close(received)
        os.close(sent)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="masks are not told here")
def test_processes_that_are_started_do_not_get_ctrl_c():
    words = ["grep", "SigBlk", "/proc/self/status"]
    with without_interrupts():
        found = subprocess.run(words, capture_output=True, text=True, check=True)
    assert int(found.stdout.split()[1], 16) & 1 << (signal.SIGINT - 1)


def test_without_ctrl_c_nothing_changes():
    before = signal.getsignal(signal.SIGINT)
    with without_interrupts():
        pass
    assert signal.getsignal(signal.SIGINT) is before
