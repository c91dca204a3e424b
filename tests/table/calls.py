"""Functions that other processes call. Each of them imports this module: it imports little."""

from __future__ import annotations

import os
import warnings

from palmette.exceptions import ReadError


def square(x):
    return x * x


def fail_at(place, x):
    if x >= place:
        raise ReadError("wrong", path="a.csv", line=x)
    return x


def warn(x):
    warnings.warn("doubtful", stacklevel=1)
    return x


def end_at(place, x):
    if x == place:
        os._exit(3)
    return x


class Unreadable(Exception):
    """Cannot be read from its pickle: it needs two arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def raise_unreadable(x):
    raise Unreadable(x, 1)
