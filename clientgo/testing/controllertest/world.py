"""One run: the server, the controller's processes, the user and the faults, all in one bubble of virtual time."""

from __future__ import annotations

import contextlib
import itertools
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from clientgo.apimachinery.runtime.view import ReadOnlyError
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.context import Context
from clientgo.golang.stop import WATCHER_NAME
from clientgo.testing import synctest
from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.local import LocalTransport
from clientgo.testing.apiserver.simulator import Simulator
from clientgo.testing.apiserver.store.storage import Contents, Event
from clientgo.testing.controllertest.calls import Call
from clientgo.testing.controllertest.cluster import Client, Cluster
from clientgo.testing.controllertest.errors import chain, described, place
from clientgo.testing.controllertest.faults import TOUCHED, Faults, Lag
from clientgo.testing.controllertest.history import History
from clientgo.testing.controllertest.process import RESTART_PAUSE, Process
from clientgo.testing.controllertest.user import User
from clientgo.testing.controllertest.wire import Killed

if TYPE_CHECKING:
    from clientgo.testing.controllertest.machine import ControllerMachine

# Errors that only a mistake in the program causes.
_MISTAKES = (TypeError, AttributeError, LookupError, NameError, AssertionError, ArithmeticError, RecursionError)
# Objects that are no part of a result.
IGNORED_BUCKETS = ("/events", "events.k8s.io/events", "coordination.k8s.io/leases")
_BESIDE = "events and leases"
# Requests of a run; more are an endless loop.
MOST_REQUESTS = 700
MOST_ERRORS = 250
# Operations of the threads of a run; more are a loop without requests.
MOST_OPERATIONS = 1_000_000
# Times as many are allowed to a machine that skips the check: the loop may end with the fault.
MORE_IF_SKIPPED = 20
# Virtual seconds after the end of all faults.
_RECONNECTS_WITHIN = 600
# Virtual seconds in which a thread ends its last request, such as an event broadcaster, which no main function joins.
_ENDS_WITHIN = 1.0
# Virtual seconds between two looks at the leases.
_BETWEEN_LOOKS = 5.0

# The contents of a cluster before the first run and the number of used uids, by machine. Making them takes long.
_first_contents: dict[type[ControllerMachine], tuple[Contents, int]] = {}


class Violated(Exception):
    """Raised in the run's first thread when a problem was reported."""


