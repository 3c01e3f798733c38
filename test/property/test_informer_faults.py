"""An informer behind a network that fails at random ends with what the server has, and asks no more than it should.

Everything is real here, HTTP, sockets and threads, but time runs faster (`SPEED`), so that the pauses are the library's
own. CLIENTGO_FAULT_SCRIPTS says how many scripts to run for each kind of informer, CLIENTGO_FAULT_SEED with which seed
to begin; the seed of a failing one is in the message.

controllertest, whose runs have virtual time, replaces no part of this file: it has no sockets, so no body that breaks
off in the middle, no kept connection that was closed and no proxy, and it does not compare requests with pauses.

How much is too much? All that a reflector does between two pauses of its own is to open a stream, up to six if the
server calls each too old or ends each too early, to list, to list once more if its version is too old, and to watch, up
to six times if each watch ends at once and brings nothing new: `MEANWHILE`. The pauses last at least 4/3 s, and each at
least twice as long as the one before, up to 50 s. What else leads to a request is

  * a watch that ended after it had brought something: the next one follows at once;
  * a watch that was silent, but lasted a second: so does the next one;
  * a request that broke, or whose answer said when to come again: it is repeated after a second or more;
  * a request over a kept connection that was closed meanwhile: it goes over a new one at once.

So between two pauses of a second or more there are no more requests than MEANWHILE, the first and the last kind of
these not counted, and in a time no more than the pauses allow that fit into it, and one a second, and those.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any
from urllib.parse import urlsplit

import pytest
from fasttime import fast_time
from faultyproxy import (
    ANSWERS,
    KINDS,
    OPAQUE_KINDS,
    SPOILT,
    WATCH_ANSWERS,
    Fault,
    FaultyProxy,
    Seen,
    again_and_again,
    random_script,
)
from patience import PATIENCE

from clientgo import context, features, gentype, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.features.testing import set_feature_during_test
from clientgo.kubernetes.scheme import CODECS
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.wire import http as wire
from clientgo.tools import cache
from clientgo.utils.clock import REAL_CLOCK

pytestmark = pytest.mark.shared_server

SCRIPTS = int(os.environ.get("CLIENTGO_FAULT_SCRIPTS", "6"))
FIRST_SEED = int(os.environ.get("CLIENTGO_FAULT_SEED", "0"))
AT_ONCE = 28  # they mostly wait
SPEED = 20.0
CTX = context.background()

# Real seconds: between two changes while a script lasts, and of silence after which the informer's client takes a
# connection for dead.
PACE = 0.02
SILENCE = 0.5

# How many requests may follow each other without a pause, when a pass begins with a stream and when it does not.
MEANWHILE = {True: 14, False: 8}
# Seconds: the reflector's first pause and the longest, after how long the first may follow again, and between the
# attempts of one request.
FIRST_PAUSE, LONGEST_PAUSE, RESET, REPEAT = 4 / 3, 50.0, 120.0, 1.0
# By how much a pause may seem shorter, as a condition may wake a little early.
SLACK = 0.98
# And by how many seconds as the proxy notes a request late on a busy machine: a fortieth of a real one.
LATE = SPEED / 40
# Answers after which the same request makes no sense, so that only the reflector may come again.
FINAL = {*ANSWERS, *WATCH_ANSWERS} - {"429 retry", "503 retry"}


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with fast_time(SPEED), pytest.MonkeyPatch.context() as patch, Environment() as environment:
        # Servers pack lists of more than 128 KiB; here some are packed and some are not.
        patch.setattr(wire, "GZIP_THRESHOLD", 5000)
        yield environment


@pytest.fixture(params=[True, False], ids=["streaming", "listing"])
def streaming(request: pytest.FixtureRequest) -> Iterator[bool]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, request.param):
        yield request.param


def maps_client(
    env: Environment, host: str, namespace: str, max_silence: float = 0.0, *, protobuf: bool = False
) -> tuple[rest.RESTClient, Any]:
    config = rest.copy_config(env.config)
    config.host, config.qps, config.max_silence = host, -1, max_silence
    config.api_path, config.group_version = "/api", corev1.SCHEME_GROUP_VERSION
    config.negotiated_serializer = CODECS.without_conversion()
    if host.startswith("https:"):
        config.ca_data = env.server.ca_certificate.encode()
    client = rest.rest_client_for(config)
    maps = gentype.ClientWithList(
        "configmaps", client, namespace, corev1.ConfigMap, corev1.ConfigMapList, prefers_protobuf=protobuf
    )
    return client, maps


class Replayed:
    """The state made from a handler's notifications. Records contradictory notifications."""

    def __init__(self) -> None:
        # Guards the rest; notified with each change.
        self.changed = threading.Condition()
        self.state: dict[str, str] = {}
        self.nonsense: list[str] = []

    def on_add(self, obj: Any) -> None:
        with self._change():
            if obj.get_name() in self.state:
                self.nonsense.append(f"{obj.get_name()} added twice")
            self.state[obj.get_name()] = obj.get_resource_version()

    def on_update(self, old: Any, new: Any) -> None:
        with self._change():
            if self.state.get(new.get_name()) != old.get_resource_version():
                self.nonsense.append(f"{new.get_name()} updated from {old.get_resource_version()}, which it was not")
            self.state[new.get_name()] = new.get_resource_version()

    def on_delete(self, obj: Any) -> None:
        name = (obj.obj if isinstance(obj, cache.DeletedFinalStateUnknown) else obj).get_name()
        with self._change():
            if self.state.pop(name, None) is None:
                self.nonsense.append(f"{name} deleted without having been there")

    def wait_until(self, holds: Callable[[], bool], patience: float) -> bool:
        """Wait for what can only become true when a handler has been called."""
        with self.changed:
            return self.changed.wait_for(holds, patience)

    @contextmanager
    def _change(self) -> Iterator[None]:
        with self.changed:
            yield
            self.changed.notify_all()


