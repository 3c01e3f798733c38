"""Methods of the client of events in addition to the generated ones.

Mirrors kubernetes/typed/events/v1beta1/event_expansion.go; the core/v1 module of the same name says why events need it.
"""

from __future__ import annotations

from clientgo import context, gentype
from clientgo.api.events import v1beta1 as eventsv1beta1
from clientgo.apimachinery.types import PatchType
from clientgo.rest import Request


class EventExpansion(gentype.ClientWithListAndApply[eventsv1beta1.Event, eventsv1beta1.EventList]):
    """The extra methods of EventInterface. All block for one request and raise StatusError when it is refused.

    They raise ValueError when the client is bound to a namespace that is not the event's.
    """

    def create_with_event_namespace(self, event: eventsv1beta1.Event) -> eventsv1beta1.Event:
        """Create the event in its own namespace. Go: CreateWithEventNamespace."""
        self._check_namespace(event, "create")
        return self._send(self._in_namespace_of(event, self.get_client().post()).body(event))

    def update_with_event_namespace(self, event: eventsv1beta1.Event) -> eventsv1beta1.Event:
        """Replace the event in its own namespace. Go: UpdateWithEventNamespace."""
        self._check_namespace(event, "update")
        request = self._in_namespace_of(event, self.get_client().put()).name(event.metadata.name)
        return self._send(request.body(event))

    def patch_with_event_namespace(self, event: eventsv1beta1.Event, data: bytes) -> eventsv1beta1.Event:
        """Apply a strategic merge patch; of `event` only name and namespace matter. Go: PatchWithEventNamespace."""
        self._check_namespace(event, "patch")
        request = self._in_namespace_of(event, self.get_client().patch(PatchType.STRATEGIC_MERGE))
        return self._send(request.name(event.metadata.name).body(data))

    def _check_namespace(self, event: eventsv1beta1.Event, verb: str) -> None:
        own, wanted = self.get_namespace(), event.metadata.namespace
        if own and wanted != own:
            raise ValueError(f"can't {verb} an event with namespace '{wanted}' in namespace '{own}'")

    def _in_namespace_of(self, event: eventsv1beta1.Event, request: Request) -> Request:
        namespace = event.metadata.namespace
        return request.namespace_if_scoped(namespace, namespace != "").resource("events")

    def _send(self, request: Request) -> eventsv1beta1.Event:
        return request.do(context.background()).into(eventsv1beta1.Event())
