"""Write a text to a file and read it as a hierarchy, in one call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from palmette.hierarchy._hierarchy import Hierarchy

Read = Callable[..., Hierarchy]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return a function that reads text or bytes as the content of a file."""

    def read_content(content: str | bytes, name: str = "file.txt", **options: Any) -> Hierarchy:
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Hierarchy.read(file, **options)

    return read_content
