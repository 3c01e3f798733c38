"""References to objects, for events and other objects.

Mirrors k8s.io/client-go/tools/reference/ref.go.
"""

from __future__ import annotations

from typing import Any

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.golang.strconv import quote


class ErrNilObject(ValueError):
    """Raised for a reference to None. Go: reference.ErrNilObject."""

    def __init__(self) -> None:
        super().__init__("can't reference a nil object")


def get_reference(scheme: runtime.Scheme | None, obj: Any) -> corev1.ObjectReference:
    """Return a reference to any object or list. Returns an ObjectReference unchanged.

    The scheme supplies the kind of an object that has none. Raises ErrNilObject, and other ValueErrors or TypeErrors
    with Go's text if no kind can be found. Go: reference.GetReference.
    """
    if obj is None:
        raise ErrNilObject
    if isinstance(obj, corev1.ObjectReference):
        return obj
    try:
        object_meta = meta.accessor(obj)
    except TypeError:
        return _list_reference(scheme, obj)
    gvk = _kind_of(scheme, obj)
    reference = {
        "kind": gvk.kind,
        "namespace": object_meta.get_namespace(),
        "name": object_meta.get_name(),
        "uid": object_meta.get_uid(),
        "apiVersion": str(gvk.group_version()),
        "resourceVersion": object_meta.get_resource_version(),
    }
    # Builds the JSON document directly, since recorders create one for every event.
    return corev1.ObjectReference.from_dict({name: text for name, text in reference.items() if text})


def _list_reference(scheme: runtime.Scheme | None, obj: Any) -> corev1.ObjectReference:
    resource_version = meta.common_accessor(obj).get_resource_version()
    gvk = _kind_of(scheme, obj)
    return corev1.ObjectReference(
        kind=gvk.kind, api_version=str(gvk.group_version()), resource_version=resource_version
    )


def _kind_of(scheme: runtime.Scheme | None, obj: Any) -> GroupVersionKind:
    gvk: GroupVersionKind = obj.get_object_kind().group_version_kind()
    if not gvk.empty():
        return gvk
    if scheme is None:
        raise ValueError("scheme is required to look up gvk")
    gvks, _ = scheme.object_kinds(obj)
    if not gvks or gvks[0].empty():
        shown = " ".join(str(each) for each in gvks)
        raise ValueError(f"unexpected gvks registered for object {type(obj).__name__}: [{shown}]")
    return gvks[0]


def get_partial_reference(scheme: runtime.Scheme | None, obj: Any, field_path: str) -> corev1.ObjectReference:
    """Return a reference to a part of an object, such as `spec.containers{name}`.

    Copies an ObjectReference, where Go changes it. Raises the errors of get_reference. Go:
    reference.GetPartialReference.
    """
    reference = get_reference(scheme, obj)
    return corev1.ObjectReference.from_dict({**reference.to_dict(), "fieldPath": field_path})


def go_syntax(ref: corev1.ObjectReference) -> str:
    """Return the reference as Go's %#v formats it, which is how StartLogging writes it."""
    fields = {
        "Kind": ref.kind,
        "Namespace": ref.namespace,
        "Name": ref.name,
        "UID": ref.uid,
        "APIVersion": ref.api_version,
        "ResourceVersion": ref.resource_version,
        "FieldPath": ref.field_path,
    }
    return f"v1.ObjectReference{{{', '.join(f'{name}:{quote(value)}' for name, value in fields.items())}}}"
