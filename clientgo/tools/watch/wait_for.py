"""Wait until one object meets a condition, like `kubectl wait`.

    watch.wait_for(ctx, client.apps_v1().deployments("default"), "web", "Available", timeout=60.0)
    watch.wait_for(ctx, client.core_v1().pods("default"), "web", lambda pod: pod.status.phase == "Running", 60.0)
    watch.wait_for_deletion(ctx, client.core_v1().pods("default"), "web", timeout=60.0)

No Go file. The rules for conditions are those of kubectl (k8s.io/kubectl/pkg/cmd/wait); the watch is `until_with_sync`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from clientgo import context
from clientgo.apimachinery import fields, runtime
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.object import ResourceObject
from clientgo.apimachinery.watch import Event, EventType, Interface
from clientgo.context import Context
from clientgo.golang.strconv import quote
from clientgo.klog.answers import is_true
from clientgo.klog.exceptions import operational_error
from clientgo.tools import cache
from clientgo.tools.watch.until import until_with_sync

__all__ = ["Client", "NotMetError", "wait_for", "wait_for_deletion"]

T = TypeVar("T", bound=ResourceObject)
R = TypeVar("R")
T_co = TypeVar("T_co", bound=ResourceObject, covariant=True)


class Client(Protocol[T_co]):
    """The part of a typed, dynamic or metadata client that waits use."""

    def get(self, ctx: Context, name: str, /) -> T_co:
        """Return the named object."""
        ...

    def list(self, ctx: Context, opts: metav1.ListOptions, /) -> runtime.Object:
        """Return the objects that the options select."""
        ...

    def watch(self, ctx: Context, opts: metav1.ListOptions, /) -> Interface:
        """Watch the objects that the options select."""
        ...


@operational_error
class NotMetError(Exception):
    """Raised when the time is over, or the context done, before the object met the condition.

    `wait.interrupted` detects it. The message names the object's last seen conditions.
    """

    def __init__(self, message: str, last: ResourceObject | None) -> None:
        super().__init__(message)
        self.last = last
        """The object as last seen; None if it did not exist. Read-only."""


def wait_for(ctx: Context, client: Client[T], name: str, condition: str | Callable[[T], object], timeout: float) -> T:
    """Block until the named object meets the condition; return a copy of the object.

    `condition` is the type of a status condition, such as "Available", with the status after "=" unless it is True, as
    in "Available=False"; case does not matter. A condition that is older than the object's generation does not count.
    Or it is a function that reports whether the object meets it. It sees every object read-only, in the calling thread.

    An object that does not exist yet, or that is deleted, is waited for. `timeout` is seconds. Runs an informer, and
    stops it before returning, unless the first `get` suffices. Needs the rights to get, list and watch.

    Raises NotMetError at the end of the time or of `ctx`, the errors of the first `get` except NotFound for the object,
    and the errors of the function.
    """
    waiting = _Waiting[T](name, f"{_text(condition)} of")
    meets = _has_condition(condition) if isinstance(condition, str) else condition

    def is_met(obj: T | None) -> bool:
        return obj is not None and is_true(meets, obj)

    met: T | None = waiting.run(ctx, client, is_met, timeout)
    assert met is not None
    return met.deep_copy()


def wait_for_deletion(ctx: Context, client: Client[T], name: str, timeout: float) -> None:
    """Block until the named object does not exist. A later object of the same name counts as the deletion of this one.

    `timeout` is seconds. Runs an informer, and stops it before returning, unless the first `get` suffices. Needs the
    rights to get, list and watch. Raises NotMetError at the end of the time or of `ctx`, and the errors of the first
    `get`.
    """
    waiting = _Waiting[T](name, "the deletion of")

    def is_gone(obj: T | None) -> bool:
        return obj is None or obj.get_uid() != waiting.first_uid

    waiting.run(ctx, client, is_gone, timeout)


class _Waiting(Generic[T]):
    """One wait: the object as last seen, for the error's message. Used by the calling thread, except `_answered`."""

    def __init__(self, name: str, purpose: str) -> None:
        self._name = name
        self._purpose = purpose
        self.first_uid = ""
        self._last: T | None = None
        self._has_read = self._is_deleted = False
        # The error of the condition's function, which is not to be taken for the end of the time.
        self._raised: Exception | None = None
        # Written by the informer's thread: the error of its last request, or None.
        self._last_failure: Exception | None = None

    def run(self, ctx: Context, client: Client[T], is_met: Callable[[T | None], bool], timeout: float) -> T | None:
        """Block until `is_met`; return the object that met the condition, or None if its absence does."""

        def meets(obj: T | None) -> bool:
            try:
                return is_met(obj)
            except Exception as err:
                self._raised = err
                raise

        def on_event(event: Event) -> bool:
            obj: Any = event.object
            if obj.get_name() != self._name:
                return False  # A fake client ignores field selectors.
            self._last, self._is_deleted = obj, event.type == EventType.DELETED
            return meets(None if self._is_deleted else obj)

        def is_absent(store: cache.Store) -> bool:
            return all(obj.get_name() != self._name for obj in store.list()) and meets(None)

        waiting, cancel = context.with_timeout(ctx, timeout)
        try:
            first = errors.get_or_none(client, waiting, self._name)
            self._last, self._has_read = first, True
            if first is not None:
                self.first_uid = first.get_uid()
            if meets(first):
                return first
            lister_watcher = _OneObject(client, self._name, self._answered)
            event = until_with_sync(waiting, lister_watcher, first, is_absent, on_event)
            return None if event is None or event.type == EventType.DELETED else self._last
        except Exception as err:
            if waiting.err() is None or err is self._raised:
                raise
            raise NotMetError(self._message(ctx, timeout), self._last) from waiting.err()
        finally:
            cancel()

    def _answered(self, failure: Exception | None) -> None:
        self._last_failure = failure

    def _message(self, ctx: Context, timeout: float) -> str:
        ended = f"timed out after {timeout:g} s" if ctx.err() is None else f"stopped ({ctx.err()})"
        text = f"{ended} waiting for {self._purpose} {self._target()}; {self._last_seen()}"
        failure = self._last_failure
        return text if failure is None else f"{text}; the last request failed: {failure}"

    def _target(self) -> str:
        if self._last is None:
            return quote(self._name)
        document = document_of(self._last)
        kind = document.get("kind") or type(self._last).__name__
        return f"{kind} {quote('/'.join(filter(None, (self._last.get_namespace(), self._name))))}"

    def _last_seen(self) -> str:
        if not self._has_read:
            return "it was never read"
        if self._last is None:
            return "it does not exist"
        if self._is_deleted:
            return "it was deleted"
        return f"last seen: {_state(document_of(self._last))}"


