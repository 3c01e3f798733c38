"""Validation of Services, Endpoints, EndpointSlices, Ingresses and NetworkPolicies."""

from __future__ import annotations

import ipaddress

from clientgo.apimachinery.util.validation import (
    is_dns1123_label,
    is_dns1123_subdomain,
    is_qualified_name,
    is_valid_port_name,
    is_valid_port_num,
    is_wildcard_dns1123_subdomain,
)
from clientgo.testing.apiserver.kinds import services
from clientgo.testing.apiserver.kinds.object_meta import check_labels
from clientgo.testing.apiserver.kinds.validation.fields import (
    IMMUTABLE,
    PORT_TEXT,
    choice,
    each,
    immutable,
    label_selector,
    named,
    required,
)
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
    field_too_long,
)
from clientgo.testing.apiserver.wire.jsonio import Json

_NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_NO_NETWORK = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'"
_TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]
_FAMILIES = ["IPv4", "IPv6"]
_FAMILY_POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"]
_DISTRIBUTIONS = ["PreferClose", "PreferSameZone", "PreferSameNode"]
_PROTOCOLS = ["SCTP", "TCP", "UDP"]


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def network(text: str, field: str) -> list[FieldError]:
    """Validate a network in CIDR notation, such as 10.0.0.0/8."""
    try:
        if "/" in text:
            ipaddress.ip_network(text, strict=False)
            return []
    except ValueError:
        pass
    return [field_invalid(field, text, _NO_NETWORK)]


