"""Validation of pods and pod templates, as far as controllers and people meet it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clientgo.apimachinery.api import resource as quantities
from clientgo.apimachinery.util.validation import (
    is_dns1123_label,
    is_relaxed_env_var_name,
    is_valid_port_name,
    is_valid_port_num,
)
from clientgo.testing.apiserver.errors import (
    FieldError,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_not_found,
    field_required,
)
from clientgo.testing.apiserver.validation.fields import NOT_NEGATIVE, PORT_TEXT, choice

Json = dict[str, Any]

_GROUPS = ("containers", "initContainers")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")


def pod(obj: Json) -> list[FieldError]:
    return pod_spec(obj.get("spec") or {}, "spec")


def pod_spec(spec: Json, field: str) -> list[FieldError]:
    errors = _volumes(spec.get("volumes") or [], f"{field}.volumes")
    if not spec.get("containers"):
        errors.append(field_required(f"{field}.containers"))
    volumes = {volume.get("name") for volume in spec.get("volumes") or ()}
    seen: set[str] = set()
    for group in _GROUPS:
        for i, container in enumerate(spec.get(group) or ()):
            where = f"{field}.{group}[{i}]"
            errors += _name(container, where, seen)
            errors += _container(container, where, volumes)
    errors += choice(spec, field, "restartPolicy", ["Always", "OnFailure", "Never"])
    errors += choice(spec, field, "dnsPolicy", ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"])
    return errors


def _volumes(volumes: list[Json], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, volume in enumerate(volumes):
        where = f"{field}[{i}]"
        errors += _name(volume, where, seen)
        # emptyDir is looked at first.
        sources = sorted((name for name in volume if name != "name"), key=lambda name: name != "emptyDir")
        errors += [
            field_forbidden(f"{where}.{name}", "may not specify more than 1 volume type") for name in sources[1:]
        ]
    return errors


def _name(item: Json, where: str, seen: set[str]) -> list[FieldError]:
    """A name that is a label, and that no other item of the list has."""
    name = item.get("name", "")
    if not name:
        return [field_required(f"{where}.name")]
    errors = [field_invalid(f"{where}.name", name, text) for text in is_dns1123_label(name)]
    if name in seen:
        errors.append(field_duplicate(f"{where}.name", name))
    seen.add(name)
    return errors


def _container(container: Json, where: str, volumes: set[Any]) -> list[FieldError]:
    errors = _image(container.get("image", ""), f"{where}.image")
    errors += _ports(container.get("ports") or [], f"{where}.ports")
    errors += _environment(container.get("env") or [], f"{where}.env")
    errors += _mounts(container.get("volumeMounts") or [], f"{where}.volumeMounts", volumes)
    for name in _PROBES:
        if container.get(name) is not None:
            errors += _probe(container[name], f"{where}.{name}")
    errors += choice(container, where, "imagePullPolicy", ["Always", "IfNotPresent", "Never"])
    errors += resources(container.get("resources") or {}, f"{where}.resources")
    return errors


def _image(image: str, field: str) -> list[FieldError]:
    if not image:
        return [field_required(field)]
    if image != image.strip():
        return [field_invalid(field, image, "must not have leading or trailing whitespace")]
    return []


def _ports(ports: list[Json], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, port in enumerate(ports):
        where = f"{field}[{i}]"
        name, number = port.get("name", ""), port.get("containerPort", 0)
        if name:
            errors += [field_invalid(f"{where}.name", name, text) for text in is_valid_port_name(name)]
            if name in seen:
                errors.append(field_duplicate(f"{where}.name", name))
            seen.add(name)
        if not number:
            errors.append(field_required(f"{where}.containerPort"))
        elif not 0 < number < 65536:
            errors.append(field_invalid(f"{where}.containerPort", number, PORT_TEXT))
        host = port.get("hostPort", 0)
        if host and not 0 < host < 65536:
            errors.append(field_invalid(f"{where}.hostPort", host, PORT_TEXT))
        errors += choice(port, where, "protocol", ["SCTP", "TCP", "UDP"])
    return errors


def _environment(variables: list[Json], field: str) -> list[FieldError]:
    errors = []
    for i, variable in enumerate(variables):
        name = variable.get("name", "")
        if not name:
            errors.append(field_required(f"{field}[{i}].name"))
            continue
        errors += [field_invalid(f"{field}[{i}].name", name, text) for text in is_relaxed_env_var_name(name)]
        if variable.get("value") and variable.get("valueFrom"):
            text = "may not be specified when `value` is not empty"
            errors.append(field_invalid(f"{field}[{i}].valueFrom", "", text))
    return errors


def _mounts(mounts: list[Json], field: str, volumes: set[Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, mount in enumerate(mounts):
        name, path = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            errors.append(field_required(f"{field}[{i}].name"))
        elif name not in volumes:
            errors.append(field_not_found(f"{field}[{i}].name", name))
        if not path:
            errors.append(field_required(f"{field}[{i}].mountPath"))
        elif path in seen:
            errors.append(field_invalid(f"{field}[{i}].mountPath", path, "must be unique"))
        seen.add(path)
    return errors


def _probe(probe: Json, field: str) -> list[FieldError]:
    handlers = [name for name in _HANDLERS if probe.get(name) is not None]
    if not handlers:
        return [field_required(field, "must specify a handler type")]
    errors = [field_forbidden(f"{field}.{name}", "may not specify more than 1 handler type") for name in handlers[1:]]
    handler = probe[handlers[0]]
    if handlers[0] in ("httpGet", "tcpSocket"):
        errors += _port_reference(handler.get("port", 0), f"{field}.{handlers[0]}.port")
    elif handlers[0] == "exec" and not handler.get("command"):
        errors.append(field_required(f"{field}.exec.command"))
    return errors


def _port_reference(port: int | str, field: str) -> list[FieldError]:
    texts = is_valid_port_name(port) if isinstance(port, str) else is_valid_port_num(port)
    return [field_invalid(field, port, text) for text in texts]


def resources(wanted: Json, field: str) -> list[FieldError]:
    """Requests and limits: not negative, and no request above its limit."""
    errors = []
    limits, requests = wanted.get("limits") or {}, wanted.get("requests") or {}
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            if quantities.parse_quantity(amount).sign() < 0:
                errors.append(field_invalid(f"{field}.{kind}[{name}]", amount, NOT_NEGATIVE))
    for name, amount in requests.items():
        limit = limits.get(name)
        if limit is not None and quantities.parse_quantity(amount).cmp(quantities.parse_quantity(limit)) > 0:
            text = f"must be less than or equal to {name} limit of {limit}"
            errors.append(field_invalid(f"{field}.requests", amount, text))
    return errors


# ---- updates

_UPDATE_TEXT = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_CHANGEABLE = ("activeDeadlineSeconds", "tolerations", "schedulingGates")


def pod_update(obj: Json, old: Json) -> list[FieldError]:
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    for group in _GROUPS:
        if len(new_spec.get(group) or ()) != len(old_spec.get(group) or ()):
            return [field_forbidden(f"spec.{group}", "pod updates may not add or remove containers")]
    if _unchangeable(new_spec, "image") != _unchangeable(old_spec, "image"):
        return [field_forbidden("spec", _UPDATE_TEXT)]
    return []


def _unchangeable(spec: Json, but: str) -> Json:
    """The parts of a spec that an update may not change: all but a few, and but one field of each container."""
    out = {name: value for name, value in spec.items() if name not in _CHANGEABLE}
    for group in _GROUPS:
        if out.get(group):
            out[group] = [{name: value for name, value in c.items() if name != but} for c in out[group]]
    return out


def ephemeral_containers_update(obj: Json, old: Json) -> list[FieldError]:
    """pods/ephemeralcontainers: containers for debugging may come, never change or go."""
    field = "spec.ephemeralContainers"
    new: list[Json] = (obj.get("spec") or {}).get("ephemeralContainers") or []
    before: list[Json] = (old.get("spec") or {}).get("ephemeralContainers") or []
    errors = list(_new_ephemeral_containers(obj, new, field))
    known = {container.get("name"): container for container in new}
    for container in before:
        now = known.get(container.get("name"))
        if now is None:
            text = f'existing ephemeral containers "{container.get("name")}" may not be removed\n'
            errors.append(field_forbidden(field, text))
        elif now != container:
            text = f'existing ephemeral containers "{container.get("name")}" may not be changed\n'
            errors.append(field_forbidden(field, text))
    return errors


def _new_ephemeral_containers(obj: Json, containers: list[Json], field: str) -> Iterator[FieldError]:
    spec = obj.get("spec") or {}
    volumes = {volume.get("name") for volume in spec.get("volumes") or ()}
    seen = {container.get("name", "") for group in _GROUPS for container in spec.get(group) or ()}
    for i, container in enumerate(containers):
        where = f"{field}[{i}]"
        yield from _name(container, where, seen)
        yield from _container({**container, "ports": None}, where, volumes)
        for name in ("ports", *_PROBES, "resources"):
            if container.get(name):
                yield field_forbidden(f"{where}.{name}", "cannot be set for an Ephemeral Container")


def resize(obj: Json, old: Json) -> list[FieldError]:
    """pods/resize changes resources of containers, nothing else."""
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    if _unchangeable(new_spec, "resources") != _unchangeable(old_spec, "resources"):
        return [field_forbidden("spec", "only cpu and memory resources are mutable")]
    return []
