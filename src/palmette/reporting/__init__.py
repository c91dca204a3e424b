"""Reports on fitted models: a dictionary of facts, written as HTML, Markdown or JSON."""

from palmette.reporting._report import Report, report

__all__ = ["Report", "report"]
