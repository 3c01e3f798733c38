"""Discovery that remembers in memory until it is invalidated. Mirrors discovery/cached/memory/memcache.go."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from clientgo import klog
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import parse_group_version
from clientgo.apimachinery.util import net
from clientgo.apimachinery.util.runtime import handle_error
from clientgo.apimachinery.version import Info
from clientgo.discovery import (
    AggregatedDiscoveryInterface,
    CachedDiscoveryInterface,
    DiscoveryInterface,
    server_groups_and_resources,
    server_preferred_namespaced_resources,
    server_preferred_resources,
)
from clientgo.discovery.aggregated_discovery import Failures, Resources
from clientgo.openapi import Client as OpenAPIClient
from clientgo.rest.client import Interface


class ErrCacheNotFound(Exception):
    """The server does not have the group version, as far as we remember."""

    def __init__(self) -> None:
        super().__init__("not found")


class _EmptyResponseError(Exception):
    def __init__(self, gv: str) -> None:
        super().__init__(f"received empty response for: {gv}")


class _Entry(NamedTuple):
    resources: metav1.APIResourceList | None
    err: Exception | None


class _MemCacheClient:
    """Reads everything when first asked, and answers from that; never asks the server about what it does not know.

    Thread-safe; while it reads, everybody waits. Implements CachedDiscoveryInterface.
    """

    def __init__(self, delegate: DiscoveryInterface) -> None:
        self._delegate = delegate
        # Guards the rest; held while the server is asked.
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}
        self._groups: metav1.APIGroupList | None = None
        self._valid = False
        self._aggregated = False

    def server_resources_for_group_version(self, group_version: str) -> metav1.APIResourceList:
        """Raises ErrCacheNotFound. What failed for a passing reason is asked for again."""
        with self._lock:
            if not self._valid:
                self._refresh()
            entry = self._entries.get(group_version)
            if entry is None:
                raise ErrCacheNotFound
            if entry.err is not None and _is_transient_error(entry.err):
                entry = self._entries[group_version] = self._read(group_version)
            if entry.err is not None:
                raise entry.err
            assert entry.resources is not None
            return entry.resources

    def server_groups_and_resources(self) -> tuple[list[metav1.APIGroup], list[metav1.APIResourceList]]:
        return server_groups_and_resources(self)

    def groups_and_maybe_resources(self) -> tuple[metav1.APIGroupList, Resources | None, Failures]:
        with self._lock:
            if not self._valid:
                self._refresh()
            groups = self._groups if self._groups is not None else metav1.APIGroupList()
            if not self._aggregated or not self._entries:
                return groups, None, {}
            resources: Resources = {}
            failed: Failures = {}
            for name, entry in self._entries.items():
                gv = parse_group_version(name)
                if entry.err is not None:
                    failed[gv] = entry.err
                elif entry.resources is not None:
                    resources[gv] = entry.resources
            return groups, resources, failed

    def server_groups(self) -> metav1.APIGroupList:
        return self.groups_and_maybe_resources()[0]

    def rest_client(self) -> Interface | None:
        return self._delegate.rest_client()

    def server_preferred_resources(self) -> list[metav1.APIResourceList]:
        return server_preferred_resources(self)

    def server_preferred_namespaced_resources(self) -> list[metav1.APIResourceList]:
        return server_preferred_namespaced_resources(self)

    def server_version(self) -> Info:
        return self._delegate.server_version()

    def openapi_schema(self) -> dict[str, Any]:
        return self._delegate.openapi_schema()

    def openapi_v3(self) -> OpenAPIClient:
        return self._delegate.openapi_v3()

    def fresh(self) -> bool:
        with self._lock:
            return self._valid

    def invalidate(self) -> None:
        with self._lock:
            self._valid = False
            self._aggregated = False
            self._entries = {}
            self._groups = None
            if isinstance(self._delegate, CachedDiscoveryInterface):
                self._delegate.invalidate()

    def with_legacy(self) -> DiscoveryInterface:
        """Itself: what is remembered is the same either way."""
        return self

    # The rest runs with self._lock held.

    def _refresh(self) -> None:
        if isinstance(self._delegate, AggregatedDiscoveryInterface):
            groups, resources, failed = self._delegate.groups_and_maybe_resources()
            if resources is not None:
                self._entries = {str(gv): _Entry(found, None) for gv, found in resources.items()}
                self._entries.update({str(gv): _Entry(None, err) for gv, err in failed.items()})
                self._groups = groups
                self._aggregated = self._valid = True
                return
        else:
            groups = self._delegate.server_groups()
        if not len(groups.groups):
            handle_error(ValueError("couldn't get current server API group list: no groups"))
            return
        self._entries = self._read_all([v.group_version for group in groups.groups for v in group.versions])
        self._groups = groups
        self._valid = True

    def _read_all(self, group_versions: list[str]) -> dict[str, _Entry]:
        """Ask for all of them at once, each in a thread of its own."""
        entries: dict[str, _Entry] = {}

        def read(gv: str) -> None:
            entries[gv] = self._read(gv)

        threads = [
            threading.Thread(target=read, args=(gv,), name=f"discovery {gv}", daemon=True) for gv in group_versions
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return entries

    def _read(self, group_version: str) -> _Entry:
        try:
            resources = self._delegate.server_resources_for_group_version(group_version)
        except Exception as err:
            handle_error(ValueError(f"couldn't get resource list for {group_version}: {err}"))
            return _Entry(None, err)
        if len(resources.api_resources):
            return _Entry(resources, None)
        empty = _EmptyResponseError(group_version)
        # Metrics servers answer so; it is nothing to worry about.
        klog.v(3).infof("%s", empty)
        return _Entry(resources, empty)

    def __repr__(self) -> str:
        return (
            f"<memory-cached discovery, {len(self._entries)} group versions, {'valid' if self._valid else 'invalid'}>"
        )


def _is_transient_error(err: Exception) -> bool:
    if net.is_connection_refused(err) or net.is_connection_reset(err):
        return True
    if isinstance(err, errors.StatusError) and err.status().code >= 500:
        return True
    return errors.is_too_many_requests(err)


def new_mem_cache_client(delegate: DiscoveryInterface) -> CachedDiscoveryInterface:
    """Remember what `delegate` says until `invalidate` is called (Go: NewMemCacheClient)."""
    return _MemCacheClient(delegate)
