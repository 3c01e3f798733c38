"""The errors of storage, quotas, configuration, nodes, roles and webhooks: each limit, choice and text."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from findings import NOTHING, changed, of_new, of_update

Json = dict[str, Any]
HOOKS = "admissionregistration.k8s.io/validatingwebhookconfigurations"
RBAC = "rbac.authorization.k8s.io"
BASES: dict[str, Json] = {
    "/persistentvolumes": {
        "metadata": {"name": "v"},
        "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"}},
    },
    "/persistentvolumeclaims": {
        "metadata": {"name": "c"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    },
    "storage.k8s.io/storageclasses": {"metadata": {"name": "s"}, "provisioner": "a.b/c"},
    "/limitranges": {"metadata": {"name": "l"}, "spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]}},
    "/resourcequotas": {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}},
    "/configmaps": {"metadata": {"name": "c"}, "data": {"a": "b"}},
    "/secrets": {"metadata": {"name": "s"}, "type": "Opaque", "data": {"a": "Yg=="}},
    "/nodes": {"metadata": {"name": "n"}, "spec": {"podCIDRs": ["10.0.0.0/24", "fd00::/64"]}},
    "scheduling.k8s.io/priorityclasses": {"metadata": {"name": "p"}, "value": 10},
    "node.k8s.io/runtimeclasses": {"metadata": {"name": "r"}, "handler": "h"},
    "coordination.k8s.io/leases": {"metadata": {"name": "l"}, "spec": {}},
    HOOKS: {
        "metadata": {"name": "w"},
        "webhooks": [
            {
                "name": "a.b.c",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://h/p"},
                "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
            }
        ],
    },
    f"{RBAC}/roles": {
        "metadata": {"name": "r"},
        "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}],
    },
    f"{RBAC}/clusterroles": {"metadata": {"name": "r"}, "rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]},
    f"{RBAC}/rolebindings": {
        "metadata": {"name": "b"},
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "r"},
        "subjects": [{"kind": "User", "name": "u", "apiGroup": RBAC}, {"kind": "ServiceAccount", "name": "s"}],
    },
    f"{RBAC}/clusterrolebindings": {
        "metadata": {"name": "b"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": "n"}],
    },
}
ACCESS = 'supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"'
MODES = 'supported values: "Block", "Filesystem"'
RESERVED = (
    "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "
)
W, L, URL, SERVICE = "webhooks[0]", "spec.limits[0]", "webhooks[0].clientConfig.url", "webhooks[0].clientConfig.service"
DESIRED = "desired format: https://host[/path]"
RULE = f"{W}.rules[0]"
HIGHEST = 1024 * 1024
BACKEND: Json = {"name": "n", "namespace": "s"}


def limit(kind: str = "Container", **tables: Any) -> Json:
    return {"spec.limits": [{"type": kind, **tables}]}


def service(**more: Any) -> Json:
    return {"webhooks.0.clientConfig": {"service": {**BACKEND, **more}}}


def binary(size: int) -> str:
    return base64.b64encode(bytes(size)).decode()


CASES: dict[str, list[tuple[Json, list[str]]]] = {
    "/persistentvolumes": [
        ({"spec.accessModes": []}, ["spec.accessModes: Required value"]),
        ({"spec.accessModes": ["X"]}, [f'spec.accessModes: Unsupported value: "X": {ACCESS}']),
        ({"spec.accessModes": ["ReadWriteOncePod"]}, []),
        ({"spec.accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]},
         ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"]),
        ({"spec.capacity": {}},
         ["spec.capacity: Required value", 'spec.capacity: Unsupported value: null: supported values: "storage"']),
        ({"spec.capacity": {"cpu": "1"}},
         ['spec.capacity: Unsupported value: {"cpu":"1"}: supported values: "storage"']),
        ({"spec.capacity": {"storage": "0"}},
         ['spec.capacity[storage]: Invalid value: "0": must be greater than zero']),
        ({"spec.persistentVolumeReclaimPolicy": "X"},
         ['spec.persistentVolumeReclaimPolicy: Unsupported value: "X": supported values: "Delete", "Recycle", '
          '"Retain"']),
        ({"spec.hostPath.path": "/", "spec.persistentVolumeReclaimPolicy": "Recycle"},
         ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"]),
        ({"spec.hostPath.path": "/", "spec.persistentVolumeReclaimPolicy": "Retain"}, []),
        ({"spec.nodeAffinity": {}},
         ["spec.nodeAffinity.required: Required value: must specify required node constraints"]),
        ({"spec.nodeAffinity": {"required": {}}},
         ["spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term"]),
        ({"spec.hostPath": NOTHING}, ["spec: Required value: must specify a volume type"]),
        ({"spec.nfs": {"server": "s", "path": "/"}},
         ["spec.nfs: Forbidden: may not specify more than 1 volume type"]),
        ({"spec.storageClassName": "A"}, ['spec.storageClassName: Invalid value: "A": a lowercase RFC 1123']),
        ({"spec.volumeMode": "X"}, [f'spec.volumeMode: Unsupported value: "X": {MODES}']),
    ],
    "/persistentvolumeclaims": [
        ({"spec.accessModes": []}, ["spec.accessModes: Required value: at least 1 access mode is required"]),
        ({"spec.resources": {}}, ["spec.resources[storage]: Required value"]),
        ({"spec.resources.requests.storage": "0"},
         ['spec.resources[storage]: Invalid value: "0": must be greater than zero']),
        ({"spec.selector": {"matchLabels": {"a": "b c"}}},
         ['spec.selector.matchLabels: Invalid value: "b c": a valid label must be']),
        ({"spec.storageClassName": "A"}, ['spec.storageClassName: Invalid value: "A": a lowercase RFC 1123']),
        ({"spec.volumeMode": "X"}, [f'spec.volumeMode: Unsupported value: "X": {MODES}']),
        ({"spec.dataSource": {}},
         ["spec.dataSource.name: Required value", "spec.dataSource.kind: Required value",
          "spec.dataSource.kind: Invalid value: \"\": must be 'PersistentVolumeClaim' when referencing the default "
          "apiGroup"]),
        ({"spec.dataSourceRef": {"name": "n", "kind": "PersistentVolumeClaim"}}, []),
        ({"spec.dataSourceRef": {"name": "n", "kind": "X", "apiGroup": "a.b"}}, []),
    ],
    "storage.k8s.io/storageclasses": [
        ({"provisioner": ""}, ["provisioner: Required value"]),
        ({"provisioner": "A.B/c"}, []),
        ({"provisioner": "a b"}, ['provisioner: Invalid value: "a b": name part must consist of']),
        ({"parameters": {"": "x"}}, ['parameters: Invalid value: "": field can not be empty.']),
        ({"reclaimPolicy": "Recycle"},
         ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"']),
        ({"volumeBindingMode": "X"},
         ['volumeBindingMode: Unsupported value: "X": supported values: "Immediate", "WaitForFirstConsumer"']),
        ({"allowedTopologies": [{"matchLabelExpressions": [{"key": "a b", "values": ["x", "x"]}]}]},
         ['allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "x"',
          'allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "a b": name part must consist of']),
        ({"allowedTopologies": [{"matchLabelExpressions": [{"key": "a"}]}]},
         ["allowedTopologies[0].matchLabelExpressions[0].values: Required value"]),
    ],
    "/limitranges": [
        ({"spec.limits.1": {"type": "Container"}}, ['spec.limits[1].type: Duplicate value: "Container"']),
        (limit("X"), [f'{L}.type: Invalid value: "X": must be a standard limit type or fully qualified']),
        (limit("a.b/X"), []),
        (limit("a b"), [f'{L}.type: Invalid value: "a b": name part must consist of']),
        (limit("Pod", default={"cpu": "1"}),
         [f"{L}.default: Forbidden: may not be specified when `type` is 'Pod'"]),
        (limit("Pod", defaultRequest={"cpu": "1"}),
         [f"{L}.defaultRequest: Forbidden: may not be specified when `type` is 'Pod'"]),
        (limit("PersistentVolumeClaim"),
         [f"{L}.limits: Required value: either minimum or maximum storage value is required, but neither was "
          "provided"]),
        (limit("PersistentVolumeClaim", max={"storage": "1"}), []),
        (limit("PersistentVolumeClaim", min={"storage": "1"}), []),
        (limit(max={"nope": "1"}),
         [f'{L}.max[nope]: Invalid value: "nope": must be a standard resource type or fully qualified',
          f'{L}.max[nope]: Invalid value: "nope": must be a standard resource for containers']),
        (limit(min={"cpu": "2"}, max={"cpu": "2"}), []),
        (limit(min={"cpu": "3"}, max={"cpu": "2"}),
         [f'{L}.min[cpu]: Invalid value: "3": min value 3 is greater than max value 2']),
        (limit(min={"cpu": "3"}, defaultRequest={"cpu": "2"}),
         [f'{L}.defaultRequest[cpu]: Invalid value: "2": min value 3 is greater than default request value 2']),
        (limit(defaultRequest={"cpu": "3"}, max={"cpu": "2"}),
         [f'{L}.defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater than max value 2']),
        (limit(defaultRequest={"cpu": "3"}, default={"cpu": "2"}),
         [f'{L}.defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater than default limit value '
          "2"]),
        (limit(min={"cpu": "3"}, default={"cpu": "2"}),
         [f'{L}.default[cpu]: Invalid value: "3": min value 3 is greater than default value 2']),
        (limit(default={"cpu": "3"}, max={"cpu": "2"}),
         [f'{L}.default[cpu]: Invalid value: "2": default value 3 is greater than max value 2']),
        (limit(maxLimitRequestRatio={"cpu": "900m"}),
         [f'{L}.maxLimitRequestRatio[cpu]: Invalid value: "900m": ratio 900m is less than 1']),
        (limit(maxLimitRequestRatio={"cpu": "2"}, min={"cpu": "1"}, max={"cpu": "2"}), []),
        (limit(maxLimitRequestRatio={"cpu": "3"}, min={"cpu": "1"}, max={"cpu": "2"}),
         [f'{L}.maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000']),
        (limit(maxLimitRequestRatio={"cpu": "3"}, min={"cpu": "0"}, max={"cpu": "2"}), []),
    ],
    "/resourcequotas": [
        ({"spec.hard": {"count/jobs.batch": "1", "requests.storage": "1", "requests.hugepages-2Mi": "2Mi"}}, []),
        ({"spec.hard": {"nope": "1"}},
         ['spec.hard[nope]: Invalid value: "nope": must be a standard resource type or fully qualified',
          'spec.hard[nope]: Invalid value: "nope": must be a standard resource for quota']),
        ({"spec.hard": {"storage": "1"}},
         ['spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota']),
        ({"spec.hard": {"pods": "-1"}},
         ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0']),
        ({"spec.hard": {"pods": "500m"}}, ['spec.hard[pods]: Invalid value: "500m": must be an integer']),
        ({"spec.hard": {"count/": "1"}}, ['spec.hard[count/]: Invalid value: "count/": name part must be non-empty',
                                          'spec.hard[count/]: Invalid value: "count/": name part must consist of']),
        ({"spec.scopes": ["X"]}, ['spec.scopes: Invalid value: ["X"]: unsupported scope']),
        ({"spec.scopes": ["BestEffort"]}, []),
        ({"spec.scopes": ["BestEffort"], "spec.hard": {"cpu": "1"}},
         ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource']),
        ({"spec.scopes": ["Terminating"], "spec.hard": {"limits.cpu": "1"}}, []),
        ({"spec.scopes": ["Terminating"], "spec.hard": {"services": "1"}},
         ['spec.scopes: Invalid value: ["Terminating"]: unsupported scope applied to resource']),
        *(({"spec.scopes": pair}, ["spec.scopes: Invalid value: [" + ",".join(f'"{one}"' for one in pair)
                                   + "]: conflicting scopes"])
          for pair in (["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"])),
        ({"spec.scopeSelector": {"matchExpressions": [{"scopeName": "X", "operator": "Exists"}]}},
         ['spec.scopeSelector.matchExpressions.scopeName: Invalid value: "X": unsupported scope']),
        ({"spec.scopeSelector": {"matchExpressions": [
            {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}}, []),
        ({"spec.scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In"}]}},
         ["spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is "
          "'In' or 'NotIn' for scope selector"]),
        ({"spec.scopeSelector": {"matchExpressions": [
            {"scopeName": "PriorityClass", "operator": "Exists", "values": ["a"]}]}},
         ['spec.scopeSelector.matchExpressions.values: Invalid value: ["a"]: must be no value when `operator` is '
          "'Exist' or 'DoesNotExist' for scope selector"]),
        ({"spec.scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "X"}]}},
         ['spec.scopeSelector.matchExpressions.operator: Invalid value: "X": not a valid selector operator']),
        ({"spec.scopeSelector": {"matchExpressions": [
            {"scopeName": "Terminating", "operator": "In", "values": ["a"]}]}},
         ["spec.scopeSelector.matchExpressions.operator: Invalid value: \"In\": must be 'Exist' when scope is any of "
          "ResourceQuotaScopeTerminating"]),
    ],
    "/configmaps": [
        ({"data": {"a b": ""}}, ['data[a b]: Invalid value: "a b": a valid config key must consist of']),
        ({"binaryData": {"a b": ""}}, ['binaryData[a b]: Invalid value: "a b": a valid config key must consist of']),
        ({"binaryData": {"a": ""}}, ['data[a]: Invalid value: "a": duplicate of key present in binaryData']),
        ({"data": {"a": "x" * HIGHEST}}, []),
        ({"data": {"a": "x" * (HIGHEST + 1)}}, ["[]: Too long: may not be more than 1048576 bytes"]),
        ({"data": {"a": "x"}, "binaryData": {"b": binary(HIGHEST - 1)}}, []),
        ({"data": {"a": "x"}, "binaryData": {"b": binary(HIGHEST)}},
         ["[]: Too long: may not be more than 1048576 bytes"]),
    ],
    "/secrets": [
        ({"data": {"a": binary(HIGHEST)}}, []),
        ({"data": {"a": binary(HIGHEST + 1)}}, ["data: Too long: may not be more than 1048576 bytes"]),
        ({"type": "kubernetes.io/tls"}, ["data[tls.crt]: Required value", "data[tls.key]: Required value"]),
        ({"type": "kubernetes.io/ssh-auth"}, ["data[ssh-privatekey]: Required value"]),
        ({"type": "kubernetes.io/basic-auth"},
         ["data[username]: Required value", "data[password]: Required value"]),
        ({"type": "kubernetes.io/basic-auth", "data": {"password": ""}}, []),
        *(({"type": f"kubernetes.io/{kind}"}, [f"data[.{kind}]: Required value"])
          for kind in ("dockercfg", "dockerconfigjson")),
        *(({"type": f"kubernetes.io/{kind}", "data": {f".{kind}": base64.b64encode(b"{").decode()}},
           [f'data[.{kind}]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'])
          for kind in ("dockercfg", "dockerconfigjson")),
        ({"type": "kubernetes.io/dockercfg", "data": {".dockercfg": base64.b64encode(b"{}").decode()}}, []),
    ],
    "/nodes": [
        ({"spec.podCIDRs": ["10.0.0.0"]}, ['spec.podCIDRs[0]: Invalid value: "10.0.0.0": must be a valid CIDR value']),
        ({"spec.podCIDRs": ["10.0.0.0/24", "10.1.0.0/24"]},
         ['spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one CIDR for each IP '
          "family"]),
        ({"spec.taints": [{"key": "k"}]}, ["metadata.taints[0].effect: Required value"]),
        ({"spec.taints": [{"key": "a b", "value": "c d", "effect": "X"}]},
         ['metadata.taints[0].key: Invalid value: "a b": name part must consist of',
          'metadata.taints[0].value: Invalid value: "c d": a valid label must be',
          'metadata.taints[0].effect: Unsupported value: "X": supported values: "NoSchedule"']),
        ({"spec.taints": [{"key": "k", "effect": "NoExecute"}, {"key": "k", "effect": "NoSchedule"}]}, []),
        ({"spec.taints": [{"key": "k", "effect": "NoExecute"}, {"key": "k", "effect": "NoExecute", "value": "v"}]},
         ['metadata.taints[1]: Duplicate value: {"Key":"k","Value":"v","Effect":"NoExecute","TimeAdded":null}: taints '
          "must be unique by key and effect pair"]),
    ],
    "scheduling.k8s.io/priorityclasses": [
        ({"value": 10**9}, []),
        ({"value": 10**9 + 1},
         ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"]),
        ({"metadata.name": "system-x"}, [f"{RESERVED}system-x is not a known system priority class"]),
        ({"metadata.name": "system-node-critical", "value": 2_000_001_000}, []),
        ({"metadata.name": "system-node-critical"},
         [f"{RESERVED}value of system-node-critical PriorityClass must be 2000001000"]),
        ({"metadata.name": "system-cluster-critical", "value": 2_000_000_000, "globalDefault": True},
         [f"{RESERVED}globalDefault of system-cluster-critical PriorityClass must be false"]),
        ({"preemptionPolicy": "X"},
         ['preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"']),
    ],
    "node.k8s.io/runtimeclasses": [
        ({"handler": ""}, ["handler: Required value"]),
        ({"handler": "A"}, ['handler: Invalid value: "A": a lowercase RFC 1123 label']),
        ({"scheduling.nodeSelector": {"a": "b c"}},
         ['scheduling.nodeSelector: Invalid value: "b c": a valid label must be']),
        ({"scheduling.tolerations": [{"operator": "Equal"}]},
         ['scheduling.tolerations[0].operator: Invalid value: "Equal": operator must be Exists']),
    ],
    "coordination.k8s.io/leases": [
        ({"spec.leaseDurationSeconds": 1, "spec.leaseTransitions": 0}, []),
        ({"spec.leaseDurationSeconds": 0},
         ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"]),
        ({"spec.leaseTransitions": -1},
         ["spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"]),
    ],
    HOOKS: [
        ({"webhooks.1": {**BASES[HOOKS]["webhooks"][0]}}, ['webhooks[1].name: Duplicate value: "a.b.c"']),
        ({"webhooks.0.name": ""}, [f"{W}.name: Required value"]),
        ({"webhooks.0.name": "a.b"},
         [f'{W}.name: Invalid value: "a.b": should be a domain with at least three segments separated by dots']),
        ({"webhooks.0.admissionReviewVersions": []},
         [f"{W}.admissionReviewVersions: Required value: must specify one of v1, v1beta1"]),
        ({"webhooks.0.admissionReviewVersions": ["v2"]},
         [f'{W}.admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1']),
        ({"webhooks.0.admissionReviewVersions": ["v1", "v1"]},
         [f'{W}.admissionReviewVersions[1]: Invalid value: "v1": duplicate version']),
        ({"webhooks.0.failurePolicy": "X"},
         [f'{W}.failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"']),
        ({"webhooks.0.matchPolicy": "X"},
         [f'{W}.matchPolicy: Unsupported value: "X": supported values: "Equivalent", "Exact"']),
        ({"webhooks.0.reinvocationPolicy": "X"},
         [f'{W}.reinvocationPolicy: Unsupported value: "X": supported values: "IfNeeded", "Never"']),
        ({"webhooks.0.sideEffects": NOTHING},
         [f"{W}.sideEffects: Required value: must specify one of None, NoneOnDryRun"]),
        ({"webhooks.0.sideEffects": "Some"},
         [f'{W}.sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"']),
        *(({"webhooks.0.timeoutSeconds": seconds}, []) for seconds in (1, 30)),
        *(({"webhooks.0.timeoutSeconds": seconds},
           [f"{W}.timeoutSeconds: Invalid value: {seconds}: the timeout value must be between 1 and 30 seconds"])
          for seconds in (0, 31)),
        *(({f"webhooks.0.{name}": {"matchLabels": {"a": "b c"}}},
           [f'{W}.{name}.matchLabels: Invalid value: "b c": a valid label must be'])
          for name in ("namespaceSelector", "objectSelector")),
        ({"webhooks.0.rules": [{}]},
         [f"{RULE}.{name}: Required value" for name in ("operations", "apiGroups", "apiVersions", "resources")]),
        ({"webhooks.0.rules.0.operations": ["*", "CREATE"]},
         [f'{RULE}.operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other '
          "operations"]),
        ({"webhooks.0.rules.0.operations": ["X"]},
         [f'{RULE}.operations[0]: Unsupported value: "X": supported values: ']),
        ({"webhooks.0.rules.0.apiGroups": ["*", "a"]},
         [f'{RULE}.apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other API groups']),
        ({"webhooks.0.rules.0.apiVersions": ["*", "a"]},
         [f'{RULE}.apiVersions: Invalid value: ["*","a"]: if \'*\' is present, must not specify other API versions']),
        ({"webhooks.0.rules.0.resources": [""]}, [f"{RULE}.resources[0]: Required value"]),
        ({"webhooks.0.rules.0.resources": ["*", "*/status"]}, []),
        ({"webhooks.0.rules.0.resources": ["*", "pods"]},
         [f'{RULE}.resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources '
          "without subresources"]),
        ({"webhooks.0.rules.0.resources": ["*/*", "pods"]},
         [f'{RULE}.resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify other '
          "resources"]),
        ({"webhooks.0.rules.0.scope": "X"},
         [f'{RULE}.scope: Unsupported value: "X": supported values: "*", "Cluster", "Namespaced"']),
        ({"webhooks.0.clientConfig": {}},
         [f"{W}.clientConfig: Required value: exactly one of url or service is required"]),
        ({"webhooks.0.clientConfig": {"url": "https://h", "service": BACKEND}},
         [f"{W}.clientConfig: Required value: exactly one of url or service is required"]),
        ({"webhooks.0.clientConfig": {"url": ""}}, [f"{URL}: Required value: url must be specified; {DESIRED}"]),
        ({"webhooks.0.clientConfig": {"url": "http://h"}},
         [f"{URL}: Invalid value: \"http\": 'https' is the only allowed URL scheme; {DESIRED}"]),
        ({"webhooks.0.clientConfig": {"url": "https:///p"}},
         [f'{URL}: Invalid value: "": host must be specified; {DESIRED}']),
        ({"webhooks.0.clientConfig": {"url": "https://u:p@h/#f"}},
         [f'{URL}: Invalid value: "u:p": user information is not permitted in the URL',
          f'{URL}: Invalid value: "f": fragments are not permitted in the URL']),
        ({"webhooks.0.clientConfig": {"url": "https://h/?a=b"}},
         [f'{URL}: Invalid value: "a=b": query parameters are not permitted in the URL']),
        (service(), []),
        (service(port=65535, path="/a/b/"), []),
        (service(path="/"), []),
        (service(port=0), [f"{SERVICE}.port: Invalid value: 0: port is not valid: must be between 1 and 65535, "
                           "inclusive"]),
        (service(port=65536), [f"{SERVICE}.port: Invalid value: 65536: port is not valid: "]),
        (service(path="a"), [f"{SERVICE}.path: Invalid value: \"a\": must start with a '/'"]),
        (service(path="/a//b"), [f'{SERVICE}.path: Invalid value: "/a//b": segment[1] may not be empty']),
        (service(path="/A"), [f'{SERVICE}.path: Invalid value: "/A": segment[0]: a lowercase RFC 1123']),
        ({"webhooks.0.clientConfig": {"service": {}}},
         [f"{SERVICE}.name: Required value", f"{SERVICE}.namespace: Required value"]),
    ],
    f"{RBAC}/roles": [
        ({"rules": [{}]},
         ["rules[0].verbs: Required value: verbs must contain at least one value",
          "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
          "rules[0].resources: Required value: resource rules must supply at least one resource"]),
        ({"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]},
         ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs']),
    ],
    f"{RBAC}/clusterroles": [
        *(({"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"], name: ["y"]}]},
           ['rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and '
            "non-resource URLs"]) for name in ("apiGroups", "resources", "resourceNames")),
        ({"aggregationRule": {}},
         ["aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if "
          "aggregationRule is non-nil"]),
        ({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}, []),
        ({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b c"}}]}},
         ['aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: "b c": a valid label must be',
          "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector."]),
    ],
    f"{RBAC}/rolebindings": [
        ({"roleRef.kind": "ClusterRole"}, []),
        ({"roleRef": {}},
         [f'roleRef.apiGroup: Unsupported value: "": supported values: "{RBAC}"',
          'roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"',
          "roleRef.name: Required value"]),
        ({"roleRef.name": "a/b"}, ["roleRef.name: Invalid value: \"a/b\": may not contain '/'"]),
        ({"subjects": [{"kind": "ServiceAccount", "name": "A", "apiGroup": RBAC}]},
         ['subjects[0].name: Invalid value: "A": a lowercase RFC 1123',
          f'subjects[0].apiGroup: Unsupported value: "{RBAC}": supported values: ""']),
        ({"subjects": [{"kind": "Group", "name": ""}]},
         ["subjects[0].name: Required value",
          f'subjects[0].apiGroup: Unsupported value: "": supported values: "{RBAC}"']),
        ({"subjects": [{"kind": "X", "name": "n"}]},
         ['subjects[0].kind: Unsupported value: "X": supported values: "ServiceAccount", "User", "Group"']),
    ],
    f"{RBAC}/clusterrolebindings": [
        ({"roleRef.kind": "Role"}, ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"']),
        ({"subjects.0.namespace": ""}, ["subjects[0].namespace: Required value"]),
    ],
}  # fmt: skip


def check(found: list[str], wanted: list[str]) -> None:
    assert [text[: len(want)] for text, want in zip(found, wanted, strict=True)] == wanted


@pytest.mark.parametrize("storage", BASES)
def test_the_objects_are_valid(storage: str) -> None:
    assert of_new(storage, BASES[storage]) == []


@pytest.mark.parametrize(
    ("storage", "changes", "wanted"),
    [pytest.param(storage, *row, id=f"{storage}-{i}") for storage, rows in CASES.items() for i, row in enumerate(rows)],
)
def test_new_objects(storage: str, changes: Json, wanted: list[str]) -> None:
    check(of_new(storage, changed(BASES[storage], changes)), wanted)


IMMUTABLE = "Forbidden: field is immutable when `immutable` is set"
SOURCE = "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation"
CLAIM = "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName"
STORAGE = "spec.resources.requests.storage"
BOUND: Json = {"status.phase": "Bound", "spec.volumeName": "v", "spec.storageClassName": "s"}
REFERENCE = f'{{"APIGroup":"{RBAC}","Kind":"Role","Name":"other"}}'


@pytest.mark.parametrize(
    ("storage", "before", "changes", "wanted"),
    [
        ("/persistentvolumes", {}, {"spec.hostPath.path": "/b"}, [SOURCE]),
        ("/persistentvolumes", {}, {"spec.capacity.storage": "2Gi", "spec.storageClassName": "s"}, []),
        ("/persistentvolumes", {}, {"spec.volumeMode": "Block"}, ['volumeMode: Invalid value: "Block": field is']),
        ("/persistentvolumes", {"spec.nodeAffinity": {"required": {"nodeSelectorTerms": [{}]}}},
         {"spec.nodeAffinity": NOTHING}, ["nodeAffinity: Invalid value: null: field is immutable"]),
        ("/persistentvolumes", {}, {"spec.nodeAffinity": {"required": {"nodeSelectorTerms": [{}]}}}, []),
        ("/persistentvolumeclaims", BOUND, {STORAGE: "2Gi", "spec.volumeAttributesClassName": "a"}, []),
        ("/persistentvolumeclaims", {}, {STORAGE: "2Gi"}, [CLAIM]),
        ("/persistentvolumeclaims", {}, {"spec.volumeName": "v", "spec.storageClassName": "s"}, []),
        ("/persistentvolumeclaims", BOUND, {"spec.volumeName": "w"}, [CLAIM]),
        ("/persistentvolumeclaims", BOUND, {"spec.storageClassName": "w"}, [CLAIM]),
        ("/persistentvolumeclaims", {**BOUND, "status.capacity": {"storage": "512Mi"}}, {STORAGE: "600Mi"}, []),
        ("/persistentvolumeclaims", {**BOUND, "status.capacity": {"storage": "512Mi"}}, {STORAGE: "512Mi"},
         [f"{STORAGE}: Forbidden: field can not be less than status.capacity"]),
        *(("storage.k8s.io/storageclasses", {}, {name: value}, [f"{name}: Invalid value: "]) for name, value in (
            ("parameters", {"a": "b"}), ("provisioner", "a.b/d"), ("reclaimPolicy", "Delete"),
            ("volumeBindingMode", "Immediate"))),
        ("storage.k8s.io/storageclasses", {}, {"allowVolumeExpansion": True}, []),
        ("/resourcequotas", {"spec.scopes": ["Terminating", "PriorityClass"]},
         {"spec.scopes": ["PriorityClass", "Terminating"]}, []),
        ("/resourcequotas", {}, {"spec.scopes": ["BestEffort"]},
         ['spec.scopes: Invalid value: ["BestEffort"]: field is immutable']),
        ("/configmaps", {}, {"data.a": "c", "immutable": True}, []),
        ("/configmaps", {"immutable": True}, {"data.a": "c"}, [f"data: {IMMUTABLE}"]),
        ("/configmaps", {"immutable": True}, {"binaryData": {"x": "YQ=="}}, [f"binaryData: {IMMUTABLE}"]),
        ("/configmaps", {"immutable": True}, {"immutable": False}, [f"immutable: {IMMUTABLE}"]),
        ("/secrets", {"immutable": True}, {"data.a": "YQ=="}, [f"data: {IMMUTABLE}"]),
        ("/secrets", {}, {"type": "other"}, ['type: Invalid value: "other": field is immutable']),
        ("/nodes", {}, {"spec.podCIDRs": ["10.9.0.0/24"]},
         ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid']),
        ("/nodes", {"spec.podCIDRs": []}, {"spec.podCIDRs": ["10.9.0.0/24"]}, []),
        ("scheduling.k8s.io/priorityclasses", {}, {"value": 11},
         ["value: Forbidden: may not be changed in an update."]),
        ("scheduling.k8s.io/priorityclasses", {}, {"preemptionPolicy": "Never"},
         ['preemptionPolicy: Invalid value: "Never": field is immutable']),
        ("scheduling.k8s.io/priorityclasses", {"metadata.name": "system-x"}, {"globalDefault": True}, []),
        ("node.k8s.io/runtimeclasses", {}, {"handler": "g"}, ['handler: Invalid value: "g": field is immutable']),
        *((f"{RBAC}/{kind}", {"roleRef.kind": "Role"} if kind == "rolebindings" else {},
           {"roleRef.name": "other"}, [f"roleRef: Invalid value: {REFERENCE}: cannot change roleRef"
                                       if kind == "rolebindings" else "roleRef: Invalid value: "])
          for kind in ("rolebindings", "clusterrolebindings")),
        (f"{RBAC}/rolebindings", {}, {"subjects": []}, []),
    ],
)  # fmt: skip
def test_updates(storage: str, before: Json, changes: Json, wanted: list[str]) -> None:
    old = changed(BASES[storage], before)
    check(of_update(storage, changed(old, changes), old), wanted)
