"""Identifiers are random UUIDs."""

from __future__ import annotations

import re

from clientgo.apimachinery.types import UID
from clientgo.apimachinery.util import uuid


def test_a_new_uuid_is_random_and_of_version_4() -> None:
    first, second = uuid.new_uuid(), uuid.new_uuid()

    assert first != second
    assert isinstance(first, UID)
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", first)
