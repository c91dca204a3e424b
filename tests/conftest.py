"""Fixtures shared by all rooms."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a kernel on one worker: a second one would compile it again."""
    for item in items:
        room = item.path.parent.name
        if room in ("_kernels", "forest"):
            item.add_marker(pytest.mark.xdist_group(item.path.stem if room == "_kernels" else room))


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
