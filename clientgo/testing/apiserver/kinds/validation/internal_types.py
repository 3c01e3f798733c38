"""A pod template as Go prints the server's internal types, which some messages quote.

The internal types use Go's field names, print empty fields, and have the host's namespaces in the security context.
"""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver.kinds import schema
from clientgo.testing.apiserver.wire.jsonio import Json

_CORE = "k8s.io/api/core/v1"
_META = ("name", "generateName", "namespace", "labels", "annotations")
_IN_CONTEXT = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
_LEFT_OUT = {*_IN_CONTEXT, "serviceAccount"}
_INITIALS = {
    "dnsPolicy": "DNSPolicy",
    "dnsConfig": "DNSConfig",
    "os": "OS",
    "tty": "TTY",
    "fsGroup": "FSGroup",
    "fsGroupChangePolicy": "FSGroupChangePolicy",
    "seLinuxOptions": "SELinuxOptions",
    "seLinuxChangePolicy": "SELinuxChangePolicy",
    "httpGet": "HTTPGet",
    "tcpSocket": "TCPSocket",
    "grpc": "GRPC",
    "setHostnameAsFQDN": "SetHostnameAsFQDN",
}
# The orders of the internal types' fields that differ from the published types.
_SPEC_ORDER = """
    volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds
    activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName automountServiceAccountToken nodeName
    securityContext imagePullSecrets hostname subdomain setHostnameAsFQDN affinity schedulerName tolerations
    hostAliases priorityClassName priority preemptionPolicy dnsConfig readinessGates runtimeClassName overhead
    enableServiceLinks topologySpreadConstraints os schedulingGates resourceClaims resources hostnameOverride
    schedulingGroup
"""
_CONTAINER_ORDER = """
    name image command args workingDir ports envFrom env resources resizePolicy restartPolicy restartPolicyRules
    volumeMounts volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath
    terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty
"""
_CONTEXT_ORDER = """
    seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups supplementalGroupsPolicy
    fsGroup fsGroupChangePolicy sysctls seccompProfile appArmorProfile seLinuxChangePolicy
"""
_ORDERS = {
    name: text.split()
    for name, text in (
        ("PodSpec", _SPEC_ORDER),
        ("Container", _CONTAINER_ORDER),
        ("PodSecurityContext", _CONTEXT_ORDER),
    )
}


def pod_template(template: Json) -> Json:
    """Return the template as Go prints the internal PodTemplateSpec."""
    metadata = template.get("metadata") or {}
    out: Json = {name: metadata[name] for name in _META if metadata.get(name)}
    spec = template.get("spec") or {}
    struct = schema.structure(_CORE, "PodSpec")
    shown = _struct(spec, struct)
    context = spec.get("securityContext")
    if context is not None or any(spec.get(name) for name in _IN_CONTEXT):
        host = {name[0].upper() + name[1:]: spec.get(name, False) for name in _IN_CONTEXT[:3]}
        host |= {name[0].upper() + name[1:]: spec.get(name) for name in _IN_CONTEXT[3:]}
        shown["SecurityContext"] = {**host, **_struct(context or {}, schema.structure(_CORE, "PodSecurityContext"))}
    out["Spec"] = shown
    return out


def _struct(value: Json, struct: schema.Struct) -> Json:
    known = struct.fields
    order = [name for name in _ORDERS.get(struct.name, known) if name in known or name in value]
    rest = [name for name in known if name not in order and name not in _LEFT_OUT] if struct.name in _ORDERS else []
    return {_go_name(name): _field(value.get(name), name, struct) for name in (*order, *rest)}


def _go_name(name: str) -> str:
    return _INITIALS.get(name) or name[0].upper() + name[1:]


def _field(value: Any, name: str, struct: schema.Struct) -> Any:
    field = struct.fields[name]
    inner = field.struct
    if inner is not None:
        # A pointer that is nil, and a struct that is only empty.
        return _struct(value or {}, inner) if value is not None or not field.type.startswith("*") else None
    if value is None:
        return None if field.codec is None or field.type.startswith("*") else field.codec.zero
    element = schema.element(field.type, struct.package)
    if element is not None and element.struct is not None and isinstance(value, list):
        return [_struct(item, element.struct) for item in value]
    return value
