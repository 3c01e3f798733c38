"""A text's line runs: the older walkthroughs' controllers, ported line by line as their readers would.

Nothing here is how one writes a controller today; see cmd/pod-controller and cmd/sample-controller for that.
"""

from __future__ import annotations

import re
import threading

import pytest

from clientgo import context, klog
from clientgo.api.core import v1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.golang import fmt
from clientgo.kubernetes import fake
from clientgo.testing import synctest
from clientgo.tools import cache, record
from clientgo.util import workqueue


class PodController:
    """The text with the bare primitives."""

    def __init__(self, queue, indexer, informer):
        self.queue = queue
        self.indexer = indexer
        self.informer = informer

    def process_next_item(self) -> bool:
        key, quit = self.queue.get()
        if quit:
            return False
        try:  # defer c.queue.Done(key)
            err = None
            try:
                self.sync_to_stdout(key)
            except Exception as failure:
                err = failure
            self.handle_err(err, key)
            return True
        finally:
            self.queue.done(key)

    def sync_to_stdout(self, key):
        try:
            obj, exists = self.indexer.get_by_key(key)
        except Exception as err:
            klog.errorf("Fetching object with key %s from store failed with %v", key, err)
            raise
        if not exists:
            fmt.printf("Pod %s does not exists anymore\n", key)
        else:
            fmt.printf("Sync/Add/Update for Pod %s\n", obj.get_name())
            if obj.get_name() == "bad":
                raise fmt.errorf("cannot work on %q", obj.get_name())

    def handle_err(self, err, key):
        if err is None:
            self.queue.forget(key)
            return
        if self.queue.num_requeues(key) < 2:
            klog.infof("Error syncing pod %v: %v", key, err)
            self.queue.add_rate_limited(key)
            return
        self.queue.forget(key)
        utilruntime.handle_error(err)
        klog.infof("Dropping pod %q out of the queue: %v", key, err)

    def run(self, threadiness, stop_ch):
        with utilruntime.handle_crash():  # defer runtime.HandleCrash()
            try:  # defer c.queue.ShutDown()
                klog.infof("Starting Pod controller")
                threading.Thread(target=self.informer.run, args=(stop_ch,), daemon=True).start()
                if not cache.wait_for_cache_sync(stop_ch, self.informer.has_synced):
                    utilruntime.handle_error(fmt.errorf("Timed out waiting for caches to sync"))
                    return
                for _ in range(threadiness):
                    threading.Thread(target=wait.until, args=(self.run_worker, 1.0, stop_ch), daemon=True).start()
                stop_ch.wait()
                klog.infof("Stopping Pod controller")
            finally:
                self.queue.shut_down()

    def run_worker(self):
        while self.process_next_item():
            pass


def pod(name: str) -> v1.Pod:
    return v1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="default"))


def test_the_pod_controller_of_the_text_runs(caplog, capsys):
    with synctest.bubble() as b:
        client = fake.new_clientset(pod("good"), pod("bad"))
        pods = client.core_v1().pods("default")
        list_watch = cache.ListWatch(
            list_func=lambda options: pods.list(context.background(), options),
            watch_func=lambda options: pods.watch(context.background(), options),
        )
        # A fake client sends no initial events; Go's tests say so in the same way.
        watcher = cache.to_list_watcher_with_watch_list_semantics(list_watch, client)
        queue = workqueue.new_rate_limiting_queue(workqueue.default_controller_rate_limiter())
        indexer, informer = cache.new_indexer_informer(
            watcher,
            v1.Pod(),
            0.0,
            cache.ResourceEventHandlerFuncs(
                add_func=lambda obj: queue.add(cache.meta_namespace_key_func(obj)),
                update_func=lambda old, new: queue.add(cache.meta_namespace_key_func(new)),
                delete_func=lambda obj: queue.add(cache.deletion_handling_meta_namespace_key_func(obj)),
            ),
            cache.Indexers({}),
        )
        indexer.add(pod("mypod"))
        controller = PodController(queue, indexer, informer)
        stop = threading.Event()
        running = threading.Thread(target=controller.run, args=(1, stop), daemon=True)
        running.start()
        b.sleep(60.0)
        stop.set()
        running.join()
        b.sleep(60.0)
    assert capsys.readouterr().out.splitlines().count("Sync/Add/Update for Pod good") == 1
    beginnings = {message.partition(" (RuntimeError at test_texts.py:")[0] for message in caplog.messages}
    assert 'Error syncing pod default/bad: cannot work on "bad"' in beginnings
    assert 'Dropping pod "default/bad" out of the queue: cannot work on "bad"' in beginnings
    (unhandled,) = (message for message in caplog.messages if message.startswith('"Unhandled Error"'))
    assert unhandled.startswith('"Unhandled Error" err="RuntimeError: cannot work on \\"bad\\"" at="test_texts.py:')
    assert caplog.messages[0] == "Starting Pod controller"
    assert "Stopping Pod controller" in caplog.messages


