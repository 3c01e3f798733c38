"""The Network controller over a fake clientset, and its Neutron."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from operatormachines import NETWORK_CONTROLLER as PROGRAM
from patience import PATIENCE

from clientgo import context
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes import fake as kubefake
from clientgo.tools import cache

with PROGRAM:
    controller_module = PROGRAM.module("controller")
    neutron_module = PROGRAM.module("neutron")
    samplecrdv1 = PROGRAM.module("pkg.apis.samplecrd.v1")
    fake = PROGRAM.module("pkg.client.clientset.versioned.fake")
    informers = PROGRAM.module("pkg.client.informers.externalversions")
FileNeutron, MemoryNeutron = neutron_module.FileNeutron, neutron_module.MemoryNeutron
NeutronError, RealNetwork = neutron_module.NeutronError, neutron_module.RealNetwork

WIDE = RealNetwork("192.168.0.0/16", "192.168.0.1")
OTHER = RealNetwork("10.0.0.0/8", "10.0.0.1")


def network(name: str, real: Any = WIDE, version: str = "1") -> Any:
    return samplecrdv1.Network(
        metadata=metav1.ObjectMeta(name=name, namespace="default", resource_version=version),
        spec=samplecrdv1.NetworkSpec(cidr=real.cidr, gateway=real.gateway),
    )


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


class Setup:
    """A controller whose informer is not running: the test puts objects into the cache and calls the handlers."""

    def __init__(self) -> None:
        self.neutron = MemoryNeutron()
        self.clients = [kubefake.new_clientset(), fake.new_clientset()]
        factory = informers.new_shared_informer_factory(self.clients[1], 0.0)
        self.informer = factory.samplecrd().v1().networks()
        self.controller = controller_module.new_controller(*self.clients, self.informer, self.neutron)

    def cache(self, *networks: Any) -> None:
        for item in networks:
            self.informer.informer().get_indexer().add(item)

    def queued(self) -> list[str]:
        queue = self.controller.workqueue
        keys = []
        while queue.len():
            key, _ = queue.get()
            keys.append(key)
            queue.done(key)
        return keys


@pytest.fixture
def setup(imported: None) -> Iterator[Setup]:
    made = Setup()
    yield made
    made.controller.workqueue.shut_down()
    made.controller.event_broadcaster.shutdown()


def test_a_new_network_is_created_in_neutron(setup: Setup) -> None:
    setup.cache(network("a"))
    setup.controller.sync_handler("default/a")
    assert setup.neutron.list() == {("default", "a"): WIDE}


def test_a_changed_network_is_updated_in_neutron(setup: Setup) -> None:
    setup.neutron.create("default", "a", OTHER)
    setup.cache(network("a"))
    setup.controller.sync_handler("default/a")
    assert setup.neutron.list() == {("default", "a"): WIDE}


def test_a_network_that_is_not_in_the_cache_is_deleted_from_neutron(setup: Setup) -> None:
    setup.neutron.create("default", "a", WIDE)
    setup.controller.sync_handler("default/a")
    assert setup.neutron.list() == {}


def test_differences_that_no_event_speaks_of_are_queued(setup: Setup) -> None:
    setup.neutron.create("default", "orphan", WIDE)
    setup.neutron.create("default", "tampered", OTHER)
    setup.neutron.create("default", "equal", WIDE)
    setup.cache(network("tampered"), network("equal"), network("lost"))
    setup.controller.enqueue_differences()
    assert setup.queued() == ["default/lost", "default/orphan", "default/tampered"]


def test_a_resync_is_ignored_and_a_change_is_not() -> None:
    ctx, cancel = context.with_cancel(context.background())
    setup = Setup()
    client = setup.clients[1]
    networks = client.samplecrd_v1().networks("default")
    calls: list[str] = []
    informer = setup.informer.informer()
    arrived = threading.Event()

    def enqueued(obj: Any) -> None:
        calls.append(obj.get_resource_version())
        if calls[-1] == "2":
            arrived.set()

    # The handler of updates calls this; that of additions has the method already.
    setup.controller.enqueue_network = enqueued
    running = threading.Thread(target=informer.run_with_context, args=(ctx,), daemon=True)
    running.start()
    assert cache.wait_for_cache_sync(ctx.done(), informer.has_synced)
    networks.create(ctx, network("a"), metav1.CreateOptions())
    networks.update(ctx, network("a", OTHER, version="1"), metav1.UpdateOptions())
    networks.update(ctx, network("a", OTHER, version="2"), metav1.UpdateOptions())
    assert arrived.wait(PATIENCE)
    cancel()
    running.join()
    setup.controller.workqueue.shut_down()
    setup.controller.event_broadcaster.shutdown()
    assert calls == ["2"]


def test_a_network_is_queued_by_its_key_and_what_has_none_is_not(setup: Setup) -> None:
    setup.controller.enqueue_network(network("a"))
    setup.controller.enqueue_network("nonsense")
    assert setup.controller.workqueue.get() == ("default/a", False)
    setup.controller.workqueue.done("default/a")
    assert setup.controller.workqueue.len() == 0


def test_a_tombstone_is_queued_by_its_key(setup: Setup) -> None:
    setup.controller.enqueue_network_for_delete(cache.DeletedFinalStateUnknown("default/gone", network("gone")))
    assert setup.controller.workqueue.get() == ("default/gone", False)
    setup.controller.workqueue.done("default/gone")


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_neutron_keeps_its_networks(kind: str, tmp_path: Path) -> None:
    neutron = FileNeutron(tmp_path / "state") if kind == "file" else MemoryNeutron()
    assert neutron.get("ns", "a") == (None, False)
    neutron.create("ns", "a", WIDE)
    with pytest.raises(NeutronError, match="ns/a already exists"):
        neutron.create("ns", "a", OTHER)
    with pytest.raises(NeutronError, match="ns/b does not exist"):
        neutron.update("ns", "b", OTHER)
    neutron.update("ns", "a", OTHER)
    assert neutron.get("ns", "a") == (OTHER, True)
    neutron.delete("ns", "a")
    neutron.delete("ns", "a")
    assert neutron.list() == {}


def test_a_state_file_survives_its_process_and_many_writers(tmp_path: Path) -> None:
    path = tmp_path / "state"
    writers = [
        threading.Thread(target=FileNeutron(path).create, args=("ns", f"n{number}", WIDE)) for number in range(8)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert FileNeutron(path).list() == {("ns", f"n{number}"): WIDE for number in range(8)}


@pytest.mark.parametrize(
    "text", ["", "[]", '{"a": 1}', '{"a/b": {}}', '{"a/b/c": {"cidr": "", "gateway": ""}}', "[" * 9999]
)
def test_a_damaged_state_file_is_named_and_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_text(text)
    with pytest.raises(NeutronError, match=str(path)):
        FileNeutron(path)
    assert path.read_text() == text
