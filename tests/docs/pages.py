"""Pages of the documentation as code: their fenced blocks, run and compared with what they show."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_NEAR = 0.02  # other processors and libraries round otherwise: .02 of a share, 2% of a count


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the number of its first line, and the text of it.

    `shown` is the text of a block of output that follows, if there is one.
    """

    language: str
    line: int
    code: str
    shown: str | None = None


def blocks_of(page: Path, language: str) -> list[Block]:
    """Return the blocks of a page in one language."""
    text = page.read_text(encoding="utf-8")
    fences = list(_FENCE.finditer(text))
    found = []
    for fence, later in zip_longest(fences, fences[1:]):
        if fence[1] != language:
            continue
        line = text.count("\n", 0, fence.start()) + 2
        follows = later and later[1] == "text" and not text[fence.end() : later.start()].strip()
        found.append(Block(language, line, fence[2], later[2] if follows else None))
    return found


def run_block(page: Path, block: Block, names: dict[str, Any]) -> str:
    """Run a block in a namespace and return what it prints; errors tell the line of the page."""
    code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    return printed.getvalue()


def differences(printed: str, shown: str) -> list[str]:
    """Return in what a printed text differs from the shown one, numbers only if they are far."""
    ours, theirs = (_lines(text) for text in (printed, shown))
    if len(ours) != len(theirs):
        return [f"{len(theirs)} lines are shown, {len(ours)} were printed:\n{printed}"]
    return [
        f"shown: {there}\nprinted: {here}"
        for here, there in zip(ours, theirs, strict=True)
        if _words(here) != _words(there) or not _are_near(_numbers(here), _numbers(there))
    ]


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def _words(line: str) -> list[str]:
    return _NUMBER.sub("#", line).split()


def _numbers(line: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _NUMBER.findall(line)]


def _are_near(some: list[float], others: list[float]) -> bool:
    return all(abs(a - b) <= _NEAR * max(1.0, b) for a, b in zip(some, others, strict=True))
