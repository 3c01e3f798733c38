"""Nodes of a parsed template. Mirrors client-go's util/jsonpath/node.go."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar, Final, Protocol

__all__ = [
    "NODE_TYPE_NAME",
    "ArrayNode",
    "BoolNode",
    "FieldNode",
    "FilterNode",
    "FloatNode",
    "IdentifierNode",
    "IntNode",
    "ListNode",
    "Node",
    "NodeType",
    "ParamsEntry",
    "RecursiveNode",
    "TextNode",
    "UnionNode",
    "WildcardNode",
]


class NodeType(IntEnum):
    """The type of a node. Go: jsonpath.NodeType."""

    NODE_TEXT = 0
    NODE_ARRAY = 1
    NODE_LIST = 2
    NODE_FIELD = 3
    NODE_IDENTIFIER = 4
    NODE_FILTER = 5
    NODE_INT = 6
    NODE_FLOAT = 7
    NODE_WILDCARD = 8
    NODE_RECURSIVE = 9
    NODE_UNION = 10
    NODE_BOOL = 11

    def type(self) -> NodeType:
        """Return the type itself. Go: jsonpath.NodeType.Type."""
        return self

    def __str__(self) -> str:
        return NODE_TYPE_NAME[self]


NODE_TYPE_NAME: Final[dict[NodeType, str]] = {
    NodeType.NODE_TEXT: "NodeText",
    NodeType.NODE_ARRAY: "NodeArray",
    NodeType.NODE_LIST: "NodeList",
    NodeType.NODE_FIELD: "NodeField",
    NodeType.NODE_IDENTIFIER: "NodeIdentifier",
    NodeType.NODE_FILTER: "NodeFilter",
    NodeType.NODE_INT: "NodeInt",
    NodeType.NODE_FLOAT: "NodeFloat",
    NodeType.NODE_WILDCARD: "NodeWildcard",
    NodeType.NODE_RECURSIVE: "NodeRecursive",
    NodeType.NODE_UNION: "NodeUnion",
    NodeType.NODE_BOOL: "NodeBool",
}
"""Go's name of each node type. Go: jsonpath.NodeTypeName."""


class Node(Protocol):
    """A part of a template. Go: jsonpath.Node."""

    def type(self) -> NodeType:
        """Return the node's type. Go: jsonpath.Node.Type."""
        ...

    def __str__(self) -> str: ...


class _Typed:
    """The base class of all nodes: the class has the type, and the text is the type's name."""

    node_type: ClassVar[NodeType]

    def type(self) -> NodeType:
        """Return the node's type."""
        return self.node_type

    def __str__(self) -> str:
        return str(self.node_type)


@dataclass
class ListNode(_Typed):
    """The nodes of one action, in order. Go: jsonpath.ListNode."""

    node_type = NodeType.NODE_LIST

    nodes: list[Node] = field(default_factory=list)

    def __str__(self) -> str:
        return str(self.node_type)


@dataclass
class TextNode(_Typed):
    """Plain text. Go: jsonpath.TextNode."""

    node_type = NodeType.NODE_TEXT

    text: str

    def __str__(self) -> str:
        return f"{self.node_type}: {self.text}"


@dataclass
class FieldNode(_Typed):
    """The name of a field. Go: jsonpath.FieldNode."""

    node_type = NodeType.NODE_FIELD

    value: str

    def __str__(self) -> str:
        return f"{self.node_type}: {self.value}"


@dataclass
class IdentifierNode(_Typed):
    """A keyword: range or end. Go: jsonpath.IdentifierNode."""

    node_type = NodeType.NODE_IDENTIFIER

    name: str

    def __str__(self) -> str:
        return f"{self.node_type}: {self.name}"


@dataclass
class ParamsEntry:
    """A number of a slice. Go: jsonpath.ParamsEntry."""

    value: int = 0
    known: bool = False
    """True if the template has the number."""
    derived: bool = False
    """True if the number is an end derived from an index: 3 in [2]."""

    def __str__(self) -> str:
        return f"{{{self.value} {str(self.known).lower()} {str(self.derived).lower()}}}"


@dataclass
class ArrayNode(_Typed):
    """An index or a slice: its start, end and step. Go: jsonpath.ArrayNode."""

    node_type = NodeType.NODE_ARRAY

    params: tuple[ParamsEntry, ParamsEntry, ParamsEntry]

    def __str__(self) -> str:
        return f"{self.node_type}: [{' '.join(map(str, self.params))}]"


@dataclass
class FilterNode(_Typed):
    """A filter; its operator is "exists" if it has no comparison. Go: jsonpath.FilterNode."""

    node_type = NodeType.NODE_FILTER

    left: ListNode
    right: ListNode
    operator: str

    def __str__(self) -> str:
        return f"{self.node_type}: {self.left} {self.operator} {self.right}"


@dataclass
class IntNode(_Typed):
    """An integer. Go: jsonpath.IntNode."""

    node_type = NodeType.NODE_INT

    value: int

    def __str__(self) -> str:
        return f"{self.node_type}: {self.value:d}"


@dataclass
class FloatNode(_Typed):
    """A floating-point number. Go: jsonpath.FloatNode."""

    node_type = NodeType.NODE_FLOAT

    value: float

    def __str__(self) -> str:
        return f"{self.node_type}: {self.value:f}"


@dataclass
class WildcardNode(_Typed):
    """All fields or items. Go: jsonpath.WildcardNode."""

    node_type = NodeType.NODE_WILDCARD

    def __str__(self) -> str:
        return str(self.node_type)


@dataclass
class RecursiveNode(_Typed):
    """The value and all values below it. Go: jsonpath.RecursiveNode."""

    node_type = NodeType.NODE_RECURSIVE

    def __str__(self) -> str:
        return str(self.node_type)


@dataclass
class UnionNode(_Typed):
    """The results of several actions, one after the other. Go: jsonpath.UnionNode."""

    node_type = NodeType.NODE_UNION

    nodes: list[ListNode]

    def __str__(self) -> str:
        return str(self.node_type)


@dataclass
class BoolNode(_Typed):
    """True or false. Go: jsonpath.BoolNode."""

    node_type = NodeType.NODE_BOOL

    value: bool

    def __str__(self) -> str:
        return f"{self.node_type}: {str(self.value).lower()}"
