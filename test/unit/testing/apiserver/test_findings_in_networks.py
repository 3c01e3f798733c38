"""The errors of Services, Endpoints, EndpointSlices, Ingresses and NetworkPolicies: each limit, choice and text."""

from __future__ import annotations

from typing import Any

import pytest
from findings import NOTHING, changed, of_new, of_update

Json = dict[str, Any]
PORT = "must be between 1 and 65535, inclusive"
ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
NETWORK = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
LOOPBACK = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
LINK_LOCAL = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
PROTOCOLS = 'supported values: "SCTP", "TCP", "UDP"'
BASES: dict[str, Json] = {
    "/services": {
        "metadata": {"name": "s"},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "10.0.0.1",
            "clusterIPs": ["10.0.0.1"],
            "ports": [{"name": "a", "port": 80, "targetPort": 80, "protocol": "TCP"}],
            "sessionAffinity": "None",
        },
    },
    "/endpoints": {
        "metadata": {"name": "e"},
        "subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80, "protocol": "TCP"}]}],
    },
    "discovery.k8s.io/endpointslices": {
        "metadata": {"name": "s"},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.1"]}],
        "ports": [{"name": "a", "port": 80, "protocol": "TCP"}],
    },
    "networking.k8s.io/ingresses": {
        "metadata": {"name": "i"},
        "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}},
    },
    "networking.k8s.io/ingressclasses": {"metadata": {"name": "c"}, "spec": {"controller": "a.b/c"}},
    "networking.k8s.io/networkpolicies": {"metadata": {"name": "p"}, "spec": {"podSelector": {}}},
}
BALANCED: Json = {"spec.type": "LoadBalancer", "spec.allocateLoadBalancerNodePorts": True,
                  "spec.externalTrafficPolicy": "Local"}  # fmt: skip
ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'"
NAMES: Json = {"spec.type": "ExternalName", "spec.externalName": "a.b", "spec.clusterIP": NOTHING,
               "spec.clusterIPs": NOTHING}  # fmt: skip


def ports(*given: Json) -> Json:
    return {"spec.ports": [{"targetPort": 80, "protocol": "TCP", **each} for each in given]}


def rule(**http: Any) -> Json:
    return {"spec.rules": [{"http": {"paths": [{"pathType": "Prefix", "path": "/", "backend": BACKEND, **http}]}}]}


BACKEND: Json = {"service": {"name": "s", "port": {"number": 1}}}
PATH = "spec.rules[0].http.paths[0]"
DEFAULT = "spec.defaultBackend"
PARAMETERS: Json = {"kind": "K", "name": "n", "scope": "Cluster"}

