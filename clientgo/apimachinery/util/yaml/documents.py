"""The documents of a YAML stream. Go: yaml.YAMLReader (apimachinery/pkg/util/yaml/decoder.go)."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["documents", "has_no_content"]

_SEPARATOR = re.compile(r"---(\s|$)")
_END = re.compile(r"\.\.\.(\s|$)")


def documents(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number of the first line and the text of each document."""
    lines: list[str] = []
    start, has_separator = 1, False
    for number, line in enumerate(text.split("\n"), 1):
        separates = _SEPARATOR.match(line) is not None
        # Directives and comments in front of the first separator belong to its document.
        if separates and (has_separator or not all(has_no_content(each) for each in lines)):
            yield start, "\n".join(lines) + "\n"
            lines, start = [], number
        has_separator |= separates
        if _END.match(line):
            yield start, "\n".join(lines) + "\n"
            lines, start, has_separator = [], number + 1, False
        else:
            lines.append(line)
    yield start, "\n".join(lines)


def has_no_content(line: str) -> bool:
    """Report whether a line is empty, a comment, a directive or a separator."""
    stripped = line.strip()
    return not stripped or stripped == "---" or stripped[0] in "#%"
