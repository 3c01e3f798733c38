"""A living cluster in virtual time, and programs in it that are killed between their writes and read from late caches.

    with VirtualCluster(crds=[...]) as cluster:
        cluster.each_change(budget.look)                    # every commit of the server, in order
        program = Program(cluster, run, dies_after=every(4, offset=2), delay=up_to(3.0, seed=7))
        with program:                                       # run(life) is started anew after each death
            cluster.client.create(CTX, thing)
            cluster.until(lambda: is_done(cluster.client.get(CTX, KEY, Thing)))
    assert program.deaths

`run(life)` is the program's main: it makes its clients from `life.config`, has what it does outside the API server
pass through `life.effect`, and returns when `life.ctx` is done. A program that dies has made the write that killed it,
does not learn that, and whatever it still tries comes to nothing: what it knew is lost, as with kill -9.

All kill points: `for offset in range(k)` with `every(k, offset)` each write is a death in one of the k runs, and the
program gets k - 1 writes far in between. `every(1)` dies at each write.
"""

from __future__ import annotations

import contextlib
import random
import re
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from clientgo import context, kubernetes, rest
from clientgo.controller_runtime import client
from clientgo.golang import http
from clientgo.testing import synctest
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.local import LocalTransport
from clientgo.testing.apiserver.simulator import Simulator
from clientgo.testing.apiserver.store.storage import Event

R = TypeVar("R")

CTX = context.background()
PATIENCE = 6 * 3600.0  # virtual seconds
RESTART_PAUSE = 1.0
_READS = ("GET", "HEAD", "OPTIONS")
# Written by threads beside the controller; nothing is decided by them.
_NO_DECISION = re.compile(r"/(events|leases)(/|$)")


def every(count: int, offset: int = 0) -> Callable[[int], bool]:
    """Return a function that selects the writes that kill: each `count`-th, beginning with `offset`, counted from 0."""
    return lambda number: number % count == offset


def never(number: int) -> bool:
    return False


def up_to(seconds: float, seed: int) -> Callable[[], float]:
    """Return a random delay for each event of a watch; the same ones for the same seed."""
    chance = random.Random(seed)
    return lambda: chance.uniform(0.0, seconds)


class VirtualCluster:
    """An API server with its workload simulator in a bubble of its own. A context manager, for one test.

    `scheme` is for `client`, the administrator's; `ready_delay` the seconds a pod needs to become ready.
    """

    def __init__(self, *, crds: Iterable[dict[str, Any]] = (), scheme: Any = None, ready_delay: float = 1.0) -> None:
        self._crds = list(crds)
        self._scheme = scheme
        self._ready_delay = ready_delay
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> VirtualCluster:
        with contextlib.ExitStack() as undo:
            self.bubble = undo.enter_context(synctest.bubble(max_steps=10_000_000))
            self.server = undo.enter_context(Server(listen=False))
            transport = LocalTransport(self.server)
            undo.enter_context(Simulator(self.server, ready_delay=self._ready_delay, transport=transport))
            self.install(*self._crds)
            self.clientset = kubernetes.new_for_config(self.config(transport))
            undo.callback(self.clientset.close)
            self.client = client.new(self.config(transport), client.Options(scheme=self._scheme))
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *exc: Any) -> bool | None:
        return self._undo.__exit__(*exc)

    def install(self, *objects: dict[str, Any]) -> None:
        """Create objects of the cluster, such as CRDs, and wait until the server has made of them what it does."""
        for obj in objects:
            resource = self.server.registry.by_kind(obj["apiVersion"], obj["kind"])
            assert resource is not None, obj["kind"]
            self.server.create(resource, "", obj)
        self.bubble.wait()

    def config(self, transport: http.RoundTripper) -> rest.Config:
        """Return an administrator's client that uses this transport."""
        return rest.Config(host=self.server.url, bearer_token=self.server.token, qps=-1, transport=transport)

    def each_change(self, look: Callable[[str, Event], object]) -> None:
        """Call `look(bucket, event)` for each commit, with the store's lock held: it may not ask the server."""
        self.server.store.subscribe(look)

    def until(self, done: Callable[[], object], seconds: float = PATIENCE, step: float = 1.0) -> None:
        """Let time pass until `done()`; AssertionError when that is not so after all these (virtual) seconds."""
        end = self.bubble.elapsed + seconds
        self.bubble.wait()
        while not done():
            assert self.bubble.elapsed < end, f"not so after {seconds:g} virtual seconds"
            self.bubble.sleep(step)