CASES: dict[str, list[tuple[Json, list[str]]]] = {
    "/services": [
        ({"spec.ports": []}, ["spec.ports: Required value"]),
        ({"spec.ports": [], "spec.clusterIP": "None", "spec.clusterIPs": ["None"]}, []),
        ({"spec.type": "X"},
         ['spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", "LoadBalancer", '
          '"NodePort"']),
        *(({"spec.type": kind, "spec.clusterIP": "None", "spec.clusterIPs": ["None"],
            "spec.externalTrafficPolicy": "Cluster", **more},
           [f"spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for {kind} services"])
          for kind, more in (("NodePort", {}), ("LoadBalancer", {"spec.allocateLoadBalancerNodePorts": True}))),
        (NAMES, []),
        ({**NAMES, "spec.externalName": "a.b."}, []),
        ({**NAMES, "spec.externalName": ""}, ["spec.externalName: Required value"]),
        ({**NAMES, "spec.externalName": "A"}, ['spec.externalName: Invalid value: "A": a lowercase RFC 1123']),
        ({**NAMES, "spec.clusterIPs": ["10.0.0.1"]},
         ["spec.clusterIPs: Forbidden: may not be set for ExternalName services"]),
        (ports({"port": 0, "name": "a"}), [f"spec.ports[0].port: Invalid value: 0: {PORT}"]),
        (ports({"port": 1}), []),
        (ports({"port": 65535}), []),
        (ports({"port": 65536}), [f"spec.ports[0].port: Invalid value: 65536: {PORT}"]),
        (ports({"port": 1}, {"port": 2, "name": "b"}), ["spec.ports[0].name: Required value"]),
        (ports({"port": 1, "name": "b"}, {"port": 2, "name": "b"}), ['spec.ports[1].name: Duplicate value: "b"']),
        (ports({"port": 1, "name": "b"}, {"port": 1, "name": "c"}),
         ['spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,'
          '"NodePort":0}']),
        (ports({"port": 1, "name": "b"}, {"port": 1, "name": "c", "protocol": "UDP"}), []),
        (ports({"port": 1, "protocol": "X"}), [f'spec.ports[0].protocol: Unsupported value: "X": {PROTOCOLS}']),
        (ports({"port": 1, "targetPort": 65536}), [f"spec.ports[0].targetPort: Invalid value: 65536: {PORT}"]),
        (ports({"port": 1, "targetPort": "a--b"}),
         ['spec.ports[0].targetPort: Invalid value: "a--b": must not contain consecutive hyphens']),
        (ports({"port": 1, "appProtocol": "a b"}),
         ['spec.ports[0].appProtocol: Invalid value: "a b": name part must consist of']),
        (ports({"port": 1, "nodePort": 30000}),
         ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"]),
        ({"spec.selector": {"a": "b c"}}, ['spec.selector: Invalid value: "b c": a valid label must be']),
        ({"spec.sessionAffinity": "X"},
         ['spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"']),
        ({"spec.externalIPs": ["x", "0.0.0.0", "127.0.0.1", "169.254.1.1", "::1", "fe80::1", "8.8.8.8"],
          "spec.externalTrafficPolicy": "Cluster"},
         [f'spec.externalIPs[0]: Invalid value: "x": {ADDRESS}',
          'spec.externalIPs[1]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
          f'spec.externalIPs[2]: Invalid value: "127.0.0.1": {LOOPBACK}',
          f'spec.externalIPs[3]: Invalid value: "169.254.1.1": {LINK_LOCAL}',
          f'spec.externalIPs[4]: Invalid value: "::1": {LOOPBACK}',
          f'spec.externalIPs[5]: Invalid value: "fe80::1": {LINK_LOCAL}']),
        ({"spec.ipFamilyPolicy": "X"},
         ['spec.ipFamilyPolicy: Unsupported value: "X": supported values: "PreferDualStack", "RequireDualStack", '
          '"SingleStack"']),
        ({"spec.ipFamilies": ["IPv4", "IPv4"]}, ['spec.ipFamilies[1]: Duplicate value: "IPv4"']),
        ({"spec.ipFamilies": ["X"]},
         ['spec.ipFamilies[0]: Unsupported value: "X": supported values: "IPv4", "IPv6"']),
        ({"spec.clusterIPs": ["x"]}, [f'spec.clusterIPs[0]: Invalid value: "x": {ADDRESS}']),
        (BALANCED, []),
        ({**BALANCED, "spec.loadBalancerSourceRanges": [" 10.0.0.0/8 ", "10.0.0.1"]},
         [f'spec.LoadBalancerSourceRanges[1]: Invalid value: "10.0.0.1": {NETWORK}']),
        ({**BALANCED, "spec.allocateLoadBalancerNodePorts": NOTHING},
         ["spec.allocateLoadBalancerNodePorts: Required value"]),
        ({"spec.loadBalancerSourceRanges": ["10.0.0.0/8"]},
         [f"spec.LoadBalancerSourceRanges: Forbidden: {ONLY_BALANCED}"]),
        ({"spec.allocateLoadBalancerNodePorts": False, "spec.loadBalancerClass": "a/b"},
         [f"spec.allocateLoadBalancerNodePorts: Forbidden: {ONLY_BALANCED}",
          f"spec.loadBalancerClass: Forbidden: {ONLY_BALANCED}"]),
        ({"spec.externalTrafficPolicy": "Local"},
         ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services']),
        ({"spec.type": "NodePort"}, ["spec.externalTrafficPolicy: Required value"]),
        ({"spec.type": "NodePort", "spec.externalTrafficPolicy": "X"},
         ['spec.externalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"']),
        ({**BALANCED, "spec.healthCheckNodePort": 30000}, []),
        ({**BALANCED, "spec.externalTrafficPolicy": "Cluster", "spec.healthCheckNodePort": 30000},
         ["spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and "
          "`externalTrafficPolicy` is 'Local'"]),
        ({"spec.internalTrafficPolicy": "X"},
         ['spec.internalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"']),
        ({"spec.trafficDistribution": "X"},
         ['spec.trafficDistribution: Unsupported value: "X": supported values: "PreferClose", "PreferSameZone", '
          '"PreferSameNode"']),
    ],
    "/endpoints": [
        ({"subsets": [{"ports": [{"port": 1}]}]},
         ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]),
        ({"subsets.0.addresses": NOTHING, "subsets.0.notReadyAddresses": [{"ip": "10.0.0.1"}]}, []),
        ({"subsets.0.addresses.0.ip": "x"},
         [f'subsets[0].addresses[0].ip: Invalid value: "x": {ADDRESS}',
          'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address']),
        ({"subsets.0.notReadyAddresses": [{"ip": "127.0.0.1"}]},
         [f'subsets[0].notReadyAddresses[0].ip: Invalid value: "127.0.0.1": {LOOPBACK}']),
        ({"subsets.0.ports.0.port": 0}, [f"subsets[0].ports[0].port: Invalid value: 0: {PORT}"]),
        ({"subsets.0.ports.0.name": "A"}, ['subsets[0].ports[0].name: Invalid value: "A": a lowercase RFC 1123']),
        ({"subsets.0.ports.1": {"port": 2, "name": "b"}}, ["subsets[0].ports[0].name: Required value"]),
        ({"subsets.0.ports.0.protocol": "X"},
         [f'subsets[0].ports[0].protocol: Unsupported value: "X": {PROTOCOLS}']),
    ],
    "discovery.k8s.io/endpointslices": [
        ({"addressType": ""}, ["addressType: Required value"]),
        ({"addressType": "X"}, ['addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6"']),
        ({"endpoints.0.addresses": []}, ["endpoints[0].addresses: Required value: must contain at least 1 address"]),
        ({"endpoints.0.addresses": ["x"]}, [f'endpoints[0].addresses[0]: Invalid value: "x": {ADDRESS}']),
        ({"endpoints.0.addresses": ["::2"]},
         ['endpoints[0].addresses: Invalid value: "::2": must be an IPv4 address']),
        ({"addressType": "IPv6", "endpoints.0.addresses": ["::2"]}, []),
        ({"endpoints.0.addresses": ["127.0.0.1"]},
         [f'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": {LOOPBACK}']),
        ({"addressType": "FQDN", "endpoints.0.addresses": ["a.b"]}, []),
        ({"addressType": "FQDN", "endpoints.0.addresses": ["A"]},
         ['endpoints[0].addresses[0]: Invalid value: "A": a lowercase RFC 1123']),
        ({"ports.1": {"name": "a", "port": 1}}, ['ports[1].name: Duplicate value: "a"']),
        ({"ports.0.name": "A"}, ['ports[0].name: Invalid value: "A": a lowercase RFC 1123']),
        ({"ports.0.port": 65536}, [f"ports[0].port: Invalid value: 65536: {PORT}"]),
        ({"ports.0.port": NOTHING}, []),
        ({"ports.0.protocol": "X"}, [f'ports[0].protocol: Unsupported value: "X": {PROTOCOLS}']),
        ({"ports.0.appProtocol": "a b"}, ['ports[0].appProtocol: Invalid value: "a b": name part must consist of']),
    ],
    "networking.k8s.io/ingresses": [
        ({"spec": {}}, ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]),
        ({f"{DEFAULT}.service.name": ""}, [f"{DEFAULT}.service.name: Required value"]),
        ({f"{DEFAULT}.service.name": "A"}, [f'{DEFAULT}.service.name: Invalid value: "A": a lowercase RFC 1123']),
        ({f"{DEFAULT}.service.port": {"name": "a", "number": 1}},
         [f'{DEFAULT}: Invalid value: "": cannot set both port name & port number']),
        ({f"{DEFAULT}.service.port": {}}, [f"{DEFAULT}: Required value: port name or number is required"]),
        ({f"{DEFAULT}.service.port": {"name": "a"}}, []),
        ({f"{DEFAULT}.service.port": {"name": "-a"}},
         [f'{DEFAULT}.service.port.name: Invalid value: "-a": must not begin or end with a hyphen']),
        ({f"{DEFAULT}.service.port": {"number": 65536}},
         [f"{DEFAULT}.service.port.number: Invalid value: 65536: {PORT}"]),
        ({DEFAULT: {}}, [f'{DEFAULT}: Invalid value: "": resource or service backend is required']),
        ({f"{DEFAULT}.resource": {"kind": "K", "name": "n"}},
         [f'{DEFAULT}: Invalid value: "": cannot set both resource and service backends']),
        ({DEFAULT: {"resource": {}}},
         [f"{DEFAULT}.resource.kind: Required value", f"{DEFAULT}.resource.name: Required value"]),
        (rule(), []),
        (rule(pathType=None), [f"{PATH}.pathType: Required value: pathType must be specified"]),
        (rule(pathType="X"),
         [f'{PATH}.pathType: Unsupported value: "X": supported values: "Exact", "ImplementationSpecific", "Prefix"']),
        (rule(path=""), [f'{PATH}.path: Invalid value: "": must be an absolute path']),
        (rule(pathType="Exact", path="a"), [f'{PATH}.path: Invalid value: "a": must be an absolute path']),
        *((rule(path=f"/a{bad}b"), [f"{PATH}.path: Invalid value: \"/a{bad}b\": must not contain '{bad}'"])
          for bad in ("//", "/./", "/../", "%2f", "%2F")),
        *((rule(path=f"/a{bad}"), [f"{PATH}.path: Invalid value: \"/a{bad}\": cannot end with '{bad}'"])
          for bad in ("/..", "/.")),
        (rule(pathType="ImplementationSpecific", path=""), []),
        (rule(pathType="ImplementationSpecific", path="a"),
         [f'{PATH}.path: Invalid value: "a": must be an absolute path']),
        (rule(backend={}), [f'{PATH}.backend: Invalid value: "": resource or service backend is required']),
        ({"spec.rules": [{"host": "a.b"}]}, []),
        ({"spec.rules": [{"host": "*.b"}]}, []),
        ({"spec.rules": [{"host": "a.*"}]}, ['spec.rules[0].host: Invalid value: "a.*": a wildcard DNS-1123']),
        ({"spec.rules": [{"host": "A"}]}, ['spec.rules[0].host: Invalid value: "A": a lowercase RFC 1123']),
        ({"spec.rules": [{"host": "10.0.0.1"}]},
         ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address']),
        ({"spec.rules": [{"http": {"paths": []}}]}, ["spec.rules[0].http.paths: Required value"]),
        ({"spec.tls": [{"hosts": ["a.b", "*.c", "D"], "secretName": "s"}]},
         ['spec.tls[0].hosts[2]: Invalid value: "D": a lowercase RFC 1123']),
        ({"spec.tls": [{"secretName": "S"}]}, ['spec.tls[0].secretName: Invalid value: "S": a lowercase RFC 1123']),
        ({"spec.ingressClassName": "A"}, ['spec.ingressClassName: Invalid value: "A": a lowercase RFC 1123']),
        ({"spec.ingressClassName": "a", "metadata.annotations": {"kubernetes.io/ingress.class": "a"}}, []),
        ({"spec.ingressClassName": "a", "metadata.annotations": {"kubernetes.io/ingress.class": "b"}},
         ['annotations.kubernetes.io/ingress.class: Invalid value: "b": must match `ingressClassName` when both are '
          "specified"]),
    ],
    "networking.k8s.io/ingressclasses": [
        ({"spec.controller": ""}, ["spec.controller: Required value"]),
        *(({"spec.controller": text},
           [f'spec.controller: Invalid value: "{text}": must be a domain-prefixed path (such as "acme.io/foo")'])
          for text in ("a", "/b", "a/")),
        ({"spec.controller": "A/b"}, ['spec.controller: Invalid value: "A": a lowercase RFC 1123']),
        ({"spec.controller": "a/" + "b" * 248}, []),
        ({"spec.controller": "a/" + "b" * 249}, ["spec.controller: Too long: may not be more than 250 bytes"]),
        ({"spec.parameters": PARAMETERS}, []),
        ({"spec.parameters": {}},
         [f"spec.parameters.{name}: Required value" for name in ("kind", "name", "scope")]),
        ({"spec.parameters": {**PARAMETERS, "scope": "X"}},
         ['spec.parameters.scope: Unsupported value: "X": supported values: "Cluster", "Namespace"']),
        ({"spec.parameters": {**PARAMETERS, "scope": "Namespace"}},
         ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"]),
        ({"spec.parameters": {**PARAMETERS, "scope": "Namespace", "namespace": "n"}}, []),
        ({"spec.parameters": {**PARAMETERS, "namespace": "n"}},
         ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"]),
    ],
    "networking.k8s.io/networkpolicies": [
        ({"spec.podSelector": {"matchLabels": {"a": "b c"}}},
         ['spec.podSelector.matchLabels: Invalid value: "b c": a valid label must be']),
        ({"spec.policyTypes": ["Ingress", "Egress"]}, []),
        ({"spec.policyTypes": ["Ingress", "Egress", "Ingress"]},
         ['spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two '
          "policyTypes"]),
        ({"spec.policyTypes": ["X"]},
         ['spec.policyTypes[0]: Unsupported value: "X": supported values: "Ingress", "Egress"']),
        *(({f"spec.{direction}": [{peers: [{}]}]},
           [f"spec.{direction}[0].{peers}[0]: Required value: must specify a peer"])
          for direction, peers in (("ingress", "from"), ("egress", "to"))),
        ({"spec.ingress": [{"from": [{"podSelector": {}}, {"namespaceSelector": {}}]}]}, []),
        ({"spec.ingress": [{"from": [{"podSelector": {}, "ipBlock": {"cidr": "10.0.0.0/8"}}]}]},
         ["spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer"]),
        ({"spec.egress": [{"to": [{"ipBlock": {}}]}]}, ["spec.egress[0].to[0].ipBlock.cidr: Required value"]),
        ({"spec.egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0"}}]}]},
         [f'spec.egress[0].to[0].ipBlock.cidr: Invalid value: "10.0.0.0": {NETWORK}']),
        ({"spec.egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]}]}, []),
        *(({"spec.egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": [text]}}]}]},
           [f'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "{text}": must be a strict subset of `cidr`'])
          for text in ("10.0.0.0/8", "10.0.0.0/7", "11.0.0.0/16", "::/64")),
        ({"spec.egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["x"]}}]}]},
         [f'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "x": {NETWORK}']),
        ({"spec.ingress": [{"ports": [{"protocol": "X"}]}]},
         ['spec.ingress[0].ports[0].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"']),
        ({"spec.ingress": [{"ports": [{"port": 1, "endPort": 1}, {"port": "a"}, {}]}]}, []),
        ({"spec.ingress": [{"ports": [{"port": 2, "endPort": 1}]}]},
         ["spec.ingress[0].ports[0].endPort: Invalid value: 2: must be greater than or equal to `port`"]),
        ({"spec.ingress": [{"ports": [{"port": 65536, "endPort": 65536}]}]},
         [f"spec.ingress[0].ports[0].port: Invalid value: 65536: {PORT}",
          f"spec.ingress[0].ports[0].endPort: Invalid value: 65536: {PORT}"]),
        ({"spec.ingress": [{"ports": [{"port": "a", "endPort": 1}]}]},
         ["spec.ingress[0].ports[0].endPort: Invalid value: 1: may not be specified when `port` is non-numeric"]),
        ({"spec.ingress": [{"ports": [{"port": "-a"}]}]},
         ['spec.ingress[0].ports[0].port: Invalid value: "-a": must not begin or end with a hyphen']),
        ({"spec.ingress": [{"ports": [{"endPort": 1}]}]},
         ["spec.ingress[0].ports[0].endPort: Invalid value: 1: may not be specified when `port` is not specified"]),
    ],
}  # fmt: skip


