"""pytest fixtures for tests against the embedded API server. In a conftest.py:

    from clientgo.testing.apiserver.fixtures import apiserver, apiserver_config  # noqa: F401

Needs pytest, which the library itself does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from clientgo.testing.apiserver.environment import Environment

if TYPE_CHECKING:
    from clientgo.rest.config import Config


@pytest.fixture
def apiserver(request: pytest.FixtureRequest) -> Iterator[Environment]:
    """Yield a separate server for each test.

    `@pytest.mark.parametrize("apiserver", [["config/crd"]], indirect=True)` installs CRDs.
    """
    with Environment(crd_paths=getattr(request, "param", ())) as environment:
        yield environment


@pytest.fixture
def apiserver_config(apiserver: Environment) -> Config:
    """Return the rest Config of an administrator of the server."""
    return apiserver.config
