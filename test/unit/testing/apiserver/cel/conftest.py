"""The server that the tests of rules and policies ask, one for each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment


@pytest.fixture(scope="module")
def server() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        client("GET", "/version", want=200)  # so that the connection is the module's, not the first test's
        yield client
        client.close()
