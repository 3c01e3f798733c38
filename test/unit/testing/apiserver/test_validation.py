"""Validation errors in the real server's words, for pods, pod templates and other built-in kinds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.kinds.validation import cron

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
PODS = "/api/v1/namespaces/default/pods"
MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def causes(answer: Json) -> list[str]:
    return [f"{cause['field']}: {cause['message']}" for cause in answer["details"]["causes"]]


def pod(*containers: Json, **spec: Any) -> Json:
    first = {"name": "c", "image": "i"}
    return {"metadata": {"name": "p"}, "spec": {"containers": [{**first, **c} for c in containers or ({},)], **spec}}


C = "spec.containers[0]"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (pod({"image": " i"}), [f'{C}.image: Invalid value: " i": must not have leading or trailing whitespace']),
        (pod({"ports": [{"containerPort": 70000}, {"hostPort": 80}]}), [
            f"{C}.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
            f"{C}.ports[1].containerPort: Required value",
        ]),
        (pod({"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}}), [
            f'{C}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
        ]),
        (pod({"resources": {"requests": {"memory": "-1Gi"}}}), [
            f'{C}.resources.requests[memory]: Invalid value: "-1Gi": must be greater than or equal to 0',
        ]),
        (pod({"env": [{"name": "a=b"}]}), [
            f'{C}.env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable '
            "ASCII characters other than '='",
        ]),
        (pod({"volumeMounts": [{"name": "v", "mountPath": ""}]}), [
            f'{C}.volumeMounts[0].name: Not found: "v"', f"{C}.volumeMounts[0].mountPath: Required value",
        ]),
        (pod({"livenessProbe": {}}), [f"{C}.livenessProbe: Required value: must specify a handler type"]),
        (pod({"livenessProbe": {"httpGet": {"port": 0}, "tcpSocket": {"port": 1}}}), [
            f"{C}.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
            f"{C}.livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive",
        ]),
        (pod({}, {}), ['spec.containers[1].name: Duplicate value: "c"']),
        (pod(volumes=[{"name": "v"}, {"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}]), [
            'spec.volumes[1].name: Duplicate value: "v"',
            "spec.volumes[1].hostPath: Forbidden: may not specify more than 1 volume type",
        ]),
    ],
)  # fmt: skip
def test_pods(api: Api, body: Json, wanted: list[str]) -> None:
    assert sorted(causes(api("POST", PODS, body, want=422))) == sorted(wanted)


def test_ports_of_a_service_have_different_names(api: Api) -> None:
    ports = [{"name": name, "port": number} for number, name in enumerate("aba", 1)]
    answer = api("POST", "/api/v1/namespaces/default/services", {"metadata": {"name": "s"}, "spec": {"ports": ports}})
    assert causes(answer) == ['spec.ports[2].name: Duplicate value: "a"']


def template(**spec: Any) -> Json:
    return {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def test_a_deployment_is_told_everything_at_once(api: Api) -> None:
    spec = {"replicas": -1, "selector": {"matchLabels": {"app": "b"}}, "template": template(restartPolicy="Never")}
    answer = api("POST", "/apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": "d"}, "spec": spec})
    assert causes(answer) == [
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ]


def test_jobs_need_a_restart_policy_and_keep_their_template(api: Api) -> None:
    jobs = "/apis/batch/v1/namespaces/default/jobs"
    wrong = {"metadata": {"name": "j"}, "spec": {"template": template()}}
    answer = api("POST", jobs, wrong, want=422)
    assert causes(answer) == ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"']
    api("POST", jobs, {**wrong, "spec": {"template": template(restartPolicy="Never")}}, want=201)
    change = {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 1}}}}
    (cause,) = causes(api("PATCH", f"{jobs}/j", change, media=MERGE, want=422))
    assert cause.startswith("spec.template: Invalid value: ")
    assert cause.endswith(": field is immutable")


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"schedule": "bad"}, 'spec.schedule: Invalid value: "bad": expected exactly 5 fields, found 1: [bad]'),
        ({"schedule": ""}, "spec.schedule: Required value"),
        ({"timeZone": "Mars/Olympus"},
         'spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus'),
        ({"concurrencyPolicy": "Perhaps"},
         'spec.concurrencyPolicy: Unsupported value: "Perhaps": supported values: "Allow", "Forbid", "Replace"'),
    ],
)  # fmt: skip
def test_cron_jobs(api: Api, spec: Json, wanted: str) -> None:
    job = {"spec": {"template": template(restartPolicy="Never")}}
    body = {"metadata": {"name": "c"}, "spec": {"schedule": "* * * * *", "jobTemplate": job, **spec}}
    assert causes(api("POST", "/apis/batch/v1/namespaces/default/cronjobs", body, want=422)) == [wanted]


@pytest.mark.parametrize(
    "text", ["* * * * *", "*/5 0-12/2 1,15 jan-MAR mon", "@hourly", "@every 1h", "? 0 1 1 0", "59 23 31 12 6"]
)
def test_schedules(text: str) -> None:
    cron.check(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("60 * * * *", r"end of range \(60\) above maximum \(59\): 60"),
        ("* * 0 * *", r"beginning of range \(0\) below minimum \(1\): 0"),
        ("5-3 * * * *", r"beginning of range \(5\) beyond end of range \(3\): 5-3"),
        ("*/0 * * * *", "step of range should be a positive number"),
        ("1/2/3 * * * *", "too many slashes"),
        ("1-2-3 * * * *", "too many hyphens"),
        ("x * * * *", "failed to parse int from x"),
        ("@never", "unrecognized descriptor: @never"),
    ],
)
def test_what_is_no_schedule(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        cron.check(text)


def test_a_stateful_set_keeps_most_of_its_spec(api: Api) -> None:
    sets = "/apis/apps/v1/namespaces/default/statefulsets"
    spec = {"selector": {"matchLabels": {"app": "a"}}, "template": template(), "serviceName": "s"}
    api("POST", sets, {"metadata": {"name": "s"}, "spec": spec}, want=201)
    api("PATCH", f"{sets}/s", {"spec": {"replicas": 3}}, media=MERGE, want=200)
    (cause,) = causes(api("PATCH", f"{sets}/s", {"spec": {"serviceName": "t"}}, media=MERGE, want=422))
    assert cause == (
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
        "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
        "forbidden"
    )


@pytest.mark.parametrize(
    ("path", "body", "wanted"),
    [
        ("/api/v1/namespaces/default/secrets", {"type": "kubernetes.io/tls", "data": {"tls.crt": ""}},
         ["data[tls.key]: Required value"]),
        ("/api/v1/namespaces/default/persistentvolumeclaims", {"spec": {}},
         ["spec.accessModes: Required value: at least 1 access mode is required",
          "spec.resources[storage]: Required value"]),
        ("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
         {"spec": {"minReplicas": 3, "maxReplicas": 2, "scaleTargetRef": TARGET}},
         ["spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`"]),
        ("/api/v1/namespaces/default/configmaps", {"data": {"a b": ""}},
         ['data[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '
          "'-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
          "'[-._a-zA-Z0-9]+')"]),
    ],
)  # fmt: skip
def test_other_kinds(api: Api, path: str, body: Json, wanted: list[str]) -> None:
    assert causes(api("POST", path, {"metadata": {"name": "x"}, **body}, want=422)) == wanted


@pytest.mark.parametrize(
    ("path", "name", "wanted"),
    [
        ("/api/v1/namespaces", "a.b", "must not contain dots"),
        ("/api/v1/namespaces", "a" * 64, "must be no more than 63 characters"),
        ("/api/v1/namespaces/default/configmaps", "a" * 254, "must be no more than 253 characters"),
    ],
)
def test_names_are_checked_by_apimachinery(api: Api, path: str, name: str, wanted: str) -> None:
    answer = api("POST", path, {"metadata": {"name": name}}, want=422)
    assert causes(answer)[0] == f'metadata.name: Invalid value: "{name}": {wanted}'


def test_containers_for_debugging_come_and_stay(api: Api) -> None:
    api("POST", PODS, {**pod(), "metadata": {"name": "debugged"}}, want=201)
    path = f"{PODS}/debugged/ephemeralcontainers"

    def write(container: Json, want: int) -> Json:
        body = {"spec": {"ephemeralContainers": [container]}}
        answer: Json = api("PATCH", path, body, media="application/strategic-merge-patch+json", want=want)
        return answer

    changed = write({"name": "debug", "image": "busybox", "targetContainerName": "c"}, 200)
    assert changed["spec"]["ephemeralContainers"][0]["terminationMessagePolicy"] == "File"
    assert changed["spec"]["containers"][0]["name"] == "c"
    assert changed["metadata"]["generation"] == 2
    assert "may not be changed" in write({"name": "debug", "image": "other"}, 422)["message"]
    (cause,) = causes(write({"name": "more", "image": "i", "ports": [{"containerPort": 1}]}, 422))
    assert "ports: Forbidden: cannot be set for an Ephemeral Container" in cause
