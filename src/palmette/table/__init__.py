"""From a table to a model: reading, features, a tournament of models, predictions by chunks."""

from palmette.table._features import TextVectorizer
from palmette.table._fit import fit_table
from palmette.table._model import TableModel

__all__ = ["TableModel", "TextVectorizer", "fit_table"]
