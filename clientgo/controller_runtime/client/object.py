"""The types of objects and lists that a client reads and writes. Mirrors pkg/client/object.go.

In Go these are interfaces that every struct with TypeMeta and ObjectMeta implements. Here every kind, whether
generated, from a CRD or unstructured, is a subclass of one of two base classes, which are the types.
"""

from __future__ import annotations

from typing import TypeAlias

from clientgo.apimachinery.runtime import ListObject, ReadOnlyError, ResourceObject

# An object: typed, Unstructured or PartialObjectMetadata. Go: client.Object.
Object: TypeAlias = ResourceObject

# A list of such objects. Go: client.ObjectList.
ObjectList: TypeAlias = ListObject

__all__ = ["Object", "ObjectList"]


def require_object(obj: object) -> None:
    """Raise TypeError unless `obj` is an object of a resource or such a class. Go's compiler checks this."""
    if not issubclass(obj if isinstance(obj, type) else type(obj), ResourceObject):
        raise TypeError(f"expected an object of a resource, or a class of them, got {_name_of(obj)}")


def require_list(obj: object) -> None:
    """Raise TypeError unless `obj` is a list of objects or such a class. Go's compiler checks this."""
    if not issubclass(obj if isinstance(obj, type) else type(obj), ListObject):
        raise TypeError(f"expected a list of objects, or a class of lists, got {_name_of(obj)}")


def _name_of(obj: object) -> str:
    return f"the class {obj.__name__}" if isinstance(obj, type) else type(obj).__name__


def require_writable(*objects: Object) -> None:
    """Raise ReadOnlyError for an object that the server's response cannot update.

    Methods call it before they send anything, while they can still fail without effect.
    """
    for obj in objects:
        if isinstance(obj, type) or not isinstance(obj, ResourceObject):
            raise TypeError(f"expected an object of a resource, got {_name_of(obj)}")
        if obj.frozen:
            raise ReadOnlyError(
                f"{obj!r} is shared and read-only (objects from a cache are); call deep_copy() and change the copy"
            )
