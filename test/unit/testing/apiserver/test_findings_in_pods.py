"""The errors of pods and their containers, volumes and scheduling: each limit, each choice and each text."""

from __future__ import annotations

from typing import Any

import pytest
from findings import NOTHING, changed, of_new, of_update

Json = dict[str, Any]
CONTAINER: Json = {"name": "c", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}
POD: Json = {
    "metadata": {"name": "p"},
    "spec": {
        "containers": [CONTAINER],
        "initContainers": [{**CONTAINER, "name": "init"}],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
    },
}
C, V = "spec.containers[0]", "spec.volumes[0]"
PORT = "must be between 1 and 65535, inclusive"
NOT_NEGATIVE = "must be greater than or equal to 0"
BACKSTEPS = "must not contain '..'"
MODE = "must be a number between 0 and 0777 (octal), both inclusive"
ID = "must be between 0 and 2147483647, inclusive"
MAX = 2**31 - 1
HANDLER: Json = {"tcpSocket": {"port": 1}}


def findings(changes: Json) -> list[str]:
    return of_new("/pods", changed(POD, changes))


def test_the_pod_is_valid() -> None:
    assert findings({}) == []


CONTAINERS: list[tuple[Json, list[str]]] = [
    ({"spec.containers": []}, ["spec.containers: Required value"]),
    ({"spec.containers.0.name": ""}, [f"{C}.name: Required value"]),
    ({"spec.containers.0.image": ""}, [f"{C}.image: Required value"]),
    ({"spec.initContainers.0.image": "i "},
     ['spec.initContainers[0].image: Invalid value: "i ": must not have leading or trailing whitespace']),
    ({"spec.initContainers.0.name": "c"}, ['spec.initContainers[0].name: Duplicate value: "c"']),
    ({"spec.containers.0.terminationMessagePolicy": "X"},
     [f'{C}.terminationMessagePolicy: Unsupported value: "X": supported values: "File", "FallbackToLogsOnError"']),
    ({"spec.containers.0.imagePullPolicy": "X"},
     [f'{C}.imagePullPolicy: Unsupported value: "X": supported values: "Always", "IfNotPresent", "Never"']),
    ({"spec.restartPolicy": "X"},
     ['spec.restartPolicy: Unsupported value: "X": supported values: "Always", "OnFailure", "Never"']),
    # Ports.
    ({"spec.containers.0.ports": [{"containerPort": 65535, "hostPort": 65535, "protocol": "SCTP"}]}, []),
    ({"spec.containers.0.ports": [{"containerPort": 65536}]},
     [f"{C}.ports[0].containerPort: Invalid value: 65536: {PORT}"]),
    ({"spec.containers.0.ports": [{"containerPort": 1, "hostPort": 65536}]},
     [f"{C}.ports[0].hostPort: Invalid value: 65536: {PORT}"]),
    ({"spec.containers.0.ports": [{"containerPort": 1, "hostPort": -1}]},
     [f"{C}.ports[0].hostPort: Invalid value: -1: {PORT}"]),
    ({"spec.containers.0.ports": [{}]}, [f"{C}.ports[0].containerPort: Required value"]),
    ({"spec.containers.0.ports": [{"containerPort": 1, "protocol": "X"}]},
     [f'{C}.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"']),
    ({"spec.containers.0.ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]},
     [f'{C}.ports[1].name: Duplicate value: "a"']),
    ({"spec.containers.0.ports": [{"containerPort": 1, "hostPort": 9, "protocol": "TCP"},
                                  {"containerPort": 2, "hostPort": 9, "protocol": "TCP"}]},
     [f'{C}.ports[1].hostPort: Duplicate value: "TCP//9"']),
    ({"spec.containers.0.ports": [{"containerPort": 1, "hostPort": 9, "protocol": "TCP"},
                                  {"containerPort": 2, "hostPort": 9, "protocol": "UDP"}]}, []),
    # Probes and handlers.
    ({"spec.containers.0.livenessProbe": {**HANDLER, "terminationGracePeriodSeconds": 1}}, []),
    ({"spec.containers.0.livenessProbe": {**HANDLER, "terminationGracePeriodSeconds": 0}},
     [f"{C}.livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0"]),
    ({"spec.containers.0.livenessProbe": {**HANDLER, "successThreshold": 2}},
     [f"{C}.livenessProbe.successThreshold: Invalid value: 2: must be 1"]),
    ({"spec.containers.0.startupProbe": {**HANDLER, "successThreshold": 2}},
     [f"{C}.startupProbe.successThreshold: Invalid value: 2: must be 1"]),
    ({"spec.containers.0.readinessProbe": {**HANDLER, "successThreshold": 2}}, []),
    *(({"spec.containers.0.readinessProbe": {**HANDLER, name: -1}},
       [f"{C}.readinessProbe.{name}: Invalid value: -1: {NOT_NEGATIVE}"])
      for name in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")),
    ({"spec.containers.0.lifecycle": {"preStop": {}}},
     [f"{C}.lifecycle.preStop: Required value: must specify a handler type"]),
    ({"spec.containers.0.lifecycle": {"postStart": {"exec": {}}}},
     [f"{C}.lifecycle.postStart.exec.command: Required value"]),
    ({"spec.containers.0.lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}, []),
    ({"spec.containers.0.livenessProbe": {"httpGet": {"port": 1}}},
     [f"{C}.livenessProbe.httpGet.path: Required value"]),
    ({"spec.containers.0.livenessProbe": {"httpGet": {"path": "/", "port": "", "scheme": "FTP"}}},
     [f'{C}.livenessProbe.httpGet.port: Invalid value: "": must contain only alpha-numeric characters',
      f'{C}.livenessProbe.httpGet.port: Invalid value: "": must contain at least one letter',
      f'{C}.livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"']),
    ({"spec.containers.0.livenessProbe": {"httpGet": {"path": "/", "port": 1, "httpHeaders": [{"name": "a b"}]}}},
     [f'{C}.livenessProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist of']),
    ({"spec.containers.0.livenessProbe": {"tcpSocket": {"port": 65536}}},
     [f"{C}.livenessProbe.tcpSocket.port: Invalid value: 65536: {PORT}"]),
    # Init containers.
    *(({f"spec.initContainers.0.{name}": HANDLER},
       [f"spec.initContainers[0].{name}: Forbidden: may not be set for init containers without restartPolicy=Always"])
      for name in ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle")),
    ({"spec.initContainers.0.restartPolicy": "Always", "spec.initContainers.0.livenessProbe": HANDLER,
      "spec.initContainers.0.lifecycle": {"preStop": HANDLER}}, []),
    ({"spec.initContainers.0.restartPolicy": "Always", "spec.initContainers.0.livenessProbe": {}},
     ["spec.initContainers[0].livenessProbe: Required value: must specify a handler type"]),
    # Mounts.
    ({"spec.containers.0.volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]}, []),
    ({"spec.containers.0.volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/a"}]},
     [f'{C}.volumeMounts[1].mountPath: Invalid value: "/a": must be unique']),
    ({"spec.containers.0.volumeMounts": [{"name": "w", "mountPath": "/a"}]},
     [f'{C}.volumeMounts[0].name: Not found: "w"']),
    ({"spec.containers.0.volumeMounts": [{"mountPath": "/a"}]},
     [f"{C}.volumeMounts[0].name: Required value", f'{C}.volumeMounts[0].name: Not found: ""']),
    # Security.
    ({"spec.containers.0.securityContext": {"runAsUser": MAX, "runAsGroup": 0}}, []),
    ({"spec.containers.0.securityContext": {"runAsUser": MAX + 1}},
     [f"{C}.securityContext.runAsUser: Invalid value: 2147483648: {ID}"]),
    ({"spec.containers.0.securityContext": {"runAsGroup": -1}},
     [f"{C}.securityContext.runAsGroup: Invalid value: -1: {ID}"]),
    ({"spec.containers.0.securityContext": {"privileged": True, "allowPrivilegeEscalation": True}}, []),
    ({"spec.containers.0.securityContext": {"privileged": True, "allowPrivilegeEscalation": False}},
     [f'{C}.securityContext: Invalid value: {{"Capabilities":null,"Privileged":true,"SELinuxOptions":null,']),
    ({"spec.securityContext": {"fsGroup": -1}}, [f"spec.securityContext.fsGroup: Invalid value: -1: {ID}"]),
    ({"spec.securityContext": {"supplementalGroups": [1, MAX + 1]}},
     [f"spec.securityContext.supplementalGroups[1]: Invalid value: 2147483648: {ID}"]),
    ({"spec.securityContext": {"runAsUser": -1}}, [f"spec.securityContext.runAsUser: Invalid value: -1: {ID}"]),
]  # fmt: skip

ENVIRONMENT: list[tuple[Json, list[str]]] = [
    ({"name": ""}, [f"{C}.env[0].name: Required value"]),
    ({"name": "A", "valueFrom": {}},
     [f'{C}.env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, '
      "`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"]),
    ({"name": "A", "value": "x", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
     [f'{C}.env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty']),
    ({"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}, "resourceFieldRef": {"resource": "r"}}},
     [f'{C}.env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time']),
    ({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "s"}}},
     [f"{C}.env[0].valueFrom.configMapKeyRef.key: Required value"]),
    ({"name": "A", "valueFrom": {"secretKeyRef": {"key": "a b"}}},
     [f"{C}.env[0].valueFrom.secretKeyRef.name: Required value",
      f'{C}.env[0].valueFrom.secretKeyRef.key: Invalid value: "a b": a valid config key must consist of']),
    ({"name": "A", "valueFrom": {"resourceFieldRef": {}}},
     [f"{C}.env[0].valueFrom.resourceFieldRef.resource: Required value"]),
    ({"name": "A", "valueFrom": {"fileKeyRef": {}}},
     [f"{C}.env[0].valueFrom.fileKeyRef.{name}: Required value" for name in ("volumeName", "path", "key")]),
    ({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
     [f"{C}.env[0].valueFrom.fieldRef.apiVersion: Required value"]),
    ({"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1"}}},
     [f"{C}.env[0].valueFrom.fieldRef.fieldPath: Required value"]),
    ({"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nope"}}},
     [f'{C}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nope": error converting fieldPath: field label '
      "not supported: spec.nope"]),
    ({"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels"}}},
     [f'{C}.env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: '
      '"metadata.name", "metadata.namespace"']),
    ({"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels['a']"}}}, []),
    ({"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.annotations['A']"}}}, []),
    ({"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels['a b']"}}},
     [f'{C}.env[0].valueFrom.fieldRef: Invalid value: "a b": name part must consist of']),
]  # fmt: skip

