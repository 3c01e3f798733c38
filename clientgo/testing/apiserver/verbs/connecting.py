"""Connections to a node or a service: log, exec, attach, portforward, proxy.

Mirrors the checks of the registries of pods/log, pods/exec and services/proxy. With the simulator the pods' streams are
served (streams); this server has no kubelet otherwise, so a valid request ends in an error that says so.
"""

from __future__ import annotations

import datetime
import functools
from typing import TYPE_CHECKING

from clientgo.golang import utf8
from clientgo.golang.strconv import parse_int, quote
from clientgo.testing.apiserver.kinds.gates import AUTHORIZE_POD_WEBSOCKET_UPGRADE
from clientgo.testing.apiserver.store.storage import Stored
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.core import Verb
from clientgo.testing.apiserver.wire import errors, http
from clientgo.testing.apiserver.wire.errors import ApiError, FieldError
from clientgo.testing.apiserver.wire.jsonio import Json

if TYPE_CHECKING:
    from clientgo.testing.apiserver.streams.runtime import LogOptions, Runtime

_NODES = "/nodes"
_ZERO_TIME = datetime.datetime(1, 1, 2, tzinfo=datetime.UTC)


def log(verb: Verb, call: Call) -> http.Response:
    """Handle GET pods/NAME/log. A pod without a node has an empty log."""
    _check_log_options(call)
    pod = verb.current(call).obj
    container = _container(call, pod)
    node = pod["spec"].get("nodeName")
    if not node:
        return http.Response(204, b"", "")
    _check_node(verb, node)
    runtime = _runtime(verb, call)
    # Here, not above: few servers need it.
    from clientgo.testing.apiserver.streams import logs
    from clientgo.testing.apiserver.streams.runtime import NoSuchContainer

    try:
        reader = runtime.log(pod, container, _log_options(verb, call))
    except NoSuchContainer as err:
        raise errors.bad_request(str(err)) from None
    limit = int(call.request.param("limitBytes")) if call.request.param("limitBytes") else None
    if call.request.flag("follow"):
        return logs.follow(call.request, reader, limit)
    return logs.answer(reader, limit)


def connect(verb: Verb, call: Call) -> http.Response:
    """Handle the other streams of pods, and the proxies of pods, services and nodes."""
    if call.resource.storage == "/pods" and call.subresource != "proxy":
        _check_may_create(verb, call)
    if call.resource.storage == "/services":
        return _service(verb, call)
    current = verb.current(call)
    if call.resource.storage == "/pods":
        node = current.obj["spec"].get("nodeName")
        if not node:
            raise errors.bad_request(f"pod {call.name} does not have a host assigned")
        _check_node(verb, node)
        if call.subresource != "proxy":
            return _stream(verb, call, current.obj)
    raise _not_available(call)


def _check_may_create(verb: Verb, call: Call) -> None:
    """Raise ApiError 403 when a stream that begins with GET, a WebSocket, has a user who may not begin it with POST.

    Go: ensureAuthorizedForVerb.
    """
    request = call.request
    if request.user is None or request.info is None or request.info.verb == "create":
        return
    if not verb.is_enabled(AUTHORIZE_POD_WEBSOCKET_UPGRADE):
        return
    wanted = request.info.attributes()
    wanted.verb = "create"
    is_allowed, reason = verb.allowed(request.user, wanted)
    if not is_allowed:
        raise errors.forbidden(call.resource.group, call.resource.plural, call.name, reason)


def _stream(verb: Verb, call: Call, pod: Json) -> http.Response:
    """Serve exec, attach and portforward with the simulator's containers."""
    runtime, request = _runtime(verb, call), call.request
    # Here, not above: few servers need it.
    from clientgo.testing.apiserver.streams import commands, portforward

    if call.subresource == "portforward":
        return portforward.run(request, functools.partial(runtime.dial, pod))
    container = _container(call, pod)
    if call.subresource == "attach":
        return commands.run(request, functools.partial(runtime.attach, pod, container))
    command = [utf8.to_valid(part) for part in request.params.get("command", ())]
    if not command:
        raise errors.bad_request("you must specify at least one command for the container")
    return commands.run(request, functools.partial(runtime.exec, pod, container, command))


def _runtime(verb: Verb, call: Call) -> Runtime:
    """Return the runtime of the containers. Raises ApiError if there is none, or no connection to stream on."""
    runtime = verb.containers.runtime
    if runtime is None or call.request.connection is None:
        raise _not_available(call)
    return runtime


