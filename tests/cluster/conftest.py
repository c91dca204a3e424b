"""A Dask cluster of two processes."""

from __future__ import annotations

import pytest

PATIENCE = 300  # seconds that a busy machine may need to start a worker again


@pytest.fixture(scope="module")
def cluster():
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    with (
        dask.config.set(
            {
                "distributed.scheduler.allowed-failures": 0,
                # else a worker that is lost in two tests within 15 s is not started again
                "distributed.deploy.lost-worker-timeout": "1 hour",
                "palmette.timeout": PATIENCE,
            }
        ),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def client(cluster):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster, set_as_default=False) as made:
        yield made