class Killed(ConnectionResetError):
    """The exception that a program gets after its death."""


class Life:
    """One process of a program: from its start to its death, or to the end of the test."""

    def __init__(self, program: Program, number: int, transport: http.RoundTripper) -> None:
        self.number = number
        self.ctx, self._cancel = context.with_cancel(context.background())
        self.config = program.cluster.config(_Mortal(self, transport))
        self._program = program
        self.is_dead = False

    def __repr__(self) -> str:
        return f"<Life {self.number}{' (dead)' if self.is_dead else ''}>"

    def effect(self, name: str, do: Callable[[], R]) -> R:
        """Do something outside the API server that counts as a write: the program may die of it."""
        self.check()
        result = do()
        self.wrote(name)
        return result

    def wrote(self, text: str) -> None:
        """Record a write. Raises Killed if it was the program's last."""
        if self._program.record(text):
            self.is_dead = True
            self._cancel()
            self.check()

    def check(self) -> None:
        if self.is_dead:
            raise Killed("the process is dead")

    def end(self) -> None:
        """End the program like SIGTERM."""
        self._cancel()


class _Mortal:
    """The round tripper of one life."""

    def __init__(self, life: Life, transport: http.RoundTripper) -> None:
        self._life = life
        self._transport = transport

    def round_trip(self, request: http.Request) -> http.Response:
        self._life.check()
        response = self._transport.round_trip(request)
        path = urlsplit(request.url).path
        if request.method not in _READS and response.status_code < 300 and not _NO_DECISION.search(path):
            self._life.wrote(f"{request.method} {path}")
        return response


class Program:
    """Runs `run(life)` on a thread of its own, again after each death. A context manager.

    `dies_after(number)`: whether the write of this number, counted from 0 over all lives, is a life's last.
    `delay()`: by how many seconds what its watches show is late.
    """

    def __init__(
        self,
        cluster: VirtualCluster,
        run: Callable[[Life], object],
        *,
        dies_after: Callable[[int], bool] = never,
        delay: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.cluster = cluster
        # What was written, in order, and which of these killed.
        self.writes: list[str] = []
        self.deaths: list[str] = []
        self._run = run
        self._dies_after = dies_after
        self._transport = LocalTransport(cluster.server, delay=delay)
        # Guards writes, deaths and _life.
        self._lock = threading.Lock()
        self._life: Life | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._live, name="program", daemon=True)

    def __enter__(self) -> Program:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stopping.set()
        with self._lock:
            if self._life is not None:
                self._life.end()
        self._thread.join()
        self.cluster.bubble.raise_failures()

    def stop_dying(self) -> None:
        """Let no more writes kill the program."""
        self._dies_after = never

    def record(self, text: str) -> bool:
        """Note a write; True if it kills."""
        with self._lock:
            kills = self._dies_after(len(self.writes))
            self.writes.append(text)
            if kills:
                self.deaths.append(text)
            return kills

    def _live(self) -> None:
        number = 0
        while not self._stopping.is_set():
            with self._lock:
                life = self._life = Life(self, number, self._transport)
            if self._stopping.is_set():
                return
            try:
                self._run(life)
            except Exception:
                # In whatever form it comes back from the depths of a manager.
                if not life.is_dead:
                    raise
            assert life.is_dead or self._stopping.is_set(), f"{life!r} has returned"
            number += 1
            self._stopping.wait(RESTART_PAUSE)
