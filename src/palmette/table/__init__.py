"""From a table to a model: reading, features, a tournament of models, predictions by chunks."""

from palmette.table.fit import fit_table
from palmette.table.model import TableModel
from palmette.table.text import TextVectorizer

__all__ = ["TableModel", "TextVectorizer", "fit_table"]
