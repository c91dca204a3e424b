"""Model files: objects of Palmette as a zip archive of JSON and arrays, without code."""

from palmette.persistence._reading import inspect, load
from palmette.persistence._writing import save

__all__ = ["inspect", "load", "save"]
