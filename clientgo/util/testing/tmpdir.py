"""Temporary folders. Mirrors util/testing/tmpdir.go."""

from __future__ import annotations

import tempfile

__all__ = ["mk_tmpdir", "mk_tmpdir_or_die"]


def mk_tmpdir(prefix: str) -> str:
    """Return a new folder whose name begins with `prefix`. The caller removes it. Raises OSError. Go: MkTmpdir."""
    return tempfile.mkdtemp(prefix=prefix)


def mk_tmpdir_or_die(prefix: str) -> str:
    """Return a new folder, as `mk_tmpdir` does. Go panics where Python raises OSError. Go: MkTmpdirOrDie."""
    return mk_tmpdir(prefix)
