"""The evaluation of templates. Mirrors client-go's util/jsonpath/jsonpath.go.

It evaluates JSON documents: dicts, lists and scalars. An API object is evaluated as its document, as in kubectl.

Differences from Go: a template may be executed again, and by several threads concurrently; in Go a second execution
begins inside the template's last range. The fields of a dict keep their order; in Go it is random. Data for which Go
panics raise JSONPathError with the panic's text.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, Self

from clientgo.apimachinery.runtime.view import copy_json
from clientgo.apimachinery.util.json import marshal
from clientgo.golang.fmt import go_value
from clientgo.util.jsonpath.node import (
    ArrayNode,
    BoolNode,
    FieldNode,
    FilterNode,
    FloatNode,
    IdentifierNode,
    IntNode,
    ListNode,
    Node,
    RecursiveNode,
    TextNode,
    UnionNode,
    WildcardNode,
)
from clientgo.util.jsonpath.parser import Parser, parse

__all__ = ["NO_VALUE", "JSONPath", "JSONPathError", "new"]

_INDENT: Final = "    "


class _NoValue:
    """The type of NO_VALUE."""

    def __repr__(self) -> str:
        return "<no value>"


NO_VALUE: Final = _NoValue()
"""The current value in a range over null. Go: the invalid reflect.Value."""


class JSONPathError(ValueError):
    """Raised for a template that cannot be evaluated for this data. The text is Go's."""

    def __init__(self, message: str, results: Sequence[Any] = ()) -> None:
        super().__init__(message)
        # The values that Go returns together with the error, which an existence filter uses.
        self.results = results


class Writer(Protocol):
    """A text stream to write to."""

    def write(self, text: str, /) -> object:
        """Write the text."""
        ...


class _Int(int):
    """An integer of the template: Go's int, whereas integers of documents are int64."""


class _Uint8(int):
    """A byte of a string, the result of a wildcard on a string."""


def new(name: str) -> JSONPath:
    """Return a template without text, which `parse` sets. Go: jsonpath.New."""
    return JSONPath(name)


class JSONPath:
    """A template with JSONPath expressions. Go: jsonpath.JSONPath.

    Thread-safe, except `parse` and the options, which the caller sets before the first execution.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name
        self._parser: Parser | None = None
        self._allow_missing_keys = False
        self._output_json = False

    def __repr__(self) -> str:
        return f"<JSONPath {self._name}>"

    def allow_missing_keys(self, allow: bool) -> Self:
        """Return no result for a missing field instead of an error. Returns the template.

        kubectl allows missing keys. Go: jsonpath.JSONPath.AllowMissingKeys.
        """
        self._allow_missing_keys = allow
        return self

    def parse(self, text: str) -> None:
        """Parse the template. Raises ValueError with Go's text. Go: jsonpath.JSONPath.Parse."""
        self._parser = None
        self._parser = parse(self._name, text)

    def execute(self, wr: Writer, data: Any) -> None:
        """Evaluate the template and write the results. Writes nothing if the evaluation fails.

        Raises JSONPathError. Go: jsonpath.JSONPath.Execute.
        """
        for results in self.find_results(data):
            self.print_results(wr, results)

    def find_results(self, data: Any) -> list[list[Any]]:
        """Return the values of each part of the template; plain text is a part with one value.

        The values are copies. Raises JSONPathError. Go: jsonpath.JSONPath.FindResults.
        """
        if self._parser is None:
            raise JSONPathError(f"{self._name} is an incomplete jsonpath template")
        document = copy_json(data)
        return _Execution(self._parser.root.nodes, self._allow_missing_keys).find(document, 0)

    def enable_json_output(self, v: bool) -> None:
        """Make `print_results` write a JSON array of the results. Go: jsonpath.JSONPath.EnableJSONOutput."""
        self._output_json = v

    def print_results(self, wr: Writer, results: Sequence[Any]) -> None:
        """Write values separated by a space; dicts and lists as compact JSON. Raises JSONPathError.

        Go: jsonpath.JSONPath.PrintResults.
        """
        if self._output_json:
            wr.write(_indented([_known(value) for value in results], "\n") + "\n")
            return
        wr.write(" ".join(map(_text, results)))


