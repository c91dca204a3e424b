"""Attacks on model files and checkpoints, by `pytest tests/attack` or `python -m tests.attack`."""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # children are forked: no other threads may be at work
