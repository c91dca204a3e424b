"""Fixtures of tests of model files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from palmette.persistence import names


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str | type], None]]:
    """`palmette.persistence.names.register`, for the time of a test."""
    with monkeypatch.context() as patch:
        patch.setattr(names, "_where", dict(names._where))
        patch.setattr(names, "_candidates", {n: [*of] for n, of in names._candidates.items()})
        yield names.register
    names._found.clear()
