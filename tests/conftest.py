"""Fixtures shared by all rooms."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_home() -> Path:
    """Return the folder of real data sets; skip where there is none."""
    home = os.environ.get("PALMETTE_DATA")
    if not home:
        pytest.skip("the environment variable PALMETTE_DATA does not name a data home")
    path = Path(home)
    if not (path / "manifest.json").is_file():
        pytest.skip(f"PALMETTE_DATA={home} has no manifest.json")
    return path


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep the garbage collector from looking through thousands of collected tests all the time."""
    gc.collect()
    gc.freeze()
