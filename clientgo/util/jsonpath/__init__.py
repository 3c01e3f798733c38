"""Templates with JSONPath expressions, as in `kubectl get -o jsonpath`. Mirrors k8s.io/client-go/util/jsonpath.

A template is text with actions in braces: fields (`{.spec.nodeName}`, `{['a','b']}`), indexes and slices (`[0]`,
`[-1:]`, `[::2]`), wildcards (`[*]`, `.*`), recursive descent (`..name`), filters (`[?(@.type=="Ready")]`), unions,
quoted text (`{"\\n"}`), and `{range}` ... `{end}`.

    >>> import sys
    >>> pods = {"items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]}
    >>> template = new("names")
    >>> template.parse('{range .items[*]}{.metadata.name},{end}')
    >>> template.execute(sys.stdout, pods)
    a,b,
"""

from clientgo.util.jsonpath.jsonpath import NO_VALUE, JSONPath, JSONPathError, new
from clientgo.util.jsonpath.node import (
    NODE_TYPE_NAME,
    ArrayNode,
    BoolNode,
    FieldNode,
    FilterNode,
    FloatNode,
    IdentifierNode,
    IntNode,
    ListNode,
    Node,
    NodeType,
    ParamsEntry,
    RecursiveNode,
    TextNode,
    UnionNode,
    WildcardNode,
)
from clientgo.util.jsonpath.parser import ErrSyntax, Parser, new_parser, parse, unquote_extend

__all__ = [
    "NODE_TYPE_NAME",
    "NO_VALUE",
    "ArrayNode",
    "BoolNode",
    "ErrSyntax",
    "FieldNode",
    "FilterNode",
    "FloatNode",
    "IdentifierNode",
    "IntNode",
    "JSONPath",
    "JSONPathError",
    "ListNode",
    "Node",
    "NodeType",
    "ParamsEntry",
    "Parser",
    "RecursiveNode",
    "TextNode",
    "UnionNode",
    "WildcardNode",
    "new",
    "new_parser",
    "parse",
    "unquote_extend",
]
