"""The removal of a test's files. Mirrors util/testing/remove_file.go."""

from __future__ import annotations

import os
from typing import IO, Any

__all__ = ["close_and_remove"]


def close_and_remove(*files: IO[Any] | None) -> None:
    """Close the files and remove them; None is ignored. Raises OSError, which fails the test. Go: CloseAndRemove."""
    for file in files:
        if file is not None:
            file.close()
            os.remove(file.name)
