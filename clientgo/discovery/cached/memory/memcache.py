"""Discovery with a cache in memory, until it is invalidated. Mirrors discovery/cached/memory/memcache.go."""

from __future__ import annotations

import threading
from typing import NamedTuple

from clientgo import klog
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import parse_group_version
from clientgo.apimachinery.util import net
from clientgo.apimachinery.util.runtime import handle_error
from clientgo.discovery import CachedDiscoveryInterface, DiscoveryInterface
from clientgo.discovery.aggregated_discovery import Failures, Resources
from clientgo.discovery.caching import CachingDiscovery
from clientgo.discovery.discovery_client import groups_and_maybe_resources
from clientgo.golang import fmt


class ErrCacheNotFound(Exception):
    """Raised for a group version that is not in the cache."""

    def __init__(self) -> None:
        super().__init__("not found")


class _EmptyResponseError(Exception):
    def __init__(self, gv: str) -> None:
        super().__init__(f"received empty response for: {gv}")


class _Entry(NamedTuple):
    resources: metav1.APIResourceList | None
    err: Exception | None


class _MemCacheClient(CachingDiscovery):
    """A discovery client that fetches everything on first use and never asks about missing items.

    Thread-safe; it holds the lock during a fetch, so other threads wait. Also implements AggregatedDiscoveryInterface.
    """

    def __init__(self, delegate: DiscoveryInterface) -> None:
        super().__init__(delegate)
        self._entries: dict[str, _Entry] = {}
        self._groups: metav1.APIGroupList | None = None
        self._valid = False
        self._aggregated = False

    def server_resources_for_group_version(self, group_version: str) -> metav1.APIResourceList:
        """See ServerResourcesInterface. Raises ErrCacheNotFound. Fetches again after a transient error."""
        with self.lock:
            if not self._valid:
                self._refresh()
            entry = self._entries.get(group_version)
            if entry is None:
                raise ErrCacheNotFound
            if entry.err is not None and _is_transient_error(entry.err):
                entry = self._entries[group_version] = self._read(group_version)
            if entry.err is not None:
                # Without the stacks of earlier callers, which would accumulate.
                raise entry.err.with_traceback(None)
            assert entry.resources is not None
            return entry.resources

    def groups_and_maybe_resources(self) -> tuple[metav1.APIGroupList, Resources | None, Failures]:
        with self.lock:
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

    def fresh(self) -> bool:
        with self.lock:
            return self._valid

    # The caller of the methods below holds self.lock.

    def forget(self) -> None:
        self._valid = False
        self._aggregated = False
        self._entries = {}
        self._groups = None

    def _refresh(self) -> None:
        try:
            groups, resources, failed = groups_and_maybe_resources(self.delegate)
        except Exception as err:
            handle_error(fmt.errorf("couldn't get current server API group list: %s", err))
            raise
        self._aggregated = resources is not None
        if resources is not None:
            entries = {str(gv): _Entry(found, None) for gv, found in resources.items()}
            entries.update({str(gv): _Entry(None, err) for gv, err in failed.items()})
        elif len(groups.groups):
            entries = self._read_all([v.group_version for group in groups.groups for v in group.versions])
        else:
            handle_error(ValueError("couldn't get current server API group list: no groups"))
            return
        self._entries = entries
        self._groups = groups
        self._valid = True

    def _read_all(self, group_versions: list[str]) -> dict[str, _Entry]:
        """Fetch all group versions concurrently, each in its own thread."""
        entries: dict[str, _Entry] = {}

        def read(gv: str) -> None:
            entries[gv] = self._read(gv)  # atomic, and each thread has its own key

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
            resources = self.delegate.server_resources_for_group_version(group_version)
        except Exception as err:
            handle_error(fmt.errorf("couldn't get resource list for %s: %s", group_version, err))
            return _Entry(None, err)
        if len(resources.api_resources):
            return _Entry(resources, None)
        empty = _EmptyResponseError(group_version)
        # Metrics servers respond like this, which is harmless.
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
    """Return a client that caches the results of `delegate` until `invalidate`. Go: NewMemCacheClient."""
    return _MemCacheClient(delegate)
