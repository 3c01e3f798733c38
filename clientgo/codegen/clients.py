"""The input of the client, informer and lister generators: a clientset's API groups, read from the API classes.

A kind is included if its class has a `GENCLIENT`. The generators need only the classes, so they serve the built-in
types and a project's own resources.
"""

from __future__ import annotations

import importlib
import keyword
from dataclasses import dataclass

from clientgo.apimachinery.apis.meta.v1.register import OPTION_TYPES
from clientgo.apimachinery.runtime import Genclient, ListObject, ResourceObject
from clientgo.codegen import naming

RESERVED_KINDS = frozenset(cls.__name__ for cls in OPTION_TYPES)
"""The kinds that `metav1.add_to_group_version` registers in every group and version."""

RESERVED_ALIASES = frozenset({"metav1"})
"""The names under which generated code imports packages of its own, where an API package's would stand."""

RESERVED_GROUPS = frozenset({"made", "namespace", "shutdown", "start"})
"""Members of a factory of informers, where the accessor of a group of that name would stand."""

# Kinds with a hand-written <kind>_expansion.py beside the generated module, as in Go, and what it adds to the package.
EXPANSIONS = {
    ("clientgo.api.certificates.v1beta1", "CertificateSigningRequest"): ["CertificateSigningRequestExpansion"],
    ("clientgo.api.core.v1", "Event"): ["EventExpansion", "EventSinkImpl"],
    ("clientgo.api.core.v1", "Namespace"): ["NamespaceExpansion"],
    ("clientgo.api.core.v1", "Node"): ["NodeExpansion"],
    ("clientgo.api.core.v1", "Pod"): ["PodExpansion"],
    ("clientgo.api.core.v1", "Service"): ["ServiceExpansion"],
    ("clientgo.api.events.v1beta1", "Event"): ["EventExpansion"],
    ("clientgo.api.extensions.v1beta1", "Deployment"): ["DeploymentExpansion"],
    ("clientgo.api.policy.v1", "Eviction"): ["EvictionExpansion"],
    ("clientgo.api.policy.v1beta1", "Eviction"): ["EvictionExpansion"],
}


# The same for listers, which <kind>_expansion.py beside them gives more methods.
LISTER_EXPANSIONS = {
    ("clientgo.api.apps.v1", "DaemonSet"),
    ("clientgo.api.apps.v1", "ReplicaSet"),
    ("clientgo.api.apps.v1", "StatefulSet"),
    ("clientgo.api.apps.v1beta1", "StatefulSet"),
    ("clientgo.api.apps.v1beta2", "DaemonSet"),
    ("clientgo.api.apps.v1beta2", "ReplicaSet"),
    ("clientgo.api.apps.v1beta2", "StatefulSet"),
    ("clientgo.api.batch.v1", "Job"),
    ("clientgo.api.core.v1", "ReplicationController"),
    ("clientgo.api.extensions.v1beta1", "DaemonSet"),
    ("clientgo.api.extensions.v1beta1", "ReplicaSet"),
    ("clientgo.api.policy.v1", "PodDisruptionBudget"),
    ("clientgo.api.policy.v1beta1", "PodDisruptionBudget"),
}


@dataclass(frozen=True)
class Kind:
    """A kind that gets a client."""

    cls: type[ResourceObject]
    genclient: Genclient
    list_cls: type[ListObject] | None

    @property
    def name(self) -> str:
        return self.cls.__name__

    @property
    def module(self) -> str:
        """The name of its generated modules: componentstatus; class_ where the name is a word of Python's."""
        name = self.name.lower()
        return f"{name}_" if keyword.iskeyword(name) else name

    @property
    def plural(self) -> str:
        """Go's name of its accessor: ComponentStatuses."""
        plural = naming.plural(self.name)
        # The plural is lower case throughout; the accessor keeps the kind's capitals.
        stem = self.name[:-1] if plural.endswith("ies") and self.name.endswith("y") else self.name
        return stem + plural[len(stem) :]

    @property
    def accessor(self) -> str:
        return naming.snake(self.plural)

    @property
    def listable(self) -> bool:
        return self.list_cls is not None and "list" in self.genclient.verbs

    @property
    def watchable(self) -> bool:
        return self.listable and "watch" in self.genclient.verbs


