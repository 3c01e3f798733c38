"""A DNS zone: an external system that must be cleaned up after a Site is deleted.

The API server does not know it, so the garbage collector cannot clean it up. Here it is a folder with a file for each
host, with the host's name. Several replicas may use it at once: the replica that creates the file owns the host.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from clientgo.apimachinery.util import validation
from clientgo.klog.exceptions import as_operational, operational_error


@operational_error
class HostTakenError(Exception):
    """Another Site has the host."""


@dataclass(frozen=True)
class Record:
    """The record of a host name."""

    # The owner: namespace/name of a Site.
    owner: str
    # Where visitors are sent.
    target: str


class Zone:
    """The records, in a folder. Thread-safe. Several processes may use it, but only one at a time for each owner.

    Each change is atomic, also if the process is killed.
    """

    def __init__(self, folder: str | Path) -> None:
        """Create the folder if necessary. Raises OSError, which is about the flag that names the folder."""
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as err:
            raise as_operational(OSError(f"{folder} cannot be the folder of a zone: {err}")) from err

    def records(self) -> dict[str, Record]:
        """Return all records by host. Blocks while it reads the files; raises as `publish` does."""
        hosts = [path.name for path in self._folder.iterdir() if not path.name.startswith(".")]
        found = {host: self._read(host) for host in sorted(hosts)}
        return {host: record for host, record in found.items() if record is not None}

    def publish(self, host: str, record: Record) -> bool:
        """Give the owner this host and no other. Return False if it has it already. Blocks for the files.

        Raises HostTakenError if another owner has the host, ValueError for an invalid host or record, and OSError.
        """
        found = self._read(host)
        if found == record:
            return False
        _check_owner(host, found, record)
        # Before the new record exists. So the old one cannot be forgotten if the process ends in between.
        self.withdraw(record.owner, but=host)
        new = self._written(host, record)
        try:
            # Only one process can create the link. Its owner has the host.
            os.link(new, self._path(host))
        except FileExistsError:
            _check_owner(host, self._read(host), record)
            new.replace(self._path(host))
        finally:
            new.unlink(missing_ok=True)
        return True

    def withdraw(self, owner: str, but: str = "") -> list[str]:
        """Remove the owner's other hosts and return them. Blocks for the files; raises the errors of `publish`."""
        hosts = [host for host, record in self.records().items() if record.owner == owner and host != but]
        for host in hosts:
            self._path(host).unlink(missing_ok=True)
        return hosts

    def _path(self, host: str) -> Path:
        if errors := validation.is_dns1123_subdomain(host):
            raise ValueError(f"{host!r} is no host name: {'; '.join(errors)}")
        return self._folder / host

    def _read(self, host: str) -> Record | None:
        path = self._path(host)
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            return Record(owner=str(document["owner"]), target=str(document["target"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, RecursionError) as err:
            raise ValueError(f"{path} is no record of a zone: {type(err).__name__}: {err}") from err

    def _written(self, host: str, record: Record) -> Path:
        """Write the record to a temporary file in the folder and return its path.

        If a killed process has left such a file, the method deletes it instead of writing to it: the file may be the
        record itself, which has two names for a moment.
        """
        name = hashlib.blake2b(f"{record.owner} {host}".encode(), digest_size=16).hexdigest()
        path = self._folder / f".{name}"
        path.unlink(missing_ok=True)
        with path.open("x", encoding="utf-8") as file:
            json.dump({"owner": record.owner, "target": record.target}, file)
            file.flush()
            os.fsync(file.fileno())
        return path


def _check_owner(host: str, found: Record | None, record: Record) -> None:
    if found is not None and found.owner != record.owner:
        raise HostTakenError(f"the host {host} is taken by the Site {found.owner}")
