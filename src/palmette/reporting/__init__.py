"""Reports on fitted models: facts first, then HTML, Markdown and JSON from the same facts."""

from palmette.reporting._report import Report, report

__all__ = ["Report", "report"]
