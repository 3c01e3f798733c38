"""The way of one controller process to the server: it records the requests and injects the faults.

All faults are possible in a cluster. A watch may break, be late, or be opened again after a compaction, but no event of
an open watch is lost. A list from the watch cache (resourceVersion "0") may be old; any other list is not.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from clientgo.golang import http
from clientgo.testing.apiserver.local import LocalTransport
from clientgo.testing.apiserver.store.storage import Event
from clientgo.testing.controllertest import calls
from clientgo.testing.controllertest.calls import Call

if TYPE_CHECKING:
    from clientgo.testing.controllertest.process import Life
    from clientgo.testing.controllertest.world import World

# A process with an old cache may create what the garbage collector deletes, until its cache is current. That loop ends.
# After so many requests, such a process gets the rate of client-go's default rate limiter.
_FAST_REQUESTS, _SECONDS_BETWEEN = 200, 0.2


class Killed(ConnectionError):
    """Raised in a process that was killed, at each further request.

    No ConnectionResetError: the client would repeat a read for ten seconds, and threads whose requests have no context
    would outlive the restart of the process.
    """


class Wire:
    """A RoundTripper for one life of a controller. Blocks in virtual time only."""

    def __init__(self, world: World, life: Life) -> None:
        self._world = world
        self._life = life
        self._bodies: list[http.Body] = []
        self._has_watched: set[str] = set()

    def __repr__(self) -> str:
        return f"<Wire of {self._life!r}>"

    def round_trip(self, request: http.Request) -> http.Response:
        """Send the request, with the faults that are due. Raises the context's error, Killed, and connection errors."""
        call = calls.parse(request)
        self._check()
        self._pause()
        if call.verb in ("list", "watch"):
            return self._read_many(call, request)
        world = self._world
        world.count(self._life.name, call)
        lost = dies = False
        for fault in world.faults.take() if call.counts else ():
            if fault.name == "before":
                fault.act()
            elif fault.name == "kill before":
                world.note(self._life.name, str(call), "killed before the request")
                self._life.kill()
                self._check()
            elif fault.name in ("pause", "change leader"):
                seconds = fault.seconds if fault.name == "pause" else world.leases_expire_within()
                world.note(self._life.name, str(call), f"paused for {seconds:g} s before the request")
                self._life.paused_until = world.now() + seconds
                fault.act()
                self._pause()
            elif fault.name == "fail" and (response := self._failure(call, fault.code)) is not None:
                return response
            lost |= fault.name == "lose"
            dies |= fault.name == "kill after"
        response = self._rejection(call) or self._send(call, request)
        if dies:
            world.note(self._life.name, "", "killed after the request")
            self._life.kill()
            self._check()
        if lost:
            world.note(self._life.name, "", "the response is lost")
            raise ConnectionResetError("connection reset by peer")
        return response

    def break_watches(self, resource: str = "") -> None:
        """End the open watches of a resource, or all, with a connection error."""
        for call_resource, body in self._watches():
            if resource in ("", call_resource):
                body.abort()

    def _watches(self) -> list[tuple[str, http.Body]]:
        return [(getattr(body, "resource", ""), body) for body in self._bodies]

    def _check(self) -> None:
        if self._life.is_dead:
            raise Killed("the process is dead")

    def _pause(self) -> None:
        while (left := self._life.paused_until - self._world.now()) > 0:
            time.sleep(left)
        self._check()

    def _failure(self, call: Call, code: int) -> http.Response | None:
        """Return an error response, or None if a server does not give this answer to this request."""
        if code == 409 and call.verb not in ("update", "patch"):
            return None
        self._world.note(self._life.name, str(call), f"{code} {calls.REASONS[code]} (injected)")
        text = f'Operation cannot be fulfilled on {call.resource} "{call.name}": injected by the test'
        return calls.failure(code, text)

    def _rejection(self, call: Call) -> http.Response | None:
        """Return the answer to a write that a webhook rejects, or None."""
        world, resource = self._world, call.resource.partition("/")[0]
        if call.verb not in ("create", "update", "patch") or not world.faults.is_rejected(resource, world.now()):
            return None
        world.note(self._life.name, str(call), "403 Forbidden (rejected by a webhook)")
        return calls.failure(403, 'admission webhook "test.controllertest.clientgo" denied the request: not now')

    def _send(self, call: Call, request: http.Request) -> http.Response:
        world, name = self._world, self._life.name
        if world.work() > _FAST_REQUESTS and (self.lost_watches or world.faults.hide_changes(world.now())):
            world.slowed += 1
            time.sleep(_SECONDS_BETWEEN)
        half = world.machine.latency / 2
        time.sleep(half)
        self._pause()
        with world.acting(name) as changes:
            response = world.transport.round_trip(request)
        version, changed = world.server.store.version, bool(changes)
        status = response.status_code
        world.answered(name, call, status, changed)
        shown = str(status) if status < 300 else f"{status} {calls.REASONS.get(status, '')}".rstrip()
        if call.is_write and status < 300:
            shown += f" @{version}" if changed else " (no change)"
        if not call.is_beside:
            world.note(name, str(call), shown)
        time.sleep(half)
        self._check()
        return response

    def _read_many(self, call: Call, request: http.Request) -> http.Response:
        world, name = self._world, self._life.name
        if call.resource:
            world.watched.add(call.resource)
        # A list of the latest state has no version: it is a read, unless the resource was watched before.
        if call.resource and (call.verb == "watch" or call.first("resourceVersion")):
            self._has_watched.add(call.resource)
        if world.faults.is_out(call.resource, world.now()):
            raise ConnectionRefusedError(f"connection refused: {call.resource}")
        lag = world.faults.lag_of(call.resource, world.now())
        if call.verb == "watch":
            return self._watch(call, request)
        if lag is not None and call.first("resourceVersion") == "0" and not call.first("continue"):
            request = _at_version(request, lag.version)
            world.note(name, str(call), f"as of @{lag.version}")
        else:
            world.note(name, str(call), f"as of @{world.server.store.version}")
        with world.acting(name):
            return world.transport.round_trip(request)

    def _watch(self, call: Call, request: http.Request) -> http.Response:
        world, faults, resource = self._world, self._world.faults, call.resource
        if (lag := faults.lag_of(resource, world.now())) is not None:
            if call.first("sendInitialEvents"):
                # An older server, which has no streaming lists: the client then lists from the watch cache.
                return calls.failure(422, "sendInitialEvents is forbidden for watch unless the WatchList feature is on")
            # The watch cache sends nothing before it has caught up.
            request.ctx.done().wait(lag.until - world.now())
            self._check()

        def delay() -> float:
            now = world.now()
            late = faults.lag_of(resource, now)
            return max(0.0, late.until - now if late is not None else 0.0, self._life.paused_until - now)

        def seen(event: Event) -> None:
            world.note(f"cache of {self._life.name}", resource, f"{event.type} {event.new.key} @{event.rv}")

        local = LocalTransport(world.server, delay=delay, seen=seen)
        response = local.round_trip(request)
        if response.status_code == 200:
            body = WatchBody(resource, response.body, self._bodies)
            self._bodies.append(body)
            response.body = body
        return response

    @property
    def open_watches(self) -> list[str]:
        """The resources of the open watches."""
        return sorted(resource for resource, _ in self._watches())

    @property
    def lost_watches(self) -> set[str]:
        """The resources that this life of the process has tried to watch, without an open watch now."""
        return self._has_watched.difference(self.open_watches)


class WatchBody:
    """The body of an open watch, which a fault can end."""

    def __init__(self, resource: str, body: http.Body, open_bodies: list[http.Body]) -> None:
        self.resource = resource
        self._body = body
        self._open = open_bodies
        self.read, self.read_some = body.read, body.read_some
        self.limit_silence, self.abort = body.limit_silence, body.abort

    def close(self) -> None:
        """Close the body."""
        if self in self._open:
            self._open.remove(self)
        self._body.close()


def _at_version(request: http.Request, version: int) -> http.Request:
    """Return the list request for exactly this version."""
    parts = urlsplit(request.url)
    query = [(name, value) for name, value in parse_qsl(parts.query) if not name.startswith("resourceVersion")]
    query += [("resourceVersion", str(version)), ("resourceVersionMatch", "Exact")]
    changed = request.clone()
    changed.url = urlunsplit(parts._replace(query=urlencode(query)))
    return changed
