"""What a client reads and writes: any object, and any list. Mirrors pkg/client/object.go.

In Go these are interfaces that every struct with TypeMeta and ObjectMeta satisfies. Here every kind, generated, of a
CRD or unstructured, is a subclass of one of two base classes, so those are the types.
"""

from __future__ import annotations

from typing import TypeAlias

from clientgo.apimachinery.runtime import ListObject, ReadOnlyError, ResourceObject

# An object of a resource: typed, Unstructured or PartialObjectMetadata. Go: client.Object.
Object: TypeAlias = ResourceObject

# A list of such objects. Go: client.ObjectList.
ObjectList: TypeAlias = ListObject

__all__ = ["Object", "ObjectList"]


def require_object(obj: object) -> None:
    """Raise TypeError for what is neither an object of a resource nor their class. Go's compiler sees to that."""
    if not issubclass(obj if isinstance(obj, type) else type(obj), ResourceObject):
        raise TypeError(f"expected an object of a resource, or a class of them, got {_name_of(obj)}")


def require_list(obj: object) -> None:
    """Raise TypeError for what is neither a list of objects nor a class of lists. Go's compiler sees to that."""
    if not issubclass(obj if isinstance(obj, type) else type(obj), ListObject):
        raise TypeError(f"expected a list of objects, or a class of lists, got {_name_of(obj)}")


def _name_of(obj: object) -> str:
    return f"the class {obj.__name__}" if isinstance(obj, type) else type(obj).__name__


def require_writable(*objects: Object) -> None:
    """Raise ReadOnlyError for an object that a server's answer could not be written to.

    Called before anything is sent: afterwards it would be too late.
    """
    for obj in objects:
        if isinstance(obj, type) or not isinstance(obj, ResourceObject):
            raise TypeError(f"expected an object of a resource, got {_name_of(obj)}")
        if obj.frozen:
            raise ReadOnlyError(
                f"{obj!r} is shared and read-only (objects from a cache are); call deep_copy() and change the copy"
            )
