"""--data-dir: every change in a SQLite database in WAL mode before it is acknowledged.

A process killed at any moment loses nothing it has answered; resource versions go on from where they were.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from clientgo.testing.apiserver.store.storage import Store, Unwritten
from clientgo.testing.apiserver.wire.jsonio import loads_exact

_FILE = "apiserver.db"
_MODE = 0o600


class SqliteJournal:
    """The journal of one store. Used under the store's lock only, from whatever thread holds it.

    Whatever is wrong with the database is an OSError that names the file.
    """

    def __init__(self, directory: str | Path) -> None:
        """Open or create the database. Raises OSError if this fails or another server uses the database."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = folder / _FILE
        # For this user alone, whatever the folder's mode is: it holds the token and the keys. SQLite gives the files
        # that it makes the same mode, and what is there may be of an older server.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, _MODE))
        for file in (self.path, Path(f"{self.path}-wal"), Path(f"{self.path}-shm")):
            with contextlib.suppress(FileNotFoundError):
                file.chmod(_MODE)
        self._db = sqlite3.connect(self.path, timeout=1.0, isolation_level=None, check_same_thread=False)
        try:
            with self._named():
                self._prepare()
        except OSError:
            self._db.close()
            raise

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Add the file's name to SQLite's errors."""
        try:
            yield
        except sqlite3.Error as err:
            raise OSError(f"{self.path}: {err}") from err

    def _prepare(self) -> None:
        # Two servers on one database would give out the same versions.
        self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
        self._db.execute("PRAGMA journal_mode=WAL")
        # The WAL is in the page cache at commit: it survives the process, which is what this is for.
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS objects (bucket TEXT, key TEXT, rv INTEGER, body BLOB, PRIMARY KEY "
            "(bucket, key))"
        )
        self._db.execute("CREATE TABLE IF NOT EXISTS version (id INTEGER PRIMARY KEY CHECK (id = 1), rv INTEGER)")
        self._db.execute("INSERT OR IGNORE INTO version VALUES (1, 0)")
        self._db.execute("CREATE TABLE IF NOT EXISTS identity (name TEXT PRIMARY KEY, value TEXT)")

    def __repr__(self) -> str:
        return f"<SqliteJournal {self.path}>"

    @property
    def version(self) -> int:
        """The version to go on from: never below that of an object that is there."""
        with self._named():
            (version,) = self._db.execute(
                "SELECT MAX((SELECT COALESCE(MAX(rv), 0) FROM version), (SELECT COALESCE(MAX(rv), 0) FROM objects))"
            ).fetchone()
        return int(version)

    def remember(self, name: str, make: Callable[[], str]) -> str:
        """Return a stored secret of the server; create it on the first call.

        So a restarted server keeps token and certificate.
        """
        with self._named():
            row = self._db.execute("SELECT value FROM identity WHERE name = ?", (name,)).fetchone()
            if row is not None:
                return str(row[0])
            value = make()
            self._db.execute("INSERT INTO identity VALUES (?, ?)", (name, value))
            return value

    def load_into(self, store: Store) -> None:
        """Put everything back. Raises OSError for what cannot be an object, rather than to serve without it."""
        with self._named():
            for bucket, key, rv, body in self._db.execute(
                "SELECT bucket, key, rv, body FROM objects ORDER BY bucket, key"
            ):
                try:
                    obj = loads_exact(bytes(body))
                    complete = bool(obj["metadata"]["name"] and obj["metadata"]["uid"])
                except (ValueError, TypeError, KeyError):
                    complete = False
                if not complete:
                    raise OSError(f"{self.path}: {bucket} {key} is damaged")
                store.load(bucket, key, obj, rv)

    def write(self, bucket: str, key: str, raw: bytes | None, rv: int) -> None:
        """See Journal.write."""
        try:
            self._write(bucket, key, raw, rv)
        except sqlite3.Error as err:
            with contextlib.suppress(sqlite3.Error):
                # Some failures end the transaction by themselves.
                self._db.execute("ROLLBACK")
            raise Unwritten(f"{self.path}: {err}") from err

    def _write(self, bucket: str, key: str, raw: bytes | None, rv: int) -> None:
        db = self._db
        db.execute("BEGIN")
        if raw is None:
            db.execute("DELETE FROM objects WHERE bucket = ? AND key = ?", (bucket, key))
        else:
            db.execute("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)", (bucket, key, rv, raw))
        db.execute("UPDATE version SET rv = ?", (rv,))
        db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()