def check(found: list[str], wanted: list[str]) -> None:
    assert [text[: len(want)] for text, want in zip(found, wanted, strict=True)] == wanted


@pytest.mark.parametrize("storage", BASES)
def test_the_objects_are_valid(storage: str) -> None:
    assert of_new(storage, BASES[storage]) == []


@pytest.mark.parametrize(
    ("storage", "changes", "wanted"), [(storage, *row) for storage, rows in CASES.items() for row in rows]
)
def test_new_objects(storage: str, changes: Json, wanted: list[str]) -> None:
    check(of_new(storage, changed(BASES[storage], changes)), wanted)


@pytest.mark.parametrize(
    ("storage", "before", "changes", "wanted"),
    [
        ("/services", {}, {"spec.clusterIP": "10.0.0.2", "spec.clusterIPs": ["10.0.0.2"]},
         ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set']),
        ("/services", {}, {"spec.clusterIP": NOTHING, "spec.clusterIPs": NOTHING},
         ["spec.clusterIPs[0]: Invalid value: null: may not change once set"]),
        ("/services", {}, NAMES, []),
        ("/services", NAMES, {"spec.type": "ClusterIP", "spec.clusterIP": "10.0.0.9", "spec.clusterIPs": ["10.0.0.9"]},
         []),
        ("discovery.k8s.io/endpointslices", {}, {"addressType": "IPv6", "endpoints": []},
         ['addressType: Invalid value: "IPv6": field is immutable']),
        ("networking.k8s.io/ingressclasses", {}, {"spec.controller": "a.b/d"},
         ['spec.controller: Invalid value: "a.b/d": field is immutable']),
        # Ingresses whose class names differ are old ones.
        ("networking.k8s.io/ingresses", {},
         {"spec.ingressClassName": "a", "metadata.annotations": {"kubernetes.io/ingress.class": "b"}}, []),
    ],
)  # fmt: skip
def test_updates(storage: str, before: Json, changes: Json, wanted: list[str]) -> None:
    old = changed(BASES[storage], before)
    assert of_update(storage, changed(old, changes), old) == wanted


@pytest.mark.parametrize(("kind", "allowed"), [("LoadBalancer", True), ("ClusterIP", False)])
def test_only_a_load_balancer_has_addresses_in_its_status(kind: str, allowed: bool) -> None:
    service = changed(BASES["/services"], {"spec.type": kind, "status.loadBalancer.ingress": [{"ip": "1.2.3.4"}]})
    forbidden = "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"
    assert of_update("/services", service, service, "status") == ([] if allowed else [forbidden])
