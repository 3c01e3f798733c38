"""The user's home directory. Mirrors client-go/util/homedir/homedir.go."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["home_dir"]


def home_dir() -> str:
    """Return the home directory of the current user, or "" if it is unknown.

    It is $HOME except on Windows. There, in this order, it is: the first of HOME, HOMEDRIVE+HOMEPATH and USERPROFILE
    that contains .kube/config; the first of HOME, USERPROFILE and HOMEDRIVE+HOMEPATH that is a writable directory; the
    first that exists; the first that is set. Go: homedir.HomeDir.
    """
    home = os.environ.get("HOME", "")
    if sys.platform != "win32":
        return home
    return _windows_home_dir(home)


def _windows_home_dir(home: str) -> str:
    drive, path = os.environ.get("HOMEDRIVE", ""), os.environ.get("HOMEPATH", "")
    drive_path = drive + path if drive and path else ""
    user_profile = os.environ.get("USERPROFILE", "")
    for candidate in (home, drive_path, user_profile):
        if candidate and Path(candidate, ".kube", "config").exists():
            return candidate
    # Tools that write credentials prefer the user's profile.
    candidates = [candidate for candidate in (home, user_profile, drive_path) if candidate]
    existing = [candidate for candidate in candidates if Path(candidate).exists()]
    for candidate in existing:
        if Path(candidate).is_dir() and os.access(candidate, os.W_OK):
            return candidate
    return next(iter(existing or candidates), "")