@dataclass(frozen=True)
class GroupVersion:
    """One API package, such as clientgo.api.core.v1."""

    module: str

    @property
    def group(self) -> str:
        return str(importlib.import_module(self.module).GROUP_NAME)

    @property
    def version(self) -> str:
        return self.module.rsplit(".", 1)[1]

    @property
    def directory(self) -> str:
        """The folder of the group, as in Go: core, apps, apiserverinternal."""
        return self.module.rsplit(".", 2)[1]

    @property
    def parent(self) -> str:
        return self.module.rsplit(".", 1)[0]

    @property
    def alias(self) -> str:
        return self.directory + self.version

    @property
    def group_word(self) -> str:
        """The group in Go identifiers: Core, Rbac, Internal; of a group fleet-ops FleetOps."""
        first = (self.group or "core").split(".")[0]
        return "".join(part[:1].upper() + part[1:] for part in first.split("-"))

    @property
    def go_name(self) -> str:
        """CoreV1."""
        return self.group_word + self.version[0].upper() + self.version[1:]

    @property
    def accessor(self) -> str:
        """core_v1."""
        return f"{self.group_word.lower()}_{self.version}"

    def check(self) -> None:
        """Raise ValueError in words when the package, written by hand, lacks what generated code needs of it."""
        module = importlib.import_module(self.module)
        for name in ("GROUP_NAME", "SCHEME_GROUP_VERSION", "add_to_scheme", "resource", "__all__"):
            if not hasattr(module, name):
                raise ValueError(f"{self.module} has no {name}; sample-controller/pkg/apis in the folder of `clientgo programs` is an example")
        if module.SCHEME_GROUP_VERSION.version != self.version:
            raise ValueError(
                f"{self.module} must be named after its version, which is {module.SCHEME_GROUP_VERSION.version}"
            )
        if self.alias in RESERVED_ALIASES:
            raise ValueError(f"{self.module}: generated code imports another package as {self.alias}; rename the group's")
        if self.group_word.lower() in RESERVED_GROUPS:
            raise ValueError(f"{self.module}: a factory of informers has a {self.group_word.lower()!r} of its own")
        kinds = self.kinds()
        if not kinds:
            raise ValueError(f"{self.module} exports no class with a GENCLIENT in its __all__")
        for kind in kinds:
            if kind.name in RESERVED_KINDS:
                raise ValueError(f"{self.module}: the kind {kind.name!r} is in every group: metav1 registers it there")
            if kind.list_cls is None and "list" in kind.genclient.verbs:
                raise ValueError(f"{self.module} exports {kind.name}, but no {kind.name}List")

    def kinds(self) -> list[Kind]:
        """Return the kinds with a client in alphabetical order: those that have verbs or at least an expansion."""
        module = importlib.import_module(self.module)
        found = []
        for name in sorted(module.__all__):
            cls = getattr(module, name, None)
            genclient = getattr(cls, "GENCLIENT", None)
            if not isinstance(cls, type) or genclient is None:
                continue
            if genclient.verbs or (self.module, name) in EXPANSIONS:
                found.append(Kind(cls, genclient, getattr(module, f"{name}List", None)))
        return found


@dataclass(frozen=True)
class Clientset:
    """The contents of one clientset, and the dotted packages to generate it in."""

    title: str
    clientset: str
    informers: str
    listers: str
    applyconfigurations: str
    groups: tuple[GroupVersion, ...]
    # The package that holds all of it and nothing else; "" when hand-written code stands there too.
    package: str = ""
    # Whether the kinds have protobuf messages, which the clients then ask for. Go: client-gen's --prefers-protobuf.
    prefers_protobuf: bool = False

    def parents(self) -> list[str]:
        """Return the packages that contain only generated packages and need an `__init__.py`."""
        if not self.package:
            return []
        found = {self.package, self.listers, self.applyconfigurations}
        found |= {name.rpartition(".")[0] for name in (self.clientset, self.informers)}
        return sorted(found)

    def by_directory(self) -> dict[str, list[GroupVersion]]:
        """Return the group versions by the folder of their group."""
        found: dict[str, list[GroupVersion]] = {}
        for group in self.groups:
            found.setdefault(group.directory, []).append(group)
        return found
