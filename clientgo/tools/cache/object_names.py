"""Names of objects in two parts, namespace and name.

Mirrors tools/cache/object-names.go. The structured key functions return ObjectNames, which are good items for a
controller's work queue.
"""

from __future__ import annotations

from typing import NamedTuple

from clientgo.apimachinery import types
from clientgo.golang.strconv import quote


# A NamedTuple, not a frozen dataclass: a work queue hashes its items at every step, and a tuple does that in C.
class ObjectName(NamedTuple):
    """Namespace and name of an object of an implied kind; usable as a dict key or queue item. Go: ObjectName."""

    namespace: str = ""
    name: str = ""

    def parts(self) -> tuple[str, str]:
        """Return (namespace, name), the inverse of the constructor."""
        return self.namespace, self.name

    def __str__(self) -> str:
        """Return the key like `meta_namespace_key_func`: no slash without a namespace, unlike a NamespacedName."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def as_namespaced_name(self) -> types.NamespacedName:
        """Return the name as a NamespacedName."""
        return types.NamespacedName(namespace=self.namespace, name=self.name)


def new_object_name(namespace: str, name: str) -> ObjectName:
    """Return ObjectName(namespace, name). Go: NewObjectName."""
    return ObjectName(namespace, name)


def parse_object_name(key: str) -> ObjectName:
    """Parse the result of `str(object_name)`. Raises ValueError for two slashes or more, TypeError for no str.

    Go: ParseObjectName.
    """
    if not isinstance(key, str):
        raise TypeError(f'a key is a str, such as "namespace/name"; got {key!r}')
    parts = key.split("/")
    if len(parts) > 2:
        raise ValueError(f"unexpected key format: {quote(key)}")
    return ObjectName(parts[0] if len(parts) == 2 else "", parts[-1])


def namespaced_name_as_object_name(nn: types.NamespacedName) -> ObjectName:
    """Return the name as an ObjectName. Go: NamespacedNameAsObjectName."""
    return ObjectName(nn.namespace, nn.name)
