"""Model files: objects of Palmette as a zip of JSON and arrays, from which no code is ever run."""

from palmette.persistence._reading import inspect, load
from palmette.persistence._writing import save

__all__ = ["inspect", "load", "save"]
