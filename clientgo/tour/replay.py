"""A recording as a run of the tour: the same informer code, fed from the file, hop by hop, forwards and backwards.

The run happens in virtual time, as those of the lessons, and so is always the same. It may begin at any moment of the
recording: the informer then lists what was known by then. What the recorded program did itself is in the recording's
hops; here a controller that only looks at what is cached stands in its place.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from clientgo import context
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.util import naming
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tour.hop import Hop
from clientgo.tour.picture import Json, Painter, Scene
from clientgo.tour.playback import Playback, first_object, kind_of
from clientgo.tour.program import Enqueuer, Queue
from clientgo.tour.recorded import printable
from clientgo.tour.recording import Recording, RecordingError, Source
from clientgo.tour.replica import Bystander, new_queue
from clientgo.tour.scenario import Scenario
from clientgo.tour.seam import Call, Tap
from clientgo.tour.settings import Settings
from clientgo.tour.stepping import Decision, Trace, perform
from clientgo.tour.taps import key_of, version_of, worker_tap

__all__ = ["SWITCHES", "Looker", "replay", "scenario_of"]

SWITCHES = ("fifo", "replace", "queue", "limiter", "resync", "handlers", "workers", "base_delay", "last")
"""The settings that count here; the recording decides the others."""

# How much of anything the picture shows.
_SHOWN = 24
# The seconds that a run continues after the recording's last line: long enough for the retry of a failed request.
_AFTER = 60.0


def _line(call: Call, playback: Any, entry: Json) -> None:
    event = call()
    if event is not None and event.type not in ("BOOKMARK", "ERROR"):
        about = {"key": key_of(event.object), "version": version_of(event.object), "object": event.object}
        call.emit("line", more={"type": str(event.type)}, **about)
    elif event is not None and event.type == "ERROR":
        call.emit("line", more={"type": str(event.type)})


TAPS = (
    Tap("clientgo.tour.playback", "Playback.event", "reflector", "rest/watch/decoder.go", "(*Decoder).Decode", _line),
    worker_tap("clientgo.tour.replay", "Looker.reconcile", "controller.go", "(*Controller).syncHandler"),
)
"""Of what stands in the place of the API server and of the program."""


class Looker:
    """A controller that only reads the cache."""

    def __init__(self, indexer: cache.KeyGetter, queue: Queue) -> None:
        self._indexer = indexer
        self._queue = queue

    def work(self) -> None:
        """Take keys until the queue is shut down. Blocks."""
        while True:
            key, shutdown = self._queue.get()
            if shutdown:
                return
            self.reconcile(key)
            self._queue.forget(key)
            self._queue.done(key)

    def reconcile(self, key: str) -> bool:
        """Report whether the cache has the object."""
        _, exists = self._indexer.get_by_key(key)
        return exists


class _Replayed:
    """The informer of one source. See stepping.Stage."""

    def __init__(self, recording: Recording, source: Source, settings: Settings, start: float) -> None:
        self._settings = settings
        kind, example = _kind_of(recording, source)
        self._playback = Playback(recording, source, kind, start=start)
        options = cache.SharedIndexInformerOptions(
            resync_period=settings.resync,
            indexers={cache.NAMESPACE_INDEX: cache.meta_namespace_index_func},
            in_order=settings.fifo == "RealFIFO",
            emit_delta_type_replaced=settings.replace == "Replaced",
        )
        with naming.call_site(source.name):  # the program's name for it
            self._informer = cache.new_shared_index_informer_with_options(self._playback, example, options)
        self._queue = new_queue(settings)
        handlers: list[Any] = [Enqueuer(self._queue, "replay"), Bystander("replay")][: settings.handlers]
        for handler in handlers:
            self._informer.add_event_handler(handler)
        self._looker = Looker(self._informer.get_indexer(), self._queue)
        self._ctx, self._cancel = context.with_cancel(context.background())
        self._threads: list[threading.Thread] = []
        self._lasts = max(0.0, source.to_dict()["last"] - self._playback.moment()) + _AFTER
        scene = Scene(server=self._paint_server, informers=[self._informer], queue=self._queue)
        self.painter = Painter(scene, most=_SHOWN)

    def _paint_server(self) -> Json:
        version, came = self._playback.seen()
        return {
            "version": version,
            "objects": [],
            "history": came,
            "oldest": "",
            "wire": "up",
            "remote": True,
            "facts": [["moment", f"{self._playback.moment():.3f}s"]],
        }

    def play(self, enough: threading.Event) -> None:
        self._spawn("informer", self._informer.run_with_context, self._ctx)
        self._spawn("controller", self._control)
        enough.wait(self._lasts)

    def _control(self) -> None:
        """Start the workers when the cache has synced, like main programs."""
        # Without polling: the recorded server may not have answered for days.
        if cache.wait_for(self._ctx, "", self._informer.has_synced_checker()):
            for number in range(self._settings.workers):
                self._spawn(f"worker-{number}", self._looker.work)

    def _spawn(self, name: str, target: Any, *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def is_shown(self, hop: Hop) -> bool:
        return True

    def break_(self, fault: str) -> threading.Thread | None:
        return None

    def stop(self) -> None:
        self._cancel()
        self._queue.shut_down()
        for thread in self._threads:  # it may grow meanwhile
            thread.join()
        self._playback.close()


def _kind_of(recording: Recording, source: Source) -> tuple[type[Object], Any]:
    """Return the class of a source's objects, and an example of them."""
    first = first_object(recording, source)
    if first is None:
        return Unstructured, None
    kind = kind_of(first)
    if kind is not Unstructured:
        return kind, kind()
    return kind, Unstructured({"apiVersion": first.get("apiVersion", ""), "kind": first.get("kind", "")})


def scenario_of(source: Source) -> Scenario:
    """Return a scenario whose name chooses the source; its title is a number if the source's own line was damaged."""
    title = source.type or f"#{source.number}"
    return Scenario(name=f"source-{source.number}", title=f"{title} ({source.name})" if source.name else title)


def replay(
    recording: Recording,
    source: Source,
    settings: Settings | None = None,
    decisions: Sequence[Decision] = (),
    limit: int = 250,
    *,
    start: float = 0.0,
) -> Trace:
    """Feed an informer from a recording, from a moment on, until its end or until so many hops; see stepping.execute.

    Raises ValueError for a decision or a setting that cannot be, and RecordingError for a recording in which nothing
    happens for years, so that the run has no end.
    """
    if any(decision.kind == "fault" for decision in decisions):
        raise ValueError("in a recording happens what happened")
    settings = settings or Settings()
    settings.check()
    with Playback(recording, source, start=start) as playback:
        origin = playback.moment()
    trace = Trace(scenario_of(source), settings, tuple(decisions), origin=origin)
    try:
        perform(trace, lambda: _Replayed(recording, source, settings, start), TAPS, limit)
    except synctest.LivelockError:
        raise RecordingError(
            f"{printable(recording.path)} cannot be replayed: the times of its lines are too far apart"
        ) from None
    return trace
