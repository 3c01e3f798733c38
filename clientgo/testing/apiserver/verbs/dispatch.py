"""The selection of the verb that handles a request. Mirrors apiserver's endpoints installer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clientgo.testing.apiserver import kinds
from clientgo.testing.apiserver.access.auth import Authenticator
from clientgo.testing.apiserver.access.rbac import Authorizer
from clientgo.testing.apiserver.access.routing import RequestInfo
from clientgo.testing.apiserver.access.users import User
from clientgo.testing.apiserver.kinds import crd, validation, warnings
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.verbs import connecting, eviction, reviews, scaling, subresources
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.core import Services
from clientgo.testing.apiserver.verbs.deleting import Deleter
from clientgo.testing.apiserver.verbs.reading import Reader
from clientgo.testing.apiserver.verbs.writing import Writer
from clientgo.testing.apiserver.views.documents import render
from clientgo.testing.apiserver.wire import errors, negotiation
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.http import Request, Response

_STREAMS = ("exec", "attach", "portforward", "proxy")
_REVIEW_GROUPS = ("authorization.k8s.io", "authentication.k8s.io")


_ACROSS_NAMESPACES = ("list", "watch")


def _in_scope(resource: Resource, info: RequestInfo) -> bool:
    """Report whether a custom resource is served at such a path.

    A namespaced one is also listed across all namespaces.
    """
    if not resource.namespaced:
        return not info.namespace
    return bool(info.namespace) or info.verb in _ACROSS_NAMESPACES


def _supports_protobuf(resource: Resource) -> bool:
    return kinds.protobuf.supports(resource)


def _check_route(request: Request, info: RequestInfo) -> None:
    """Raise ApiError for a request without a route: HEAD, empty segments, other representations."""
    if request.method == "HEAD":
        raise errors.method_not_allowed()
    if "//" in request.path:
        raise errors.resource_not_found()
    collection = request.method == "GET" and not info.name
    negotiation.check_route(request, negotiation.LISTS if collection else negotiation.OBJECTS)


class Dispatcher:
    """Answers resource requests. Thread-safe."""

    def __init__(
        self,
        services: Services,
        reader: Reader,
        writer: Writer,
        deleter: Deleter,
        authenticator: Authenticator,
        authorizer: Authorizer,
    ) -> None:
        self._services = services
        self._reader = reader
        self._writer = writer
        self._deleter = deleter
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._verbs: dict[str, Callable[[Call], Response]] = {
            "get": reader.get,
            "list": reader.list_objects,
            "watch": reader.watch,
            "update": writer.update,
            "patch": writer.patch,
            "delete": deleter.delete,
            "deletecollection": deleter.delete_collection,
        }

    def __repr__(self) -> str:
        return f"<Dispatcher {self._services.registry!r}>"

    def handle(self, request: Request, info: RequestInfo, user: User) -> Response:
        """Answer a request that is allowed. Raises ApiError and PlainError."""
        resource = self._services.registry.find(info.group, info.version, info.resource)
        if resource is None:
            if self._services.registry.is_builtin(info.group):
                raise errors.resource_not_found()
            raise errors.page_not_found()
        if resource.custom and not _in_scope(resource, info):
            raise errors.page_not_found()
        if bool(info.namespace) and not resource.namespaced:
            raise errors.resource_not_found()
        if not resource.custom:
            _check_route(request, info)
        supports_protobuf = partial(_supports_protobuf, resource)
        form = negotiation.choose(request, supports_protobuf=supports_protobuf, stream=info.verb == "watch")
        call = Call(request, resource, info.namespace, info.name, info.subresource, form)
        if resource.namespaced and not info.namespace and info.name:
            raise errors.resource_not_found()
        call.warnings += warnings.of_resource(resource)
        if info.group in _REVIEW_GROUPS:
            if info.verb != "create":
                raise errors.method_not_allowed()
            return reviews.review(self._writer, self._authenticator, self._authorizer, call, user)
        wrong = validation.path_segment(info.name)
        if wrong:
            raise errors.bad_request(f'Name parameter invalid: "{info.name}": {";".join(wrong)}')
        if info.subresource:
            return self._subresource(call, info)
        return self._verb(call, info)

    def _verb(self, call: Call, info: RequestInfo) -> Response:
        resource, verb = call.resource, info.verb
        if resource.custom and verb == "update" and not info.name:
            raise errors.bad_request("name must be provided")
        if resource.plural == "bindings" and resource.group == "" and verb == "create":
            return subresources.binding(self._writer, call)
        if resource.plural == "componentstatuses" and resource.group == "":
            if info.name:
                raise errors.not_found("", "componentstatus", info.name)
            return render({"kind": "ComponentStatusList", "apiVersion": "v1", "metadata": {}, "items": []}, call.form)
        if verb not in resource.verbs:
            raise _not_supported(resource, verb)
        named = bool(info.name)
        if verb == "watch" and call.request.method not in ("GET", "HEAD"):
            raise errors.method_not_allowed()
        if verb == "create":
            if (named and not resource.custom) or (resource.namespaced and not call.namespace):
                raise errors.method_not_allowed()
            if resource.custom:
                self._check_not_terminating(resource)
            return self._writer.create(call)
        if verb in ("update", "patch") and not named:
            raise errors.method_not_allowed()
        if verb == "deletecollection" and resource.namespaced and not call.namespace:
            raise errors.method_not_allowed()
        return self._verbs[verb](call)

    def _check_not_terminating(self, resource: Resource) -> None:
        stored = self._services.store.get(crd.STORAGE, f"{resource.plural}.{resource.group}")
        if stored is not None and crd.is_terminating(stored.obj):
            text = "create not allowed while custom resource definition is terminating"
            details = {"group": resource.group, "kind": resource.plural}
            raise ApiError(405, "MethodNotAllowed", text, details)

    def _subresource(self, call: Call, info: RequestInfo) -> Response:
        resource, name = call.resource, info.subresource
        known = resource.subresources.get(name)
        if known is None:
            if resource.custom:
                raise call.not_found()
            raise errors.resource_not_found()
        if info.verb not in known.verbs:
            raise _not_supported(resource, info.verb)
        if name == "log":
            return connecting.log(self._reader, call)
        if name in _STREAMS:
            return connecting.connect(self._reader, call)
        if name == "scale":
            return scaling.scale(self._writer, call)
        if name == "binding":
            return subresources.binding(self._writer, call)
        if name == "eviction":
            return eviction.evict(self._writer, self._deleter, call)
        if name == "token":
            return subresources.token(self._reader, self._authenticator, call)
        return self._verbs[info.verb](call)


def _not_supported(resource: Resource, verb: str) -> ApiError:
    """Return the error for a verb that a resource does not support."""
    if not resource.custom:
        return errors.method_not_allowed()
    text = f'{verb} is not supported on resources of kind "{resource.qualified}"'
    return ApiError(405, "MethodNotAllowed", text, {"group": resource.group, "kind": resource.plural})
