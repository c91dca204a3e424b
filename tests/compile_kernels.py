"""Compile kernels into the folder for machine code, one half of them in each of two processes.

The workers of the tests would otherwise compile the same kernels side by side. `conftest.py` runs
both halves before the workers start: ``python compile_kernels.py forests`` and ``python
compile_kernels.py others``. The models are those of `palmette compile`.
"""

from __future__ import annotations

import gc
import sys

from palmette.cli.compile import run_compile

HALVES = {"forests": ("forests",), "others": ("others", "texts")}

if __name__ == "__main__":
    gc.freeze()
    gc.set_threshold(100_000, 50)  # numba makes many objects that live on
    for part in HALVES[sys.argv[1]]:
        run_compile(part)
