"""The Go functions that support a lesson's sentences, next to this project's own.

A lesson names them in a comment behind a paragraph, several separated by ";":

    <!-- go: tools/cache/reflector.go:493 (*Reflector).list = Reflector._list_pages -->
    <!-- go: sample-controller controller.go:253 (*Controller).syncHandler = cmd/sample-controller/controller.py f -->

The first word is the repository, client-go without it. The number is the function's line at the repository's tag in
TAGS. After "=" stand our file and function; without a file it is client-go's counterpart, the module of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["TAGS", "Claim", "read"]

TAGS: Mapping[str, str] = {
    "client-go": "kubernetes/client-go/blob/v0.36.0",
    "apiserver": "kubernetes/apiserver/blob/v0.36.0",
    "apimachinery": "kubernetes/apimachinery/blob/v0.36.0",
    "sample-controller": "kubernetes/sample-controller/blob/v0.36.0",
    "controller-runtime": "kubernetes-sigs/controller-runtime/blob/v0.24.0",
}
"""By repository, its public source at the version that the lessons describe."""

_CLAIM = re.compile(r"(?:([\w-]+) )?([\w./-]+\.go):(\d+) (\S+)(?: = (?:(\S+\.py) )?(\S+))?")


@dataclass(frozen=True)
class Claim:
    """A function in Go's source, and ours; `file` and `function` are "" where we have none."""

    repository: str
    go_file: str
    line: int
    go_function: str
    file: str
    function: str

    @property
    def url(self) -> str:
        """Address of the function in Go's public source."""
        return f"https://github.com/{TAGS[self.repository]}/{self.go_file}#L{self.line}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "repository": self.repository,
            "goFile": self.go_file,
            "goFunction": self.go_function,
            "line": self.line,
            "url": self.url,
            "file": self.file,
            "function": self.function,
        }


def read(text: str) -> tuple[Claim, ...]:
    """Read the claims of a paragraph. Raises ValueError for one that cannot be read."""
    return tuple(_read_one(each.strip()) for each in text.split(";") if each.strip())


def _read_one(text: str) -> Claim:
    found = _CLAIM.fullmatch(text)
    if found is None or (found[1] or "client-go") not in TAGS:
        raise ValueError(f"cannot read the claim {text!r}")
    repository, go_file, line, go_function, file, function = found.groups()
    if function and not file:
        if repository:
            raise ValueError(f"the claim {text!r} names no file of ours")
        file = f"clientgo/{go_file.removesuffix('.go')}.py"
    return Claim(repository or "client-go", go_file, int(line), go_function, file or "", function or "")
