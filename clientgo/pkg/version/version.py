"""The version a client reports in its User-Agent. Mirrors pkg/version/version.go.

Differs: Go's linker stamps a commit into the binary; a Python package has a release only, so the commit is empty.
"""

from __future__ import annotations

from clientgo.apimachinery.version import Info

_RELEASE = "v0.36.0"


def get() -> Info:
    """The version of this library. Go: version.Get."""
    return Info(major="0", minor="36", git_version=_RELEASE)