def _reachable(text: str, field: str) -> list[FieldError]:
    """Validate that an address is not unspecified, loopback or link-local, since other machines cannot reach those."""
    address = address_of(text)
    if address is None:
        return []
    if address.is_unspecified:
        return [field_invalid(field, text, f"may not be unspecified ({text})")]
    if address.is_loopback:
        return [field_invalid(field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)")]
    if address.is_link_local:
        return [field_invalid(field, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")]
    return []


def port(number: int, field: str) -> list[FieldError]:
    return [field_invalid(field, number, PORT_TEXT)] if not 0 < number < 65536 else []


# ---- services


def service_allocation(obj: Json) -> list[FieldError]:
    """Return the errors that prevent the allocation of addresses. With such an error Go validates nothing else."""
    spec = obj.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return []
    errors = _families(spec, spec.get("type"))
    if not spec.get("clusterIP") and spec.get("clusterIPs"):
        text = "must be empty when `clusterIP` is not specified"
        errors.append(field_invalid("spec.clusterIPs", spec["clusterIPs"], text))
    if not errors and any(_is_foreign(address) for address in spec.get("clusterIPs") or ()):
        text = f"failed to allocate IP {spec['clusterIPs'][0]}: the provided network does not match the current range"
        errors.append(field_invalid("spec.clusterIPs", spec["clusterIPs"], text))
    free = spec.get("clusterIP") == "None" and not spec.get("selector")
    if errors or free or "IPv6" not in (spec.get("ipFamilies") or ()):
        return errors
    where = f"spec.ipFamilies[{spec['ipFamilies'].index('IPv6')}]"
    return [field_invalid(where, "IPv6", "not configured on this cluster")]


# Clusters have their services anywhere in here.
_SERVICES = ipaddress.ip_network("10.0.0.0/8")


def _is_foreign(text: str) -> bool:
    address = address_of(text)
    return isinstance(address, ipaddress.IPv4Address) and address not in _SERVICES


def service(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    kind, ports = spec.get("type"), spec.get("ports") or []
    errors = []
    if not ports and spec.get("clusterIP") != "None" and kind != "ExternalName":
        errors.append(field_required("spec.ports"))
    errors += _of_type(spec, kind)
    errors += _service_ports(ports, kind, headless=spec.get("clusterIP") == "None")
    errors += check_labels(spec.get("selector"), "spec.selector")
    if spec.get("sessionAffinity") not in ("None", "ClientIP"):
        errors.append(field_not_supported("spec.sessionAffinity", spec.get("sessionAffinity"), ["ClientIP", "None"]))
    errors += _families(spec, kind)
    for i, address in enumerate(spec.get("externalIPs") or ()):
        where = f"spec.externalIPs[{i}]"
        unknown = address_of(address) is None
        errors += [field_invalid(where, address, _NO_ADDRESS)] if unknown else _reachable(address, where)
    if kind not in _TYPES:
        errors.append(field_not_supported("spec.type", kind, _TYPES))
    errors += _repeated_ports(ports)
    errors += _balancing(spec, kind)
    return errors + _policies(spec, kind)


def _of_type(spec: Json, kind: str | None) -> list[FieldError]:
    if kind == "LoadBalancer" and spec.get("clusterIP") == "None":
        return [field_invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for LoadBalancer services")]
    if kind == "NodePort" and spec.get("clusterIP") == "None":
        return [field_invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for NodePort services")]
    if kind != "ExternalName":
        return []
    errors = []
    if spec.get("clusterIPs"):
        errors.append(field_forbidden("spec.clusterIPs", "may not be set for ExternalName services"))
    name = spec.get("externalName", "").removesuffix(".")
    return errors + (
        named(name, "spec.externalName", is_dns1123_subdomain) if name else [field_required("spec.externalName")]
    )


def _service_ports(ports: list[Json], kind: str | None, *, headless: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, one in enumerate(ports):
        where, name, target = f"spec.ports[{i}]", one.get("name", ""), one.get("targetPort", 0)
        if len(ports) > 1 and not name:
            errors.append(field_required(f"{where}.name"))
        elif name:
            errors += named(name, f"{where}.name", is_dns1123_label)
            if name in seen:
                errors.append(field_duplicate(f"{where}.name", name))
            seen.add(name)
        errors += port(one.get("port", 0), f"{where}.port")
        errors += choice(one, where, "protocol", _PROTOCOLS)
        texts = is_valid_port_name(target) if isinstance(target, str) else is_valid_port_num(target)
        errors += [field_invalid(f"{where}.targetPort", target, text) for text in texts]
        if one.get("appProtocol") is not None:
            errors += named(one["appProtocol"], f"{where}.appProtocol", is_qualified_name)
    if kind == "ClusterIP":
        errors += [
            field_forbidden(f"spec.ports[{i}].nodePort", "may not be used when `type` is 'ClusterIP'")
            for i, one in enumerate(ports)
            if one.get("nodePort")
        ]
    return errors


def _repeated_ports(ports: list[Json]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[tuple[str, int]] = set()
    for i, one in enumerate(ports):
        key = (one.get("protocol", ""), one.get("port", 0))
        if key in seen:
            shown = {
                "Name": "",
                "Protocol": key[0],
                "AppProtocol": None,
                "Port": key[1],
                "TargetPort": 0,
                "NodePort": 0,
            }
            errors.append(field_duplicate(f"spec.ports[{i}]", shown))
        seen.add(key)
    return errors


def _families(spec: Json, kind: str | None) -> list[FieldError]:
    """Validate the cluster IPs and their families."""
    errors = []
    addresses, families = spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    if spec.get("ipFamilyPolicy") is not None:
        errors += choice(spec, "spec", "ipFamilyPolicy", _FAMILY_POLICIES)
    for i, family in enumerate(families):
        where = f"spec.ipFamilies[{i}]"
        if family not in _FAMILIES:
            errors.append(field_not_supported(where, family, _FAMILIES))
        if family in families[:i]:
            errors.append(field_duplicate(where, family))
    if addresses == ["None"]:
        return errors
    for i, address in enumerate(addresses):
        if address_of(address) is None:
            errors.append(field_invalid(f"spec.clusterIPs[{i}]", address, _NO_ADDRESS))
    return errors


def _balancing(spec: Json, kind: str | None) -> list[FieldError]:
    errors = []
    ranges = spec.get("loadBalancerSourceRanges") or []
    if ranges and kind != "LoadBalancer":
        errors.append(field_forbidden("spec.LoadBalancerSourceRanges", _ONLY_BALANCED))
    for i, text in enumerate(ranges):
        errors += network(text.strip(), f"spec.LoadBalancerSourceRanges[{i}]")
    if kind != "LoadBalancer":
        errors += [
            field_forbidden(f"spec.{name}", _ONLY_BALANCED)
            for name in ("allocateLoadBalancerNodePorts", "loadBalancerClass")
            if spec.get(name) is not None
        ]
    elif spec.get("allocateLoadBalancerNodePorts") is None:
        errors.append(field_required("spec.allocateLoadBalancerNodePorts"))
    return errors


def _policies(spec: Json, kind: str | None) -> list[FieldError]:
    """Validate a Service's traffic policies, health check port and traffic distribution."""
    errors = []
    outside = spec.get("externalTrafficPolicy")
    if not services.needs_external_policy(spec):
        if outside:
            text = "may only be set for externally-accessible services"
            errors.append(field_invalid("spec.externalTrafficPolicy", outside, text))
    elif not outside:
        errors.append(field_required("spec.externalTrafficPolicy"))
    else:
        errors += choice(spec, "spec", "externalTrafficPolicy", ["Cluster", "Local"])
    health = spec.get("healthCheckNodePort", 0)
    if health and not (kind == "LoadBalancer" and outside == "Local"):
        text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        errors.append(field_invalid("spec.healthCheckNodePort", health, text))
    if spec.get("internalTrafficPolicy"):
        errors += choice(spec, "spec", "internalTrafficPolicy", ["Cluster", "Local"])
    return errors + choice(spec, "spec", "trafficDistribution", _DISTRIBUTIONS)


def service_update(obj: Json, old: Json) -> list[FieldError]:
    """Validate that an update keeps a Service's first cluster IP, unless its type is or was ExternalName."""
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    if "ExternalName" in (new_spec.get("type"), old_spec.get("type")):
        return []
    before, after = old_spec.get("clusterIPs") or [], new_spec.get("clusterIPs") or []
    if before and before[:1] != after[:1]:
        return [field_invalid("spec.clusterIPs[0]", after or None, "may not change once set")]
    return []


def service_status(obj: Json, old: Json) -> list[FieldError]:
    ingress = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress")
    if ingress and (obj.get("spec") or {}).get("type") != "LoadBalancer":
        text = "may only be used when `spec.type` is 'LoadBalancer'"
        return [field_forbidden("status.loadBalancer.ingress", text)]
    return []


# ---- endpoints


def endpoints(obj: Json) -> list[FieldError]:
    return each(obj.get("subsets"), "subsets", _subset)


def _subset(subset: Json, field: str) -> list[FieldError]:
    errors = []
    if not subset.get("addresses") and not subset.get("notReadyAddresses"):
        errors.append(field_required(field, "must specify `addresses` or `notReadyAddresses`"))
    for name in ("addresses", "notReadyAddresses"):
        errors += each(subset.get(name), f"{field}.{name}", _endpoint_address)
    ports = subset.get("ports") or []
    for i, one in enumerate(ports):
        errors += _endpoint_port(one, f"{field}.ports[{i}]", named_=len(ports) > 1)
    return errors


def _endpoint_address(address: Json, field: str) -> list[FieldError]:
    text, where = address.get("ip", ""), f"{field}.ip"
    if address_of(text) is None:
        return [field_invalid(where, text, _NO_ADDRESS), field_invalid(where, text, "must be a valid IP address")]
    return _reachable(text, where)


def _endpoint_port(one: Json, field: str, *, named_: bool) -> list[FieldError]:
    name = one.get("name", "")
    errors = []
    if name:
        errors += named(name, f"{field}.name", is_dns1123_label)
    elif named_:
        errors.append(field_required(f"{field}.name"))
    return errors + port(one.get("port", 0), f"{field}.port") + choice(one, field, "protocol", _PROTOCOLS)


def endpoint_slice(obj: Json) -> list[FieldError]:
    kind = obj.get("addressType", "")
    if not kind:
        errors = [field_required("addressType")]
    else:
        errors = choice(obj, "", "addressType", ["FQDN", "IPv4", "IPv6"])
    errors += _slice_ports(obj.get("ports") or [])
    for i, endpoint in enumerate(obj.get("endpoints") or ()):
        errors += _slice_addresses(endpoint.get("addresses") or [], kind, f"endpoints[{i}].addresses")
    return errors


def _slice_addresses(addresses: list[str], kind: str, field: str) -> list[FieldError]:
    if not addresses:
        return [field_required(field, "must contain at least 1 address")]
    errors = []
    for i, text in enumerate(addresses):
        where, address = f"{field}[{i}]", address_of(text)
        if kind == "FQDN":
            errors += named(text, where, is_dns1123_subdomain)
        elif kind not in _FAMILIES:
            continue
        elif address is None:
            errors.append(field_invalid(where, text, _NO_ADDRESS))
        else:
            if address.version != int(kind[-1]):
                errors.append(field_invalid(field, text, f"must be an {kind} address"))
            errors += _reachable(text, where)
    return errors


def _slice_ports(ports: list[Json]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, one in enumerate(ports):
        where, name = f"ports[{i}]", one.get("name", "")
        errors += named(name, f"{where}.name", is_dns1123_label) if name else []
        if name in seen:
            errors.append(field_duplicate(f"{where}.name", name))
        seen.add(name)
        errors += choice(one, where, "protocol", _PROTOCOLS)
        if one.get("port") is not None:
            errors += port(one["port"], f"{where}.port") if one["port"] else []
        if one.get("appProtocol") is not None:
            errors += named(one["appProtocol"], f"{where}.appProtocol", is_qualified_name)
    return errors


def endpoint_slice_update(obj: Json, old: Json) -> list[FieldError]:
    return immutable(obj.get("addressType", ""), old.get("addressType", ""), "addressType")


# ---- ingresses

_CLASS_NOTE = "kubernetes.io/ingress.class"


def ingress(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = []
    backend, rules = spec.get("defaultBackend"), spec.get("rules")
    if not rules and backend is None:
        text = "either `defaultBackend` or `rules` must be specified"
        errors.append(field_invalid("spec", rules, text))
    if backend is not None:
        errors += _backend(backend, "spec.defaultBackend")
    errors += each(rules, "spec.rules", _ingress_rule)
    errors += each(spec.get("tls"), "spec.tls", _ingress_tls)
    if spec.get("ingressClassName") is not None:
        errors += named(spec["ingressClassName"], "spec.ingressClassName", is_dns1123_subdomain)
    return errors


def ingress_create(obj: Json) -> list[FieldError]:
    """Validate a new Ingress: its ingressClassName must equal the older class annotation if both are set."""
    note = (obj["metadata"].get("annotations") or {}).get(_CLASS_NOTE)
    name = (obj.get("spec") or {}).get("ingressClassName")
    errors = []
    if note and name is not None and note != name:
        text = "must match `ingressClassName` when both are specified"
        errors.append(field_invalid(f"annotations.{_CLASS_NOTE}", note, text))
    return errors + ingress(obj)


def _ingress_tls(one: Json, field: str) -> list[FieldError]:
    errors = []
    for i, host in enumerate(one.get("hosts") or ()):
        check = is_wildcard_dns1123_subdomain if "*" in host else is_dns1123_subdomain
        errors += named(host, f"{field}.hosts[{i}]", check)
    if one.get("secretName"):
        errors += named(one["secretName"], f"{field}.secretName", is_dns1123_subdomain)
    return errors


def _ingress_rule(rule: Json, field: str) -> list[FieldError]:
    host = rule.get("host", "")
    errors = []
    if host:
        if address_of(host) is not None:
            errors.append(field_invalid(f"{field}.host", host, "must be a DNS name, not an IP address"))
        check = is_wildcard_dns1123_subdomain if "*" in host else is_dns1123_subdomain
        errors += named(host, f"{field}.host", check)
    http = rule.get("http")
    if http is None:
        return errors
    if not http.get("paths"):
        return [*errors, field_required(f"{field}.http.paths")]
    return errors + each(http["paths"], f"{field}.http.paths", _ingress_path)


_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDINGS = ("/..", "/.")


def _ingress_path(path: Json, field: str) -> list[FieldError]:
    kind, text = path.get("pathType"), path.get("path", "")
    if kind is None:
        return [field_required(f"{field}.pathType", "pathType must be specified")]
    errors = []
    if kind in ("Exact", "Prefix"):
        if not text.startswith("/"):
            errors.append(field_invalid(f"{field}.path", text, "must be an absolute path"))
        if text:
            errors += [
                field_invalid(f"{field}.path", text, f"must not contain '{bad}'")
                for bad in _BAD_SEQUENCES
                if bad in text
            ]
            errors += [
                field_invalid(f"{field}.path", text, f"cannot end with '{bad}'")
                for bad in _BAD_ENDINGS
                if text.endswith(bad)
            ]
    elif kind == "ImplementationSpecific":
        if text and not text.startswith("/"):
            errors.append(field_invalid(f"{field}.path", text, "must be an absolute path"))
    else:
        choices = ["Exact", "ImplementationSpecific", "Prefix"]
        errors.append(field_not_supported(f"{field}.pathType", kind, choices))
    return errors + _backend(path.get("backend") or {}, f"{field}.backend")


def _backend(backend: Json, field: str) -> list[FieldError]:
    resource, target = backend.get("resource"), backend.get("service")
    if resource is not None and target is not None:
        return [field_invalid(field, "", "cannot set both resource and service backends")]
    if resource is not None:
        return required(resource, f"{field}.resource", "kind", "name")
    if target is None:
        return [field_invalid(field, "", "resource or service backend is required")]
    name = target.get("name", "")
    where = f"{field}.service"
    errors = named(name, f"{where}.name", is_dns1123_label) if name else [field_required(f"{where}.name")]
    given = target.get("port") or {}
    if given.get("name") and given.get("number"):
        errors.append(field_invalid(field, "", "cannot set both port name & port number"))
    elif given.get("name"):
        errors += named(given["name"], f"{where}.port.name", is_valid_port_name)
    elif given.get("number"):
        errors += port(given["number"], f"{where}.port.number")
    else:
        errors.append(field_required(field, "port name or number is required"))
    return errors


_MAX_CONTROLLER = 250


def ingress_class(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    controller = spec.get("controller", "")
    errors = []
    if len(controller) > _MAX_CONTROLLER:
        errors.append(field_too_long("spec.controller", _MAX_CONTROLLER))
    errors += _domain_path(controller, "spec.controller")
    parameters = spec.get("parameters")
    return errors + (_class_parameters(parameters, "spec.parameters") if parameters is not None else [])


def _domain_path(text: str, field: str) -> list[FieldError]:
    if not text:
        return [field_required(field)]
    domain, slash, path = text.partition("/")
    if not slash or not domain or not path:
        return [field_invalid(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    return named(domain, field, is_dns1123_subdomain)


def _class_parameters(parameters: Json, field: str) -> list[FieldError]:
    errors = required(parameters, field, "kind", "name")
    scope = parameters.get("scope")
    if scope is None:
        return [*errors, field_required(f"{field}.scope")]
    errors += choice(parameters, field, "scope", ["Cluster", "Namespace"])
    if scope == "Namespace" and not parameters.get("namespace"):
        errors.append(field_required(f"{field}.namespace", "`parameters.scope` is set to 'Namespace'"))
    elif scope == "Cluster" and parameters.get("namespace"):
        errors.append(field_forbidden(f"{field}.namespace", "`parameters.scope` is set to 'Cluster'"))
    return errors


def ingress_class_update(obj: Json, old: Json) -> list[FieldError]:
    new, before = ((doc.get("spec") or {}).get("controller", "") for doc in (obj, old))
    return [field_invalid("spec.controller", new, IMMUTABLE)] if new != before else []


# ---- network policies


def network_policy(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = label_selector(spec.get("podSelector"), "spec.podSelector")
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for i, rule in enumerate(spec.get(direction) or ()):
            where = f"spec.{direction}[{i}]"
            errors += each(rule.get("ports"), f"{where}.ports", _policy_port)
            errors += each(rule.get(peers), f"{where}.{peers}", _peer)
    types = spec.get("policyTypes") or []
    if len(types) > 2:
        return [*errors, field_invalid("spec.policyTypes", types, "may not specify more than two policyTypes")]
    for i, kind in enumerate(types):
        if kind not in ("Ingress", "Egress"):
            errors.append(field_not_supported(f"spec.policyTypes[{i}]", kind, ["Ingress", "Egress"]))
    return errors


def _policy_port(one: Json, field: str) -> list[FieldError]:
    errors = choice(one, field, "protocol", ["TCP", "UDP", "SCTP"])
    number, end = one.get("port"), one.get("endPort")
    if isinstance(number, int):
        errors += port(number, f"{field}.port")
        if end is not None:
            if end < number:
                # Go shows the other one.
                errors.append(field_invalid(f"{field}.endPort", number, "must be greater than or equal to `port`"))
            errors += port(end, f"{field}.endPort")
    elif number is not None:
        if end is not None:
            text = "may not be specified when `port` is non-numeric"
            errors.append(field_invalid(f"{field}.endPort", end, text))
        errors += named(number, f"{field}.port", is_valid_port_name)
    elif end is not None:
        errors.append(field_invalid(f"{field}.endPort", end, "may not be specified when `port` is not specified"))
    return errors


def _peer(peer: Json, field: str) -> list[FieldError]:
    errors = []
    given = 0
    for name in ("podSelector", "namespaceSelector"):
        if peer.get(name) is not None:
            given += 1
            errors += label_selector(peer[name], f"{field}.{name}")
    block = peer.get("ipBlock")
    if block is not None:
        errors += _block(block, f"{field}.ipBlock")
        if given:
            errors.append(field_forbidden(field, "may not specify both ipBlock and another peer"))
    elif not given:
        errors.append(field_required(field, "must specify a peer"))
    return errors


def _block(block: Json, field: str) -> list[FieldError]:
    cidr = block.get("cidr", "")
    if not cidr:
        return [field_required(f"{field}.cidr")]
    errors = network(cidr, f"{field}.cidr")
    if errors:
        return errors
    outer = ipaddress.ip_network(cidr, strict=False)
    for i, text in enumerate(block.get("except") or ()):
        where = f"{field}.except[{i}]"
        wrong = network(text, where)
        if not wrong and not _is_inside(text, outer):
            wrong = [field_invalid(where, text, "must be a strict subset of `cidr`")]
        errors += wrong
    return errors


def _is_inside(text: str, outer: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    inner = ipaddress.ip_network(text, strict=False)
    if inner.version != outer.version or inner.prefixlen <= outer.prefixlen:
        return False
    return inner.network_address in outer
