"""Reproduction of published tables and figures, compared with those of the papers."""

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
