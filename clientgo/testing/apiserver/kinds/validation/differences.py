"""The difference at the end of some messages about a rejected change: removed lines and added lines."""

from __future__ import annotations

import difflib
import json
from itertools import islice

from clientgo.testing.apiserver.wire.jsonio import Json


def dump(old: Json, new: Json) -> str:
    """Return a unified diff of both objects' JSON, without the lines that name the files."""
    before, after = (json.dumps(side, indent=1).splitlines() for side in (old, new))
    return "\n".join(islice(difflib.unified_diff(before, after, lineterm=""), 2, None))