class FooController:
    """The sample-controller's older text: strings on the queue, a function wrapped around one item."""

    def __init__(self, sync):
        self.workqueue = workqueue.new_rate_limiting_queue(workqueue.default_controller_rate_limiter())
        self.sync_handler = sync
        self.foos_synced = lambda: True

    def run(self, threadiness, stop_ch):
        with utilruntime.handle_crash():  # defer utilruntime.HandleCrash()
            try:  # defer c.workqueue.ShutDown()
                klog.info("Starting Foo controller")
                if not cache.wait_for_cache_sync(stop_ch, self.foos_synced):
                    raise fmt.errorf("failed to wait for caches to sync")
                for _ in range(threadiness):
                    threading.Thread(target=wait.until, args=(self.run_worker, 1.0, stop_ch), daemon=True).start()
                stop_ch.wait()
            finally:
                self.workqueue.shut_down()

    def run_worker(self):
        while self.process_next_work_item():
            pass

    def process_next_work_item(self) -> bool:
        obj, shutdown = self.workqueue.get()
        if shutdown:
            return False

        def work(obj):
            try:  # defer c.workqueue.Done(obj)
                if not isinstance(obj, str):
                    self.workqueue.forget(obj)
                    utilruntime.handle_error(fmt.errorf("expected string in workqueue but got %#v", obj))
                    return
                key = obj
                try:
                    self.sync_handler(key)
                except Exception as err:
                    self.workqueue.add_rate_limited(key)
                    raise fmt.errorf("error syncing '%s': %s, requeuing", key, err) from err
                self.workqueue.forget(obj)
                klog.infof("Successfully synced '%s'", key)
            finally:
                self.workqueue.done(obj)

        try:
            work(obj)
        except Exception as err:
            utilruntime.handle_error(err)
        return True


def test_the_foo_controller_of_the_text_works_on(caplog):
    failures = [ValueError("not yet")]

    def sync(key: str) -> None:
        if failures:
            raise failures.pop()

    with synctest.bubble() as b:
        controller, stop = FooController(sync), threading.Event()
        controller.workqueue.add("default/foo")
        controller.workqueue.add(42)
        running = threading.Thread(target=controller.run, args=(2, stop), daemon=True)
        running.start()
        b.sleep(10.0)
        stop.set()
        running.join()
        b.sleep(10.0)
    assert "Successfully synced 'default/foo'" in caplog.messages
    unhandled = [message for message in caplog.messages if "Unhandled" in message]
    # The first was raised, so it has its type; the second was only made to be logged.
    assert [re.split(" (?:at|logger)=", message)[0] for message in sorted(unhandled)] == [
        '"Unhandled Error" err="RuntimeError: error syncing \'default/foo\': not yet, requeuing"',
        '"Unhandled Error" err="expected string in workqueue but got 42"',
    ]


def test_the_error_of_the_texts_run_reaches_main():
    """Go: `return fmt.Errorf("failed to wait for caches to sync")` below `defer utilruntime.HandleCrash()`."""
    controller, stop = FooController(lambda key: None), threading.Event()
    controller.foos_synced = lambda: False
    stop.set()
    with pytest.raises(RuntimeError, match="failed to wait for caches to sync"):
        controller.run(1, stop)
    assert controller.workqueue.shutting_down()


def test_the_logging_lines_of_the_texts_run(caplog):
    broadcaster = record.new_broadcaster()
    broadcaster.start_logging(klog.infof)
    klog.set_verbosity(4)
    try:
        klog.v(4).infof("Recovered deleted object '%s' from tombstone", "web")
        klog.v(4).infof("Foo %s replicas: %d, deployment replicas: %d", "web", 1, 2)
        klog.warningf("Network does not exist in local cache: %s/%s, will delete it from Neutron ...", "ns", "net")
        klog.infof("[Neutron] Try to process network: %#v ...", "net")
        klog.background().error(ValueError("no"), "unable to update instance", "instance", "ns/web")
    finally:
        klog.set_verbosity(0)
        broadcaster.shutdown()
    assert caplog.messages == [
        "Recovered deleted object 'web' from tombstone",
        "Foo web replicas: 1, deployment replicas: 2",
        "Network does not exist in local cache: ns/net, will delete it from Neutron ...",
        '[Neutron] Try to process network: "net" ...',
        '"unable to update instance" err="no" instance="ns/web"',
    ]