class _OneObject:
    """A ListerWatcher of one object. It lists and watches: to stream a list of one has no use, and fakes cannot."""

    def __init__(self, client: Client[Any], name: str, answered: Callable[[Exception | None], None]) -> None:
        self._client = client
        self._selector = str(fields.one_term_equal_selector("metadata.name", name))
        self._answered = answered

    def is_watch_list_semantics_un_supported(self) -> bool:
        return True

    def list(self, options: metav1.ListOptions) -> runtime.Object:
        return self.list_with_context(context.background(), options)

    def watch(self, options: metav1.ListOptions) -> Interface:
        return self.watch_with_context(context.background(), options)

    def list_with_context(self, ctx: Context, options: metav1.ListOptions) -> runtime.Object:
        return self._request(self._client.list, ctx, options)

    def watch_with_context(self, ctx: Context, options: metav1.ListOptions) -> Interface:
        return self._request(self._client.watch, ctx, options)

    def _request(
        self, send: Callable[[Context, metav1.ListOptions], R], ctx: Context, options: metav1.ListOptions
    ) -> R:
        options = options.deep_copy()
        options.field_selector = self._selector
        try:
            answer = send(ctx, options)
        except Exception as err:
            if ctx.err() is None:
                self._answered(err)
            raise
        self._answered(None)
        return answer


def _text(condition: str | Callable[[Any], object]) -> str:
    if isinstance(condition, str):
        return f"condition={condition}"
    name = getattr(condition, "__name__", "<lambda>")
    return "the condition" if name == "<lambda>" else name


def _has_condition(text: str) -> Callable[[ResourceObject], bool]:
    """Return the function for a condition's type and status. Raises ValueError for an empty type."""
    kind, _, status = text.partition("=")
    if not kind:
        raise ValueError(f"expected the type of a condition, such as 'Available' or 'Available=False'; got {text!r}")
    expected = (kind.lower(), (status or "true").lower())

    def meets(obj: ResourceObject) -> bool:
        document = document_of(obj)
        for condition in _conditions(document):
            if str(condition.get("type")).lower() == expected[0]:
                return not _is_stale(document, condition) and str(condition.get("status")).lower() == expected[1]
        return False

    return meets


def _conditions(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    status = document.get("status")
    found = status.get("conditions") if isinstance(status, Mapping) else None
    return [each for each in found or () if isinstance(each, Mapping)]


def _is_stale(document: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
    """Report whether the condition is about an older generation, as kubectl does."""
    generation = document.get("metadata", {}).get("generation")
    observed = condition.get("observedGeneration", document["status"].get("observedGeneration"))
    return generation is not None and observed is not None and observed < generation


def _state(document: Mapping[str, Any]) -> str:
    """Return the conditions, or the phase, or the resourceVersion of an object, for a message."""
    shown = []
    for condition in _conditions(document):
        details = ": ".join(filter(None, (condition.get("reason"), condition.get("message"))))
        text = f"{condition.get('type')}={condition.get('status')}"
        text += f" ({details})" if details else ""
        shown.append(f"{text}, of an older generation" if _is_stale(document, condition) else text)
    status = document.get("status")
    phase = status.get("phase") if isinstance(status, Mapping) else None
    if phase:
        shown.insert(0, f"phase {phase}")
    if not shown:
        shown.append(f"no conditions, resourceVersion {document.get('metadata', {}).get('resourceVersion')}")
    return "; ".join(shown)
