"""The policies and bindings that match a write. Mirrors apiserver's plugin/policy/matching and generic."""

from __future__ import annotations

from collections.abc import Iterator

from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.webhooks.attributes import Attributes
from clientgo.testing.apiserver.webhooks.matching import GROUP, Hook, Matcher
from clientgo.testing.apiserver.wire.jsonio import Json


class Finder:
    """A finder of the policies of one kind. Thread-safe."""

    def __init__(self, store: Store, matcher: Matcher, policies: str, bindings: str) -> None:
        self._store = store
        self._matcher = matcher
        self._policies = f"{GROUP}/{policies}"
        self._bindings = f"{GROUP}/{bindings}"

    def __repr__(self) -> str:
        return f"<Finder {self._policies}>"

    def find(self, attributes: Attributes) -> Iterator[tuple[Json, Resource, list[Json]]]:
        """Yield each matching policy, the version in which it sees the write, and its matching bindings.

        Raises ApiError if the server cannot decide whether a policy matches, for example because the namespace does not
        exist.
        """
        if not self._store.count(self._policies) or attributes.resource.group == GROUP:
            # Otherwise no user could repair a policy that rejects everything.
            return
        bindings = [stored.obj for stored in self._store.list(self._bindings)[1]]
        for stored in self._store.list(self._policies)[1]:
            own = [one for one in bindings if (one.get("spec") or {}).get("policyName") == stored.name]
            constraints = (stored.obj.get("spec") or {}).get("matchConstraints")
            shape = self._match(constraints, attributes) if own and constraints else None
            if shape is not None:
                yield stored.obj, shape, [one for one in own if self._is_bound(one, attributes)]

    def _is_bound(self, binding: Json, attributes: Attributes) -> bool:
        constraints = (binding.get("spec") or {}).get("matchResources")
        return not constraints or self._match(constraints, attributes, by_default=True) is not None

    def _match(self, constraints: Json, attributes: Attributes, *, by_default: bool = False) -> Resource | None:
        rules = constraints.get("resourceRules")
        if not rules and by_default:
            everything = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*", "*"]}
            rules = [everything]
        excluded = constraints.get("excludeResourceRules")
        policy = constraints.get("matchPolicy")
        if excluded and self._matcher.match(Hook("", {"rules": excluded, "matchPolicy": policy}), attributes):
            return None
        return self._matcher.match(Hook("", {**constraints, "rules": rules or []}), attributes)