def change(maps: Any, dice: random.Random) -> None:
    name = f"map-{dice.randrange(15)}"
    data = {"n": str(dice.random()), "padding": "x" * dice.randrange(2000)}
    obj = corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name), data=data)
    try:
        match dice.randrange(3):
            case 0:
                maps.create(CTX, obj, metav1.CreateOptions())
            case 1:
                maps.update(CTX, obj, metav1.UpdateOptions())
            case _:
                maps.delete(CTX, name, metav1.DeleteOptions())
    except apierrors.StatusError as err:
        if not (apierrors.is_not_found(err) or apierrors.is_already_exists(err)):
            raise


def versions(objects: Iterable[Any]) -> dict[str, str]:
    return {obj.get_name(): obj.get_resource_version() for obj in objects}


@dataclass
class Story:
    """An informer behind a proxy, and what must not happen to it."""

    proxy: FaultyProxy
    direct: Any
    informer: cache.SharedIndexInformer
    seen: Replayed
    streaming: bool
    began: float

    def settle(self) -> None:
        """Spoil nothing any more, and wait until the informer has caught up."""
        self.proxy.calm()
        expected = versions(self.direct.list(CTX, metav1.ListOptions()).extract_items())
        stored: dict[str, str] = {}

        def is_equal() -> bool:
            nonlocal stored
            stored = versions(self.informer.get_store().list())
            return stored == expected == self.seen.state

        assert self.seen.wait_until(is_equal, PATIENCE), f"{stored=} {expected=} {self.seen.state=}"
        assert not self.seen.nonsense

    def check_requests(self) -> None:
        """See the module. What is encrypted cannot be counted."""
        if not self.proxy.opaque:
            check_requests(list(self.proxy.log), REAL_CLOCK.now() - self.began, self.streaming)


def check_requests(log: list[Seen], seconds: float, streaming: bool) -> None:
    """Check the number of requests between two pauses and in total. The module's docstring has the limits."""
    limit = MEANWHILE[streaming]
    total = run = 1
    for before, request in pairwise(log):
        waited = request.at - before.at
        if waited >= min(FIRST_PAUSE, REPEAT) * SLACK - LATE:
            run = 0
        is_free = before.reused or (before.brought_events and before.what == "watch")
        run += not is_free
        total += not (is_free or (waited >= REPEAT * SLACK and before.fault not in FINAL))
        assert run <= limit, f"{run} requests without a pause until {request.at - log[0].at:.2f} s"
    allowed = limit * (1 + pauses(seconds))
    assert total <= allowed, f"{total} requests in {seconds:.1f} s, {allowed} are allowed"


def pauses(seconds: float) -> int:
    """Return the maximum number of the reflector's pauses in that time."""
    number, pause, left = 0, FIRST_PAUSE, seconds
    while left >= pause * SLACK:
        left -= pause * SLACK
        number += 1
        pause = min(2 * pause, LONGEST_PAUSE)
    # Each time they begin anew the first six are shorter than those in whose place they come.
    return number + int(seconds / RESET) * 6