FROM: list[tuple[Json, list[str]]] = [
    ({"prefix": "a.", "configMapRef": {"name": "m"}}, []),
    ({}, [f'{C}.envFrom[0]: Invalid value: "": must specify one of: `configMapRef` or `secretRef`']),
    ({"configMapRef": {"name": "m"}, "secretRef": {}},
     [f"{C}.envFrom[0].secretRef.name: Required value",
      f'{C}.envFrom[0]: Invalid value: "": may not have more than one field specified at a time']),
    ({"prefix": "a=", "secretRef": {"name": "s"}},
     [f'{C}.envFrom[0].prefix: Invalid value: "a=": a valid environment']),
]  # fmt: skip

RESOURCES: list[tuple[Json, list[str]]] = [
    ({"limits": {"cpu": "2", "hugepages-2Mi": "4Mi"}, "requests": {"cpu": "2", "hugepages-2Mi": "4Mi"}}, []),
    ({"limits": {"hugepages-2Mi": "4Mi"}},
     [f"{C}.resources: Forbidden: HugePages require cpu or memory"]),
    ({"limits": {"cpu": "1", "hugepages-2Mi": "3Mi"}},
     [f'{C}.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of '
      "hugepages-2Mi"]),
    ({"limits": {"cpu": "1"}, "requests": {"hugepages-2Mi": "2Mi"}},
     [f"{C}.resources.limits: Required value: Limit must be set for non overcommitable resources"]),
    ({"limits": {"a.b/c": "2"}, "requests": {"a.b/c": "1"}},
     [f'{C}.resources.requests: Invalid value: "1": must be equal to a.b/c limit of 2']),
    ({"limits": {"a.b/c": "500m"}}, [f'{C}.resources.limits[a.b/c]: Invalid value: "500m": must be an integer']),
    ({"limits": {"pods": "1"}},
     [f'{C}.resources.limits[pods]: Invalid value: "pods": must be a standard resource for containers']),
    ({"limits": {"nope": "1"}},
     [f'{C}.resources.limits[nope]: Invalid value: "nope": must be a standard resource type or fully qualified',
      f'{C}.resources.limits[nope]: Invalid value: "nope": must be a standard resource for containers']),
    ({"limits": {"requests.a.b/c": "1"}},
     [f'{C}.resources.limits[requests.a.b/c]: Invalid value: "requests.a.b/c": doesn\'t follow extended resource name '
      "standard"]),
    ({"limits": {"cpu": "-1"}}, [f'{C}.resources.limits[cpu]: Invalid value: "-1": {NOT_NEGATIVE}']),
    ({"limits": {"memory": "1Gi"}, "requests": {"memory": "1Gi"}}, []),
]  # fmt: skip

