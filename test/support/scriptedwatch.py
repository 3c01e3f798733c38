"""A server that answers list and watch calls from a script, as the golden reflector cases describe it.

The format stands in golden/README.md. To be used inside a synctest bubble: events carry delays, and calls are written
down with the virtual time at which they came.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from goldenobjects import to_config_map

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource
from clientgo.apimachinery.util.net import ErrUnexpectedEOF
from clientgo.apimachinery.util.validation.field import ErrorList
from clientgo.golang.channel import Channel, Signal
from clientgo.testing.synctest import Bubble

_CONFIG_MAPS = GroupResource("", "configmaps")


def _too_large_with_cause() -> apierrors.StatusError:
    err = apierrors.new_timeout_error("Too large resource version", 1)
    cause = metav1.StatusCause(type=metav1.CauseType.RESOURCE_VERSION_TOO_LARGE, message="Too large resource version")
    err.err_status.details.causes = [cause]
    return err


# What each kind of error in a script is.
ERRORS: dict[str, Callable[[], Exception]] = {
    "expired": lambda: apierrors.new_resource_expired("The resourceVersion for the provided watch is too old."),
    "gone": lambda: apierrors.new_gone("gone"),
    "too_large_rv": lambda: apierrors.new_timeout_error("Too large resource version", 1),
    "too_large_rv_cause": _too_large_with_cause,
    "internal": lambda: apierrors.new_internal_error(Exception("etcd down")),
    "too_many_requests": lambda: apierrors.new_too_many_requests("slow down", 1),
    "forbidden": lambda: apierrors.new_forbidden(_CONFIG_MAPS, "", Exception("no access")),
    "not_found": lambda: apierrors.new_not_found(_CONFIG_MAPS, "x"),
    "invalid": lambda: apierrors.new_invalid(GroupKind("", "ListOptions"), "", ErrorList()),
    "bad_request": lambda: apierrors.new_bad_request("bad request"),
    "method_not_supported": lambda: apierrors.new_method_not_supported(_CONFIG_MAPS, "watch"),
    "not_acceptable": lambda: apierrors.new_generic_server_response(406, "GET", _CONFIG_MAPS, "", "only XML", 0, True),
    "unauthorized": lambda: apierrors.new_unauthorized("no valid token"),
    "connection_refused": lambda: ConnectionRefusedError("dial tcp: connect: connection refused"),
    "eof": lambda: EOFError("EOF"),
    "unexpected_eof": ErrUnexpectedEOF,
    "plain": lambda: Exception("something broke"),
}


@dataclass
class Script:
    """The answers that are left, oldest first."""

    lists: deque[dict[str, Any]]
    watches: deque[dict[str, Any]]

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Script:
        """Return the script of a golden case."""
        return cls(deque(config.get("lists") or ()), deque(config.get("watches") or ()))


class ScriptedListerWatcher:
    """A ListerWatcher whose calls get the script's next answers. After the last one a list hangs and a watch has no
    events.
    """

    def __init__(self, bubble: Bubble, script: Script) -> None:
        self._bubble = bubble
        self.script = script
        self.calls: list[dict[str, Any]] = []
        self._watches: list[ScriptedWatch] = []

    def now_ms(self) -> int:
        """Return the virtual milliseconds since the case began."""
        return round(self._bubble.elapsed * 1000)

    def list_with_context(self, ctx: context.Context, opts: metav1.ListOptions) -> Any:
        self._note("list", opts)
        if not self.script.lists:
            ctx.done().wait()
            raise ctx.err() or RuntimeError("a hanging list was let go")
        answer = self.script.lists.popleft()
        if "error" in answer:
            raise ERRORS[answer["error"]]()
        metadata = metav1.ListMeta(resource_version=answer["resource_version"], continue_=answer.get("continue", ""))
        return corev1.ConfigMapList(metadata=metadata, items=[to_config_map(item) for item in answer["items"]])

    def watch_with_context(self, ctx: context.Context, opts: metav1.ListOptions) -> ScriptedWatch:
        self._note("watch", opts)
        answer = self.script.watches.popleft() if self.script.watches else {"events": []}
        if "error" in answer:
            raise ERRORS[answer["error"]]()
        opened = ScriptedWatch(answer["events"] or [])
        self._watches.append(opened)
        return opened

    def join(self) -> None:
        """Wait for the threads of all watches; those must have been stopped."""
        for opened in self._watches:
            opened.join()

    def _note(self, call: str, opts: metav1.ListOptions) -> None:
        self.calls.append({"call": call, "at_ms": self.now_ms(), "options": shown_options(opts)})


def shown_options(opts: metav1.ListOptions) -> dict[str, Any]:
    """Return the options of a call as the golden files write them."""
    shown: dict[str, Any] = {
        "limit": opts.limit,
        "continue": opts.continue_,
        "resource_version": opts.resource_version,
        "resource_version_match": opts.resource_version_match,
        "allow_watch_bookmarks": opts.allow_watch_bookmarks,
        "send_initial_events": opts.send_initial_events,
    }
    if opts.timeout_seconds is not None:
        shown["timeout_seconds_in_300_600"] = 300 <= opts.timeout_seconds <= 600
    return {key: value for key, value in shown.items() if value or key == "timeout_seconds_in_300_600"}


class ScriptedWatch:
    """A watch that sends the events of a script, each after its delay, and stays open unless a CLOSE is among them."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._result: Channel[watch.Event] = Channel(max(len(events), 1))
        self._stopped = Signal()
        self._thread = threading.Thread(target=self._send, args=(events,), name="scripted watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def result_chan(self) -> Channel[watch.Event]:
        return self._result

    def join(self) -> None:
        self._thread.join()

    def _send(self, events: list[dict[str, Any]]) -> None:
        try:
            for event in events:
                if self._stopped.wait(event.get("delay_ms", 0) / 1000) or event["type"] == "CLOSE":
                    return
                self._result.send(to_event(event))
            self._stopped.wait()
        finally:
            self._result.close()


def to_event(event: dict[str, Any]) -> watch.Event:
    """Return the watch event of a scripted one."""
    if event["type"] == "ERROR":
        err = ERRORS[event["status"]]()
        return watch.Event("ERROR", err.status() if isinstance(err, apierrors.StatusError) else metav1.Status())
    if event["type"] == "WRONG_TYPE":
        return watch.Event("ADDED", corev1.Pod(metadata=metav1.ObjectMeta(name="wrong")))
    obj = to_config_map(event["object"])
    if end := event.get("initial_events_end"):
        obj.set_annotations({metav1.INITIAL_EVENTS_ANNOTATION_KEY: "true" if end is True else end})
    return watch.Event(event["type"], obj)
