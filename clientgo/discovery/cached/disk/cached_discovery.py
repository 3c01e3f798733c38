"""Discovery with a cache in files, for command line tools. Mirrors discovery/cached/disk/cached_discovery.go.

Difference: there is no second cache for HTTP responses (Go's round_tripper.go).
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable
from typing import TypeVar

from clientgo import klog
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.util.json import unmarshal
from clientgo.discovery import DiscoveryInterface, new_discovery_client_for_config
from clientgo.discovery.cached.memory import new_mem_cache_client
from clientgo.discovery.caching import CachingDiscovery
from clientgo.rest.config import Config
from clientgo.utils.clock.clock import REAL_CLOCK, PassiveClock

ObjectT = TypeVar("ObjectT", bound=Object)


class CachedDiscoveryClient(CachingDiscovery):
    """A discovery client that caches results in a folder for `ttl` seconds. Each server needs its own folder.
    Thread-safe.
    """

    def __init__(
        self, delegate: DiscoveryInterface, cache_directory: str, ttl: float, clock: PassiveClock = REAL_CLOCK
    ) -> None:
        super().__init__(delegate)
        self._cache_directory = cache_directory
        self._ttl = ttl
        self._clock = clock
        # The files that this client wrote. The lock guards all attributes below; the longest operation under it renames
        # a file.
        self._our_files: set[str] = set()
        # True after `invalidate`: then only the files that this client wrote are valid.
        self._invalidated = False
        # True until data comes from a file that another client wrote.
        self._fresh = True

    def server_resources_for_group_version(self, group_version: str) -> metav1.APIResourceList:
        """See ServerResourcesInterface."""
        filename = os.path.join(self._cache_directory, group_version, "serverresources.json")
        cached = self._read(filename, metav1.APIResourceList)
        if cached is not None:
            return cached
        live = _fetch(lambda: self.delegate.server_resources_for_group_version(group_version))
        if len(live.api_resources):
            self._write(filename, live)
        else:
            klog.v(3).infof("skipped caching discovery info, no resources found")
        return live

    def server_groups(self) -> metav1.APIGroupList:
        """See ServerGroupsInterface."""
        filename = os.path.join(self._cache_directory, "servergroups.json")
        cached = self._read(filename, metav1.APIGroupList)
        if cached is not None:
            return cached
        live = _fetch(self.delegate.server_groups)
        if len(live.groups):
            self._write(filename, live)
        else:
            klog.v(3).infof("skipped caching discovery info, no groups found")
        return live

    def _read(self, filename: str, cls: type[ObjectT]) -> ObjectT | None:
        """Return the file's content if it is valid; None also for an unreadable file."""
        with self.lock:
            ours = filename in self._our_files
            if self._invalidated and not ours:
                return None
        try:
            with open(filename, "rb") as file:
                if self._clock.now() > os.fstat(file.fileno()).st_mtime + self._ttl:
                    return None
                content = file.read()
        except OSError:
            return None
        with self.lock:
            self._fresh = self._fresh and ours
        cached = _decode(content, cls)
        if cached is not None:
            klog.v(10).infof("returning cached discovery info from %s", filename)
        return cached

    def _write(self, filename: str, obj: Object) -> None:
        """Replace the file atomically. A failure is only logged."""
        document = {"kind": type(obj).__name__, "apiVersion": "v1", **obj.to_dict()}
        data = json.dumps(document, separators=(",", ":"))
        try:
            os.makedirs(os.path.dirname(filename), mode=0o750, exist_ok=True)
            prefix = os.path.basename(filename) + "."
            descriptor, temporary = tempfile.mkstemp(prefix=prefix, dir=os.path.dirname(filename))
            try:
                with open(descriptor, "w", encoding="utf-8") as file:
                    file.write(data + "\n")
                os.chmod(temporary, 0o660)
                with self.lock:
                    os.replace(temporary, filename)
                    self._our_files.add(filename)
            except OSError:
                with contextlib.suppress(OSError):
                    os.remove(temporary)
                raise
        except OSError as err:
            klog.v(1).infof("failed to write cache to %s due to %s", filename, err)

    def fresh(self) -> bool:
        """See CachedDiscoveryInterface."""
        with self.lock:
            return self._fresh

    def forget(self) -> None:
        self._our_files = set()
        self._fresh = True
        self._invalidated = True

    def __repr__(self) -> str:
        return f"<disk-cached discovery in {self._cache_directory}>"


def _fetch(delegate: Callable[[], ObjectT]) -> ObjectT:
    try:
        return delegate()
    except Exception as err:
        klog.v(3).infof("skipped caching discovery info due to %s", err)
        raise


def _decode(content: bytes, cls: type[ObjectT]) -> ObjectT | None:
    """Return the object of that class, without kind and version; None if the content is anything else."""
    try:
        document = unmarshal(content)
    except ValueError:
        return None
    if not isinstance(document, dict):
        return None
    if (document.pop("kind", None), document.pop("apiVersion", None)) != (cls.__name__, "v1"):
        return None
    return cls.from_dict(document)


def new_cached_discovery_client_for_config(
    config: Config, discovery_cache_dir: str, http_cache_dir: str, ttl: float
) -> CachedDiscoveryClient:
    """Return a client with a cache below `discovery_cache_dir`. Go: NewCachedDiscoveryClientForConfig.

    `http_cache_dir` is accepted for parity and not used. Raises ValueError, OSError for an invalid config.
    """
    delegate = new_mem_cache_client(new_discovery_client_for_config(config))
    return CachedDiscoveryClient(delegate, discovery_cache_dir, ttl)
