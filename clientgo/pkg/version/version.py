"""The version that a client reports in its User-Agent. Mirrors pkg/version/version.go.

Difference: Go's linker inserts a commit into the binary; a Python package only has a release, so the commit is empty.
"""

from __future__ import annotations

from clientgo.apimachinery.version import Info

_RELEASE = "v0.36.0"


def get() -> Info:
    """Return the version of this library. Go: version.Get."""
    return Info(major="0", minor="36", git_version=_RELEASE)
