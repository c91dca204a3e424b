"""Registers the names of scorers when imported: as soon as scikit-learn has a table of them."""

from palmette.metrics._scorers import register_scorers

register_scorers()
