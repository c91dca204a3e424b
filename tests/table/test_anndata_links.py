"""AnnData files whose parts are in other files, which only h5py is needed to refuse."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.exceptions import ReadError
from palmette.table._reading import read_whole
from palmette.table._sources import TableSource

h5py = pytest.importorskip("h5py")


def external(group):
    group["secret"] = h5py.ExternalLink("other.h5", "x")


def soft(group):
    group["secret"] = h5py.SoftLink("/X")


def raw(group):
    group.create_dataset("secret", (60,), "u1", external=[("other.h5", 0, 60)])


def virtual(group):
    layout = h5py.VirtualLayout((60,), "f8")
    layout[:] = h5py.VirtualSource("other.h5", "x", (60,))
    group.create_virtual_dataset("secret", layout)


@pytest.mark.parametrize("link", [external, soft, raw, virtual])
def test_parts_in_other_files_are_not_read(link, tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["x"] = np.arange(60.0)
    with h5py.File(tmp_path / "cells.h5ad", "w") as made:
        made["X"] = np.ones((60, 2))
        obs = made.create_group("obs")
        obs["self"] = obs
        link(obs)
    with pytest.raises(ReadError, match="/secret is a link, perhaps to another file"):
        read_whole(TableSource.of(tmp_path / "cells.h5ad"))
