"""Model files: objects of Palmette as a zip of JSON and arrays, from which no code is ever run."""

from palmette.persistence.inspecting import inspect
from palmette.persistence.reading import load
from palmette.persistence.writing import save

__all__ = ["inspect", "load", "save"]