def _log_options(verb: Verb, call: Call) -> LogOptions:
    # Here, not above: few servers need it.
    from clientgo.testing.apiserver.streams.runtime import LogOptions

    request = call.request
    since: float | None = None
    if request.param("sinceSeconds"):
        since = verb.times.clock.now() - int(request.param("sinceSeconds"))
    elif (moment := _since_time(call)) is not None:
        since = moment.timestamp()
    return LogOptions(
        previous=request.flag("previous"),
        timestamps=request.flag("timestamps"),
        tail=int(request.param("tailLines")) if request.param("tailLines") else None,
        since=since,
    )


def _service(verb: Verb, call: Call) -> http.Response:
    """Handle a proxy to NAME, NAME:PORT or SCHEME:NAME:PORT."""
    parts = call.name.split(":")
    if len(parts) > 3 or (len(parts) == 3 and parts[0] not in ("http", "https", "")):
        raise errors.bad_request(f"invalid service request {quote(call.name)}")
    name, port = (parts[-2], parts[-1]) if len(parts) > 1 else (parts[0], "")
    key = f"{call.namespace}/{name}"
    service = verb.store.get(call.resource.storage, key)
    if service is None:
        raise errors.not_found("", "services", name)
    if port and not _has_port(service, port):
        raise errors.service_unavailable(f"no service port {quote(port)} found for service {quote(name)}")
    endpoints = verb.store.get("/endpoints", key)
    if endpoints is None or not any(subset.get("addresses") for subset in endpoints.obj.get("subsets") or ()):
        raise errors.service_unavailable(f"no endpoints available for service {quote(name)}")
    raise _not_available(call)


def _has_port(service: Stored, wanted: str) -> bool:
    ports = (service.obj.get("spec") or {}).get("ports") or ()
    return any(wanted in (port.get("name"), str(port.get("port"))) for port in ports)


def _check_log_options(call: Call) -> None:
    """Check the options of a log. Raises ApiError 400 if one is not a number, 422 if a number is out of range."""
    found: list[FieldError] = []
    moment = _since_time(call)
    for name, least in (("tailLines", 0), ("limitBytes", 1), ("sinceSeconds", 1)):
        if name not in call.request.params:
            continue
        try:
            number = parse_int(call.request.param(name))
        except ValueError as err:
            raise errors.bad_request(str(err)) from None
        if name == "sinceSeconds" and moment is not None:
            found.append(errors.field_forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
        elif number < least:
            wanted = "must be greater than 0" if least else "must be greater than or equal to 0"
            found.append(errors.field_invalid(name, number, wanted))
    if found:
        raise errors.invalid("", "PodLogOptions", call.name, found)


def _since_time(call: Call) -> datetime.datetime | None:
    """Return the option sinceTime, None if it is absent. Raises ApiError 400. Go: Time.UnmarshalQueryParameter."""
    text = call.request.param("sinceTime")
    if text in ("", "null"):
        # The zero time is given, and before every line.
        return _ZERO_TIME if "sinceTime" in call.request.params else None
    from clientgo.golang.rfc3339 import RFC3339, parse  # Here, not above: few requests need it.

    try:
        return parse(text, RFC3339)[0]
    except ValueError as err:
        raise errors.bad_request(str(err)) from None


def _container(call: Call, pod: Json) -> str:
    """Return the name of the container in question. Raises ApiError."""
    spec = pod["spec"]
    wanted = call.request.param("container")
    names = [container["name"] for container in spec.get("containers") or ()]
    others = [c["name"] for kind in ("initContainers", "ephemeralContainers") for c in spec.get(kind) or ()]
    if wanted and wanted not in (*names, *others):
        raise errors.bad_request(f"container {wanted} is not valid for pod {call.name}")
    if not wanted and len(names) > 1:
        inits = [container["name"] for container in spec.get("initContainers") or ()]
        text = f"a container name must be specified for pod {call.name}, choose one of: [{' '.join(names)}]"
        if inits:
            text += f" or one of the init containers: [{' '.join(inits)}]"
        raise errors.bad_request(text)
    return wanted or names[0]


def _check_node(verb: Verb, name: str) -> None:
    if verb.store.get(_NODES, name) is None:
        raise errors.not_found("", "nodes", name)


def _not_available(call: Call) -> ApiError:
    subresource = f"{call.resource.plural}/{call.subresource}"
    text = f"the embedded API server runs no containers: {subresource} is not available"
    return ApiError(501, "NotImplemented", text, {})
