"""The errors of workloads, autoscalers and disruption budgets: each limit, choice and text."""

from __future__ import annotations

from typing import Any

import pytest
from findings import NOTHING, changed, of_new, of_update

Json = dict[str, Any]
NOT_NEGATIVE = "must be greater than or equal to 0"
POD: Json = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Always", "dnsPolicy": "ClusterFirst"}
TEMPLATE: Json = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
SELECTED: Json = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
JOB: Json = {"template": {**TEMPLATE, "spec": {**POD, "restartPolicy": "Never"}}}
UID = {"batch.kubernetes.io/controller-uid": "u"}
BASES: dict[str, Json] = {
    "apps/deployments": {
        "metadata": {"name": "d"},
        "spec": {**SELECTED, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}},
    },
    "apps/replicasets": {"metadata": {"name": "r"}, "spec": SELECTED},
    "apps/statefulsets": {
        "metadata": {"name": "s"},
        "spec": {**SELECTED, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}},
    },
    "apps/daemonsets": {
        "metadata": {"name": "d"},
        "spec": {**SELECTED, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}},
    },
    "/replicationcontrollers": {"metadata": {"name": "r"}, "spec": {"selector": {"a": "b"}, "template": TEMPLATE}},
    "/podtemplates": {"metadata": {"name": "t"}, "template": TEMPLATE},
    "batch/jobs": {
        "metadata": {"name": "j"},
        "spec": {"template": {**JOB["template"], "metadata": {"labels": UID}}, "selector": {"matchLabels": UID}},
    },
    "batch/cronjobs": {"metadata": {"name": "c"}, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": JOB}}},
    "autoscaling/horizontalpodautoscalers": {
        "metadata": {"name": "h"},
        "spec": {"maxReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}},
    },
    "policy/poddisruptionbudgets": {"metadata": {"name": "b"}, "spec": {"minAvailable": 1}},
}
UNMATCHED = 'Invalid value: {"a":"b"}: `selector` does not match template `labels`'
UNLIKE: Json = {"spec.selector.matchLabels": {"a": "c"}}
ALWAYS = 'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'
STRATEGY, UPDATE = "spec.strategy", "spec.updateStrategy"
PERCENT = "a valid percent string must be a numeric string followed by an ending '%'"


def selecting(name: str, kind: str, detail: str) -> list[tuple[Json, list[str]]]:
    """Return the cases of a kind with a selector and a template."""
    return [
        (UNLIKE, [f"spec.template.metadata.labels: {UNMATCHED}"]),
        ({"spec.selector": NOTHING}, ["spec.selector: Required value", f"spec.template.metadata.labels: {UNMATCHED}"]),
        ({"spec.selector": {}}, [f"spec.selector: Invalid value: {{}}: empty selector is invalid for {name}"]),
        ({"spec.selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
         ["spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or "
          "'NotIn'",
          f'spec.selector: Invalid value: {{"matchExpressions":[{{"key":"a","operator":"In"}}]}}{detail}']),
        ({"spec.selector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}},
         ["spec.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or "
          "'DoesNotExist'", "spec.selector: Invalid value: "]),
        *(({"spec.selector": {"matchExpressions": [{"key": "a", "operator": operator, **more}]}}, wanted)
          for operator, more, wanted in (
              ("In", {"values": ["b"]}, []), ("NotIn", {"values": ["c"]}, []), ("Exists", {}, []),
              ("NotIn", {"values": ["b"]}, [f"spec.template.metadata.labels: {UNMATCHED}"]),
              ("In", {"values": ["c"]}, [f"spec.template.metadata.labels: {UNMATCHED}"]),
              ("DoesNotExist", {}, [f"spec.template.metadata.labels: {UNMATCHED}"]))),
        ({"spec.template.spec.restartPolicy": "Never"}, [ALWAYS]),
        ({"spec.template.spec.activeDeadlineSeconds": 5},
         [f"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in {kind} is not Supported"]),
        ({"spec.template.metadata.annotations": {"a b": ""}},
         ['spec.template.annotations: Invalid value: "a b": name part must consist of']),
        ({"spec.template.spec.ephemeralContainers": [{"name": "e"}]},
         ["spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"]),
        *(({f"spec.{field}": -1}, [f"spec.{field}: Invalid value: -1: {NOT_NEGATIVE}"])
          for field in ("replicas", "minReadySeconds")),
    ]  # fmt: skip


def rolling(**values: Any) -> Json:
    return {"spec.strategy.rollingUpdate": values, "spec.updateStrategy.rollingUpdate": values}


CODES: Json = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1]}}
RULE = "spec.podFailurePolicy.rules[0]"
RESOURCE: Json = {"type": "Resource", "resource": {"name": "cpu", "target": {
    "type": "Utilization", "averageUtilization": 1}}}  # fmt: skip
