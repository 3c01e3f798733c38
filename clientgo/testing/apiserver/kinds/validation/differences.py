"""What a refused change would have changed, as some messages end with it: lines that went, and lines that came."""

from __future__ import annotations

import difflib
import json
from itertools import islice

from clientgo.testing.apiserver.wire.jsonio import Json


def dump(old: Json, new: Json) -> str:
    """Both sides line by line, with what is the same left out: a unified diff without the names of files."""
    before, after = (json.dumps(side, indent=1).splitlines() for side in (old, new))
    return "\n".join(islice(difflib.unified_diff(before, after, lineterm=""), 2, None))
