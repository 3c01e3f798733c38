"""Validation of the containers of pods and pod templates."""

from __future__ import annotations

from clientgo.apimachinery.util.validation import (
    is_dns1123_label,
    is_http_header_name,
    is_valid_group_id,
    is_valid_port_name,
    is_valid_port_num,
    is_valid_user_id,
)
from clientgo.testing.apiserver.kinds.validation import references, resources
from clientgo.testing.apiserver.kinds.validation.fields import PORT_TEXT, choice, named, not_negative, required
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_not_found,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"]
_PROBE_NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")


def containers(items: list[Json], field: str, volumes: set[str]) -> list[FieldError]:
    """Validate the regular containers of a pod. Init and ephemeral containers have other rules."""
    if not items:
        return [field_required(field)]
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, container in enumerate(items):
        where = f"{field}[{i}]"
        errors += common(container, where, volumes)
        errors += _not_again(container, where, seen)
        errors += _lifecycle(container.get("lifecycle") or {}, f"{where}.lifecycle")
        for name in PROBES:
            if container.get(name) is not None:
                errors += _probe(container[name], f"{where}.{name}", repeats=name == "readinessProbe")
    return errors + _host_ports(items, field)


def init_containers(items: list[Json], field: str, volumes: set[str], others: list[Json]) -> list[FieldError]:
    """Validate init containers.

    Only those with restartPolicy Always may have probes and a lifecycle, since the others run to completion.
    """
    errors: list[FieldError] = []
    seen = {container.get("name", "") for container in others}
    for i, container in enumerate(items):
        where = f"{field}[{i}]"
        errors += common(container, where, volumes)
        always_restarts = container.get("restartPolicy") == "Always"
        errors += _not_again(container, where, seen)
        errors += _host_ports([container], field) if always_restarts else []
        for name in ("lifecycle", *PROBES):
            if container.get(name) is None:
                continue
            if not always_restarts:
                text = "may not be set for init containers without restartPolicy=Always"
                errors.append(field_forbidden(f"{where}.{name}", text))
            elif name != "lifecycle":
                errors += _probe(container[name], f"{where}.{name}", repeats=name == "readinessProbe")
    return errors


def _not_again(container: Json, where: str, seen: set[str]) -> list[FieldError]:
    name = container.get("name", "")
    errors = [field_duplicate(f"{where}.name", name)] if name and name in seen else []
    seen.add(name)
    return errors


def common(container: Json, where: str, volumes: set[str]) -> list[FieldError]:
    """Validate the fields that containers of all sorts share."""
    name = container.get("name", "")
    errors = named(name, f"{where}.name", is_dns1123_label) if name else [field_required(f"{where}.name")]
    errors += required(container, where, "image")
    policy = container.get("terminationMessagePolicy")
    if policy and policy not in _MESSAGE_POLICIES:
        errors.append(field_not_supported(f"{where}.terminationMessagePolicy", policy, _MESSAGE_POLICIES))
    errors += _ports(container.get("ports") or [], f"{where}.ports")
    errors += references.environment(container.get("env") or [], f"{where}.env")
    errors += references.environment_from(container.get("envFrom") or [], f"{where}.envFrom")
    errors += _mounts(container.get("volumeMounts") or [], f"{where}.volumeMounts", volumes)
    errors += choice(container, where, "imagePullPolicy", ["Always", "IfNotPresent", "Never"])
    errors += resources.requirements(container.get("resources") or {}, f"{where}.resources")
    return errors + _security(container.get("securityContext") or {}, f"{where}.securityContext")


