"""Shows a program that really runs, on the tour's page.

    with tour.serve(factory, queue) as page:
        print(page.url)
        factory.start(ctx.done())
        controller.run(ctx)

The page asks, more than ten times a second:

    GET  /api/tour                               that it is live, and the kinds of hops
    GET  /api/live?informer=&queue=&since=&key=  all there is to see, see LiveView.paint; with &after= only what is new
                                                 since that look, see LiveView.look
    GET  /api/object?informer=&key=              the states of an object
    GET  /api/past?place=&key=                   the past of a key and of all parts, see LiveView.past
    GET  /api/connected                          blocks for up to two seconds; while pages call it, pauses last
    POST /api/control                            {"pause": handler}, {"go-on": handler}, {"slow": thread, "delay": s},
                                                 {"detach": true}
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from clientgo.tour.hop import KINDS
from clientgo.tour.live import Live
from clientgo.tour.liveview import LiveView
from clientgo.tour.picture import Json
from clientgo.tour.quiet import signals_for_others
from clientgo.tour.recorder import record as recording
from clientgo.tour.seam import Tap
from clientgo.tour.viewschema import SCHEMA
from clientgo.tour.web import PageServer, Refused, Request

__all__ = ["LivePage", "serve"]


class LivePage(PageServer):
    """The page of a `Live`; a context manager that neither attaches nor detaches it.

    watched: functions of the program whose source the page shows.
    """

    def __init__(self, live: Live, port: int = 0, *, title: str = "", watched: Iterable[Tap] = ()) -> None:
        self.live = live
        self._title = title
        self._view = LiveView(live)
        get = {
            "/api/tour": self._tour,
            "/api/live": self._look,
            "/api/object": self._object,
            "/api/past": self._past,
            "/api/connected": self._stay_connected,
        }
        super().__init__(port, get, {"/api/control": self._control}, watched=watched)

    def _tour(self, request: Request, query: dict[str, str]) -> Json:
        return {
            "live": True,
            "title": self._title,
            "views": SCHEMA,
            "kinds": {station: dict(kinds) for station, kinds in KINDS.items()},
        }

    def _look(self, request: Request, query: dict[str, str]) -> Json:
        self.live.connected()
        informer, queue = _number(query, "informer"), _number(query, "queue")
        since, key = _number(query, "since", -1), query.get("key", "")
        if "after" not in query:
            return self._view.paint(informer, queue, since, key)
        return self._view.look(_number(query, "after"), informer, queue, since, key)

    def _object(self, request: Request, query: dict[str, str]) -> Json:
        return self._view.object(_number(query, "informer"), query.get("key", ""))

    def _past(self, request: Request, query: dict[str, str]) -> Json:
        about = {name: query.get(name, "") for name in ("place", "key", "handler", "version")}
        try:
            queued = float(query["queued"]) if query.get("queued") else None
        except ValueError:
            raise Refused(400, "queued is a number of seconds") from None
        informer, queue = _number(query, "informer"), _number(query, "queue")
        return self._view.past(**about, queued=queued, informer=informer, queue=queue)

    def _stay_connected(self, request: Request, query: dict[str, str]) -> Json:
        self.live.stay_connected()
        return {"detached": self.live.is_detached()}

    def _control(self, request: Request, query: dict[str, str]) -> Json:
        self.live.connected()
        match request.read_json():
            case {"pause": str(handler)}:
                self.live.pause(handler)
            case {"go-on": str(handler)}:
                self.live.go_on(handler)
            case {"slow": str(thread), "delay": int() | float() as delay} if not isinstance(delay, bool):
                self.live.slow(thread, float(delay))
            case {"detach": True}:
                self.live.detach()
            case _:
                raise Refused(400, "it can pause, go-on, slow with a delay, and detach")
        paused, delays = self.live.requested()
        return {"paused": sorted(paused), "delays": dict(delays)}


def _number(query: dict[str, str], name: str, default: int = 0) -> int:
    text = query.get(name, str(default))
    if len(text) > 15:
        raise Refused(400, f"{name} is a number")
    try:
        return int(text)
    except ValueError:
        raise Refused(400, f"{name} is a number, not {text!r}") from None


@contextmanager
def serve(
    *watched: Any, port: int = 0, title: str = "", taps: Iterable[Tap] = (), record: str | os.PathLike[str] = ""
) -> Iterator[LivePage]:
    """Serve the page of the live tour on 127.0.0.1, and observe this process while the body of the `with` runs.

    Yields the page, whose `url` is to be opened in a browser. Does not wait for a browser. The end of the body detaches
    the tour: paused handlers and slowed workers continue, and the page gets no more answers.

    watched: factories, informers and queues that exist already. The tour finds those by itself that the program starts
        or creates in the body.
    port: the server's port; 0 selects a free one.
    title: the program's name on the page and in the recording.
    taps: functions of the program to observe as well, see worker_tap.
    record: the path of a new file for a recording, see recorder.py; "" records nothing.

    The page is served, and rates are counted, in threads of their own, which take no signals. Raises OSError if the
    port is taken or the file cannot be created, and TypeError if `watched` contains another kind of object.
    """
    taps = tuple(taps)
    live = Live(taps)
    live.watch(*watched)
    with ExitStack() as stack:
        if record:
            stack.enter_context(recording(record, program=title, taps=taps))
        with signals_for_others():
            page = stack.enter_context(LivePage(live, port, title=title, watched=taps))
            stack.enter_context(live)
        yield page
