"""The two ways to read an object that is still its protobuf message: by the `protobuf` package, and by a walk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from clientgo.apimachinery.runtime.serializer.protobuf import upb

ENGINES = ("upb", "walk")


def fixture() -> Any:
    """Return a fixture that runs all tests of a module with each engine."""

    @pytest.fixture(scope="module", autouse=True, params=ENGINES)
    def engine(request: pytest.FixtureRequest) -> Iterator[str]:
        if request.param == "walk":
            with mock.patch.object(upb, "LOOKUP", upb.Lookup(is_wanted=False)):
                yield request.param
        elif upb.LOOKUP.engine() is None:
            pytest.skip("the protobuf package is not used here")
        else:
            yield request.param

    return engine
