"""Compile kernels into the folder for machine code, in two processes that share the models.

The workers of the tests would otherwise compile the same kernels side by side. `conftest.py` runs
``python compile_kernels.py forwards FOLDER`` and ``python compile_kernels.py backwards FOLDER``
before the workers start: one process begins with the first model and the other with the last, until
they meet, so that neither waits long for the other. Forests of all kinds are one task, since they
share most of what is compiled. The models are those of `palmette compile`.
"""

from __future__ import annotations

import gc
import sys
import warnings
from functools import partial
from pathlib import Path

from palmette.cli.compile import FITS, run_compile
from shortcuts import shorten_compilation

PARTS = ("others", "large", "texts")


def main(direction: str, folder: Path) -> None:
    """Fit models until the next one has been taken; a file in the folder says that it has."""
    fits = [partial(run_compile, "forests")]
    fits += [fit for part in PARTS for _, fit in FITS[part]()]
    numbers = range(len(fits))
    for number in numbers if direction == "forwards" else reversed(numbers):
        try:
            (folder / str(number)).touch(exist_ok=False)
        except FileExistsError:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits[number]()


if __name__ == "__main__":
    shorten_compilation()
    gc.freeze()
    gc.set_threshold(100_000, 50)  # numba makes many objects that live on
    main(sys.argv[1], Path(sys.argv[2]))
