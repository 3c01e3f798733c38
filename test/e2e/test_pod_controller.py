"""The Pod controller of the workqueue walkthrough, as a process beside an API server of its own.

It has the rights of rbac/ and no others.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import ROOT, Program, as_service_account, children, kubectl, python, start_apiserver

from clientgo import context, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import clientcmd

CTX = context.background()


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "kubeconfig"
    with start_apiserver(path) as server:
        kubectl(path, "apply", "-f", "cmd/pod-controller/rbac", cwd=ROOT)
        yield path
        assert server.stop() == 0, server.output
    assert children() == []


def start_controller(kubeconfig: Path, **env: str) -> Program:
    own = as_service_account(kubeconfig, "pod-controller")
    return python("cmd/pod-controller", f"-kubeconfig={own}", "-v=4", **env)


def pod(name: str) -> corev1.Pod:
    container = corev1.Container(name="c", image="example.com/app:1")
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name), spec=corev1.PodSpec(containers=[container]))


@pytest.mark.kubectl
@pytest.mark.parametrize("in_order", ["true", "false"])
def test_it_prints_what_happens_to_pods(kubeconfig: Path, in_order: str) -> None:
    config = clientcmd.build_config_from_flags("", str(kubeconfig))
    clientset = kubernetes.new_for_config(config)
    pods = clientset.core_v1().pods("default")
    pods.create(CTX, pod("there-before"), metav1.CreateOptions())
    with start_controller(kubeconfig, KUBE_FEATURE_InOrderInformers=in_order) as controller:
        # The Pod that main put into the cache is not in the cluster: its absence is noticed after the sync.
        controller.wait_for("Pod default/mypod does not exist anymore")
        controller.wait_for("Sync/Add/Update for Pod there-before")

        pods.create(CTX, pod("added"), metav1.CreateOptions())
        seen = controller.wait_for("Sync/Add/Update for Pod added")

        changed = pods.get(CTX, "added", metav1.GetOptions())
        changed.metadata.labels["changed"] = "yes"
        pods.update(CTX, changed, metav1.UpdateOptions())
        controller.wait_for("Sync/Add/Update for Pod added", after=seen)

        pods.delete(CTX, "added", metav1.DeleteOptions(grace_period_seconds=0))
        seen = controller.wait_for("Pod default/added does not exist anymore")

        # As cmd/README.md has it.
        kubectl(kubeconfig, "run", "mypod", "--image=nginx")
        seen = controller.wait_for("Sync/Add/Update for Pod mypod", after=seen)
        kubectl(kubeconfig, "delete", "pod", "mypod")
        controller.wait_for("Pod default/mypod does not exist anymore", after=seen)
        assert controller.stop() == 0, controller.output
    assert "Stopping Pod controller" in controller.output
    assert "Traceback" not in controller.output
    assert "orbidden" not in controller.output
    clientset.close()