class _Execution:
    """The state of one evaluation of a template: the open ranges."""

    def __init__(self, nodes: Sequence[Node], allow_missing_keys: bool) -> None:
        self._nodes = nodes
        self._allow_missing_keys = allow_missing_keys
        # The numbers of ranges that the current node begins, that are open, and that it ends.
        self._begin_range = 0
        self._in_range = 0
        self._end_range = 0
        # The position of the last end.
        self._last_end = -1

    def find(self, data: Any, at: int) -> list[list[Any]]:
        """Return the results of the nodes from a position to the end of the current range."""
        current = [NO_VALUE if data is None else data]
        found: list[list[Any]] = []
        while at < len(self._nodes):
            results = self._walk(current, self._nodes[at])
            if 0 < self._end_range <= self._in_range:
                self._end_range -= 1
                self._last_end = at
                break
            if self._begin_range > 0:
                found += self._find_in_range(results, at + 1)
                at = max(at, self._last_end)
            else:
                found.append(results)
            at += 1
        return found

    def _find_in_range(self, values: list[Any], at: int) -> list[list[Any]]:
        self._begin_range -= 1
        self._in_range += 1
        found: list[list[Any]] = []
        for value in values:
            found += self.find(_known(value), at)
        if not values:
            # The nodes have no results here, but the position of the range's end is needed.
            self.find(None, at)
        self._in_range -= 1
        return found

    def _walk(self, values: list[Any], node: Node) -> list[Any]:
        match node:
            case ListNode():
                return self._eval_list(values, node)
            case TextNode():
                return [node.text]
            case FieldNode():
                return self._eval_field(values, node)
            case ArrayNode():
                return _eval_array(values, node)
            case FilterNode():
                return self._eval_filter(values, node)
            case IntNode():
                return [_Int(node.value)] * len(values)
            case BoolNode() | FloatNode():
                return [node.value] * len(values)
            case WildcardNode():
                return [item for value in values for item in _children(value)]
            case RecursiveNode():
                return _eval_recursive(values)
            case UnionNode():
                return self._eval_union(values, node)
            case IdentifierNode():
                return self._eval_identifier(values, node)
        raise JSONPathError(f"unexpected Node {node}", values)

    def _eval_list(self, values: list[Any], node: ListNode) -> list[Any]:
        for each in node.nodes:
            values = self._walk(values, each)
        return values

    def _eval_identifier(self, values: list[Any], node: IdentifierNode) -> list[Any]:
        if node.name == "range":
            self._begin_range += 1
            return values
        if node.name != "end":
            raise JSONPathError(f"unrecognized identifier {node.name}", values)
        if self._in_range <= 0:
            raise JSONPathError("not in range, nothing to end")
        self._end_range += 1
        return []

    def _eval_union(self, values: list[Any], node: UnionNode) -> list[Any]:
        results: list[Any] = []
        for each in node.nodes:
            try:
                results += self._eval_list(values, each)
            except JSONPathError as err:
                err.results = values
                raise
        return results

    def _eval_field(self, values: list[Any], node: FieldNode) -> list[Any]:
        results = [value[node.value] for value in values if isinstance(value, dict) and node.value in value]
        if values and not results and not self._allow_missing_keys:
            raise JSONPathError(f"{node.value} is not found")
        return results

    def _eval_filter(self, values: list[Any], node: FilterNode) -> list[Any]:
        results: list[Any] = []
        for value in values:
            if not isinstance(value, list):
                shown = "<invalid reflect.Value>" if value is NO_VALUE else go_value(value)
                raise JSONPathError(f"{shown} is not array or slice and cannot be filtered", values)
            for item in value:
                try:
                    passes = self._passes(item, node)
                except _ComparisonError as err:
                    raise JSONPathError(str(err), results) from err
                except JSONPathError as err:
                    err.results = values
                    raise
                if passes:
                    results.append(item)
        return results

    def _passes(self, item: Any, node: FilterNode) -> bool:
        if node.operator == "exists":
            return self._exists(item, node.left)
        left = self._eval_list([item], node.left)
        if not _is_single(left):
            return False
        right = self._eval_list([item], node.right)
        if not _is_single(right):
            return False
        compare = _OPERATORS.get(node.operator)
        if compare is None:
            raise _ComparisonError(f"unrecognized filter operator {node.operator}")
        return compare(left[0], right[0])

    def _exists(self, item: Any, node: ListNode) -> bool:
        """Report whether the expression finds a value; as in Go, values returned with an error count too."""
        try:
            return bool(self._eval_list([item], node))
        except JSONPathError as err:
            return bool(err.results)


def _is_single(values: list[Any]) -> bool:
    if len(values) > 1:
        raise JSONPathError("can only compare one element at a time")
    return bool(values)


