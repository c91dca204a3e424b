"""How each kind of object is written in a model file, one family a file."""

from palmette.persistence.codecs import arrays, foreign, names, objects, plain, tables
from palmette.persistence.graph import Codec

__all__ = ["ALL_CODECS"]

# the first that takes an object writes it: foreign parts are what nothing else knows
ALL_CODECS: list[Codec] = [
    *plain.CODECS,
    *arrays.CODECS,
    *tables.CODECS,
    *names.CODECS,
    *objects.CODECS,
    *foreign.CODECS,
]
