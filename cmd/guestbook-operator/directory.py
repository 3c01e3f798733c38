"""The directory of guestbooks: something outside the cluster that must be cleaned up when a Guestbook goes.

It stands for a DNS zone, a bucket, a cloud's load balancer: the API server knows nothing of it, so the garbage
collector cannot clean it up. Here it is a JSON file of addresses.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path


class Directory:
    """Addresses by name, in a file. Thread-safe; one process at a time, which leader election takes care of.

    A change is there in full or not at all, also when the process is killed in the middle of it.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a directory. Raises ValueError when the file holds something else, and OSError when it is unreadable."""
        self._path = Path(path)
        # Guards the file between reading and writing it.
        self._lock = threading.Lock()
        self.entries()

    def entries(self) -> dict[str, str]:
        """Return the entries. Blocks for the file, and raises the constructor's errors."""
        try:
            entries = json.loads(self._path.read_text())
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError) as err:
            raise ValueError(f"{self._path} is no directory of guestbooks: {err}") from err
        if not isinstance(entries, dict) or not all(isinstance(address, str) for address in entries.values()):
            raise ValueError(f"{self._path} is no directory of guestbooks: expected an object of strings")
        return entries

    def register(self, name: str, address: str) -> bool:
        """List the guestbook under this address; False if it is already. Blocks for the file; raises OSError."""
        with self._lock:
            entries = self.entries()
            if entries.get(name) == address:
                return False
            self._write({**entries, name: address})
            return True

    def unregister(self, name: str) -> bool:
        """Strike the guestbook out; False if it was not there. Blocks for the file; raises OSError."""
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
