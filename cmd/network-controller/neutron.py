"""Neutron, the service with the real networks. The walkthrough leaves it as a FIXME; this is a small replacement.

A controller compares the desired state in the API server with the actual state, which is here. `MemoryNeutron` loses
its networks at the end of the process. `FileNeutron` keeps them in a file, as a real service outlives the controller.
After a restart the controller must find the networks whose Networks were changed or deleted meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from clientgo.klog.exceptions import operational_error


@dataclass(frozen=True)
class RealNetwork:
    """A network as Neutron has it."""

    cidr: str
    gateway: str


@operational_error
class NeutronError(Exception):
    """A request that Neutron could not carry out. A retry may succeed."""


class Neutron(Protocol):
    """The part of Neutron that the controller uses.

    Every method may block for a real service, and raises NeutronError.
    """

    def get(self, namespace: str, name: str) -> tuple[RealNetwork | None, bool]:
        """Return the network and True, or None and False."""
        ...

    def list(self) -> dict[tuple[str, str], RealNetwork]:
        """Return all networks, by namespace and name."""
        ...

    def create(self, namespace: str, name: str, network: RealNetwork) -> None:
        """Create a network. Raises NeutronError when it already exists."""
        ...

    def update(self, namespace: str, name: str, network: RealNetwork) -> None:
        """Update a network. Raises NeutronError when it does not exist."""
        ...

    def delete(self, namespace: str, name: str) -> None:
        """Delete the network. Does nothing if it does not exist."""
        ...


class MemoryNeutron:
    """Networks in memory. Thread-safe; no method blocks longer than the lock."""

    def __init__(self) -> None:
        # Guards _networks.
        self._lock = threading.Lock()
        self._networks: dict[tuple[str, str], RealNetwork] = {}

    def get(self, namespace: str, name: str) -> tuple[RealNetwork | None, bool]:
        network = self.list().get((namespace, name))
        return network, network is not None

    def list(self) -> dict[tuple[str, str], RealNetwork]:
        with self._lock:
            return dict(self._networks)

    def create(self, namespace: str, name: str, network: RealNetwork) -> None:
        with self._change() as networks:
            if (namespace, name) in networks:
                raise NeutronError(f"network {namespace}/{name} already exists")
            networks[namespace, name] = network

    def update(self, namespace: str, name: str, network: RealNetwork) -> None:
        with self._change() as networks:
            if (namespace, name) not in networks:
                raise NeutronError(f"network {namespace}/{name} does not exist")
            networks[namespace, name] = network

    def delete(self, namespace: str, name: str) -> None:
        with self._change() as networks:
            networks.pop((namespace, name), None)

    @contextlib.contextmanager
    def _change(self) -> Iterator[dict[tuple[str, str], RealNetwork]]:
        with self._lock:
            yield self._networks


class FileNeutron(MemoryNeutron):
    """Networks in a JSON file: `{"default/example-network": {"cidr": ..., "gateway": ...}}`.

    Each call reads the file, so it may be edited while the controller runs. A change is written to a second
    file and renamed, so that the file is complete after a crash. A lock file prevents lost updates of two processes.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a file, and create it if necessary. Raises a NeutronError that names the file if it cannot be read or
        written.
        """
        super().__init__()
        self._path = Path(path)
        with self._change():
            pass

    def list(self) -> dict[tuple[str, str], RealNetwork]:
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as err:
            raise NeutronError(f"reading Neutron's state from {self._path}: {err}") from err
        return self._parse(text)

    def _parse(self, text: str) -> dict[tuple[str, str], RealNetwork]:
        networks: dict[tuple[str, str], RealNetwork] = {}
        try:
            for key, fields in json.loads(text).items():
                namespace, name = key.split("/")
                networks[namespace, name] = RealNetwork(cidr=str(fields["cidr"]), gateway=str(fields["gateway"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as err:
            raise NeutronError(f"{self._path} does not hold Neutron's state: {type(err).__name__}: {err}") from err
        return networks

    @contextlib.contextmanager
    def _change(self) -> Iterator[dict[tuple[str, str], RealNetwork]]:
        with self._lock, self._file_lock():
            networks = self.list()
            yield networks
            document = {
                f"{namespace}/{name}": {"cidr": network.cidr, "gateway": network.gateway}
                for (namespace, name), network in sorted(networks.items())
            }
            beside = self._path.with_name(f"{self._path.name}.new")
            try:
                with beside.open("w", encoding="utf-8") as file:
                    json.dump(document, file, indent=2)
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(self._path)
            except OSError as err:
                raise NeutronError(f"writing Neutron's state to {self._path}: {err}") from err

    @contextlib.contextmanager
    def _file_lock(self) -> Iterator[None]:
        try:
            lock = self._path.with_name(f"{self._path.name}.lock").open("w")
        except OSError as err:
            raise NeutronError(f"writing Neutron's state to {self._path}: {err}") from err
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