def _eval_array(values: list[Any], node: ArrayNode) -> list[Any]:
    results: list[Any] = []
    for value in values:
        if value is None:
            continue
        if not isinstance(value, list):
            raise JSONPathError(_no_list(value), values)
        try:
            start, end = _bounds(node, len(value))
        except JSONPathError as err:
            err.results = values
            raise
        if start == end:
            return results
        step = node.params[2]
        if step.known and step.value <= 0:
            raise JSONPathError("step must be > 0", values)
        results += value[start : end : step.value if step.known else 1]
    return results


def _no_list(value: Any) -> str:
    if value is NO_VALUE:
        return "reflect: call of reflect.Value.Type on zero Value"
    return f"{_GO_TYPES.get(type(value), type(value).__name__)} is not array or slice"


_GO_TYPES: Final[dict[type, str]] = {
    bool: "bool",
    dict: "map[string]interface {}",
    float: "float64",
    int: "int64",
    str: "string",
    _Int: "int",
    _Uint8: "uint8",
}


def _bounds(node: ArrayNode, length: int) -> tuple[int, int]:
    """Return start and end within a list of that length."""
    first, last, _ = node.params
    start = first.value if first.known else 0
    if start < 0:
        start += length
    end = last.value if last.known else length
    if end < 0 or (end == 0 and last.derived):
        end += length
    if start == end:
        return start, end
    if not 0 <= start < length:
        raise JSONPathError(f"array index out of bounds: index {start}, length {length}")
    if not 0 <= end <= length:
        raise JSONPathError(f"array index out of bounds: index {end - 1}, length {length}")
    if start > end:
        raise JSONPathError(f"starting index {start} is greater than ending index {end}")
    return start, end


def _children(value: Any) -> Sequence[Any]:
    """Return the values of a dict, the items of a list, the bytes of a string."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        return [_Uint8(byte) for byte in value.encode("utf-8", "surrogateescape")]
    return []


def _eval_recursive(values: Sequence[Any]) -> list[Any]:
    """Return each value that has children, and the values below it, parents first."""
    results: list[Any] = []
    pending = list(reversed(values))
    while pending:
        value = pending.pop()
        children = _children(value)
        if children:
            results.append(value)
            pending.extend(reversed(children))
    return results


def _known(value: Any) -> Any:
    """Return the value. Raises JSONPathError if Go would panic."""
    if value is NO_VALUE:
        raise JSONPathError("reflect: call of reflect.Value.Interface on zero Value")
    return value


def _text(value: Any) -> str:
    if value is NO_VALUE:
        return "<no value>"
    if value is None:
        return "null"
    if isinstance(value, dict | list):
        return _json(value)
    return go_value(value)


def _json(value: Any) -> str:
    try:
        return marshal(value)
    except ValueError as err:
        raise JSONPathError(str(err)) from err


def _indented(value: Any, line: str) -> str:
    """Return JSON as Go's json.MarshalIndent writes it; `line` starts a line at the value's own level."""
    if not value or not isinstance(value, dict | list):
        return _json(value)
    inner = line + _INDENT
    if isinstance(value, list):
        return f"[{inner}{f',{inner}'.join(_indented(item, inner) for item in value)}{line}]"
    pairs = (f"{_json(key)}: {_indented(value[key], inner)}" for key in sorted(value))
    return f"{{{inner}{f',{inner}'.join(pairs)}{line}}}"


class _ComparisonError(Exception):
    """Raised for two values that cannot be compared."""


_KINDS: Final[tuple[tuple[type, str], ...]] = ((bool, "bool"), (int, "int"), (float, "float"), (str, "string"))


def _comparable(left: Any, right: Any) -> str:
    """Return the kind of both. Go: basicKind of third_party/forked/golang/template/funcs.go."""
    kind, other = (next((kind for cls, kind in _KINDS if isinstance(value, cls)), "") for value in (left, right))
    if not kind or not other:
        raise _ComparisonError("invalid type for comparison")
    if kind != other:
        raise _ComparisonError("incompatible types for comparison")
    return kind


def _equal(left: Any, right: Any) -> bool:
    _comparable(left, right)
    return bool(left == right)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def ordered(left: Any, right: Any) -> bool:
        if _comparable(left, right) == "bool":
            raise _ComparisonError("invalid type for comparison")
        return compare(left, right)

    return ordered


_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": _ordered(operator.lt),
    ">": _ordered(operator.gt),
    "<=": _ordered(operator.le),
    ">=": _ordered(operator.ge),
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
}
