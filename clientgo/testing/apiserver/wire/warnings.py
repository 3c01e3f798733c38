"""Warning headers. Mirrors apiserver's endpoints/filters/warning.go and apimachinery's util/net."""

from __future__ import annotations

import re

# Characters of all warnings of one answer; beyond that each is cut, and then no more are added.
_TOTAL = 4 * 1024
_EACH = 256
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def warning_headers(texts: list[str]) -> list[str]:
    """Return the values of the Warning headers for these texts, each text once.

    Texts with control characters are left out, as in Go, since a header cannot contain them. If the others are longer
    than 4096 characters together, each is cut to 256, and the texts after the first 4096 characters are left out.
    """
    shown = [text for text in dict.fromkeys(texts) if text and not _CONTROL.search(text)]
    each = _EACH if sum(map(len, shown)) > _TOTAL else _TOTAL
    values, left = [], _TOTAL
    for text in shown:
        cut = text[:each]
        if len(cut) > left:
            break
        left -= len(cut)
        escaped = cut.replace("\\", "\\\\").replace('"', '\\"')
        values.append(f'299 - "{escaped}"')
    return values
