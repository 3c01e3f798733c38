"""The version that a client reports in its User-Agent. Mirrors pkg/version/version.go.

Difference: Go's linker inserts a commit into the binary; a Python package only has a release, so the commit is empty.
"""

from __future__ import annotations

from clientgo import __version__
from clientgo.apimachinery.version import Info


def get() -> Info:
    """Return the version of this library. Go: version.Get."""
    major, minor, _ = __version__.split(".", 2)
    return Info(major=major, minor=minor, git_version=f"v{__version__}")
