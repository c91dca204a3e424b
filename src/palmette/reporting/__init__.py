"""Reports on fitted models: facts first, then HTML, Markdown and JSON from the same facts."""

from palmette.reporting.report import Report, report

__all__ = ["Report", "report"]
