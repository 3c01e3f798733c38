"""200 Foos at once, and an API server that dies and comes back: the controller converges, nothing is lost."""

from __future__ import annotations

import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from patience import PATIENCE
from processes import Program, eventually, kubectl, python, start_apiserver
from samplecontroller import RunningController

from clientgo import context, kubernetes
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.types import PatchType
from clientgo.tools import clientcmd

CTX = context.background()
DOWN = 5.0  # seconds the server is away: longer than the first retries
EXAMPLES = "cmd/sample-controller/artifacts/examples"


@contextmanager
def server_with_foos(tmp_path: Path, *arguments: str) -> Iterator[tuple[Path, Program]]:
    kubeconfig = tmp_path / "kubeconfig"
    with start_apiserver(kubeconfig, *arguments) as server:
        kubectl(kubeconfig, "apply", "-f", f"{EXAMPLES}/crd.yaml")
        kubectl(kubeconfig, "wait", "--for=condition=Established", "crd/foos.samplecontroller.k8s.io", "--timeout=240s")
        yield kubeconfig, server


class Overlaps:
    """Watches that no key is in two workers at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: Counter[Any] = Counter()
        self.overlapping: list[Any] = []
        self.synced: Counter[Any] = Counter()

    def install(self, controller: Any) -> None:
        sync = controller.sync_handler

        def watched(ctx: Any, ref: Any) -> None:
            with self._lock:
                self._busy[ref] += 1
                if self._busy[ref] > 1:
                    self.overlapping.append(ref)
            try:
                sync(ctx, ref)
                with self._lock:
                    self.synced[ref] += 1
            finally:
                with self._lock:
                    self._busy[ref] -= 1

        controller.sync_handler = watched


def test_200_foos_at_once_are_all_reconciled_by_two_workers(tmp_path: Path) -> None:
    overlaps = Overlaps()
    with server_with_foos(tmp_path) as (kubeconfig, server):
        with RunningController(kubeconfig, workers=2, prepare=overlaps.install) as running:
            eventually("the caches", running.controller.foos_synced)
            v1alpha1 = running.sample.samplecontroller_v1alpha1()
            create_foos(v1alpha1.foos("default"), 200)

            deployments = running.kube.apps_v1().deployments("default")
            eventually("200 Deployments", lambda: len(deployments.list(CTX).items) == 200, seconds=PATIENCE)
            eventually("every status", lambda: all_have_status(v1alpha1.foos("default")), seconds=PATIENCE)
            # No lost update: a change of every Foo while the first round's events still come in reaches its Deployment.
            for number in range(0, 200, 10):
                v1alpha1.foos("default").patch(
                    CTX, f"foo-{number}", PatchType.MERGE, b'{"spec":{"replicas":7}}', metav1.PatchOptions()
                )
            eventually("the changed ones", lambda: replicas(deployments)[7] == 20, seconds=PATIENCE)
            assert replicas(deployments) == Counter({1: 180, 7: 20})
        assert overlaps.overlapping == []
        assert len(overlaps.synced) == 200
        assert server.stop() == 0


def create_foos(client: Any, count: int) -> None:
    from pkg.apis.samplecontroller import v1alpha1

    def create(numbers: range) -> None:
        for number in numbers:
            name = f"foo-{number}"
            spec = v1alpha1.FooSpec(deployment_name=name, replicas=1)
            client.create(CTX, v1alpha1.Foo(metadata=metav1.ObjectMeta(name=name), spec=spec), metav1.CreateOptions())

    parts = [range(part, count, 4) for part in range(4)]
    threads = [threading.Thread(target=create, args=(part,), name=f"creator-{part.start}") for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def all_have_status(client: Any) -> bool:
    return all("status" in foo.to_dict() for foo in client.list(CTX).items)


def replicas(client: Any) -> Counter[int | None]:
    return Counter(deployment.spec.replicas for deployment in client.list(CTX).items)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_server_killed_for_five_seconds_leaves_the_controller_converging_again(tmp_path: Path) -> None:
    arguments = (f"--data-dir={tmp_path / 'data'}", f"--port={free_port()}")
    with (
        server_with_foos(tmp_path, *arguments) as (kubeconfig, server),
        python("cmd/sample-controller", f"-kubeconfig={kubeconfig}", "-v=4") as controller,
    ):
        controller.wait_for("Started workers")
        kubectl(kubeconfig, "apply", "-f", f"{EXAMPLES}/example-foo.yaml")
        controller.wait_for("Successfully synced")
        before = kubeconfig.read_text()

        server.send(signal.SIGKILL)
        server.wait()
        threading.Event().wait(DOWN)
        with start_apiserver(kubeconfig, *arguments) as second:
            assert kubeconfig.read_text() == before  # the same address and token: clients go on
            client = kubernetes.new_for_config(clientcmd.build_config_from_flags("", str(kubeconfig)))
            patch = ("patch", "foo", "example-foo", "--type=merge", "-p", '{"spec":{"replicas":4}}')
            eventually("the API server", lambda: "patched" in kubectl(kubeconfig, *patch, check=False))

            deployments = client.apps_v1().deployments("default")
            eventually("the Deployment to follow", lambda: deployments.get(CTX, "example-foo").spec.replicas == 4)

            client.close()
            assert controller.stop() == 0, controller.output
            assert second.stop() == 0, second.output
