"""Types and descriptions of the built-in kinds' columns, as in a real server's tables."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib import resources

from clientgo.testing.apiserver.wire.jsonio import Json


@cache
def _recorded() -> dict[str, Json]:
    """Return the recorded columns of each storage by name: type, format, description, priority."""
    packed = resources.files("clientgo.testing.apiserver.views").joinpath("data/columns.json.gz").read_bytes()
    found: dict[str, Json] = json.loads(gzip.decompress(packed))
    return found


def described(storage: str, columns: list[Json]) -> list[Json]:
    """Return the columns with their recorded types and descriptions. Other columns are unchanged."""
    known = _recorded().get(storage, {})
    return [_with(column, known[column["name"]]) if column["name"] in known else column for column in columns]


def _with(column: Json, facts: tuple[str, str, str, int]) -> Json:
    kind, form, text, priority = facts
    return {"name": column["name"], "type": kind, "format": form, "description": text, "priority": priority}