def _ports(ports: list[Json], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, port in enumerate(ports):
        where = f"{field}[{i}]"
        name, number, host = port.get("name", ""), port.get("containerPort", 0), port.get("hostPort", 0)
        if name:
            wrong = named(name, f"{where}.name", is_valid_port_name)
            if not wrong and name in seen:
                wrong = [field_duplicate(f"{where}.name", name)]
            seen.add(name)
            errors += wrong
        if not number:
            errors.append(field_required(f"{where}.containerPort"))
        elif not 0 < number < 65536:
            errors.append(field_invalid(f"{where}.containerPort", number, PORT_TEXT))
        if host and not 0 < host < 65536:
            errors.append(field_invalid(f"{where}.hostPort", host, PORT_TEXT))
        errors += choice(port, where, "protocol", ["SCTP", "TCP", "UDP"])
    return errors


def _host_ports(items: list[Json], field: str) -> list[FieldError]:
    """Validate that no two containers of a pod use the same port of the node."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, container in enumerate(items):
        for j, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if key in seen:
                errors.append(field_duplicate(f"{field}[{i}].ports[{j}].hostPort", key))
            seen.add(key)
    return errors


def _mounts(mounts: list[Json], field: str, volumes: set[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, mount in enumerate(mounts):
        name, path = mount.get("name", ""), mount.get("mountPath", "")
        errors += required(mount, f"{field}[{i}]", "name")
        if name not in volumes:
            errors.append(field_not_found(f"{field}[{i}].name", name))
        errors += required(mount, f"{field}[{i}]", "mountPath")
        if path in seen:
            errors.append(field_invalid(f"{field}[{i}].mountPath", path, "must be unique"))
        seen.add(path)
    return errors


def _probe(probe: Json, field: str, *, repeats: bool) -> list[FieldError]:
    """Validate a probe. With `repeats`, its successThreshold may be greater than 1."""
    errors = _handler(probe, field) + not_negative(probe, field, *_PROBE_NUMBERS)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        errors.append(field_invalid(f"{field}.terminationGracePeriodSeconds", grace, "must be greater than 0"))
    if not repeats and probe.get("successThreshold", 1) != 1:
        errors.append(field_invalid(f"{field}.successThreshold", probe["successThreshold"], "must be 1"))
    return errors


def _lifecycle(lifecycle: Json, field: str) -> list[FieldError]:
    given = [name for name in ("postStart", "preStop") if lifecycle.get(name) is not None]
    return [error for name in given for error in _handler(lifecycle[name], f"{field}.{name}")]


def _handler(probe: Json, field: str) -> list[FieldError]:
    """Validate a handler, which must have exactly one action."""
    given = [name for name in _HANDLERS if probe.get(name) is not None]
    if not given:
        return [field_required(field, "must specify a handler type")]
    errors = _action(given[0], probe[given[0]], f"{field}.{given[0]}")
    return errors + [
        field_forbidden(f"{field}.{name}", "may not specify more than 1 handler type") for name in given[1:]
    ]


def _action(kind: str, action: Json, field: str) -> list[FieldError]:
    if kind == "exec":
        return required(action, field, "command")
    if kind == "sleep":
        return []
    errors = required(action, field, "path") if kind == "httpGet" else []
    errors += _port_reference(action.get("port", 0), f"{field}.port")
    if kind == "httpGet":
        errors += choice(action, field, "scheme", ["HTTP", "HTTPS"])
        for header in action.get("httpHeaders") or ():
            errors += named(header.get("name", ""), f"{field}.httpHeaders", is_http_header_name)
    return errors


def _port_reference(port: int | str, field: str) -> list[FieldError]:
    texts = is_valid_port_name(port) if isinstance(port, str) else is_valid_port_num(port)
    return [field_invalid(field, port, text) for text in texts]


def identities(context: Json, field: str) -> list[FieldError]:
    """Validate the user and group IDs of a security context."""
    errors = []
    for name, check in (("runAsUser", is_valid_user_id), ("runAsGroup", is_valid_group_id)):
        if context.get(name) is not None:
            errors += [field_invalid(f"{field}.{name}", context[name], text) for text in check(context[name])]
    return errors


def _security(context: Json, field: str) -> list[FieldError]:
    errors = identities(context, field)
    if context.get("privileged") and context.get("allowPrivilegeEscalation") is False:
        text = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        errors.append(field_invalid(field, internal_security(context), text))
    return errors


_SECURITY_FIELDS = (
    "capabilities", "privileged", "seLinuxOptions", "windowsOptions", "runAsUser", "runAsGroup", "runAsNonRoot",
    "readOnlyRootFilesystem", "allowPrivilegeEscalation", "procMount", "seccompProfile", "appArmorProfile",
)  # fmt: skip


def internal_security(context: Json) -> Json:
    """Return the security context with the field names of the server's internal type."""
    shown = {"seLinuxOptions": "SELinuxOptions"}
    return {shown.get(name, name[0].upper() + name[1:]): context.get(name) for name in _SECURITY_FIELDS}
