"""Differences between objects, for messages. Mirrors apimachinery/pkg/util/diff/diff.go.

Omits Go's file for the build tag usegocmp, and legacy_diff.go, which prints Go's memory.
"""

from __future__ import annotations

import json
from typing import Any

from clientgo.apimachinery.runtime.view import copy_json
from clientgo.apimachinery.util.diff.lines import unified
from clientgo.apimachinery.util.json import escape_html, limited_by_stack

__all__ = ["diff"]


@limited_by_stack
def diff(a: Any, b: Any) -> str:
    """Return a unified diff of two objects as indented JSON, "" if they are equal.

    It compares the output of `pprint` for values that JSON cannot represent. Of long objects it compares 1000 lines
    from the first change on and reports how many it left out, since more would take quadratic time. Raises TooDeepError
    for values nested deeper than Python's json module supports: a few hundred levels, from Python 3.13 on about 10,000.

    >>> print(diff({"a": 1, "b": 2}, {"a": 1, "b": 3}), end="")
    @@ -1,4 +1,4 @@
     {
      "a": 1,
    - "b": 2
    + "b": 3
     }

    Go: diff.Diff.
    """
    try:
        before, after = _pretty_json(a), _pretty_json(b)
    except (TypeError, ValueError):
        from pprint import pformat

        before, after = pformat(a), pformat(b)
    # Go's output has no lines with file names.
    return "".join(f"{line}\n" for line in unified(before.split("\n"), after.split("\n"))[2:])


def _pretty_json(value: Any) -> str:
    return escape_html(json.dumps(copy_json(value), indent=1, ensure_ascii=False, sort_keys=True, allow_nan=False))
