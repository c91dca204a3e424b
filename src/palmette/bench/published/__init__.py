"""Published tables and figures, made again: ours beside those of a paper."""

from palmette.bench.published.registry import Published, find_published, list_published, run
from palmette.bench.published.result import PublishedResult, Table

__all__ = [
    "Published",
    "PublishedResult",
    "Table",
    "find_published",
    "list_published",
    "run",
]
