"""Merge semantics of a type: which lists are associative, which values are atomic.

Mirrors structured-merge-diff's schema package. A Node is one small interface over all sources of types: the facts about
built-in ones, the structural schemas of CRDs, or nothing at all.
"""

from __future__ import annotations

from typing import Any


class Node:
    """How one value merges, and what it may be.

    kind: "leaf" (scalar or atomic), "struct" (named fields), "map" (any key), "assoc" (list by keys), "set", "list"
    (only inside of an atomic list), "deduced" (no schema). A struct without `elem` has the fields of `fields` only.
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
        # Values of keys that an item may leave out.
        self.defaults = defaults or {}
        # What an atomic value is made of.
        self.inside = inside
        # "numeric", "string", "boolean", "untyped" (any of them), or "" for a value that nobody knows.
        self.scalar = scalar

    def child(self, name: str) -> Node:
        """The node of a map entry or struct field; unknown ones merge as their JSON suggests."""
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
