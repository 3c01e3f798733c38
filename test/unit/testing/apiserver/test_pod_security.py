"""The Pod Security Standards, each check and its words, and the labels of namespaces. No server runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.testing.apiserver.admission import pod_security, pod_standards
from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.wire.errors import ApiError

Json = dict[str, Any]
REGISTRY = Registry()
HEAD = "pod-security.kubernetes.io/"


def containers(*contexts: Json, group: str = "containers", **more: Any) -> Json:
    """Return a pod with a container for each security context: a, b and so on."""
    made = [{"name": name, "securityContext": context} for name, context in zip("abc", contexts, strict=False)]
    return {"spec": {group: made, **more}}


def pod(**context: Any) -> Json:
    return {"spec": {"containers": [{"name": "a"}], "securityContext": context}}


def ports(*numbers: int) -> Json:
    return {"spec": {"containers": [{"name": "a", "ports": [{"hostPort": number} for number in numbers]}]}}


APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
BASELINE: list[tuple[Json, str]] = [
    (containers({"privileged": True}),
     'privileged (container "a" must not set securityContext.privileged=true)'),
    (containers({"privileged": True}, {}, {"privileged": True}),
     'privileged (containers "a", "c" must not set securityContext.privileged=true)'),
    *((containers({"privileged": True}, group=group),
       'privileged (container "a" must not set securityContext.privileged=true)')
      for group in ("initContainers", "ephemeralContainers")),
    ({"metadata": {"annotations": {f"{APPARMOR}a": "unconfined"}}},
     f'forbidden AppArmor profile (annotation {APPARMOR}a="unconfined")'),
    ({"metadata": {"annotations": {f"{APPARMOR}b": "x", f"{APPARMOR}a": "y", "other": "z"}}},
     f'forbidden AppArmor profiles (annotations {APPARMOR}a="y", {APPARMOR}b="x")'),
    *(({"metadata": {"annotations": {f"{APPARMOR}a": value}}}, "") for value in ("", "runtime/default", "localhost/x")),
    (containers({"capabilities": {"add": ["SYS_ADMIN", "CHOWN", "NET_RAW"]}}),
     'non-default capabilities (container "a" must not include "NET_RAW", "SYS_ADMIN" in '
     "securityContext.capabilities.add)"),
    (containers({"capabilities": {"add": ["CHOWN", "KILL", "SYS_CHROOT"]}}), ""),
    ({"spec": {"hostNetwork": True, "hostPID": True, "hostIPC": True}},
     "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)"),
    ({"spec": {"volumes": [{"name": "v", "hostPath": {}}, {"name": "w", "hostPath": {}}, {"name": "x"}]}},
     'hostPath volumes (volumes "v", "w")'),
    (ports(80), 'hostPort (container "a" uses hostPort 80)'),
    (ports(81, 80), 'hostPort (container "a" uses hostPorts 80, 81)'),
    (ports(0), ""),
    (containers({"procMount": "Unmasked"}),
     'procMount (container "a" must not set securityContext.procMount to "Unmasked")'),
    (containers({"procMount": "Default"}), ""),
    (containers({"procMount": "Unmasked"}, hostUsers=False), ""),
    (pod(seLinuxOptions={"type": "x", "role": "r"}),
     'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x"; role may not be set)'),
    (containers({"seLinuxOptions": {"type": "y"}}, {"seLinuxOptions": {"type": "x", "user": "u"}}),
     'seLinuxOptions (containers "a", "b" set forbidden securityContext.seLinuxOptions: types "x", "y"; user may not '
     "be set)"),
    *((pod(seLinuxOptions={"type": kind}), "") for kind in ("", "container_t", "container_init_t", "container_kvm_t",
                                                             "container_engine_t")),
    (pod(seccompProfile={"type": "Unconfined"}),
     'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")'),
    (containers({"seccompProfile": {"type": "Unconfined"}}),
     'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")'),
    (pod(seccompProfile={"type": "Localhost"}), ""),
    (pod(sysctls=[{"name": "net.ipv4.tcp_rmem"}, {"name": "b"}, {"name": "a"}]), "forbidden sysctls (a, b)"),
    (pod(sysctls=[{"name": "kernel.shm_rmid_forced"}]), ""),
    (pod(windowsOptions={"hostProcess": True}),
     "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)"),
    (containers({"windowsOptions": {"hostProcess": True}}),
     'hostProcess (container "a" must not set securityContext.windowsOptions.hostProcess=true)'),
]  # fmt: skip


def evaluated(body: Json, level: str) -> list[str]:
    return [f"{one.reason} ({one.detail})" for one in pod_standards.evaluate(body, level)]


@pytest.mark.parametrize(("body", "wanted"), BASELINE)
def test_the_baseline_standard(body: Json, wanted: str) -> None:
    assert evaluated(body, "baseline") == ([wanted] if wanted else [])
    assert evaluated(body, "privileged") == []


SAFE: Json = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
WINDOWS: Json = {"os": {"name": "windows"}}


def with_safe(**changes: Any) -> Json:
    return containers({name: value for name, value in {**SAFE, **changes}.items() if value is not None})


RESTRICTED: list[tuple[Json, str]] = [
    (with_safe(), ""),
    (with_safe(allowPrivilegeEscalation=None),
     'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false)'),
    (with_safe(capabilities={"drop": ["KILL"]}),
     'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"])'),
    (with_safe(capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}), ""),
    (with_safe(capabilities={"add": ["KILL", "CHOWN"]}),
     'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must '
     'not include "CHOWN", "KILL" in securityContext.capabilities.add)'),
    (with_safe(runAsNonRoot=None),
     'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)'),
    (with_safe(runAsNonRoot=False),
     'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)'),
    (containers({**SAFE, "runAsNonRoot": None}, securityContext={"runAsNonRoot": True}), ""),
    (containers(SAFE, securityContext={"runAsNonRoot": False}),
     "runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)"),
    (with_safe(runAsUser=0), 'runAsUser=0 (container "a" must not set runAsUser=0)'),
    (with_safe(runAsUser=1), ""),
    (containers({**SAFE, "runAsUser": 0}, securityContext={"runAsUser": 0}),
     'runAsUser=0 (pod and container "a" must not set runAsUser=0)'),
    (with_safe(seccompProfile=None),
     'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or '
     '"Localhost")'),
    (with_safe(seccompProfile={"type": "Unconfined"}),
     'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")'),
    (containers({**SAFE, "seccompProfile": None}, securityContext={"seccompProfile": {"type": "Localhost"}}), ""),
    (containers(SAFE, volumes=[{"name": "v", "nfs": {}}, {"name": "w", "iscsi": {}}, {"name": "x", "secret": {}}]),
     'restricted volume types (volumes "v", "w" use restricted volume types "iscsi", "nfs")'),
    *((containers(SAFE, volumes=[{"name": "v", kind: {}}]), "") for kind in (
        "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected",
        "secret")),
    (containers({"runAsNonRoot": True}, **WINDOWS), ""),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), RESTRICTED)
def test_the_restricted_standard(body: Json, wanted: str) -> None:
    assert evaluated(body, "restricted") == ([wanted] if wanted else [])


# ---- the labels of a namespace


class Pods:
    """The part of a store that the plugin reads: one namespace and its pods."""

    def __init__(self, labels: Json, *pods: Json) -> None:
        self._namespace = SimpleNamespace(obj={"metadata": {"name": "ns", "labels": labels}})
        self._pods = [SimpleNamespace(obj={"metadata": {"name": f"p{i}"}, **each}) for i, each in enumerate(pods)]

    def get(self, storage: str, key: str) -> Any:
        assert (storage, key) == ("/namespaces", "ns")
        return self._namespace

    def list(self, storage: str, prefix: str) -> tuple[int, list[Any]]:
        assert (storage, prefix) == ("/pods", "ns/")
        return 1, self._pods


def admitted(storage: str, obj: Json, store: Any, **more: Any) -> list[str]:
    """Return the warnings, or the text of the error."""
    resource = REGISTRY.by_storage(storage)
    assert resource is not None
    request = AdmissionRequest(resource, "ns", "ns" if storage == "/namespaces" else "x", obj, **more)
    try:
        pod_security.validate(store, request)
    except ApiError as err:
        return [str(err.status()["message"])]
    return request.warnings


def namespace(**labels: str) -> Json:
    named = {HEAD + name.replace("_", "-"): value for name, value in labels.items()}
    return {"metadata": {"name": "ns", "labels": named}}


@pytest.mark.parametrize("mode", ["enforce", "audit", "warn"])
@pytest.mark.parametrize(
    ("suffix", "value", "text"),
    [
        ("", "baseline", ""),
        ("", "tight", "must be one of privileged, baseline, restricted"),
        ("_version", "latest", ""),
        ("_version", "v1.0", ""),
        ("_version", "v1.30", ""),
        ("_version", "v1.030", 'must be "latest" or "v1.x"'),
        ("_version", "v2.1", 'must be "latest" or "v1.x"'),
        ("_version", "", 'must be "latest" or "v1.x"'),
    ],
)
def test_labels_are_checked(mode: str, suffix: str, value: str, text: str) -> None:
    found = admitted("/namespaces", namespace(**{f"{mode}{suffix}": value}), Pods({}))
    field = f"metadata.labels[{HEAD}{mode}{suffix.replace('_', '-')}]"
    wanted = f'Namespace "ns" is invalid: {field}: Invalid value: "{value}": {text}'
    assert found == ([wanted] if text else [])


def test_a_namespace_that_was_invalid_may_stay_so() -> None:
    invalid = namespace(enforce="tight")
    assert admitted("/namespaces", invalid, Pods({}), old=invalid) == []


BAD, WORSE = containers({"privileged": True}), {"spec": {"hostPID": True, "hostIPC": True}}


@pytest.mark.parametrize(
    ("before", "after", "warned"),
    [
        ("privileged", "baseline", True),
        ("privileged", "restricted", True),
        ("restricted", "baseline", False),
        ("baseline", "baseline", False),
        ("baseline", "privileged", False),
    ],
)
def test_a_stricter_level_warns_of_the_pods_that_violate_it(before: str, after: str, warned: bool) -> None:
    store = Pods({}, BAD, WORSE, BAD, BAD, containers(SAFE))
    found = admitted("/namespaces", namespace(enforce=after), store, old=namespace(enforce=before))
    assert bool(found) is warned
    if warned:
        head = f'existing pods in namespace "ns" violate the new PodSecurity enforce level "{after}:latest"'
        assert found[0] == head
    if after == "baseline" and warned:
        assert found[1:] == ["p0 (and 2 other pods): privileged", "p1: host namespaces"]


@pytest.mark.parametrize(
    ("storage", "path"),
    [
        ("/podtemplates", ("template",)),
        *((f"apps/{plural}", ("spec", "template")) for plural in ("deployments", "replicasets", "statefulsets",
                                                                   "daemonsets")),
        ("/replicationcontrollers", ("spec", "template")),
        ("batch/jobs", ("spec", "template")),
        ("batch/cronjobs", ("spec", "jobTemplate", "spec", "template")),
    ],
)  # fmt: skip
def test_what_makes_pods_is_warned_of_and_admitted(storage: str, path: tuple[str, ...]) -> None:
    obj: Json = BAD
    for name in reversed(path):
        obj = {name: obj}
    store = Pods({f"{HEAD}enforce": "restricted", f"{HEAD}warn": "baseline"})
    why = 'privileged (container "a" must not set securityContext.privileged=true)'
    assert admitted(storage, obj, store) == [f'would violate PodSecurity "baseline:latest": {why}']
    assert admitted(storage, obj, store, subresource="scale") == []


@pytest.mark.parametrize(
    ("more", "checked"),
    [
        ({}, True),
        ({"old": BAD}, False),
        ({"subresource": "binding"}, False),
        ({"subresource": "ephemeralcontainers", "old": BAD}, True),
    ],
)
def test_new_pods_and_ephemeral_containers_are_checked(more: Json, checked: bool) -> None:
    found = admitted("/pods", BAD, Pods({f"{HEAD}enforce": "baseline", f"{HEAD}enforce-version": "v1.20"}), **more)
    why = 'privileged (container "a" must not set securityContext.privileged=true)'
    text = f'pods "x" is forbidden: violates PodSecurity "baseline:v1.20": {why}'
    assert found == ([text] if checked else [])


SECCOMP = "container.seccomp.security.alpha.kubernetes.io/a"


@pytest.mark.parametrize(
    ("change", "checked"),
    [
        ({"spec": {**BAD["spec"], "containers": [{**BAD["spec"]["containers"][0], "image": "new"}]}}, True),
        ({"metadata": {"annotations": {SECCOMP: "unconfined"}}}, True),
        ({"metadata": {"annotations": {"other": "x"}, "labels": {"a": "b"}}}, False),
        ({"spec": {**BAD["spec"], "activeDeadlineSeconds": 5}}, False),
    ],
)
def test_an_update_of_a_pod_is_checked_if_it_changes_an_image_or_seccomp(change: Json, checked: bool) -> None:
    """The namespace may have become stricter since the pod was created."""
    found = admitted("/pods", {**BAD, **change}, Pods({f"{HEAD}enforce": "baseline"}), old=BAD)
    assert bool(found) is checked


def test_an_invalid_level_counts_as_the_strictest() -> None:
    (text,) = admitted("/pods", BAD, Pods({f"{HEAD}enforce": "tight", f"{HEAD}enforce-version": "v9"}))
    assert 'violates PodSecurity "restricted:latest"' in text


def test_a_namespace_without_labels_admits_every_pod() -> None:
    assert admitted("/pods", BAD, Pods({"other": "x"})) == []