@contextmanager
def story(
    env: Environment,
    name: str,
    script: Iterable[Fault],
    streaming: bool,
    *,
    in_order: bool = True,
    tls: bool = False,
    protobuf: bool,
) -> Iterator[Story]:
    """Yield an informer of the config maps of a new namespace, behind a proxy with this script."""
    direct_client, direct = maps_client(env, env.config.host, name)
    namespace = corev1.Namespace(metadata=metav1.ObjectMeta(name=name))
    gentype.Client("namespaces", direct_client, "", corev1.Namespace).create(CTX, namespace, metav1.CreateOptions())
    parts = urlsplit(env.config.host)
    assert parts.hostname and parts.port
    with FaultyProxy((parts.hostname, parts.port), script, opaque=tls) as proxy:
        client, spoilt = maps_client(env, proxy.url, name, SILENCE, protobuf=protobuf)
        source = cache.ListWatch(list_with_context_func=spoilt.list, watch_func_with_context=spoilt.watch)
        options = cache.SharedIndexInformerOptions(in_order=in_order)
        informer = cache.new_shared_index_informer_with_options(source, corev1.ConfigMap(), options)
        seen = Replayed()
        informer.add_event_handler(
            cache.ResourceEventHandlerFuncs(
                add_func=seen.on_add, update_func=seen.on_update, delete_func=seen.on_delete
            )
        )
        stop = threading.Event()
        thread = threading.Thread(target=informer.run, args=(stop,), daemon=True)
        thread.start()
        try:
            yield Story(proxy, direct, informer, seen, streaming, REAL_CLOCK.now())
        finally:
            stop.set()
            thread.join(PATIENCE)
            client.client.close_idle_connections()
            direct_client.client.close_idle_connections()
            assert not thread.is_alive(), "the informer did not stop"


def in_parallel(fn: Callable[[Any], None], cases: Iterable[Any]) -> None:
    """Run `fn` for each case, several at once, and fail with all that went wrong."""

    def complaint(case: Any) -> str:
        try:
            fn(case)
        except Exception as err:
            return f"{case}: {type(err).__name__}: {err}"
        return ""

    with ThreadPoolExecutor(AT_ONCE) as pool:
        complaints = [found for found in pool.map(complaint, cases) if found]
    assert not complaints, f"{len(complaints)}:\n" + "\n".join(complaints[:5])


def run_story(run: Story, script: list[Fault], dice: random.Random) -> None:
    """Change objects until the script is over, then see what the informer has made of it."""
    try:
        deadline = REAL_CLOCK.now() + PATIENCE * SPEED
        while not run.proxy.wait_until_used_up(dice.expovariate(1 / PACE)):
            change(run.direct, dice)
            assert REAL_CLOCK.now() < deadline, "the script does not end"
        run.settle()
        run.check_requests()
    except AssertionError as err:
        raise AssertionError(f"{err}\n{script}\n{run.proxy.log}") from err


# How the informers differ, besides whether they stream or list.
INFORMERS: dict[str, dict[str, bool]] = {"realfifo": {}, "deltafifo": {"in_order": False}, "tls": {"tls": True}}


@pytest.mark.takes_turns(2)
def test_an_informer_survives_random_faults(env, streaming):
    def survive(case: tuple[str, int]) -> None:
        informer, seed = case
        dice = random.Random(seed)
        script = random_script(dice, OPAQUE_KINDS if informer == "tls" else KINDS)
        name = f"{informer}-{seed}-{streaming}".lower()
        # Half of them in each encoding.
        with story(env, name, script, streaming, protobuf=seed % 2 == 0, **INFORMERS[informer]) as run:
            run_story(run, script, dice)

    in_parallel(survive, product(INFORMERS, range(FIRST_SEED, FIRST_SEED + SCRIPTS)))


# Every fault at once, and in the midst of an answer; every answer also to the second request on a connection.
EACH = [Fault(kind, after) for kind in KINDS for after in (0, 2000 if kind in SPOILT else 1)]


@pytest.mark.takes_turns(2)
def test_a_server_that_always_fails_is_not_stormed(env, streaming):
    def endure(case: tuple[Fault, bool]) -> None:
        fault, protobuf = case
        name = f"{fault.kind}-{fault.after}-{streaming}".lower().replace(" ", "-")
        with story(env, name, again_and_again(fault), streaming, protobuf=protobuf) as run:
            dice = random.Random(name)
            end = run.began + 15.0
            while REAL_CLOCK.now() < end:
                change(run.direct, dice)
                run.proxy.wait_until_used_up(PACE * 2)
            run.settle()
            run.check_requests()

    # What one encoding meets in streams the other meets in lists.
    in_parallel(endure, [(fault, (number % 2 == 0) is streaming) for number, fault in enumerate(EACH)])


@pytest.mark.parametrize(
    ("apart", "complaint"),
    [(0.05, "9 requests without a pause until 0.40 s"), (1.0, "60 requests in 60.0 s, 48 are allowed")],
)
def test_a_storm_would_be_noticed(apart, complaint):
    log = [Seen(number * apart, "list", "500") for number in range(60)]
    with pytest.raises(AssertionError, match=complaint):
        check_requests(log, 60 * apart, streaming=False)
