"""The merge semantics of a type: associative lists and atomic values.

Mirrors structured-merge-diff's schema package. Node is the common interface for all sources of types: built-in types,
the structural schemas of CRDs, or no schema.
"""

from __future__ import annotations

from typing import Any


class Node:
    """The merge semantics and the type of a value.

    kind: "leaf" (scalar or atomic), "struct" (named fields), "map" (any key), "assoc" (list by keys), "set", "list"
    (only inside of an atomic list), "deduced" (no schema). A struct without `elem` has only the fields in `fields`.
    """

    __slots__ = ("defaults", "elem", "fields", "inside", "keys", "kind", "scalar")

    def __init__(
        self,
        kind: str,
        *,
        fields: dict[str, Node] | None = None,
        elem: Node | None = None,
        keys: tuple[str, ...] = (),
        defaults: dict[str, Any] | None = None,
        inside: Node | None = None,
        scalar: str = "",
    ) -> None:
        self.kind = kind
        self.fields = fields if fields is not None else {}
        self.elem = elem
        self.keys = keys
        # Default values of keys that an item may omit.
        self.defaults = defaults or {}
        # The node of an atomic value's elements.
        self.inside = inside
        # "numeric", "string", "boolean", "untyped" (any of them), or "" if the type is unknown.
        self.scalar = scalar

    def child(self, name: str) -> Node:
        """Return the node of a map entry or a struct field; unknown ones merge by the shape of their JSON."""
        known = self.fields.get(name)
        if known is not None:
            return known
        return self.elem or DEDUCED

    def __repr__(self) -> str:
        return f"<Node {self.kind} {','.join(self.keys)}>"


LEAF = Node("leaf")
SCALARS = {name: Node("leaf", scalar=name) for name in ("numeric", "string", "boolean", "untyped")}
# A value without schema: objects merge key by key, lists are atomic.
DEDUCED = Node("deduced")
DEDUCED.elem = DEDUCED
