"""Methods of the client of events in addition to the generated ones. Mirrors kubernetes/typed/core/v1/event_expansion.go.

An event is in the namespace of its object, regardless of the client's namespace. Therefore these methods, which the
event recorder uses, take the namespace from the event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clientgo import context, gentype
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import fields, runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.types import PatchType
from clientgo.context import Context
from clientgo.gentype import takes_context
from clientgo.golang.functions import require_methods
from clientgo.rest import Request

if TYPE_CHECKING:
    from clientgo.kubernetes.typed.core.v1.event import EventInterface


class EventExpansion(gentype.ClientWithListAndApply[corev1.Event, corev1.EventList]):
    """The extra methods of EventInterface. All block for one request and raise StatusError if the server rejects it."""

    def create_with_event_namespace(self, event: corev1.Event) -> corev1.Event:
        """Deprecated: use create_with_event_namespace_with_context. Go: CreateWithEventNamespace."""
        return self.create_with_event_namespace_with_context(context.background(), event)

    @takes_context
    def create_with_event_namespace_with_context(self, ctx: Context, event: corev1.Event) -> corev1.Event:
        """Create the event in its own namespace. Raises ValueError if the client is bound to another one."""
        self._check_namespace(event, "create")
        return self._in_namespace_of(event, self.get_client().post()).body(event).do(ctx).into(corev1.Event())

    def update_with_event_namespace(self, event: corev1.Event) -> corev1.Event:
        """Deprecated: use update_with_event_namespace_with_context. Go: UpdateWithEventNamespace."""
        return self.update_with_event_namespace_with_context(context.background(), event)

    @takes_context
    def update_with_event_namespace_with_context(self, ctx: Context, event: corev1.Event) -> corev1.Event:
        """Replace the event in its own namespace. Raises ValueError if the client is bound to another one."""
        self._check_namespace(event, "update")
        request = self._in_namespace_of(event, self.get_client().put()).name(event.metadata.name)
        return request.body(event).do(ctx).into(corev1.Event())

    def patch_with_event_namespace(self, event: corev1.Event, data: bytes) -> corev1.Event:
        """Deprecated: use patch_with_event_namespace_with_context. Go: PatchWithEventNamespace."""
        return self.patch_with_event_namespace_with_context(context.background(), event, data)

    @takes_context
    def patch_with_event_namespace_with_context(self, ctx: Context, event: corev1.Event, data: bytes) -> corev1.Event:
        """Apply a strategic merge patch to the event. Uses only name and namespace of `event`.

        Raises ValueError if the client is bound to another namespace.
        """
        self._check_namespace(event, "patch")
        request = self._in_namespace_of(event, self.get_client().patch(PatchType.STRATEGIC_MERGE))
        return request.name(event.metadata.name).body(data).do(ctx).into(corev1.Event())

    def search(self, scheme: runtime.Scheme, obj_or_ref: runtime.Object) -> corev1.EventList:
        """Deprecated: use search_with_context. Go: Search."""
        return self.search_with_context(context.background(), scheme, obj_or_ref)

    @takes_context
    def search_with_context(
        self, ctx: Context, scheme: runtime.Scheme, obj_or_ref: runtime.Object
    ) -> corev1.EventList:
        """Return the events about an object. Raises ValueError if the client is bound to another namespace."""
        from clientgo.tools import reference

        ref = reference.get_reference(scheme, obj_or_ref)
        namespace = self.get_namespace()
        if namespace and ref.namespace != namespace:
            raise ValueError(
                f"won't be able to find any events of namespace '{ref.namespace}' in namespace '{namespace}'"
            )
        selector = self.get_field_selector(ref.name, ref.namespace, ref.kind or None, ref.uid or None)
        return self.list(ctx, metav1.ListOptions(field_selector=str(selector)))

    def get_field_selector(
        self,
        involved_object_name: str | None,
        involved_object_namespace: str | None,
        involved_object_kind: str | None,
        involved_object_uid: str | None,
    ) -> fields.Selector:
        """Return a selector of the events about an object; None matches any value."""
        known = {
            "involvedObject.name": involved_object_name,
            "involvedObject.namespace": involved_object_namespace,
            "involvedObject.kind": involved_object_kind,
            "involvedObject.uid": involved_object_uid,
        }
        return fields.Set({label: value for label, value in known.items() if value is not None}).as_selector()

    def _check_namespace(self, event: corev1.Event, verb: str) -> None:
        own, wanted = self.get_namespace(), event.metadata.namespace
        if own and wanted != own:
            raise ValueError(f"can't {verb} an event with namespace '{wanted}' in namespace '{own}'")

    def _in_namespace_of(self, event: corev1.Event, request: Request) -> Request:
        namespace = event.metadata.namespace
        return request.namespace_if_scoped(namespace, namespace != "").resource("events")


def get_involved_object_name_field_label(version: str) -> str:
    """Return the label that selects events by the name of their object. Go: GetInvolvedObjectNameFieldLabel."""
    return "involvedObject.name"


class EventSinkImpl:
    """A recorder's sink that writes events to the API. Go: EventSinkImpl."""

    def __init__(self, interface: EventInterface) -> None:
        """Initialize a sink for a client of events that is bound to no namespace."""
        self.interface = require_methods(interface, "the client of events", "create_with_event_namespace")

    def create(self, event: corev1.Event) -> corev1.Event:
        """Create an event. Blocks for the request; raises StatusError. Go: Create."""
        return self.interface.create_with_event_namespace(event)

    def update(self, event: corev1.Event) -> corev1.Event:
        """Replace an event. Blocks for the request; raises StatusError. Go: Update."""
        return self.interface.update_with_event_namespace(event)

    def patch(self, event: corev1.Event, data: bytes) -> corev1.Event:
        """Patch an event. Blocks for the request; raises StatusError. Go: Patch."""
        return self.interface.patch_with_event_namespace(event, data)
