"""Published tables and figures, made again: ours beside those of a paper."""

from papers.registry import Published, find_published, list_published, run
from papers.result import PublishedResult, Table

__all__ = [
    "Published",
    "PublishedResult",
    "Table",
    "find_published",
    "list_published",
    "run",
]
