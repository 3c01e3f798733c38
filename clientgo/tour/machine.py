"""The machine of a run: the embedded API server and a program's replicas (replica.py), all in one process.

script.py has the commands and faults that happen to it.
"""

from __future__ import annotations

import itertools
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clientgo import context, kubernetes
from clientgo.context import Context
from clientgo.golang import http
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.local import LocalTransport
from clientgo.tools import leaderelection
from clientgo.tour.picture import Scene
from clientgo.tour.replica import Process, new_config
from clientgo.tour.seam import Tap
from clientgo.tour.settings import Settings

__all__ = ["Machine", "Program"]

_UIDS = uuid.UUID("6f1b0a52-5d0c-4f0e-9f0e-636c69656e74")
_NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def _numbered_uids() -> Iterator[str]:
    for number in itertools.count(1):
        yield str(uuid.uuid5(_UIDS, str(number)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Program:
    """A controller that runs in a machine, and the commands of a user next to it."""

    worker: Tap
    """The function that reconciles one key."""
    resources: tuple[str, ...]
    """The API server's resources in the picture, by their buckets in its store. The first is the program's subject."""
    new_replica: Callable[[Server, http.RoundTripper, str, Settings], Process]
    verbs: Mapping[str, Callable[[Machine, Any], None]]
    """The user's commands by their names in a script. "create" and "delete" are required."""
    prepare: Callable[[Server], object] = lambda server: None
    """Prepares the API server before the controller starts."""
    switches: tuple[str, ...] = ()
    """Names of the settings that have an effect; () for all."""


class Machine:
    """All parts of one run. It is created, runs and ends inside a bubble.

    With several replicas the picture shows the leader, or the last one.
    """

    def __init__(self, settings: Settings, program: Program) -> None:
        self.program = program
        uids = _numbered_uids()
        self.server = Server(listen=False, new_uid=lambda: next(uids))
        self.server.start()
        program.prepare(self.server)
        self._transport = LocalTransport(self.server)
        self.ctx, self._cancel = context.with_cancel(context.background())
        self.outside_config = new_config(self.server, self._transport)
        """The configuration of kubectl, which has a connection of its own."""
        self.outside = kubernetes.new_for_config(self.outside_config)
        self._settings = settings
        self._threads: list[threading.Thread] = []
        self._names = itertools.chain(_NAMES, map(str, itertools.count(len(_NAMES) + 1)))
        self._replicas = [self._new_replica() for _ in range(settings.replicas)]
        self.scene = Scene(store=self.server.store, resources=program.resources)
        self.show(self._replicas[0])

    def _new_replica(self) -> Process:
        return self.program.new_replica(self.server, self._transport, next(self._names), self._settings)

    def show(self, replica: Process) -> None:
        """Show this replica in the picture from now on; faults happen to it too."""
        self.replica = replica
        self.scene.turn_to(wire=replica.wire, informers=replica.informers, queue=replica.queue)

    def start(self) -> None:
        """Start the controller: at once, or as soon as it leads."""
        for replica in self._replicas:
            self._start(replica)

    def _start(self, replica: Process) -> None:
        if self._settings.replicas == 1:
            self.show(replica)
            self.spawn("controller", replica.run, replica.ctx)
        else:
            self.spawn(f"elector-{replica.name}", self._run_election, replica)

    def _run_election(self, replica: Process) -> None:
        def lead(ctx: Context) -> None:
            self.show(replica)
            replica.run(ctx)

        callbacks = leaderelection.LeaderCallbacks(on_started_leading=lead, on_stopped_leading=replica.stop)
        replica.new_elector(callbacks).run(replica.ctx)

    def kill(self) -> None:
        """Kill the replica in the picture and start another ten seconds later, as a kubelet would. Blocks."""
        killed = self.replica
        if killed.is_killed:
            return
        killed.kill()
        self.scene.turn_to(wire=killed.wire, informers=[], queue=None)  # its memory is gone
        self.pause(10.0)
        if not self.ctx.done().is_set():
            self._replicas.append(self._new_replica())
            self._start(self._replicas[-1])

    def spawn(self, name: str, target: Callable[..., object], *args: object) -> threading.Thread:
        """Start and return a thread that `stop` joins."""
        thread = threading.Thread(target=target, args=args, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def forget_history(self) -> None:
        """Drop the API server's history, like etcd's compaction."""
        self.server.store.compact(self.server.store.version)

    def pause(self, seconds: float) -> None:
        """Block for `seconds`, or until the run ends."""
        context.sleep(self.ctx, seconds)

    def stop(self) -> None:
        """Stop everything and join every thread. Blocks."""
        self._cancel()
        for replica in self._replicas:
            replica.stop()
            replica.wire.reconnect()
        for thread in self._threads:
            thread.join()
        for replica in self._replicas:
            replica.close()
        self.outside.close()
        self.server.stop()
