"""Reports on fitted models: a dictionary of facts, written as HTML, Markdown or JSON."""

from typing import TYPE_CHECKING

from palmette._imports import lazy_names

if TYPE_CHECKING:
    from palmette.reporting._report import Report, report

__all__ = ["Report", "report"]

# a fit shows its leaderboard, which needs no report, nor the statistics of one
__getattr__, __dir__ = lazy_names(__name__, {"palmette.reporting._report": "Report report"})
