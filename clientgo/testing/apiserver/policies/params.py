"""The objects that a binding gives to a policy as its parameters. Mirrors CollectParams of plugin/policy/generic."""

from __future__ import annotations

from clientgo.testing.apiserver.kinds import validation
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.store.storage import Store, Stored
from clientgo.testing.apiserver.wire.jsonio import Json


class ParamError(Exception):
    """Parameters that cannot be had. The failure policy says what follows."""


class Params:
    """Finds parameters in the store. Thread-safe."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry

    def __repr__(self) -> str:
        return f"<Params {self._store!r}>"

    def collect(self, policy: Json, binding: Json, namespace: str) -> list[Json | None]:
        """Return the parameters, one for each evaluation; [None] for a policy without parameters. Raises ParamError."""
        kind, reference = policy["spec"].get("paramKind"), binding["spec"].get("paramRef")
        if not kind:
            return [None]
        resource = self._resource(kind)
        if resource is None:
            shown = f"{kind.get('apiVersion', '')}, Kind={kind.get('kind', '')}"
            raise ParamError(f"paramKind kind `{shown}` not known")
        if not reference:
            return [None]
        found = self._find(resource, reference, self._prefix(resource, reference, namespace))
        if found or reference.get("parameterNotFoundAction", "Deny") == "Allow":
            return [resource.from_storage(stored.obj) for stored in found]
        raise ParamError("no params found for policy binding with `Deny` parameterNotFoundAction")

    def _resource(self, kind: Json) -> Resource | None:
        wanted = (kind.get("apiVersion"), kind.get("kind"))
        return next((one for one in self._registry.all() if (one.group_version, one.kind) == wanted), None)

    @staticmethod
    def _prefix(resource: Resource, reference: Json, namespace: str) -> str:
        given = reference.get("namespace") or ""
        if not resource.namespaced:
            if given:
                raise ParamError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
            return ""
        if not given and not namespace:
            raise ParamError("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
        return f"{given or namespace}/"

    def _find(self, resource: Resource, reference: Json, prefix: str) -> list[Stored]:
        name, selector = reference.get("name"), reference.get("selector")
        if name and selector is not None:
            raise ParamError("paramRef.name and paramRef.selector are mutually exclusive")
        if name:
            stored = self._store.get(resource.storage, f"{prefix}{name}")
            return [] if stored is None else [stored]
        if selector is None:
            raise ParamError("one of name or selector must be provided")
        return [
            stored
            for stored in self._store.list(resource.storage, prefix)[1]
            if validation.selector_matches(selector, stored.obj["metadata"].get("labels") or {})
        ]
