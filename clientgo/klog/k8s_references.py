"""References to objects in log lines. Mirrors klog/v2/k8s_references.go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["KMetadata", "ObjectRef", "kobj", "kobj_slice", "kref"]


class KMetadata(Protocol):
    """The properties of an object that `kobj` needs. Go: klog.KMetadata."""

    def get_name(self) -> str:
        """Return the object's name."""
        ...

    def get_namespace(self) -> str:
        """Return the object's namespace, "" if it has none."""
        ...


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """An object in a log line: prints as "namespace/name", or "name" without a namespace. Go: klog.ObjectRef."""

    name: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def kobj(obj: KMetadata | None) -> ObjectRef:
    """Return the reference of an object; an empty one for None and for a value that is not an object. Never raises.

    Go: klog.KObj.
    """
    if obj is None:
        return ObjectRef()
    try:
        return ObjectRef(obj.get_name(), obj.get_namespace())
    except Exception as err:
        return ObjectRef(f"<panic: {type(err).__name__}>")


def kref(namespace: str, name: str) -> ObjectRef:
    """Return the reference of a namespace and a name. Go: klog.KRef.

    >>> str(kref("default", "web")), str(kref("", "node-1"))
    ('default/web', 'node-1')
    """
    return ObjectRef(name, namespace)


class _ObjectRefs:
    """A sequence of references to objects, formatted only when printed."""

    __slots__ = ("_objects",)

    def __init__(self, objects: Iterable[KMetadata | None] | None) -> None:
        self._objects = objects

    def __str__(self) -> str:
        refs = ("<nil>" if obj is None else str(kobj(obj)) for obj in self._objects or ())
        return f"[{' '.join(refs)}]"


def kobj_slice(objects: Iterable[KMetadata | None] | None) -> object:
    """Return the references of several objects, printed as "[ns/a ns/b]". Go: klog.KObjSlice."""
    return _ObjectRefs(objects)
