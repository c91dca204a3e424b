"""The command line: one file per command, each around one public call."""

import gc
from contextvars import ContextVar
from time import monotonic

from palmette._imports import postpone

# what a command imports stays: the collector would look through all of it again and again
gc.set_threshold(50_000, 20, 50)

# imported by NumPy, scikit-learn, numba and this package, and used in few functions of them
postpone(
    [
        "charset_normalizer",
        "numpy.f2py",
        "numpy.testing",
        "scipy.optimize",
        "scipy.stats",
        "sklearn.multioutput",
        "sklearn.preprocessing",
        "yaml",
    ]
)

IMPORTED = monotonic()  # before the commands, of which most libraries are a part
begun: ContextVar[float] = ContextVar("begun")  # when the process began, if it runs one command
