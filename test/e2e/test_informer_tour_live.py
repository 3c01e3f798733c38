"""The informer tour attached to the sample-controller as it runs: a process, asked as its page asks."""

from __future__ import annotations

import json
import re
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import ROOT, Program, eventually, post_mortem, python

from clientgo import context, dynamic, tour
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.testing.apiserver import Environment
from clientgo.tour.playback import source_of

pytestmark = pytest.mark.shared_server

SAMPLE = ROOT / "cmd" / "sample-controller"
FOOS = GroupVersionResource("samplecontroller.k8s.io", "v1alpha1", "foos")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Environment]:
    with Environment(crd_paths=[SAMPLE / "artifacts" / "examples" / "crd.yaml"]) as environment:
        yield environment


class Page:
    """The page's requests, at the address that the program prints."""

    def __init__(self, program: Program) -> None:
        program.wait_for("The informer tour is at ")
        found = re.search(r"(http://127\.0\.0\.1:\d+/)\?token=([\w-]+)", program.output)
        assert found is not None
        self.address, self.token = found.groups()

    def ask(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(self.address + path, data, headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)


def test_a_controller_is_shown_as_it_runs_and_recorded_and_does_not_notice(
    cluster: Environment, tmp_path: Path
) -> None:
    client = dynamic.new_for_config(cluster.config)
    foos = client.resource(FOOS).namespace("default")

    def create(name: str) -> None:
        spec = {"deploymentName": name, "replicas": 1}
        foo = {
            "apiVersion": "samplecontroller.k8s.io/v1alpha1",
            "kind": "Foo",
            "metadata": {"name": name},
            "spec": spec,
        }
        foos.create(context.background(), Unstructured(foo), metav1.CreateOptions())

    worker, file = "controller:Controller.sync_handler", tmp_path / "recording"
    command = ("cmd/informer-tour", "--no-browser", "--worker", worker, "--record", str(file), "--")
    with (
        python(*command, sys.executable, "cmd/sample-controller", f"-kubeconfig={cluster.kubeconfig}") as program,
        post_mortem([program]),
    ):
        page = Page(program)
        program.wait_for("Started workers")
        create("apple")
        program.wait_for("Successfully synced.*default/apple")

        def looked() -> Any:
            seen = page.ask("api/live")
            kinds = {f"{hop['station']}.{hop['kind']}" for hop in seen["hops"] if hop["key"] == "default/apple"}
            return {
                "reflector.line",
                "indexer.stored",
                "handlers.called",
                "queue.added",
                "workers.ok",
            } <= kinds and seen

        seen: Any = eventually("the hops of the Foo", looked)
        assert seen["skipped"] == 0
        numbers = {each["kind"]: number for number, each in enumerate(seen["informers"])}
        assert set(numbers) == {"*v1.Deployment", "*v1alpha1.Foo"}
        views = page.ask(f"api/live?informer={numbers['*v1alpha1.Foo']}")["views"]
        assert [each["key"] for each in views["indexer"]["objects"]] == ["default/apple"]
        assert set(views["workers"]["workers"]) == {"foo-worker-0", "foo-worker-1"}

        (handler,) = views["handlers"]["handlers"]
        page.ask("api/control", {"pause": handler["name"]})
        create("bread")
        foo = f"api/live?informer={numbers['*v1alpha1.Foo']}"

        def waits() -> Any:
            return any(each["key"] == "default/bread" for each in shown(page.ask(foo)))

        eventually("the notification to wait", waits)
        page.ask("api/control", {"go-on": handler["name"]})
        program.wait_for("Successfully synced.*default/bread")
        assert program.stop() == 0, program.output
    assert "Traceback" not in program.output
    assert "clientgo/tour" not in program.output, "the program's own lines name the tour"
    check_recording(file, cluster.config.bearer_token)


def check_recording(file: Path, token: str) -> None:
    assert token and token not in file.read_text()
    with tour.Recording(file) as recording:
        assert recording.is_complete and recording.program == "sample-controller" and not recording.damaged
        assert {source.type for source in recording.sources.values()} == {"*v1.Deployment", "*v1alpha1.Foo"}
        assert not any("clientgo/tour" in source.name for source in recording.sources.values())
        known = recording.known(source_of(recording, "*v1alpha1.Foo"), recording.duration)
        assert set(known.objects) == {"default/apple", "default/bread"}
        hops = recording.hops_until(recording.duration, most=100_000)
        assert {"workers.ok", "handlers.called"} <= {f"{hop['station']}.{hop['kind']}" for hop in hops}


def shown(seen: Any) -> list[Any]:
    """Return the notifications that the handler has not finished."""
    (handler,) = seen["views"]["handlers"]["handlers"]
    return [*handler["pending"], *handler["taken"], *([handler["delivering"]] if handler["delivering"] else [])]
