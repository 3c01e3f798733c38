"""The webhooks that match a write. Mirrors apiserver's plugin/webhook/generic and predicates.

matchConditions come last: conditions.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clientgo.testing.apiserver.kinds import validation
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.webhooks.attributes import DELETE, Attributes
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json

GROUP = "admissionregistration.k8s.io"
MUTATING, VALIDATING = f"{GROUP}/mutatingwebhookconfigurations", f"{GROUP}/validatingwebhookconfigurations"
_NAMESPACES = "/namespaces"


class Hook(NamedTuple):
    """One webhook of one configuration."""

    # Unlike the name, this is unique.
    uid: str
    spec: Json

    @property
    def name(self) -> str:
        name: str = self.spec.get("name", "")
        return name

    @property
    def is_ignorable(self) -> bool:
        """Report whether the write continues when the webhook cannot be called."""
        return bool(self.spec.get("failurePolicy") == "Ignore")


class Matcher:
    """Finds webhooks in the store. Thread-safe."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry

    def __repr__(self) -> str:
        return f"<Matcher {self._store!r}>"

    def hooks(self, bucket: str, attributes: Attributes) -> list[Hook]:
        """Return all webhooks that may be called for a write, ordered by the names of their configurations."""
        if not self._store.count(bucket) or attributes.resource.group == GROUP:
            # Otherwise no user could repair a configuration that rejects everything.
            return []
        return [
            Hook(f"{stored.name}/{i}", spec)
            for stored in self._store.list(bucket)[1]
            for i, spec in enumerate(stored.obj.get("webhooks") or ())
        ]

    def match(self, hook: Hook, attributes: Attributes) -> Resource | None:
        """Return the version in which a webhook sees the write, or None if it does not match. Raises ApiError."""
        if not self._namespace_matches(hook.spec.get("namespaceSelector"), attributes):
            return None
        if not _object_matches(hook.spec.get("objectSelector"), attributes):
            return None
        rules = hook.spec.get("rules") or ()
        for resource in self._shapes(hook, attributes):
            if any(_rule_matches(rule, resource, attributes) for rule in rules):
                return resource
        return None

    def _shapes(self, hook: Hook, attributes: Attributes) -> Iterator[Resource]:
        """Yield the requested resource, then its other versions if the webhook accepts equivalent ones."""
        resource = attributes.resource
        yield resource
        if hook.spec.get("matchPolicy") == "Exact":
            return
        for other in self._registry.all():
            if other.storage == resource.storage and other is not resource:
                yield other

    def _namespace_matches(self, selector: Json | None, attributes: Attributes) -> bool:
        if not selector or not (attributes.resource.namespaced or attributes.resource.storage == _NAMESPACES):
            return True
        return validation.selector_matches(selector, self._namespace_labels(attributes))

    def _namespace_labels(self, attributes: Attributes) -> Json:
        if attributes.resource.storage == _NAMESPACES and attributes.operation != DELETE and attributes.obj is not None:
            return _labels(attributes.obj)
        namespace = self._store.get(_NAMESPACES, attributes.namespace)
        if namespace is None:
            raise errors.not_found("", "namespaces", attributes.namespace)
        return _labels(namespace.obj)


def _labels(obj: Json) -> Json:
    labels: Json = (obj.get("metadata") or {}).get("labels") or {}
    return labels


def _object_matches(selector: Json | None, attributes: Attributes) -> bool:
    """Report whether the object matches now or matched before the write.

    A change of labels does not bypass the webhook.
    """
    if not selector:
        return True
    return any(
        validation.selector_matches(selector, _labels(obj))
        for obj in (attributes.obj, attributes.old)
        if obj is not None
    )


def _rule_matches(rule: Json, resource: Resource, attributes: Attributes) -> bool:
    return (
        _has(rule.get("operations"), attributes.operation)
        and _has(rule.get("apiGroups"), resource.group)
        and _has(rule.get("apiVersions"), resource.version)
        and rule.get("scope", "*") in ("*", "Namespaced" if resource.namespaced else "Cluster")
        and (not rule.get("resourceNames") or attributes.name in rule["resourceNames"])
        and any(_resource_matches(text, resource, attributes.subresource) for text in rule.get("resources") or ())
    )


def _has(wanted: list[str] | None, value: str) -> bool:
    return wanted is not None and ("*" in wanted or value in wanted)


def _resource_matches(text: str, resource: Resource, subresource: str) -> bool:
    """Report whether a rule's text matches a resource or subresource.

    "*" matches every resource but no subresource, and "*/*" matches both.
    """
    plural, _, below = text.partition("/")
    return plural in ("*", resource.plural) and below in ("*", subresource)
