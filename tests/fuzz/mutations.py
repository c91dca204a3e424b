"""Ways to spoil a file, each drawn by a seed, and what a command may then do."""

from __future__ import annotations

import gzip
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

Mutation = Callable[[bytes, np.random.Generator], bytes]

_SECONDS = 60  # far more than any file here takes: a loop without end must not block the tests
_ODD = [
    b"\x00", b'"', b'"""', b"\xff\xfe", b"\r", b"\n\n", b"\xc3\x28", b"\xed\xa0\x80", b",,,,",
    b"\t", b"1e999", b"NaN", b"-inf", b"=1+1", b"\xe2\x80\xae", b"\\", b"9" * 400, b"\x1a",
]  # fmt: skip


def flip_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    spoilt = bytearray(content)
    for place in rng.integers(0, len(spoilt), rng.integers(1, 12)):
        spoilt[place] = rng.integers(0, 256)
    return bytes(spoilt)


def cut_off(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: rng.integers(0, len(content))]


def cut_out(content: bytes, rng: np.random.Generator) -> bytes:
    start, end = np.sort(rng.integers(0, len(content), 2))
    return content[:start] + content[end:]


def repeat_part(content: bytes, rng: np.random.Generator) -> bytes:
    start, end = np.sort(rng.integers(0, len(content), 2))
    return content[:end] + content[start:end] * int(rng.integers(1, 4)) + content[end:]


def insert_odd(content: bytes, rng: np.random.Generator) -> bytes:
    for _ in range(rng.integers(1, 5)):
        place = rng.integers(0, len(content) + 1)
        content = content[:place] + _ODD[rng.integers(len(_ODD))] + content[place:]
    return content


def swap_lines(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(lines[i] for i in rng.permutation(len(lines)))


def ragged_lines(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.split(b"\n")
    for place in rng.integers(0, len(lines), 3):
        lines[place] += b",more" * int(rng.integers(1, 500)) if rng.random() < 0.5 else b","
    return b"\n".join(lines)


def huge_field(content: bytes, rng: np.random.Generator) -> bytes:
    place = rng.integers(0, len(content) + 1)
    return content[:place] + b"x" * int(rng.integers(50_000, 150_000)) + content[place:]


def other_encoding(content: bytes, rng: np.random.Generator) -> bytes:
    names = ["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp1252", "shift_jis", "utf-7"]
    text = content.decode("utf-8", "replace").replace("e", "é")
    return text.encode(names[rng.integers(len(names))], "replace")


def other_line_ends(content: bytes, rng: np.random.Generator) -> bytes:
    ends = [b"\r", b"\r\n", b"\n\r", b"\x0b", b"\x0c", b"\x1e", b"\xe2\x80\xa8"]
    return content.replace(b"\n", ends[rng.integers(len(ends))])


def only_start(content: bytes, rng: np.random.Generator) -> bytes:
    starts = [b"", b"\n", b"\xef\xbb\xbf", b"\x00" * 50, b" ", content[:20], b'"', b"\xff"]
    return starts[rng.integers(len(starts))]


def packed(content: bytes, rng: np.random.Generator) -> bytes:
    whole = gzip.compress(content, mtime=0)
    return whole if rng.random() < 0.3 else cut_off(whole, rng)


MUTATIONS: list[Mutation] = [
    flip_bytes, cut_off, cut_out, repeat_part, insert_odd, swap_lines, ragged_lines, huge_field,
    other_encoding, other_line_ends, only_start, packed,
]  # fmt: skip


@contextmanager
def not_for_ever() -> Iterator[None]:
    """Fail a command that does not end."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"not done after {_SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_soundly(palmette: Any, folder: Path, *words: Any) -> int:
    """Run a command that must work, or fail with one message and leave no file; give its code."""
    before = {path.name for path in folder.iterdir()}
    with not_for_ever():
        result = palmette(*words)
    case = f"palmette {' '.join(map(str, words))}\n{result.output[-2000:]}"
    assert result.exit_code in (0, 2), case
    assert result.exception is None or isinstance(result.exception, SystemExit), case
    assert "not foreseen" not in result.output, case
    assert "Traceback" not in result.output, case
    new = {path.name for path in folder.iterdir()} - before
    if result.exit_code:
        assert not new, f"{case}\nleft behind: {new}"
        assert "error" in result.output.lower() or "fault" in result.output.lower(), case
    for name in new:
        assert (folder / name).stat().st_size > 0, case
        assert not name.endswith((".tmp", ".part")), case
        (folder / name).unlink()
    return int(result.exit_code)
