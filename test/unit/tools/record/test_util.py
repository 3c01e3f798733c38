"""Names of events. Go: tools/record/util/util_test.go."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.util import validation
from clientgo.tools.record import util

TIME = 105999103295324396


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        pytest.param("test-pod", "test-pod.178959f726d80ec", id="valid name"),
        pytest.param("x" * 300, None, id="invalid name - too long"),
        pytest.param("test.POD", None, id="invalid name - upper case"),
        pytest.param("test.pod/invalid!chars?", None, id="invalid name - special chars"),
        pytest.param("--test.pod/invalid!chars?", None, id="invalid name - special chars and start"),
    ],
)
def test_the_name_of_an_event_is_valid(name: str, wanted: str | None) -> None:
    """Go: TestGenerateEventName."""
    found = util.generate_event_name(name, TIME)
    assert validation.is_dns1123_subdomain(found) == []
    if wanted is None:
        assert found != util.generate_event_name(name, TIME), "a random name"
    else:
        assert found == wanted