class World:
    """The state of one run. A context manager; it belongs to the thread that enters it."""

    def __init__(self, machine_type: type[ControllerMachine], schedule: int = 0, *, endless: bool = False) -> None:
        """Prepare a run; an `endless` one has no limits of requests and of operations."""
        self._most_requests = sys.maxsize if endless else MOST_REQUESTS
        self.new_machine = machine_type
        self.machine = machine_type()
        self.history = History()
        self.faults = Faults()
        self.watched: set[str] = set()
        self.problem = ("", "")
        """The name of the violated check and its description; empty without a violation."""
        self.requests: Counter[str] = Counter()
        self.slowed = 0
        """Number of requests that waited since their process has an old cache: their loop ends."""
        self.idle_writes: list[str] = []
        """The controller's writes that changed nothing."""
        self.errors = 0
        """Number of errors that the controller reported to `utilruntime`."""
        self.changes = 0
        """Number of changes, without events and leases."""
        self.made_by: dict[tuple[str, str], str] = {}
        """The actors that created the living objects, by bucket and key."""
        self._actors: dict[int, tuple[str, list[int]]] = {}
        chooser = synctest.RandomSchedule(schedule) if schedule else None
        self._bubble = synctest.bubble(chooser, max_steps=sys.maxsize if endless else MOST_OPERATIONS, two_clocks=True)
        self._undo = contextlib.ExitStack()

    def __repr__(self) -> str:
        return f"<World of {self.new_machine.__name__} {self.history!r}>"

    # ---- opening and closing

    def __enter__(self) -> World:
        with contextlib.ExitStack() as undo:
            first = _first_contents.get(self.new_machine)
            if first is None:
                # In a bubble of their own: the schedule of a first run would begin earlier than that of a later one.
                first = _first_contents[self.new_machine] = World(self.new_machine)._make_first_contents()
            self._open(undo, *first)
            self.machine.outside = self.machine.new_outside()
            if self.machine.workloads:
                undo.enter_context(Simulator(self.server, transport=self.transport))
            self.wait()
            self._hook(undo)
            self._base_threads = set(threading.enumerate())
            self.processes = [Process(self, name) for name in self._names()]
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *exc: Any) -> bool | None:
        return self._undo.__exit__(*exc)

    def _names(self) -> list[str]:
        count = self.machine.replicas
        return ["controller"] if count == 1 else [f"controller-{number}" for number in range(1, count + 1)]

    def _open(self, undo: contextlib.ExitStack, contents: Contents | None, used_uids: int) -> None:
        """Enter the bubble and start the server."""
        state = random.getstate()
        undo.callback(random.setstate, state)
        random.seed(0)
        undo.enter_context(self._bubble)
        self._uids = itertools.count(used_uids + 1)
        self.server = undo.enter_context(Server(listen=False, new_uid=self._new_uid, contents=contents))
        self.transport = LocalTransport(self.server)
        self.cluster = Cluster(self.server)
        self.user = User(self, Client(self.server, self.transport))

    def _make_first_contents(self) -> tuple[Contents, int]:
        """Return the contents of a cluster before the machine's first step, and the number of used uids."""
        with contextlib.ExitStack() as undo:
            self._open(undo, None, 0)
            for obj in self.machine.definitions():
                self.server.create(self.cluster.resource(f"{obj['apiVersion']}/{obj['kind']}"), "", obj)
            self.wait()
            for name in self.machine.namespaces:
                self.user.create_namespace(name)
            for obj in self.machine.setup:
                resource = self.cluster.resource(f"{obj['apiVersion']}/{obj['kind']}")
                self.server.create(resource, obj["metadata"].get("namespace", "default"), obj)
            self.wait()
            return self.server.store.all_contents(), next(self._uids)

    def _new_uid(self) -> str:
        return f"00000000-0000-4000-8000-{next(self._uids):012d}"

    def _hook(self, undo: contextlib.ExitStack) -> None:
        """Observe the store, and the errors that controllers report."""
        self.server.store.subscribe(self._committed)
        handlers = list(utilruntime.ERROR_HANDLERS), list(utilruntime.PANIC_HANDLERS)

        def restore() -> None:
            utilruntime.ERROR_HANDLERS[:], utilruntime.PANIC_HANDLERS[:] = handlers

        undo.callback(restore)
        utilruntime.ERROR_HANDLERS[:] = [self._on_error]
        utilruntime.PANIC_HANDLERS[:] = [self._on_panic]

    # ---- time and problems

    def now(self) -> float:
        """Return the virtual seconds since the beginning."""
        return self._bubble.elapsed

    def step_clock(self, seconds: float) -> None:
        """Change the time of day."""
        self.note("fault", "time of day", f"{seconds:+g} s")
        self._bubble.move_wall_clock(seconds)

    def wait(self) -> None:
        """Wait until all threads are blocked. Raises Violated for a reported problem."""
        self.sleep(0.0)

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass. Raises Violated for a reported problem."""
        try:
            if seconds:
                self._bubble.sleep(seconds)
            else:
                self._bubble.wait()
        except synctest.ThreadError:
            mine = [each for each in self._bubble.failures if not self.is_expected(each[1])]
            self._bubble.failures.clear()
            if mine:
                thread, err = mine[0]
                self.report("crash", f"thread {thread.name!r} ended with {described(err)}")
        if self.problem[0]:
            raise Violated

    @staticmethod
    def is_expected(err: BaseException | None) -> bool:
        """Report whether an error comes from the kill of its process."""
        return any(isinstance(each, Killed) for each in chain(err))

    def report(self, check: str, problem: str) -> None:
        """Record a violation of a check. The first one counts."""
        if not self.problem[0] and check not in self.machine.skip:
            self.problem = (check, problem)
            self.note("check", check, problem)

    def note(self, actor: str, request: str, response: str = "") -> None:
        """Add a row to the history."""
        self.history.add(self.now(), actor, request, response)

    def _on_error(self, ctx: Context, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        self.errors += 1
        check, most = self._limit("backoff", MOST_ERRORS)
        if self.errors > most:
            last = msg if err is None else described(err)
            self.report(check, f"{most} errors, the last one at {self.now():.3f} s: {last}")
            self._end_processes()
            time.sleep(1.0)  # A worker that never blocks lets the others end this way.
        self.reported(err)

    def reported(self, err: BaseException | None) -> None:
        """Report an error if it is a mistake of the program."""
        for each in chain(err):
            if isinstance(each, ReadOnlyError):
                self.report("read-only", f"the controller changes an object of a cache: {each}{place(each)}")
            elif isinstance(each, _MISTAKES) and not self.is_expected(err):
                self.report("crash", described(each))

    def _on_panic(self, ctx: Context, err: BaseException) -> None:
        if isinstance(err, ReadOnlyError):
            self.report("read-only", f"the controller changes an object of a cache: {err}{place(err)}")
        elif not self.is_expected(err):
            self.report("crash", described(err))

    # ---- requests

    @contextlib.contextmanager
    def acting(self, name: str) -> Iterator[list[int]]:
        """Attribute the changes that this thread makes meanwhile to an actor, and return the list of their versions."""
        ident = threading.get_ident()
        before = self._actors.get(ident)
        versions: list[int] = []
        self._actors[ident] = (name, versions)
        try:
            yield versions
        finally:
            if before is None:
                del self._actors[ident]
            else:
                self._actors[ident] = before

    def count(self, name: str, call: Call) -> None:
        """Count a request of a process. Ends the processes after too many."""
        self.requests[_BESIDE if call.is_beside else name] += 1
        check, most = self._limit("hot loop", self._most_requests)
        if self.work() - self.slowed > most or self.requests.total() > 10 * most:
            self.report(check, f"{most} requests, the last one at {self.now():.3f} s: {call}")
            self._end_processes()

    def _limit(self, check: str, most: int) -> tuple[str, int]:
        """Return the check that reports a run with more than `most` requests or errors, and how many are allowed."""
        return ("hang", MORE_IF_SKIPPED * most) if check in self.machine.skip else (check, most)

    def work(self) -> int:
        """Return the number of requests without events and leases."""
        return self.requests.total() - self.requests[_BESIDE]

    def _end_processes(self) -> None:
        for process in self.processes:
            process.stop()
            process.life.is_dead = True

    def answered(self, name: str, call: Call, status: int, changed: bool) -> None:
        """Record the result of a request."""
        is_real = call.is_write and call.verb != "delete" and not call.is_beside and not call.first("dryRun")
        if is_real and status < 300 and not changed:
            self.idle_writes.append(str(call))

    def _committed(self, bucket: str, event: Event) -> None:
        """Observe a change, with the store's lock held."""
        if bucket in IGNORED_BUCKETS:
            return
        self.changes += 1
        actor, versions = self._actors.get(threading.get_ident(), ("server", []))
        versions.append(event.rv)
        at = (bucket, event.new.key)
        if event.type == "ADDED":
            self.made_by[at] = actor
        elif event.type == "DELETED":
            self.made_by.pop(at, None)
        if actor.startswith("controller"):
            self._compare_touched(event)
        elif actor == "server":
            self.note(actor, f"{event.type.lower()} {bucket.strip('/')} {event.new.key}", f"@{event.rv}")
        self._check_invariants()

    def _compare_touched(self, event: Event) -> None:
        if event.type != "MODIFIED" or event.old is None:
            return
        before, after = (each.obj["metadata"].get("annotations") or {} for each in (event.old, event.new))
        if TOUCHED in before and TOUCHED not in after:
            self.report("lost update", f"the write of {event.new.key} drops an annotation of another writer")

    def _check_invariants(self) -> None:
        for name, check in self.machine.invariants():
            self.apply_rule(name, check)

    def apply_rule(self, name: str, check: Callable[[Cluster], None]) -> None:
        """Call a rule of the machine, and report a violation, or an error of the rule itself: both need the script."""
        try:
            check(self.cluster)
        except AssertionError as err:
            self.report(name, f"{name}: {err}" if str(err) else f"{name}: {described(err)}")
        except Exception as err:
            self.report(name, f"{name}: the rule raised {described(err)}")

    def nth(self, index: int, made_by: str = "") -> tuple[str, str] | None:
        """Return bucket and key of the living objects' `index`-th one, or None without objects."""
        found = sorted(at for at, actor in self.made_by.items() if actor != "server" and actor.startswith(made_by))
        return found[index % len(found)] if found else None

    def leases_expire_within(self) -> float:
        """Return the seconds after which another process leads if the leader stands still; 0 without leases.

        A candidate sees the last renewal, and the end of the lease, only when it asks, which it does after pauses.
        """
        leases = self.cluster.list("Lease")
        longest = max((each["spec"].get("leaseDurationSeconds") or 0 for each in leases), default=0)
        return 2.5 * longest

    def rewind(self, resource: str, changes: int, seconds: float) -> None:
        """Kill the processes, and let them read the resource as it was before its last changes."""
        versions = sorted(event.rv for bucket in self._buckets(resource) for event in bucket)
        if versions:
            version = versions[-min(changes, len(versions))] - 1
            self.faults.lags[resource] = Lag(self.now() + RESTART_PAUSE + seconds, version)
            self.note("fault", f"watch cache of {resource}", f"as of @{version} for {seconds:g} s after the restart")
        for process in self.processes:
            process.kill()

    def _buckets(self, resource: str) -> list[list[Event]]:
        """Return the histories of the resource."""
        names = {each.storage for each in self.server.registry.all() if each.plural == resource}
        return [self.server.store.contents(name)[1] for name in sorted(names)]

    def drop_watches(self, resource: str, seconds: float, compact: bool) -> None:
        """Break the watches of a resource for some seconds. With `compact` the server then forgets the history."""
        self.note("fault", f"watches of {resource}", f"broken for {seconds:g} s" + ", then compaction" * compact)
        self.faults.outages[resource] = self.now() + seconds
        for process in self.processes:
            process.life.wire.break_watches(resource)
        if compact:
            self._bubble.after_func(seconds, lambda: self.server.store.compact(self.server.store.version), "compaction")

    # ---- the course of a run

    def start(self) -> None:
        """Start the processes and wait until they are blocked."""
        for process in self.processes:
            process.start()
        self.wait()

    def stop(self) -> None:
        """Stop the processes, and report what they leave behind."""
        for process in self.processes:
            process.stop()
        for process in self.processes:
            process.join()
        self.wait()
        if self._left_threads():
            self.sleep(_ENDS_WITHIN)
        if names := self._left_threads():
            self.report("stop", f"start() has returned and left threads behind: {', '.join(names)}")
            self.wait()

    def _left_threads(self) -> list[str]:
        """Return the names of the threads that the processes have started and that still run."""
        left = {thread for thread in set(threading.enumerate()) - self._base_threads if thread.is_alive()}
        return sorted(thread.name for thread in left if thread.name != WATCHER_NAME)

    def heal(self) -> None:
        """End all faults, and wait until no process stands still and each watches again what it watched before."""
        self.sleep(self.faults.end(self.now()))
        self.user.remove_finalizers()
        # A reflector's backoff after an outage is up to a minute, and its next request may find a compacted history.
        for _ in range(_RECONNECTS_WITHIN // 10):
            lives = [process.life for process in self.processes]
            if not any(life.wire.lost_watches or life.paused_until > self.now() for life in lives):
                break
            self.sleep(10.0)

    def _wait_for_leaders(self) -> None:
        """Wait until each present lease is written or gone, but not longer than another process needs to take it over.

        Without a leader nothing changes, although the work is not finished.
        """
        end = self.now() + self.leases_expire_within()
        before = self._versions_of_leases()
        while self.now() < end and before & self._versions_of_leases():
            self.sleep(_BETWEEN_LOOKS)

    def _versions_of_leases(self) -> set[tuple[str, str]]:
        return {(each["metadata"]["uid"], each["metadata"]["resourceVersion"]) for each in self.cluster.list("Lease")}

    def settle(self, seconds: float = 0.0) -> None:
        """Wait until nothing has changed for `seconds`, and report endless work.

        With 0, first wait until each lease has been renewed or taken over, then use the machine's `quiet_for`.
        """
        if not seconds:
            self._wait_for_leaders()
        period = seconds or self.machine.quiet_for
        for _ in range(20):
            changes, requests, errors = self.changes, self.work(), self.errors
            self.sleep(period)
            if self.changes == changes:
                break
        else:
            self.report("quiet", f"objects still change after {20 * period:g} s without faults and user actions")
            self.wait()
        limit = self.machine.busy_limit * max(period, self.machine.quiet_for) / 60.0
        if self.work() - requests > limit:
            text = f"{self.work() - requests} requests within {period:g} s in which nothing changed"
            self.report("hot loop", text)
        elif self.errors - errors > limit:
            self.report("backoff", f"{self.errors - errors} errors within {period:g} s in which nothing changed")
        self.wait()
