"""The server that the client's tests talk to, one for each module, and a namespace of it for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ctrlcluster import Cluster, new_cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with new_cluster() as cluster:
        yield cluster


@pytest.fixture
def ns(cluster: Cluster) -> str:
    return cluster.new_namespace()
