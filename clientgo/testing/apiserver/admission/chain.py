"""The admission plugins in their order, with kube-apiserver's names, defaults and switches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from clientgo.testing.apiserver.admission import (
    certificate_subject,
    default_classes,
    default_tolerations,
    limit_ranger,
    namespace_lifecycle,
    pod_security,
    priority,
    resource_quota,
    runtime_class,
    service_account,
    storage_protection,
    taint_nodes,
)
from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.store.storage import Store

Hook = Callable[[Store, AdmissionRequest], None]


class Plugin(NamedTuple):
    """`admit` changes the object of the request, which is the caller's own; all may raise ApiError."""

    name: str
    admit: Hook | None = None
    # When the object is complete and valid, and before policies and webhooks are asked.
    validate: Hook | None = None
    # After all others have admitted it.
    charge: Hook | None = None
    default: bool = True
    # Whether `admit` has a say in updates as well; the others always have.
    updates: bool = False


# What takes a controller or a node to undo. A server alone would keep claims for ever, and every node closed; so tests
# begin without these, as envtest does with ServiceAccount.
UNDONE_BY_CONTROLLERS = ("ServiceAccount", "TaintNodesByCondition", "StorageObjectInUseProtection")

# In the order of kube-apiserver's AllOrderedPlugins, where all of these are on by default.
PLUGINS = (
    Plugin("NamespaceLifecycle", namespace_lifecycle.admit),
    Plugin("LimitRanger", limit_ranger.admit, limit_ranger.validate, updates=True),
    Plugin("ServiceAccount", service_account.admit),
    Plugin("TaintNodesByCondition", taint_nodes.admit),
    Plugin("PodSecurity", validate=pod_security.validate),
    Plugin("Priority", priority.admit),
    Plugin("DefaultTolerationSeconds", default_tolerations.admit, updates=True),
    Plugin("DefaultStorageClass", default_classes.admit_storage),
    Plugin("StorageObjectInUseProtection", storage_protection.admit),
    Plugin("PersistentVolumeClaimResize", validate=default_classes.validate_resize),
    Plugin("RuntimeClass", runtime_class.admit, runtime_class.validate),
    Plugin("CertificateSubjectRestriction", validate=certificate_subject.validate),
    Plugin("DefaultIngressClass", default_classes.admit_ingress),
    Plugin("ResourceQuota", charge=resource_quota.charge),
)


class Chain:
    """The plugins that are on. Thread-safe: all state is in the store."""

    def __init__(self, store: Store, *, enabled: Iterable[str] = (), disabled: Iterable[str] = ()) -> None:
        """Initialize the plugins.

        Raises ValueError for an unknown plugin, and for a plugin that is both enabled and disabled.
        """
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
        self._to_create = [plugin.admit for plugin in self._plugins if plugin.admit]
        self._to_update = [plugin.admit for plugin in self._plugins if plugin.admit and plugin.updates]
        self._to_validate = [plugin.validate for plugin in self._plugins if plugin.validate]
        self._to_charge = [plugin.charge for plugin in self._plugins if plugin.charge]

    def __repr__(self) -> str:
        return f"<Chain {[plugin.name for plugin in self._plugins]}>"

    def admit(self, request: AdmissionRequest) -> None:
        """Let each plugin change or reject the object. Raises the ApiError of the first plugin that rejects it."""
        for hook in self._to_create if request.old is None else self._to_update:
            hook(self._store, request)

    def validate(self, request: AdmissionRequest) -> None:
        """Let each plugin check the complete object. Raises the ApiError of the first plugin that rejects it."""
        for hook in self._to_validate:
            hook(self._store, request)

    def charge(self, request: AdmissionRequest) -> None:
        """Charge the object to its quotas, after all plugins have admitted it.

        Raises the ApiError of the first plugin that rejects it.
        """
        for hook in self._to_charge:
            hook(self._store, request)
