"""The Pod controller's own logic: what it prints, and how often it tries again."""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from clientgo import context, features, kubernetes, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.features.testing import set_feature_during_test
from clientgo.testing import synctest
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.local import LocalTransport
from clientgo.tools import cache
from clientgo.tools.cache import testing as framework
from clientgo.util import workqueue

MAIN = Path(__file__).parents[3] / "cmd" / "pod-controller" / "main.py"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """Return the program's module, loaded under a unique name."""
    spec = importlib.util.spec_from_file_location("pod_controller_main", MAIN)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def list_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        yield


def new_queue() -> Any:
    return workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())


def pod(name: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="default"))


def test_a_key_that_always_fails_is_tried_six_times_and_dropped(
    program: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with synctest.bubble() as bubble:
        queue = new_queue()
        controller = program.Controller(queue, cache.new_indexer(cache.meta_namespace_key_func, {}), None)
        tried: list[str] = []

        def fail(key: str) -> None:
            tried.append(key)
            raise RuntimeError("no luck")

        controller.sync_to_stdout = fail
        queue.add("default/a")
        worker = threading.Thread(target=controller.run_worker, args=(context.background(),))
        worker.start()
        bubble.sleep(60.0)
        assert tried == ["default/a"] * 6
        assert queue.num_requeues("default/a") == 0
        queue.shut_down()
        worker.join()
    assert caplog.text.count("Error syncing pod default/a: no luck") == 5
    assert 'Dropping pod "default/a" out of the queue: no luck' in caplog.text


def test_it_prints_what_became_of_a_pod(program: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    indexer = cache.new_indexer(cache.meta_namespace_key_func, {})
    indexer.add(pod("here"))
    controller = program.Controller(None, indexer, None)
    controller.sync_to_stdout("default/here")
    controller.sync_to_stdout("default/gone")
    assert capsys.readouterr().out == ("Sync/Add/Update for Pod here\nPod default/gone does not exist anymore\n")


def test_a_store_that_fails_is_an_error_to_retry(program: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def get_by_key(self, key: str) -> Any:
            raise ValueError("broken store")

    with pytest.raises(ValueError, match="broken store"):
        program.Controller(None, Broken(), None).sync_to_stdout("default/a")
    assert "Fetching object with key default/a from store failed with broken store" in caplog.text


def test_it_runs_and_stops_with_all_its_threads(program: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with synctest.bubble() as bubble:
        source = framework.new_fake_controller_source()
        queue = new_queue()
        handler = cache.ResourceEventHandlerFuncs(
            add_func=lambda obj: queue.add(cache.meta_namespace_key_func(obj)),
            delete_func=lambda obj: queue.add(cache.deletion_handling_meta_namespace_key_func(obj)),
        )
        indexer, informer = cache.new_indexer_informer(source, corev1.Pod(), 0.0, handler, {})
        indexer.add(pod("mypod"))
        source.add(pod("real"))
        controller = program.Controller(queue, indexer, informer)
        ctx, cancel = context.with_cancel(context.background())
        running = threading.Thread(target=controller.run, args=(ctx, 2))
        running.start()
        bubble.sleep(5.0)
        cancel()
        running.join()
        source.shutdown()
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "Pod default/mypod does not exist anymore",
        "Sync/Add/Update for Pod real",
    ]


def test_it_hears_of_each_pod_that_comes_goes_or_has_gone_before(
    program: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """The controller is set up as in main. The deletion of `mypod` arrives as a tombstone."""
    with synctest.bubble() as bubble, Server(listen=False) as server:
        clientset = kubernetes.new_for_config(
            rest.Config(host=server.url, bearer_token=server.token, qps=-1, transport=LocalTransport(server))
        )
        ctx, cancel = context.with_cancel(context.background())
        running = threading.Thread(target=program.new_pod_controller(clientset).run, args=(ctx, 1))
        running.start()
        bubble.sleep(1.0)
        pods = clientset.core_v1().pods("default")
        spec = corev1.PodSpec(containers=[corev1.Container(name="c", image="i")])
        pods.create(ctx, corev1.Pod(metadata=metav1.ObjectMeta(name="a"), spec=spec), metav1.CreateOptions())
        bubble.sleep(1.0)
        pods.delete(ctx, "a", metav1.new_delete_options(0))
        bubble.sleep(1.0)
        cancel()
        running.join()
        clientset.close()
    assert [*dict.fromkeys(capsys.readouterr().out.splitlines())] == [
        "Pod default/mypod does not exist anymore",
        "Sync/Add/Update for Pod a",
        "Pod default/a does not exist anymore",
    ]


def test_caches_that_never_sync_end_the_run(program: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    with synctest.bubble() as bubble:
        source = framework.new_fake_controller_source()
        source.list_error = RuntimeError("no list")
        queue = new_queue()
        indexer, informer = cache.new_indexer_informer(source, corev1.Pod(), 0.0, cache.ResourceEventHandlerFuncs(), {})
        ctx, cancel = context.with_cancel(context.background())
        bubble.after_func(1.0, cancel)
        program.Controller(queue, indexer, informer).run(ctx, 1)
        source.shutdown()
    assert "Timed out waiting for caches to sync" in caplog.text


def test_flags_are_those_of_a_go_program(program: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    for form in (["-kubeconfig=/x"], ["--kubeconfig", "/x"]):
        assert program.parse_flags(form).kubeconfig == "/x"
