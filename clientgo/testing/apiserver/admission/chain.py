"""The admission plugins in their order, with kube-apiserver's names, defaults and switches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from clientgo.testing.apiserver.admission import (
    default_tolerations,
    namespace_lifecycle,
    priority,
    service_account,
    storage_protection,
    taint_nodes,
)
from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.store.storage import Store


@dataclass(frozen=True, slots=True)
class Plugin:
    """`admit` changes the object of the request, which is the caller's own, or raises ApiError."""

    name: str
    admit: Callable[[Store, AdmissionRequest], None]
    default: bool = True
    # Whether it has a say in updates as well.
    updates: bool = False


# What takes a controller or a node to undo. A server alone would keep claims for ever, and every node closed; so tests
# begin without these, as envtest does with ServiceAccount.
UNDONE_BY_CONTROLLERS = ("ServiceAccount", "TaintNodesByCondition", "StorageObjectInUseProtection")

# In the order of kube-apiserver's AllOrderedPlugins, where all of these are on by default.
PLUGINS = (
    Plugin("NamespaceLifecycle", namespace_lifecycle.admit),
    Plugin("ServiceAccount", service_account.admit),
    Plugin("TaintNodesByCondition", taint_nodes.admit),
    Plugin("Priority", priority.admit),
    Plugin("DefaultTolerationSeconds", default_tolerations.admit, updates=True),
    Plugin("StorageObjectInUseProtection", storage_protection.admit),
)


class Chain:
    """The plugins that are on. Thread-safe: all state is in the store."""

    def __init__(self, store: Store, *, enabled: Iterable[str] = (), disabled: Iterable[str] = ()) -> None:
        """Raises ValueError for the name of a plugin that does not exist, and for one both enabled and disabled."""
        on, off = set(enabled), set(disabled)
        unknown = (on | off) - {plugin.name for plugin in PLUGINS}
        if unknown:
            names = ", ".join(plugin.name for plugin in PLUGINS)
            raise ValueError(f"admission-plugin {sorted(unknown)[0]!r} is unknown; there are {names}")
        if on & off:
            raise ValueError(f"{sorted(on & off)} in enable-admission-plugins and disable-admission-plugins overlapped")
        self._store = store
        self._plugins = [
            plugin for plugin in PLUGINS if plugin.name not in off and (plugin.default or plugin.name in on)
        ]

    def __repr__(self) -> str:
        return f"<Chain {[plugin.name for plugin in self._plugins]}>"

    def admit(self, request: AdmissionRequest) -> None:
        """Let each plugin have its say. Raises the ApiError of the first that refuses."""
        for plugin in self._plugins:
            if request.old is None or plugin.updates:
                plugin.admit(self._store, request)