VOLUMES: list[tuple[Json, list[str]]] = [
    ({"name": ""}, [f"{V}: Required value: must specify a volume type", f"{V}.name: Required value"]),
    ({"name": "v", "emptyDir": {"sizeLimit": "0"}}, []),
    ({"name": "v", "emptyDir": {"sizeLimit": "-1"}},
     [f"{V}.emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity"]),
    ({"name": "v", "hostPath": {}}, [f"{V}.hostPath.path: Required value"]),
    ({"name": "v", "hostPath": {"path": "/a/../b", "type": "X"}},
     [f'{V}.hostPath.path: Invalid value: "/a/../b": {BACKSTEPS}',
      f'{V}.hostPath.type: Unsupported value: "X": supported values: "", "BlockDevice", "CharDevice", "Directory", '
      '"DirectoryOrCreate", "File", "FileOrCreate", "Socket"']),
    ({"name": "v", "nfs": {"path": "a"}},
     [f"{V}.nfs.server: Required value", f'{V}.nfs.path: Invalid value: "a": must be an absolute path']),
    ({"name": "v", "secret": {"secretName": "s", "defaultMode": 0o777}}, []),
    ({"name": "v", "secret": {"defaultMode": 0o1000}},
     [f"{V}.secret.secretName: Required value", f"{V}.secret.defaultMode: Invalid value: 512: {MODE}"]),
    ({"name": "v", "configMap": {"defaultMode": -1}},
     [f"{V}.configMap.name: Required value", f"{V}.configMap.defaultMode: Invalid value: -1: {MODE}"]),
    ({"name": "v", "configMap": {"name": "m", "items": [{}]}},
     [f"{V}.configMap.items[0].key: Required value", f"{V}.configMap.items[0].path: Required value"]),
    ({"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": "/p", "mode": 512}]}},
     [f'{V}.configMap.items[0].path: Invalid value: "/p": must be a relative path',
      f"{V}.configMap.items[0].mode: Invalid value: 512: {MODE}"]),
    ({"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": "..p"}]}},
     [f"{V}.configMap.items[0].path: Invalid value: \"..p\": must not start with '..'"]),
    ({"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": "../p"}]}},
     [f'{V}.configMap.items[0].path: Invalid value: "../p": {BACKSTEPS}']),
    ({"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": ".."}]}},
     [f'{V}.configMap.items[0].path: Invalid value: "..": {BACKSTEPS}']),
    ({"name": "v", "persistentVolumeClaim": {}}, [f"{V}.persistentVolumeClaim.claimName: Required value"]),
    ({"name": "v", "ephemeral": {}}, [f"{V}.ephemeral.volumeClaimTemplate: Required value"]),
    ({"name": "v", "downwardAPI": {"defaultMode": 512, "items": [{"path": "a"}]}},
     [f"{V}.downwardAPI.defaultMode: Invalid value: 512: {MODE}",
      f"{V}.downwardAPI: Required value: one of fieldRef and resourceFieldRef is required"]),
    ({"name": "v", "downwardAPI": {"items": [
        {"path": "", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels"}, "resourceFieldRef": {}}]}},
     [f"{V}.downwardAPI.path: Required value",
      f'{V}.downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified '
      "simultaneously"]),
    ({"name": "v", "downwardAPI": {"items": [
        {"path": "a", "mode": -1, "fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}]}},
     [f'{V}.downwardAPI.fieldRef.fieldPath: Unsupported value: "status.podIP": supported values: '
      '"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
      f"{V}.downwardAPI.mode: Invalid value: -1: {MODE}"]),
    ({"name": "v", "projected": {"defaultMode": 512, "sources": [{"secret": {}}, {"configMap": {}}]}},
     [f"{V}.projected.sources[0].secret.name: Required value",
      f"{V}.projected.sources[1].configMap.name: Required value",
      f"{V}.projected.defaultMode: Invalid value: 512: {MODE}"]),
    ({"name": "v", "projected": {"sources": [{"secret": {"name": "s", "items": [{"key": "k"}]}}]}},
     [f"{V}.projected.sources[0].secret.items[0].path: Required value"]),
    ({"name": "v", "projected": {"sources": [{"downwardAPI": {"items": [{"path": "a"}]}}]}},
     [f"{V}.projected.sources[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required"]),
    ({"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "p", "expirationSeconds": 600}},
                                             {"serviceAccountToken": {"path": "p", "expirationSeconds": 2**32}}]}},
     []),
    ({"name": "v", "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 599}}]}},
     [f"{V}.projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration "
      "less than 10 minutes", f"{V}.projected.path: Required value"]),
    ({"name": "v", "projected": {"sources": [
        {"serviceAccountToken": {"path": "p", "expirationSeconds": 2**32 + 1}}]}},
     [f"{V}.projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not specify a "
      "duration larger than 2^32 seconds"]),
    *(({"name": "v", name: {}}, []) for name in ("csi", "image", "iscsi", "gitRepo", "gcePersistentDisk",
                                                 "awsElasticBlockStore")),
    ({"name": "v", "csi": {}, "cephfs": {}},
     [f"{V}.cephfs: Forbidden: may not specify more than 1 volume type"]),
]  # fmt: skip

TERM = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
SPREAD: Json = {"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule"}
SPREADS = "spec.topologySpreadConstraints[0]"
NEEDS_VALUES = "must be specified when `operator` is 'In' or 'NotIn'"
NO_VALUES = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"


def node_term(**requirement: Any) -> Json:
    return {TERM: {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", **requirement}]}]}}


def affinity(name: str) -> str:
    return f"spec.affinity.{name}.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey"


FIRST = f"{TERM}.nodeSelectorTerms[0].matchExpressions[0]"
SCHEDULING: list[tuple[Json, list[str]]] = [
    ({TERM: {}}, [f"{TERM}.nodeSelectorTerms: Required value: must have at least one node selector term"]),
    (node_term(operator="In", values=["a"]), []),
    (node_term(operator="In"), [f"{FIRST}.values: Required value: {NEEDS_VALUES}"]),
    (node_term(operator="NotIn"), [f"{FIRST}.values: Required value: {NEEDS_VALUES}"]),
    (node_term(operator="Exists", values=["a"]), [f"{FIRST}.values: Forbidden: {NO_VALUES}"]),
    (node_term(operator="DoesNotExist"), []),
    (node_term(operator="Gt", values=["1"]), []),
    (node_term(operator="Lt", values=["1", "2"]),
     [f"{FIRST}.values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"]),
    (node_term(operator="X"), [f'{FIRST}.operator: Invalid value: "X": not a valid selector operator']),
    (node_term(operator="Exists", key=""), [f'{FIRST}.key: Invalid value: "": name part must be non-empty',
                                            f'{FIRST}.key: Invalid value: "": name part must consist of']),
    *(({f"spec.affinity.{name}.requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ""}]},
       [f"{affinity(name)}: Required value: can not be empty",
        f'{affinity(name)}: Invalid value: "": name part must be non-empty',
        f'{affinity(name)}: Invalid value: "": name part must consist of'])
      for name in ("podAffinity", "podAntiAffinity")),
    ({"spec.topologySpreadConstraints": [SPREAD]}, []),
    ({"spec.topologySpreadConstraints": [{**SPREAD, "maxSkew": 0}]},
     [f"{SPREADS}.maxSkew: Invalid value: 0: must be greater than zero"]),
    ({"spec.topologySpreadConstraints": [{**SPREAD, "topologyKey": ""}]},
     [f"{SPREADS}.topologyKey: Required value: can not be empty"]),
    ({"spec.topologySpreadConstraints": [{**SPREAD, "topologyKey": "a b"}]},
     [f'{SPREADS}.topologyKey: Invalid value: "a b": name part must consist of']),
    ({"spec.topologySpreadConstraints": [{**SPREAD, "whenUnsatisfiable": "X"}]},
     [f'{SPREADS}.whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"']),
    ({"spec.topologySpreadConstraints": [{**SPREAD, "labelSelector": {"matchLabels": {"a": "b c"}}}]},
     [f'{SPREADS}.labelSelector.matchLabels: Invalid value: "b c": a valid label must be']),
    ({"spec.dnsPolicy": "X"}, ['spec.dnsPolicy: Unsupported value: "X": supported values: "ClusterFirstWithHostNet"']),
    ({"spec.dnsPolicy": "None"},
     ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"]),
    ({"spec.dnsPolicy": "None", "spec.dnsConfig": {}},
     ["spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"]),
    ({"spec.dnsPolicy": "None", "spec.dnsConfig": {"nameservers": ["1.1.1.1"]}}, []),
    ({"spec.schedulingGates": [{"name": "a"}, {"name": "a"}]}, ['spec.schedulingGates[1]: Duplicate value: "a"']),
    *(({f"spec.{name}": "A B"}, [f'spec.{name}: Invalid value: "A B": a lowercase RFC 1123'])
      for name in ("serviceAccountName", "nodeName", "hostname", "subdomain", "priorityClassName",
                   "runtimeClassName")),
    ({"spec.activeDeadlineSeconds": 1}, []),
    ({"spec.activeDeadlineSeconds": MAX}, []),
    ({"spec.activeDeadlineSeconds": 0},
     ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"]),
    ({"spec.activeDeadlineSeconds": MAX + 1},
     ["spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive"]),
    ({"spec.preemptionPolicy": "X"},
     ['spec.preemptionPolicy: Unsupported value: "X": supported values: "Never", "PreemptLowerPriority"']),
    ({"spec.os": {}}, ["spec.os.name: Required value"]),
    ({"spec.os": {"name": "x"}}, ['spec.os: Unsupported value: "x": supported values: "linux", "windows"']),
    ({"spec.os": {"name": "linux"}}, []),
    ({"spec.ephemeralContainers": [CONTAINER]}, ["spec.ephemeralContainers: Forbidden: cannot be set on create"]),
    ({"metadata.annotations": {"kubernetes.io/config.mirror": "m"}},
     ['metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "m": must set spec.nodeName if mirror pod '
      "annotation is set"]),
    ({"metadata.annotations": {"kubernetes.io/config.mirror": "m"}, "spec.nodeName": "n"}, []),
    ({"spec.tolerations": [{"operator": "Exists"}, {"key": "k", "operator": "Equal", "value": "v"}]}, []),
    ({"spec.tolerations": [{"operator": "Equal"}]},
     ['spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means '
      '"match all values and all keys"']),
    ({"spec.tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}]}, []),
    ({"spec.tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 1}]},
     ['spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` '
      "is set"]),
    ({"spec.tolerations": [{"key": "k", "operator": "Exists", "value": "v"}]},
     ['spec.tolerations[0].operator: Invalid value: "v": value must be empty when `operator` is \'Exists\'']),
    ({"spec.tolerations": [{"key": "k", "value": "a b"}]},
     ['spec.tolerations[0].operator: Invalid value: "a b": a valid label must be']),
    ({"spec.tolerations": [{"key": "a b", "operator": "Exists"}]},
     ['spec.tolerations[0].key: Invalid value: "a b": name part must consist of']),
    ({"spec.tolerations": [{"key": "k", "operator": "X"}]}, ['spec.tolerations[0].operator: Unsupported value: "X": ']),
    ({"spec.tolerations": [{"key": "k", "operator": "Exists", "effect": "X"}]},
     ['spec.tolerations[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", '
      '"NoExecute"']),
]  # fmt: skip


def check(changes: Json, wanted: list[str]) -> None:
    found = findings(changes)
    assert [text[: len(want)] for text, want in zip(found, wanted, strict=True)] == wanted


@pytest.mark.parametrize(("changes", "wanted"), CONTAINERS)
def test_containers(changes: Json, wanted: list[str]) -> None:
    check(changes, wanted)


@pytest.mark.parametrize(("variable", "wanted"), ENVIRONMENT)
def test_variables(variable: Json, wanted: list[str]) -> None:
    check({"spec.containers.0.env": [variable]}, wanted)


@pytest.mark.parametrize(("source", "wanted"), FROM)
def test_sources_of_variables(source: Json, wanted: list[str]) -> None:
    check({"spec.containers.0.envFrom": [source]}, wanted)


@pytest.mark.parametrize(("resources", "wanted"), RESOURCES)
def test_resources(resources: Json, wanted: list[str]) -> None:
    check({"spec.containers.0.resources": resources}, wanted)


@pytest.mark.parametrize(("volume", "wanted"), VOLUMES)
def test_volumes(volume: Json, wanted: list[str]) -> None:
    check({"spec.volumes": [volume]}, wanted)


@pytest.mark.parametrize(("changes", "wanted"), SCHEDULING)
def test_scheduling_and_scalars(changes: Json, wanted: list[str]) -> None:
    check(changes, wanted)


DEADLINE = "spec.activeDeadlineSeconds"
GATES = "spec.schedulingGates"
OTHER_FIELDS = "spec: Forbidden: pod updates may not change fields other than "
UPDATES: list[tuple[Json, Json, list[str]]] = [
    ({}, {"spec.containers.0.image": "other", "spec.initContainers.0.image": "other"}, []),
    ({}, {"spec.containers.0.image": " x"},
     [f'{C}.image: Invalid value: " x": must not have leading or trailing whitespace']),
    ({}, {"spec.containers.0.tty": True}, [OTHER_FIELDS]),
    ({}, {"spec.hostname": "h"}, [OTHER_FIELDS]),
    ({}, {"spec.containers.1": {**CONTAINER, "name": "d"}},
     ["spec.containers: Forbidden: pod updates may not add or remove containers"]),
    ({}, {"spec.initContainers": []},
     ["spec.initContainers: Forbidden: pod updates may not add or remove containers"]),
    ({DEADLINE: 5}, {DEADLINE: 5}, []),
    ({DEADLINE: 5}, {DEADLINE: 4}, []),
    ({}, {DEADLINE: 4}, []),
    ({DEADLINE: 5}, {DEADLINE: 6}, [f"{DEADLINE}: Invalid value: 6: must be less than or equal to previous value"]),
    ({DEADLINE: 5}, {DEADLINE: NOTHING},
     [f"{DEADLINE}: Invalid value: null: must not update from a positive integer to nil value"]),
    ({DEADLINE: 5}, {DEADLINE: -1},
     [f"{DEADLINE}: Invalid value: -1: must be between 1 and 2147483647, inclusive",
      f"{DEADLINE}: Invalid value: -1: must be between 0 and 2147483647, inclusive"]),
    ({GATES: [{"name": "a"}, {"name": "b"}]}, {GATES: [{"name": "b"}]}, []),
    ({GATES: [{"name": "a"}]}, {GATES: [{"name": "a"}, {"name": "b"}]},
     [f"{GATES}[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'"]),
    ({GATES: [{"name": "a"}], "spec.nodeSelector": {"x": "y"}}, {"spec.nodeSelector": {"x": "y", "z": "w"}}, []),
    ({GATES: [{"name": "a"}], "spec.nodeSelector": {"x": "y"}}, {"spec.nodeSelector": {"z": "w"}}, [OTHER_FIELDS]),
    ({"spec.nodeSelector": {"x": "y"}}, {"spec.nodeSelector": {"x": "y", "z": "w"}}, [OTHER_FIELDS]),
    ({}, {"spec.tolerations": [{"operator": "Exists"}]}, []),
    ({"spec.tolerations": [{"operator": "Exists"}]}, {"spec.tolerations": []},
     ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"]),
    ({"spec.tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}]},
     {"spec.tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9}]}, []),
    ({"spec.terminationGracePeriodSeconds": -1}, {"spec.terminationGracePeriodSeconds": 1}, []),
    ({"spec.terminationGracePeriodSeconds": -1}, {"spec.terminationGracePeriodSeconds": 2}, [OTHER_FIELDS]),
    ({"spec.terminationGracePeriodSeconds": 5}, {"spec.terminationGracePeriodSeconds": 1}, [OTHER_FIELDS]),
    ({"spec.terminationGracePeriodSeconds": 0}, {"spec.terminationGracePeriodSeconds": 1}, [OTHER_FIELDS]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "changes", "wanted"), UPDATES)
def test_updates(before: Json, changes: Json, wanted: list[str]) -> None:
    old = changed(POD, before)
    found = of_update("/pods", changed(old, changes), old)
    assert [text[: len(want)] for text, want in zip(found, wanted, strict=True)] == wanted


def ephemeral(*containers: Json) -> Json:
    return changed(POD, {"spec.ephemeralContainers": list(containers)})


E = "spec.ephemeralContainers"
DEBUG: Json = {**CONTAINER, "name": "debug"}


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ([], [DEBUG], []),
        ([DEBUG], [DEBUG, {**DEBUG, "name": "more"}], []),
        ([DEBUG], [], [f'{E}: Forbidden: existing ephemeral containers "debug" may not be removed\n']),
        ([DEBUG], [{**DEBUG, "image": "other"}],
         [f'{E}: Forbidden: existing ephemeral containers "debug" may not be changed\n']),
        ([], [{**DEBUG, "name": "c"}], [f'{E}[0].name: Duplicate value: "c"']),
        ([], [DEBUG, DEBUG], [f'{E}[1].name: Duplicate value: "debug"']),
        ([], [{**DEBUG, "volumeMounts": [{"name": "v", "mountPath": "/a"}]}], []),
        ([], [{**DEBUG, "volumeMounts": [{"name": "w", "mountPath": "/a"}]}],
         [f'{E}[0].volumeMounts[0].name: Not found: "w"']),
        *(([], [{**DEBUG, name: value}], [f"{E}[0].{name}: Forbidden: cannot be set for an Ephemeral Container"])
          for name, value in (("ports", [{"containerPort": 1}]), ("livenessProbe", HANDLER),
                              ("readinessProbe", HANDLER), ("startupProbe", HANDLER),
                              ("resources", {"limits": {"cpu": "1"}}))),
    ],
)  # fmt: skip
def test_ephemeral_containers(before: list[Json], after: list[Json], wanted: list[str]) -> None:
    found = of_update("/pods", ephemeral(*after), ephemeral(*before), "ephemeralcontainers")
    assert [text[: len(want)] for text, want in zip(found, wanted, strict=True)] == wanted


@pytest.mark.parametrize(
    ("node", "before", "after", "wanted"),
    [
        ("", {"qosClass": "Burstable"}, {"qosClass": "Burstable", "nominatedNodeName": "n"}, []),
        ("", {"qosClass": "Burstable"}, {"qosClass": "Guaranteed"},
         ['status.qosClass: Invalid value: "Guaranteed": field is immutable']),
        ("n", {}, {"nominatedNodeName": "m"},
         ["status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"]),
        ("n", {"nominatedNodeName": "m"}, {"nominatedNodeName": "m"}, []),
        ("n", {"nominatedNodeName": "m"}, {}, []),
    ],
)  # fmt: skip
def test_the_status(node: str, before: Json, after: Json, wanted: list[str]) -> None:
    pod = changed(POD, {"spec.nodeName": node})
    assert of_update("/pods", {**pod, "status": after}, {**pod, "status": before}, "status") == wanted


@pytest.mark.parametrize(
    ("deleted", "phase", "wanted"),
    [
        (False, "Active", []),
        (True, "Terminating", []),
        (False, "Terminating",
         ["status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"]),
        (True, "Active",
         ["status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty"]),
    ],
)  # fmt: skip
def test_the_phase_of_a_namespace(deleted: bool, phase: str, wanted: list[str]) -> None:
    metadata = {"name": "n", **({"deletionTimestamp": "2024-01-01T00:00:00Z"} if deleted else {})}
    namespace = {"metadata": metadata, "status": {"phase": phase}}
    assert of_update("/namespaces", namespace, namespace, "status") == wanted
