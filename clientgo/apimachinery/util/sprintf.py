"""Go's formatting of texts: what a controller written after a Go one passes to `eventf`.

No Go file of Kubernetes stands behind this module (Go's fmt package does). Both Go's and Python's verbs are understood,
and a text that does not fit its arguments never raises: reporting must not break what it reports on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from clientgo.apimachinery.util.strconv import quote

_VERB: Final = re.compile(r"%([#+\- 0]*)(\*|[0-9]+)?(?:\.([0-9]+))?([a-zA-Z%])")


def sprintf(format: str, *args: Any) -> str:
    """The format with the arguments filled in; without arguments, the text as it is. Never raises. Go: fmt.Sprintf.

    >>> sprintf("scaled %q from %d to %v (%5.1f%%)", "web", 1, 3, 200)
    'scaled "web" from 1 to 3 (200.0%)'
    """
    if not args:
        return format
    waiting = list(args)

    def fill(match: re.Match[str]) -> str:
        flags, width, precision, verb = match.groups()
        if verb == "%":
            return "%"
        if not waiting:
            return f"%!{verb}(MISSING)"
        return _format(flags, width or "", precision, verb, waiting.pop(0))

    text = _VERB.sub(fill, format)
    if waiting:
        extra = ", ".join(f"{_go_type(value)}={go_value(value)}" for value in waiting)
        text = f"{text}%!(EXTRA {extra})"
    return text


def _format(flags: str, width: str, precision: str | None, verb: str, value: Any) -> str:
    try:
        if verb in "vs":
            return _padded(go_value(value), flags, width)
        if verb == "q":
            return _padded(quote(go_value(value)), flags, width)
        if verb == "t":
            return _padded(go_value(bool(value)), flags, width)
        if verb == "T":
            return _go_type(value)
        point = "" if precision is None else f".{precision}"
        return str(f"%{flags.replace('#', '')}{width}{point}{verb}" % value)
    except (TypeError, ValueError):
        return f"%!{verb}({_go_type(value)}={go_value(value)})"


def _padded(text: str, flags: str, width: str) -> str:
    if not width.isdigit():
        return text
    return text.ljust(int(width)) if "-" in flags else text.rjust(int(width))


def go_value(value: Any) -> str:
    """A value as Go's %v shows it."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return f"map[{' '.join(f'{go_value(key)}:{go_value(value[key])}' for key in sorted(value))}]"
    if isinstance(value, (list, tuple)):
        return f"[{' '.join(go_value(item) for item in value)}]"
    return str(value)


def _go_type(value: Any) -> str:
    names = {bool: "bool", int: "int", float: "float64", str: "string"}
    return names.get(type(value), type(value).__name__)
