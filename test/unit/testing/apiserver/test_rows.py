"""The cells of `kubectl get` for workloads, pods, services, storage and other kinds that users list often."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.views import table
from clientgo.testing.apiserver.wire.times import Times
from clientgo.utils.clock import testing as clocktesting

Json = dict[str, Any]
REGISTRY = Registry()
NOW = 1_600_000_000.0  # 2020-09-13T12:26:40Z
HOUR_AGO, MINUTE_AGO = "2020-09-13T11:26:40Z", "2020-09-13T12:25:40Z"
TEMPLATE: Json = {"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}]}}
SELECTOR: Json = {"matchLabels": {"a": "b", "c": "d"}}
CONTAINERS: Json = {"Containers": "c,d", "Images": "i,j"}


def made(group: str, plural: str, obj: Json) -> Json:
    version = "v2" if group == "autoscaling" else "v1"
    resource = REGISTRY.find(group, version, plural)
    assert resource is not None
    metadata = {"name": "x", "creationTimestamp": HOUR_AGO, **obj.get("metadata", {})}
    found: Json = table.make(resource, [{**obj, "metadata": metadata}], Times(clocktesting.new_fake_clock(NOW)), "None")
    return found


def cells(group: str, plural: str, obj: Json) -> dict[str, Any]:
    answer = made(group, plural, obj)
    (row,) = answer["rows"]
    return dict(zip([column["name"] for column in answer["columnDefinitions"]], row["cells"], strict=True))


def check(group: str, plural: str, obj: Json, wanted: Json) -> None:
    found = cells(group, plural, obj)
    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("plural", "obj", "wanted"),
    [
        ("deployments", {}, {"Name": "x", "Ready": "0/0", "Up-to-date": 0, "Available": 0, "Age": "60m"}),
        ("deployments", {"spec": {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE},
                         "status": {"readyReplicas": 2, "updatedReplicas": 1, "availableReplicas": 4}},
         {"Ready": "2/3", "Up-to-date": 1, "Available": 4, "Selector": "a=b,c=d", **CONTAINERS}),
        ("replicasets", {"spec": {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE},
                         "status": {"replicas": 2, "readyReplicas": 1}},
         {"Desired": 3, "Current": 2, "Ready": 1, "Selector": "a=b,c=d", **CONTAINERS}),
        ("statefulsets", {"spec": {"replicas": 3, "template": TEMPLATE}, "status": {"readyReplicas": 2}},
         {"Ready": "2/3", "Age": "60m", **CONTAINERS}),
        ("daemonsets", {"spec": {"selector": SELECTOR, "template": {"spec": {
            **TEMPLATE["spec"], "nodeSelector": {"disk": "ssd"}}}},
            "status": {"desiredNumberScheduled": 1, "currentNumberScheduled": 2, "numberReady": 3,
                       "updatedNumberScheduled": 4, "numberAvailable": 5}},
         {"Desired": 1, "Current": 2, "Ready": 3, "Up-to-date": 4, "Available": 5, "Node Selector": "disk=ssd",
          "Selector": "a=b,c=d", **CONTAINERS}),
        ("daemonsets", {}, {"Node Selector": "<none>"}),
        ("controllerrevisions",
         {"revision": 3, "metadata": {"ownerReferences": [
             {"kind": "Other", "name": "o", "apiVersion": "v1"},
             {"kind": "DaemonSet", "name": "d", "apiVersion": "apps/v1", "controller": True}]}},
         {"Controller": "daemonset.apps/d", "Revision": 3}),
        ("controllerrevisions", {}, {"Controller": "<none>", "Revision": 0}),
    ],
)  # fmt: skip
def test_workloads(plural: str, obj: Json, wanted: Json) -> None:
    check("apps", plural, obj, wanted)


@pytest.mark.parametrize(
    ("plural", "obj", "wanted"),
    [
        ("jobs", {"spec": {"completions": 3}, "status": {"succeeded": 1, "startTime": HOUR_AGO}},
         {"Status": "Running", "Completions": "1/3", "Duration": "60m", "Age": "60m"}),
        ("jobs", {"spec": {"parallelism": 2}}, {"Completions": "0/1 of 2", "Duration": ""}),
        ("jobs", {"spec": {"parallelism": 1}}, {"Completions": "0/1"}),
        *(("jobs", {"status": {"startTime": HOUR_AGO, "completionTime": MINUTE_AGO,
                               "conditions": [{"type": kind, "status": "True"}]}},
           {"Status": kind, "Duration": "59m"}) for kind in ("Complete", "Failed", "Suspended")),
        ("jobs", {"status": {"conditions": [{"type": "Complete", "status": "False"}]}}, {"Status": "Running"}),
        ("jobs", {"spec": {"selector": SELECTOR, "template": TEMPLATE}}, {"Selector": "a=b,c=d", **CONTAINERS}),
        ("cronjobs", {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}},
         {"Schedule": "* * * * *", "Timezone": "<none>", "Suspend": "<unset>", "Active": 0, "Last Schedule": "<none>",
          **CONTAINERS}),
        ("cronjobs", {"spec": {"timeZone": "UTC", "suspend": True},
                      "status": {"active": [{}, {}], "lastScheduleTime": MINUTE_AGO}},
         {"Timezone": "UTC", "Suspend": "True", "Active": 2, "Last Schedule": "60s"}),
    ],
)  # fmt: skip
def test_jobs(plural: str, obj: Json, wanted: Json) -> None:
    check("batch", plural, obj, wanted)


EVENT: Json = {"involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec"}, "reason": "R", "type": "Normal",
               "message": " m\n", "firstTimestamp": HOUR_AGO, "lastTimestamp": MINUTE_AGO, "count": 4,
               "source": {"component": "c", "host": "h"}}  # fmt: skip


@pytest.mark.parametrize(
    ("plural", "obj", "wanted"),
    [
        ("services", {"spec": {"type": "ClusterIP", "clusterIP": "10.0.0.1", "selector": {"b": "c", "a": "b"},
                               "ports": [{"port": 80, "protocol": "TCP"}, {"port": 53, "nodePort": 30053,
                                                                           "protocol": "UDP"}]}},
         {"Type": "ClusterIP", "Cluster-IP": "10.0.0.1", "External-IP": "<none>", "Port(s)": "80/TCP,53:30053/UDP",
          "Selector": "a=b,b=c"}),
        ("services", {"spec": {"type": "ExternalName", "externalName": "a.b"}},
         {"Cluster-IP": "<none>", "External-IP": "a.b", "Port(s)": "<none>", "Selector": "<none>"}),
        ("services", {"spec": {"type": "ClusterIP", "externalIPs": ["1.1.1.1", "2.2.2.2"]}},
         {"External-IP": "1.1.1.1,2.2.2.2"}),
        ("services", {"spec": {"type": "LoadBalancer"}}, {"External-IP": "<pending>"}),
        ("services", {"spec": {"type": "LoadBalancer", "externalIPs": ["3.3.3.3"]},
                      "status": {"loadBalancer": {"ingress": [{"ip": "1.1.1.1"}, {"hostname": "h"}]}}},
         {"External-IP": "1.1.1.1,h,3.3.3.3"}),
        ("endpoints", {"subsets": [{"addresses": [{"ip": ip} for ip in "abc"], "ports": [{"port": 1}]}]},
         {"Endpoints": "a:1,b:1,c:1"}),
        ("endpoints", {"subsets": [{"addresses": [{"ip": ip} for ip in "abcd"], "ports": [{"port": 1}]}]},
         {"Endpoints": "a:1,b:1,c:1 + 1 more..."}),
        ("endpoints", {}, {"Endpoints": "<none>"}),
        ("events", EVENT,
         {"Last Seen": "60s", "First Seen": "60m", "Type": "Normal", "Reason": "R", "Object": "pod/p",
          "Subobject": "spec", "Source": "c, h", "Message": "m", "Count": 4}),
        ("events", {**EVENT, "series": {"count": 7, "lastObservedTime": HOUR_AGO}},
         {"Last Seen": "60m", "Count": 7}),
        ("events", {"eventTime": MINUTE_AGO, "reportingComponent": "r", "involvedObject": {"name": "n"}},
         {"Last Seen": "60s", "First Seen": "60s", "Object": "/n", "Source": "r", "Count": 1}),
        ("events", {}, {"Last Seen": "<unknown>", "Object": "", "Source": ""}),
        ("namespaces", {"status": {"phase": "Active"}}, {"Status": "Active", "Age": "60m"}),
        ("nodes", {}, {"Status": "Unknown", "Roles": "<none>", "Internal-IP": "<none>", "OS-Image": "<unknown>"}),
        ("nodes", {"metadata": {"labels": {"node-role.kubernetes.io/b": "", "node-role.kubernetes.io/a": "", "x": ""}},
                   "spec": {"unschedulable": True},
                   "status": {"conditions": [{"type": "Ready", "status": "False"}],
                              "addresses": [{"type": "InternalIP", "address": "1.1.1.1"},
                                            {"type": "ExternalIP", "address": "2.2.2.2"}],
                              "nodeInfo": {"kubeletVersion": "v1", "osImage": "o", "kernelVersion": "k",
                                           "containerRuntimeVersion": "r"}}},
         {"Status": "NotReady,SchedulingDisabled", "Roles": "a,b", "Version": "v1", "Internal-IP": "1.1.1.1",
          "External-IP": "2.2.2.2", "OS-Image": "o", "Kernel-Version": "k", "Container-Runtime": "r"}),
        ("nodes", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, {"Status": "Ready"}),
        ("persistentvolumes", {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": [
            "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"], "storageClassName": "s",
            "persistentVolumeReclaimPolicy": "Retain", "claimRef": {"namespace": "n", "name": "c"},
            "volumeMode": "Block"}, "status": {"phase": "Bound", "reason": "r"}},
         {"Capacity": "1Gi", "Access Modes": "RWO,ROX,RWX,RWOP", "Reclaim Policy": "Retain", "Status": "Bound",
          "Claim": "n/c", "StorageClass": "s", "VolumeAttributesClass": "<unset>", "Reason": "r",
          "VolumeMode": "Block"}),
        ("persistentvolumes", {}, {"Claim": "", "VolumeMode": "<unset>"}),
        ("persistentvolumeclaims", {"spec": {"volumeName": "v", "storageClassName": "s", "volumeMode": "Filesystem",
                                             "volumeAttributesClassName": "a"},
                                    "status": {"phase": "Bound", "capacity": {"storage": "1Gi"},
                                               "accessModes": ["ReadWriteOnce"]}},
         {"Status": "Bound", "Volume": "v", "Capacity": "1Gi", "Access Modes": "RWO", "StorageClass": "s",
          "VolumeAttributesClass": "a", "VolumeMode": "Filesystem"}),
        ("persistentvolumeclaims", {"status": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}},
         {"Capacity": "", "Access Modes": "", "VolumeMode": "<unset>"}),
        ("configmaps", {"data": {"a": "", "b": ""}, "binaryData": {"c": ""}}, {"Data": 3}),
        ("secrets", {"type": "Opaque", "data": {"a": ""}}, {"Type": "Opaque", "Data": 1}),
        ("serviceaccounts", {"secrets": [{}, {}]}, {"Secrets": 2}),
        ("replicationcontrollers", {"spec": {"replicas": 1, "selector": {"a": "b"}}}, {"Selector": "a=b"}),
    ],
)  # fmt: skip
def test_core_kinds(plural: str, obj: Json, wanted: Json) -> None:
    check("", plural, obj, wanted)


@pytest.mark.parametrize(
    ("group", "plural", "obj", "wanted"),
    [
        ("networking.k8s.io", "ingresses", {}, {"Class": "<none>", "Hosts": "*", "Address": "", "Ports": "80"}),
        ("networking.k8s.io", "ingresses",
         {"spec": {"ingressClassName": "c", "rules": [{"host": "a"}, {}], "tls": [{}]},
          "status": {"loadBalancer": {"ingress": [{"ip": "1.1.1.1"}, {"hostname": "h"}]}}},
         {"Class": "c", "Hosts": "a", "Address": "1.1.1.1,h", "Ports": "80, 443"}),
        ("networking.k8s.io", "networkpolicies", {"spec": {"podSelector": SELECTOR}}, {"Pod-Selector": "a=b,c=d"}),
        ("autoscaling", "horizontalpodautoscalers",
         {"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "minReplicas": 2, "maxReplicas": 5,
                   "metrics": [
                       {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}}]},
          "status": {"currentReplicas": 3}},
         {"Reference": "Deployment/d", "Targets": "cpu: <unknown>/80%", "MinPods": "2", "MaxPods": 5, "Replicas": 3}),
        ("autoscaling", "horizontalpodautoscalers", {}, {"Targets": "<none>", "MinPods": "<unset>", "MaxPods": 0}),
        ("coordination.k8s.io", "leases", {"spec": {"holderIdentity": "h"}}, {"Holder": "h"}),
        ("rbac.authorization.k8s.io", "rolebindings",
         {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [
             {"kind": "User", "name": "u"}, {"kind": "User", "name": "v"}, {"kind": "Group", "name": "g"},
             {"kind": "ServiceAccount", "name": "a", "namespace": "n"}]},
         {"Role": "Role/r", "Users": "u, v", "Groups": "g", "ServiceAccounts": "n/a"}),
        ("policy", "poddisruptionbudgets", {"spec": {"minAvailable": 0}, "status": {"disruptionsAllowed": 2}},
         {"Min Available": "0", "Max Unavailable": "N/A", "Allowed Disruptions": 2}),
        ("policy", "poddisruptionbudgets", {"spec": {"maxUnavailable": "10%"}},
         {"Min Available": "N/A", "Max Unavailable": "10%", "Allowed Disruptions": 0}),
        ("storage.k8s.io", "storageclasses",
         {"metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}, "provisioner": "p",
          "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate", "allowVolumeExpansion": True},
         {"Name": "x (default)", "Provisioner": "p", "ReclaimPolicy": "Delete", "VolumeBindingMode": "Immediate",
          "AllowVolumeExpansion": True}),
        ("storage.k8s.io", "storageclasses", {}, {"Name": "x", "AllowVolumeExpansion": False}),
        ("scheduling.k8s.io", "priorityclasses", {"value": 7, "globalDefault": True, "preemptionPolicy": "Never"},
         {"Value": 7, "Global-Default": True, "PreemptionPolicy": "Never"}),
    ],
)  # fmt: skip
def test_kinds_of_other_groups(group: str, plural: str, obj: Json, wanted: Json) -> None:
    check(group, plural, obj, wanted)


RUNNING: Json = {"state": {"running": {}}, "ready": True}
TWO: Json = {"containers": [{"name": "a"}, {"name": "b"}]}
INIT: Json = {**TWO, "initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}]}
CRASHED: Json = {"restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                 "lastState": {"terminated": {"finishedAt": MINUTE_AGO}}}  # fmt: skip


def ended(**state: Any) -> Json:
    return {"state": {"terminated": state}}


@pytest.mark.parametrize(
    ("spec", "status", "wanted"),
    [
        (TWO, {"phase": "Pending"},
         {"Ready": "0/2", "Status": "Pending", "Restarts": "0", "IP": "<none>", "Node": "<none>",
          "Nominated Node": "<none>", "Readiness Gates": "<none>"}),
        ({**TWO, "nodeName": "n"}, {"phase": "Running", "podIPs": [{"ip": "1.1.1.1"}, {"ip": "::1"}],
                                    "containerStatuses": [RUNNING, {**RUNNING, "ready": False}]},
         {"Ready": "1/2", "Status": "Running", "IP": "1.1.1.1", "Node": "n"}),
        (TWO, {"phase": "Running", "containerStatuses": [RUNNING, CRASHED]},
         {"Ready": "1/2", "Status": "CrashLoopBackOff", "Restarts": "2 (60s ago)"}),
        (TWO, {"phase": "Running", "containerStatuses": [{"restartCount": 1}, {"restartCount": 3}]}, {"Restarts": "4"}),
        (TWO, {"phase": "Failed", "reason": "Evicted"}, {"Status": "Evicted"}),
        (TWO, {"containerStatuses": [ended(reason="Error")]}, {"Status": "Error"}),
        (TWO, {"containerStatuses": [ended(exitCode=3)]}, {"Status": "ExitCode:3"}),
        (TWO, {"containerStatuses": [ended(exitCode=137, signal=9)]}, {"Status": "Signal:9"}),
        (TWO, {"containerStatuses": [ended(reason="Completed"), RUNNING]}, {"Status": "NotReady", "Ready": "1/2"}),
        (TWO, {"containerStatuses": [ended(reason="Completed"), RUNNING],
               "conditions": [{"type": "Ready", "status": "True"}]}, {"Status": "Running"}),
        (TWO, {"containerStatuses": [ended(reason="Completed"), ended(reason="Completed")]}, {"Status": "Completed"}),
        (TWO, {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]},
         {"Status": "SchedulingGated"}),
        (TWO, {"nominatedNodeName": "m"}, {"Nominated Node": "m"}),
        ({**TWO, "readinessGates": [{"conditionType": "g"}, {"conditionType": "h"}]},
         {"conditions": [{"type": "g", "status": "True"}, {"type": "h", "status": "False"}]},
         {"Readiness Gates": "1/2"}),
        (INIT, {"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": {"running": {}}}]},
         {"Ready": "0/3", "Status": "Init:0/2"}),
        (INIT, {"phase": "Pending", "initContainerStatuses": [
            {"name": "i", **ended(exitCode=0)}, {"name": "s", "state": {"waiting": {"reason": "PodInitializing"}}}]},
         {"Status": "Init:1/2"}),
        (INIT, {"initContainerStatuses": [{"name": "i", "state": {"waiting": {"reason": "ErrImagePull"}}}]},
         {"Status": "Init:ErrImagePull"}),
        (INIT, {"initContainerStatuses": [{"name": "i", **ended(exitCode=2)}]}, {"Status": "Init:ExitCode:2"}),
        (INIT, {"initContainerStatuses": [{"name": "i", **ended(exitCode=2, signal=9)}]}, {"Status": "Init:Signal:9"}),
        (INIT, {"initContainerStatuses": [{"name": "i", **ended(exitCode=2, reason="Error")}]},
         {"Status": "Init:Error"}),
        (INIT, {"phase": "Running", "initContainerStatuses": [
            {"name": "i", "restartCount": 5, **ended(exitCode=0)},
            {"name": "s", "started": True, "restartCount": 1, **RUNNING}],
            "containerStatuses": [{**RUNNING, "restartCount": 1}, RUNNING]},
         {"Ready": "3/3", "Status": "Running", "Restarts": "2"}),
    ],
)  # fmt: skip
def test_pods(spec: Json, status: Json, wanted: Json) -> None:
    check("", "pods", {"spec": spec, "status": status}, wanted)


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        ({"phase": "Running"}, "Terminating"),
        ({"phase": "Running", "reason": "NodeLost"}, "Unknown"),
        ({"phase": "Succeeded"}, "Succeeded"),
    ],
)
def test_a_pod_that_is_being_deleted(status: Json, shown: str) -> None:
    deleted = {"deletionTimestamp": MINUTE_AGO}
    check("", "pods", {"metadata": deleted, "spec": TWO, "status": status}, {"Status": shown})


@pytest.mark.parametrize(
    ("phase", "text"),
    [("Succeeded", "The pod has completed successfully."), ("Failed", "The pod failed."), ("Running", "")],
)
def test_the_row_of_a_pod_that_has_ended_is_completed(phase: str, text: str) -> None:
    (row,) = made("", "pods", {"status": {"phase": phase}})["rows"]
    condition = {"type": "Completed", "status": "True", "reason": phase, "message": text}
    assert (row.get("conditions") or []) == ([condition] if text else [])
