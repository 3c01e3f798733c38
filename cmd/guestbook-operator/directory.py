"""The directory of guestbooks: an external system that must be cleaned up after a Guestbook is deleted.

It takes the place of a DNS zone, a bucket or a cloud's load balancer. The API server does not know it, so the garbage
collector cannot clean it up. Here it is a JSON file of addresses.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

from clientgo.klog.exceptions import as_operational, operational


class Directory:
    """Addresses by name, in a file. Thread-safe; for one process at a time, which leader election ensures.

    Each change is atomic, also if the process is killed.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a directory. Raises ValueError when the file holds something else, and OSError when it is unreadable."""
        self._path = Path(path)
        # Guards the file while it is read, changed and written.
        self._lock = threading.Lock()
        self.entries()

    def entries(self) -> dict[str, str]:
        """Return the entries. Blocks for the file, and raises the constructor's errors."""
        try:
            with operational(OSError):
                entries = json.loads(self._path.read_text())
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError) as err:
            raise as_operational(ValueError(f"{self._path} is no directory of guestbooks: {err}")) from err
        if not isinstance(entries, dict) or not all(isinstance(address, str) for address in entries.values()):
            text = f"{self._path} is no directory of guestbooks: expected an object of strings"
            raise as_operational(ValueError(text))
        return entries

    def register(self, name: str, address: str) -> bool:
        """Set the guestbook's address. Return False if it has it already. Blocks for the file; raises OSError."""
        with self._lock:
            entries = self.entries()
            if entries.get(name) == address:
                return False
            self._write({**entries, name: address})
            return True

    def unregister(self, name: str) -> bool:
        """Remove the guestbook. Return False if it is missing. Blocks for the file; raises OSError."""
        with self._lock:
            entries = self.entries()
            if entries.pop(name, None) is None:
                return False
            self._write(entries)
            return True

    def _write(self, entries: dict[str, str]) -> None:
        new = self._path.with_name(f"{self._path.name}.new")
        with new.open("w") as file:
            json.dump(entries, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
