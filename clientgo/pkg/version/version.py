"""The version a client reports in its User-Agent. Mirrors pkg/version/version.go.

Differs: Go's linker stamps a commit into the binary; a Python package has a release only, so the commit is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

_RELEASE = "v0.36.0"


@dataclass(frozen=True, kw_only=True)
class Info:
    """The release and, where known, the commit it was built from."""

    git_version: str = _RELEASE
    git_commit: str = ""


def get() -> Info:
    """The version of this library (Go: version.Get)."""
    return Info()