METRIC, TARGET = "spec.metrics[0]", "spec.scaleTargetRef"
POLICY: Json = {"type": "Pods", "value": 1, "periodSeconds": 1800}
UP = "spec.behavior.scaleUp"


def metric(kind: str, field: str, /, **source: Any) -> Json:
    return {"spec.metrics": [{"type": kind, field: source}]}


def target(**values: Any) -> Json:
    return metric("Resource", "resource", name="cpu", target=values)


CASES: dict[str, list[tuple[Json, list[str]]]] = {
    "apps/deployments": [
        *selecting("deployment", "ReplicaSet", ": invalid label selector"),
        *(({f"spec.{name}": -1}, [f"spec.{name}: Invalid value: -1: {NOT_NEGATIVE}"])
          for name in ("revisionHistoryLimit",)),
        ({"spec.progressDeadlineSeconds": 6, "spec.minReadySeconds": 5}, []),
        ({"spec.progressDeadlineSeconds": 5, "spec.minReadySeconds": 5},
         ["spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"]),
        ({"spec.progressDeadlineSeconds": 0},
         ["spec.progressDeadlineSeconds: Invalid value: 0: must be greater than minReadySeconds"]),
        ({STRATEGY: {"type": "Recreate"}}, []),
        ({STRATEGY: {"type": "Recreate", "rollingUpdate": {}}},
         [f"{STRATEGY}.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"]),
        ({STRATEGY: {"type": "X"}},
         [f'{STRATEGY}: Unsupported value: {{"Type":"X","RollingUpdate":null}}: supported values: "Recreate", '
          '"RollingUpdate"']),
        (rolling(maxUnavailable="100%", maxSurge="200%"), []),
        (rolling(maxUnavailable="101%"),
         [f'{STRATEGY}.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%']),
        (rolling(maxUnavailable=0, maxSurge="0%"),
         [f"{STRATEGY}.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"]),
        (rolling(maxUnavailable=0, maxSurge=1), []),
        (rolling(maxUnavailable=-1), [f"{STRATEGY}.rollingUpdate.maxUnavailable: Invalid value: -1: {NOT_NEGATIVE}"]),
        (rolling(maxUnavailable=1, maxSurge="x"),
         [f'{STRATEGY}.rollingUpdate.maxSurge: Invalid value: "x": {PERCENT}']),
    ],
    "apps/replicasets": selecting("deployment", "ReplicaSet", ": invalid label selector"),
    "apps/statefulsets": [
        *selecting("statefulset", "StatefulSet", ""),
        ({"spec.podManagementPolicy": "Parallel"}, []),
        ({"spec.podManagementPolicy": "X"},
         ["spec.podManagementPolicy: Invalid value: \"X\": must be 'OrderedReady' or 'Parallel'"]),
        ({UPDATE: {"type": "OnDelete"}}, []),
        ({UPDATE: {"type": "OnDelete", "rollingUpdate": {"partition": 1}}},
         [f'{UPDATE}.rollingUpdate: Invalid value: {{"Partition":1,"MaxUnavailable":null}}: only allowed for '
          "updateStrategy 'RollingUpdate'"]),
        ({UPDATE: {"type": "X"}},
         [f'{UPDATE}: Invalid value: {{"Type":"X","RollingUpdate":null}}: must be \'RollingUpdate\' or \'OnDelete\'']),
        (rolling(partition=-1), [f"{UPDATE}.rollingUpdate.partition: Invalid value: -1: {NOT_NEGATIVE}"]),
        *(({f"spec.persistentVolumeClaimRetentionPolicy.{name}": "X"},
           [f'spec.persistentVolumeClaimRetentionPolicy.{name}: Unsupported value: "X": supported values: "Delete", '
            '"Retain"']) for name in ("whenDeleted", "whenScaled")),
        ({"spec.ordinals": {"start": -1}}, [f"spec.ordinals.start: Invalid value: -1: {NOT_NEGATIVE}"]),
        ({"spec.revisionHistoryLimit": -1}, [f"spec.revisionHistoryLimit: Invalid value: -1: {NOT_NEGATIVE}"]),
        ({"spec.serviceName": "A"}, ['spec.serviceName: Invalid value: "A": a lowercase RFC 1123 label']),
        ({"metadata.name": "s" * 63}, []),
        ({"metadata.name": "s" * 64},
         [f'metadata.name: Invalid value: "{"s" * 64}": must be no more than 63 characters']),
        # Pods have a volume for each claim.
        ({"spec.volumeClaimTemplates": [{"metadata": {"name": "data"}}],
          "spec.template.spec.containers.0.volumeMounts": [{"name": "data", "mountPath": "/d"}]}, []),
        ({"spec.template.spec.containers.0.volumeMounts": [{"name": "data", "mountPath": "/d"}]},
         ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"']),
    ],
    "apps/daemonsets": [
        (UNLIKE, [f"spec.template.metadata.labels: {UNMATCHED}"]),
        ({"spec.selector": {}}, ["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"]),
        ({"spec.template.spec.restartPolicy": "Never"}, [ALWAYS]),
        ({"spec.template.spec.activeDeadlineSeconds": 5},
         ["spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported"]),
        *(({f"spec.{name}": -1}, [f"spec.{name}: Invalid value: -1: {NOT_NEGATIVE}"])
          for name in ("minReadySeconds", "revisionHistoryLimit")),
        ({UPDATE: {"type": "OnDelete"}}, []),
        ({UPDATE: {"type": "X"}},
         [f'{UPDATE}: Unsupported value: {{"Type":"X","RollingUpdate":null}}: supported values: "RollingUpdate", '
          '"OnDelete"']),
        (rolling(maxSurge="100%"), []),
        (rolling(maxSurge="101%"),
         [f'{UPDATE}.rollingUpdate.maxSurge: Invalid value: "101%": must not be greater than 100%']),
        (rolling(maxUnavailable="101%"),
         [f'{UPDATE}.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%']),
        (rolling(maxUnavailable=-1, maxSurge=0),
         [f"{UPDATE}.rollingUpdate.maxUnavailable: Invalid value: -1: {NOT_NEGATIVE}"]),
        (rolling(maxUnavailable=0, maxSurge=-1),
         [f"{UPDATE}.rollingUpdate.maxSurge: Invalid value: -1: {NOT_NEGATIVE}"]),
        (rolling(maxUnavailable=1, maxSurge=1),
         [f"{UPDATE}.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"]),
        (rolling(maxUnavailable=0, maxSurge=0),
         [f"{UPDATE}.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0 when maxSurge is 0"]),
    ],
    "/replicationcontrollers": [
        ({"spec.selector": {}}, ["spec.selector: Required value"]),
        ({"spec.selector": {"a": "c"}}, [f"spec.template.metadata.labels: {UNMATCHED}"]),
        ({"spec.selector": {"a": "b c"}},
         ['spec.selector: Invalid value: "b c": a valid label must be', "spec.template.metadata.labels: Invalid"]),
        ({"spec.template": NOTHING}, ["spec.template: Required value"]),
        *(({f"spec.{name}": -1}, [f"spec.{name}: Invalid value: -1: {NOT_NEGATIVE}"])
          for name in ("replicas", "minReadySeconds")),
        ({"spec.template.spec.restartPolicy": "Never"}, [ALWAYS]),
        ({"spec.template.spec.containers": []}, ["spec.template.spec.containers: Required value"]),
    ],
    "/podtemplates": [
        ({"template.spec.containers": []}, ["template.spec.containers: Required value"]),
        ({"template.metadata.labels": {"a": "b c"}}, ['template.labels: Invalid value: "b c": a valid label must be']),
    ],
    "batch/jobs": [
        *(({f"spec.{name}": -1, **more}, [f"spec.{name}: Invalid value: -1: {NOT_NEGATIVE}"]) for name, more in (
            ("parallelism", {}), ("completions", {}), ("activeDeadlineSeconds", {}), ("backoffLimit", {}),
            ("ttlSecondsAfterFinished", {}),
            ("backoffLimitPerIndex", {"spec.completionMode": "Indexed", "spec.completions": 1}),
            ("maxFailedIndexes", {"spec.completionMode": "Indexed", "spec.completions": 1,
                                  "spec.backoffLimitPerIndex": 1}))),
        ({"spec.completionMode": "X"},
         ['spec.completionMode: Unsupported value: "X": supported values: "NonIndexed", "Indexed"']),
        ({"spec.completionMode": "Indexed"}, ["spec.completions: Required value: when completion mode is Indexed"]),
        ({"spec.completionMode": "Indexed", "spec.completions": 1, "spec.maxFailedIndexes": 1},
         ["spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"]),
        ({"spec.backoffLimitPerIndex": 1, "spec.maxFailedIndexes": 2},
         ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
          "spec.maxFailedIndexes: Invalid value: 2: requires indexed completion mode"]),
        ({"spec.successPolicy": {"rules": []}},
         ['spec.successPolicy: Invalid value: {"Rules":[]}: requires indexed completion mode']),
        ({"spec.podReplacementPolicy": "X"},
         ['spec.podReplacementPolicy: Unsupported value: "X": supported values: "Failed", "TerminatingOrFailed"']),
        ({"spec.selector": NOTHING},
         ["spec.selector: Required value", "spec.template.metadata.labels: Invalid value: "]),
        ({"spec.selector.matchLabels.a": "b", "spec.template.metadata.labels.a": "b"},
         ["spec.selector: Invalid value: "]),
        ({"spec.selector.matchLabels.a": "b", "spec.template.metadata.labels.a": "b", "spec.manualSelector": True}, []),
        ({"spec.template.metadata.labels": {"a": "b"}}, [f"spec.template.metadata.labels: {UNMATCHED}"]),
        *(({"spec.template.spec.restartPolicy": policy},
           ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'])
          for policy in (None, "", "Always")),
        ({"spec.template.spec.restartPolicy": "OnFailure"}, []),
        ({"spec.podFailurePolicy": {"rules": [CODES]}}, []),
        ({"spec.podFailurePolicy": {"rules": [{**CODES, "action": "X"}]}},
         [f'{RULE}.action: Unsupported value: "X": supported values: "Count", "FailIndex", "FailJob", "Ignore"']),
        ({"spec.podFailurePolicy": {"rules": [{"action": "Count"}]}},
         [f"{RULE}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required"]),
        ({"spec.podFailurePolicy": {"rules": [{**CODES, "onPodConditions": [{"type": "X"}]}]}},
         [f"{RULE}: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"]),
        ({"spec.podFailurePolicy": {"rules": [{"action": "Count", "onPodConditions": [{"type": "X"}]}]}}, []),
        ({"spec.podFailurePolicy": {"rules": [{"action": "Count", "onExitCodes": {"operator": "X", "values": []}}]}},
         [f'{RULE}.onExitCodes.operator: Unsupported value: "X": supported values: "In", "NotIn"',
          f"{RULE}.onExitCodes.values: Invalid value: must have at least one value"]),
        ({"spec.podFailurePolicy": {"rules": [{"action": "Count", "onExitCodes": {
            "operator": "In", "values": [0, 3, 3]}}]}},
         [f"{RULE}.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator",
          f"{RULE}.onExitCodes.values[2]: Duplicate value: 3"]),
        ({"spec.podFailurePolicy": {"rules": [{"action": "Count", "onExitCodes": {
            "operator": "NotIn", "values": [0]}}]}}, []),
    ],
    "batch/cronjobs": [
        ({"metadata.name": "c" * 52}, []),
        ({"metadata.name": "c" * 53},
         [f'metadata.name: Invalid value: "{"c" * 53}": must be no more than 52 characters']),
        ({"spec.schedule": "TZ=UTC * * * * *"},
         ['spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field '
          "instead"]),
        ({"spec.timeZone": "Europe/Berlin"}, []),
        ({"spec.timeZone": ""}, ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string']),
        ({"spec.timeZone": "Local"},
         ['spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in '
          "https://www.iana.org/time-zones"]),
        ({"spec.timeZone": "local"},
         ['spec.timeZone: Invalid value: "local": timeZone must be an explicit', "spec.timeZone: Invalid value: "]),
        *(({f"spec.{name}": -1}, [f"spec.{name}: Invalid value: -1: {NOT_NEGATIVE}"])
          for name in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")),
        ({"spec.jobTemplate.spec.selector": {"matchLabels": {"a": "b"}}},
         ['spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be '
          "auto-generated"]),
        ({"spec.jobTemplate.spec.manualSelector": True},
         ['spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"']),
        ({"spec.jobTemplate.spec.backoffLimit": -1},
         [f"spec.jobTemplate.spec.backoffLimit: Invalid value: -1: {NOT_NEGATIVE}"]),
    ],
    "autoscaling/horizontalpodautoscalers": [
        ({"spec.minReplicas": 1, "spec.maxReplicas": 1}, []),
        ({"spec.minReplicas": -1},
         ["spec.minReplicas: Invalid value: -1: must be greater than or equal to 1"]),
        ({"spec.minReplicas": 0},
         ["spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
          "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero "
          "replicas"]),
        ({"spec.maxReplicas": 0}, ["spec.maxReplicas: Required value: must be set and greater than 0"]),
        ({"spec.maxReplicas": -1}, ["spec.maxReplicas: Invalid value: -1: must be greater than 0"]),
        ({"spec.minReplicas": 3},
         ["spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`"]),
        ({TARGET: {"apiVersion": "v1"}}, [f"{TARGET}.kind: Required value", f"{TARGET}.name: Required value"]),
        ({f"{TARGET}.name": "a/b"}, [f"{TARGET}.name: Invalid value: \"a/b\": may not contain '/'"]),
        ({f"{TARGET}.apiVersion": "v1"}, []),
        ({f"{TARGET}.apiVersion": "apps"},
         [f'{TARGET}.apiVersion: Invalid value: "apps": apiVersion must specify API group']),
        ({f"{TARGET}.apiVersion": "a/b/c"},
         [f'{TARGET}.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c']),
        ({"spec.metrics": [{}]}, [f"{METRIC}.type: Required value: must specify a metric source type"]),
        ({"spec.metrics": [{"type": "X"}]},
         [f'{METRIC}.type: Unsupported value: "X": supported values: "ContainerResource", "External", "Object", '
          '"Pods", "Resource"'] * 2),
        ({"spec.metrics": [RESOURCE]}, []),
        *(({"spec.metrics": [{"type": kind}]},
           [f"{METRIC}.{name}: Required value: must populate information for the given metric source"])
          for kind, name in (("ContainerResource", "containerResource"), ("External", "external"),
                             ("Object", "object"), ("Pods", "pods"), ("Resource", "resource"))),
        (metric("ContainerResource", "containerResource", target={"type": "Value", "averageValue": "1"}),
         [f"{METRIC}.containerResource.container: Required value",
          f"{METRIC}.containerResource.name: Required value: must specify a resource name"]),
        (metric("Resource", "resource", name="cpu"),
         [f"{METRIC}.resource.target.type: Required value: must specify a metric target type",
          f"{METRIC}.resource.target.averageUtilization: Required value: must set either a target raw value or a "
          "target utilization"]),
        (target(type="X", averageValue="0"),
         [f'{METRIC}.resource.target.type: Invalid value: "X": must be either Utilization, Value, or AverageValue',
          f'{METRIC}.resource.target.averageValue: Invalid value: "0": must be positive']),
        (target(type="Value", value="-1", averageUtilization=0),
         [f'{METRIC}.resource.target.value: Invalid value: "-1": must be positive',
          f"{METRIC}.resource.target.averageUtilization: Invalid value: 0: must be greater than 0"]),
        (target(type="Value", averageValue="1", averageUtilization=1),
         [f"{METRIC}.resource.target.averageValue: Forbidden: may not set both a target raw value and a target "
          "utilization"]),
        (metric("Pods", "pods", metric={"name": "m"}, target={"type": "AverageValue"}),
         [f"{METRIC}.pods.target.averageValue: Required value: must specify a positive target averageValue"]),
        (metric("Pods", "pods", target={"type": "AverageValue", "averageValue": "1"}),
         [f"{METRIC}.pods.metric.name: Required value"]),
        (metric("External", "external", metric={"name": "a/b"}, target={"type": "Value", "value": "1"}),
         [f"{METRIC}.external.metric.name: Invalid value: \"a/b\": may not contain '/'"]),
        (metric("External", "external", metric={"name": "m"}, target={"type": "Value"}),
         [f"{METRIC}.external.target.averageValue: Required value: must set either a target value for metric or a "
          "per-pod target"]),
        (metric("Object", "object", metric={"name": "m"}, target={"type": "Value", "value": "1"},
                describedObject={"kind": "K", "apiVersion": "v1"}),
         [f"{METRIC}.object.describedObject.name: Required value"]),
        ({"spec.behavior": {"scaleUp": {"policies": [POLICY], "stabilizationWindowSeconds": 3600}}}, []),
        ({"spec.behavior": {"scaleUp": {"policies": [POLICY], "stabilizationWindowSeconds": 3601}}},
         [f"{UP}.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600"]),
        ({"spec.behavior": {"scaleUp": {"policies": [POLICY], "stabilizationWindowSeconds": -1}}},
         [f"{UP}.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero"]),
        ({"spec.behavior": {"scaleUp": {"policies": [], "selectPolicy": "X"}}},
         [f'{UP}.selectPolicy: Unsupported value: "X": supported values: "Disabled", "Max", "Min"',
          f"{UP}.policies: Required value: must specify at least one Policy"]),
        ({"spec.behavior": {"scaleDown": {"policies": [{"type": "X"}]}}},
         ['spec.behavior.scaleDown.policies[0].type: Unsupported value: "X": supported values: "Percent", "Pods"',
          "spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero",
          "spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 0: must be greater than zero"]),
        ({"spec.behavior": {"scaleUp": {"policies": [{**POLICY, "periodSeconds": 1801}]}}},
         [f"{UP}.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800"]),
    ],
    "policy/poddisruptionbudgets": [
        ({"spec.minAvailable": "100%"}, []),
        ({"spec.minAvailable": "101%"},
         ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%']),
        ({"spec.minAvailable": NOTHING, "spec.maxUnavailable": -1},
         [f"spec.maxUnavailable: Invalid value: -1: {NOT_NEGATIVE}"]),
        ({"spec.maxUnavailable": "x", "spec.minAvailable": NOTHING},
         [f'spec.maxUnavailable: Invalid value: "x": {PERCENT}']),
        ({"spec.maxUnavailable": 1},
         ['spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":'
          "null}: minAvailable and maxUnavailable cannot be both set"]),
        ({"spec.unhealthyPodEvictionPolicy": "X"},
         ['spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: "AlwaysAllow", '
          '"IfHealthyBudget"']),
        ({"spec.selector": {"matchExpressions": [{"key": "a", "operator": "X"}]}},
         ['spec.selector.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator']),
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


INDEXED: Json = {"spec.completionMode": "Indexed", "spec.completions": 2, "spec.parallelism": 2}
FIXED_SET = "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template'"


@pytest.mark.parametrize(
    ("storage", "before", "changes", "wanted"),
    [
        *((storage, {}, {"spec.selector": {"matchLabels": {"a": "b"}, "matchExpressions": []}},
           ["spec.selector: Invalid value: "]) for storage in ("apps/deployments", "apps/replicasets",
                                                               "apps/daemonsets")),
        *(("apps/statefulsets", {}, {f"spec.{name}": value}, []) for name, value in (
            ("replicas", 3), ("ordinals", {"start": 1}), ("template.spec.hostNetwork", True),
            ("updateStrategy", {"type": "OnDelete"}), ("revisionHistoryLimit", 3), ("minReadySeconds", 3),
            ("persistentVolumeClaimRetentionPolicy", {"whenScaled": "Delete"}))),
        ("apps/statefulsets", {}, {"spec.podManagementPolicy": "Parallel"}, [FIXED_SET]),
        ("batch/jobs", {}, {"spec.parallelism": 3, "spec.suspend": True}, []),
        ("batch/jobs", {}, {"spec.completions": 3}, ["spec.completions: Invalid value: 3: field is immutable"]),
        ("batch/jobs", INDEXED, {"spec.completions": 3, "spec.parallelism": 3}, []),
        ("batch/jobs", INDEXED, {"spec.completions": 3},
         ["spec.completions: Invalid value: 3: field is immutable"]),
        ("batch/jobs", {**INDEXED, "spec.parallelism": 1}, {"spec.completions": 3, "spec.parallelism": 3},
         ["spec.completions: Invalid value: 3: field is immutable"]),
        ("batch/jobs", {}, {"spec.template.spec.hostNetwork": True}, ["spec.template: Invalid value: "]),
        ("batch/jobs", INDEXED, {"spec.backoffLimitPerIndex": 1},
         ["spec.backoffLimitPerIndex: Invalid value: 1: field is immutable"]),
        ("batch/jobs", {}, {"spec.managedBy": "a/b"}, ['spec.managedBy: Invalid value: "a/b": field is immutable']),
        ("batch/jobs", {}, {"spec.podFailurePolicy": {"rules": [CODES]}},
         ["spec.podFailurePolicy: Invalid value: "]),
    ],
)  # fmt: skip
def test_updates(storage: str, before: Json, changes: Json, wanted: list[str]) -> None:
    old = changed(BASES[storage], before)
    check(of_update(storage, changed(old, changes), old), wanted)


TOTAL = "cannot be greater than status.replicas"


@pytest.mark.parametrize(
    ("storage", "names"),
    [
        ("apps/deployments", ("updatedReplicas", "readyReplicas", "availableReplicas")),
        ("apps/replicasets", ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")),
    ],
)
def test_the_numbers_of_a_status(storage: str, names: tuple[str, ...]) -> None:
    def found(**status: int) -> list[str]:
        return of_update(storage, {**BASES[storage], "status": status}, BASES[storage], "status")

    assert found(replicas=2, **dict.fromkeys(names, 2)) == []
    for name in names:
        ready = {"readyReplicas": 9} if name == "availableReplicas" else {}
        more = [f"status.readyReplicas: Invalid value: 9: {TOTAL}"] if ready else []
        over = [*more, f"status.{name}: Invalid value: 3: {TOTAL}"]
        assert found(**{"replicas": 2, name: 3, **ready}) == over
    for name in ("observedGeneration", "replicas", "collisionCount"):
        assert f"status.{name}: Invalid value: -1: {NOT_NEGATIVE}" in found(**{name: -1})
    text = "status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas"
    assert found(replicas=2, readyReplicas=1, availableReplicas=2) == [text]
