"""The worst-case cost of an expression, from the sizes that its schema allows. Mirrors cel-go's checker/cost.go.

Includes the costs of Kubernetes' own functions (pkg/cel/library/cost.go). Costs are ranges; only the maximum is
returned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from clientgo.testing.apiserver.cel.checker import Checked
from clientgo.testing.apiserver.cel.common.types import FORMAT, Type
from clientgo.testing.apiserver.cel.declarations import Declaration
from clientgo.testing.apiserver.cel.runtime_cost import AUTHORIZATION, LIST, MAP, REGEX, STRUCT, TRAVERSAL
from clientgo.testing.apiserver.cel.syntax import (
    ACCUMULATOR,
    Call,
    Comprehension,
    Expr,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    Struct,
)

MAX = (1 << 64) - 1
_SCALARS = frozenset({"bool", "double", "int", "uint", "google.protobuf.Duration", "google.protobuf.Timestamp"})
_TEXTS = ("string", "bytes")

# At least and at most; never beyond MAX.
Range: TypeAlias = tuple[int, int]
_ONE: Range = (1, 1)
_UNKNOWN: Range = (0, MAX)


def _add(one: Range, other: Range) -> Range:
    return min(MAX, one[0] + other[0]), min(MAX, one[1] + other[1])


def _times(one: Range, other: Range) -> Range:
    return min(MAX, one[0] * other[0]), min(MAX, one[1] * other[1])


def _scaled(one: Range, factor: float) -> Range:
    return _ceil(one[0], factor), _ceil(one[1], factor)


def _ceil(value: int, factor: float) -> int:
    scaled = float(value) * factor
    return MAX if scaled >= float(MAX) else math.ceil(scaled)


def _union(one: Range, other: Range) -> Range:
    return min(one[0], other[0]), max(one[1], other[1])


@dataclass(slots=True)
class _Node:
    """The facts about one value: its place in the schema, its size, and the sizes of its elements."""

    type: Type
    declared: Declaration | None = None
    size: Range | None = None
    keys: Range | None = None
    values: Range | None = None

    @property
    def sized(self) -> Range:
        return _UNKNOWN if self.size is None else self.size


def estimate(checked: Checked, variables: dict[str, Declaration]) -> int:
    """Return the highest cost that an evaluation can have, or MAX if nothing bounds it."""
    return _Estimator(checked, variables).cost(checked.expr)[1]


class _Estimator:
    def __init__(self, checked: Checked, variables: dict[str, Declaration]) -> None:
        self._checked = checked
        self._variables = variables
        self._locals: list[tuple[str, _Node]] = []
        self._nodes: dict[int, _Node] = {}

    def cost(self, expr: Expr) -> Range:
        node = _Node(self._checked.types[id(expr)])
        cost = self._of(expr, node)
        if node.size is None:
            node.size = _own_size(expr) or _declared_size(node.declared) or _type_size(node.type)
        self._nodes[id(expr)] = node
        return cost

    def _node(self, expr: Expr) -> _Node:
        return self._nodes[id(expr)]

    def _of(self, expr: Expr, node: _Node) -> Range:
        if id(expr) in self._checked.constants:
            # Go takes the name of a type for a variable here, and each variable for the value that the rule is about.
            node.declared = self._variables.get("self")
            return _ONE
        match expr:
            case Ident():
                return self._ident(expr.name, node)
            case Select():
                return self._select(expr, node)
            case Call():
                return self._call(expr, node)
            case ListExpr():
                return self._list(expr, node)
            case MapExpr():
                return self._map(expr, node)
            case Struct():
                return _add((STRUCT, STRUCT), self._sum([field[1] for field in expr.fields]))
            case Comprehension():
                return self._bind(expr, node) if expr.is_bind else self._loop(expr, node)
        return (0, 0)

    def _sum(self, exprs: Sequence[Expr]) -> Range:
        total = (0, 0)
        for expr in exprs:
            total = _add(total, self.cost(expr))
        return total

    def _ident(self, name: str, node: _Node) -> Range:
        for known, local in reversed(self._locals):
            if known == name:
                node.declared = None if name == ACCUMULATOR else local.declared
                node.size, node.keys, node.values = local.size, local.keys, local.values
                return _ONE
        node.declared = self._variables.get(name)
        return _ONE

    def _select(self, expr: Select, node: _Node) -> Range:
        if id(expr) in self._checked.variables:
            return self._ident(self._checked.variables[id(expr)], node)
        cost = self.cost(expr.operand)
        if expr.test_only:
            return cost
        inner = self._node(expr.operand)
        node.declared = _member(inner.declared, expr.field)
        priced = inner.type.fields is not None or inner.type.name == "map" or inner.type.is_param
        return _add(cost, _ONE) if priced else cost

    def _list(self, expr: ListExpr, node: _Node) -> Range:
        cost = _add((LIST, LIST), self._sum(expr.items))
        node.keys = _ONE
        sizes = [self._node(item).sized for item in expr.items]
        node.values = _all(sizes)
        return cost

    def _map(self, expr: MapExpr, node: _Node) -> Range:
        cost = _add((MAP, MAP), self._sum([one for entry in expr.entries for one in entry[:2]]))
        node.keys = _all([self._node(entry[0]).sized for entry in expr.entries])
        node.values = _all([self._node(entry[1]).sized for entry in expr.entries])
        return cost

    # ---- comprehensions

    def _bind(self, expr: Comprehension, node: _Node) -> Range:
        cost = _add(self.cost(expr.range), self.cost(expr.init))
        self._locals.append((expr.accumulator, self._node(expr.init)))
        cost = _add(cost, self.cost(expr.result))
        self._locals.pop()
        result = self._node(expr.result)
        node.size, node.keys, node.values = result.size, result.keys, result.values
        return cost

    def _loop(self, expr: Comprehension, node: _Node) -> Range:
        cost = _add(self.cost(expr.range), self.cost(expr.init))
        over = self._node(expr.range)
        before = len(self._locals)
        self._locals.append((expr.accumulator, self._node(expr.init)))
        key, value = self._iterated(over)
        if expr.variable2:
            self._locals += [(expr.variable, key), (expr.variable2, value)]
        else:
            self._locals.append((expr.variable, value if over.type.name == "list" else key))
        each = _add(self.cost(expr.condition), self.cost(expr.step))
        del self._locals[before + 1 :]
        cost = _add(cost, self.cost(expr.result))
        del self._locals[before:]
        if isinstance(expr.init, Literal):
            node.size = self._node(expr.init).size
        else:
            node.size = over.sized
            step = self._node(expr.step)
            node.keys, node.values = step.keys, step.values
        return _add(cost, _times(over.sized, each))

    def _iterated(self, over: _Node) -> tuple[_Node, _Node]:
        """Return the facts about a key or index, and about a value or item."""
        kinds = over.type.params
        key_type = kinds[0] if over.type.name == "map" else Type("int")
        value_type = kinds[-1] if kinds else Type("dyn")
        item = over.declared.item if over.declared is not None else None
        key = _Node(key_type, size=over.keys)
        value = _Node(value_type, item, over.values)
        for one in (key, value):
            one.size = one.size or _declared_size(one.declared) or _type_size(one.type)
        return key, value

    # ---- calls

    def _call(self, expr: Call, node: _Node) -> Range:
        if expr.function == "_?._":
            cost = self.cost(expr.args[0])
            name = expr.args[1]
            assert isinstance(name, Literal)
            node.declared = _member(self._node(expr.args[0]).declared, name.value)
            return _add(cost, _ONE)
        function, overloads, member = self._checked.calls[id(expr)]
        given = [expr.target, *expr.args] if member and expr.target is not None else expr.args
        costs = [self.cost(arg) for arg in given]
        args = [self._node(arg) for arg in given]
        if function.name == "_?_:_":
            return self._ternary(costs, args, node)
        if function.name in ("_&&_", "_||_"):
            return costs[0][0], _add(costs[0], costs[1])[1]
        if function.name == "dyn":
            node.size, node.keys, node.values = args[0].size, args[0].keys, args[0].values
        if function.name in ("_[_]", "_[?_]"):
            node.declared = args[0].declared.item if args[0].declared is not None else None
            node.size = args[0].values
        total = (0, 0)
        for cost in costs:
            total = _add(total, cost)
        return _add(total, self._own_cost(function.name, args, node, [one.args for one in overloads]))

    def _ternary(self, costs: list[Range], args: list[_Node], node: _Node) -> Range:
        node.size = _union(args[1].sized, args[2].sized)
        if args[1].values and args[2].values and args[1].keys and args[2].keys:
            node.keys, node.values = _union(args[1].keys, args[2].keys), _union(args[1].values, args[2].values)
        return _add(costs[0], _union(costs[1], costs[2]))

    def _own_cost(self, name: str, args: list[_Node], node: _Node, kinds: list[tuple[Type, ...]]) -> Range:
        if name == "_+_":
            return _sum_cost(args, node, kinds)
        if name in _COMPARISONS:
            return _comparison_cost(name, args, kinds)
        if name == "@in":
            listed = [kind for kind in kinds if kind[1].name == "list"]
            cost = args[1].sized if listed else _ONE
            return _union(cost, _ONE) if listed and len(listed) < len(kinds) else cost
        rule = _CALLS.get(name)
        return _ONE if rule is None else rule(args, node)


def _all(sizes: list[Range]) -> Range:
    return (min(one[0] for one in sizes), max(one[1] for one in sizes)) if sizes else (0, 0)


def _member(declared: Declaration | None, field: str) -> Declaration | None:
    if declared is None:
        return None
    return declared.item if declared.kind == "map" else declared.fields.get(field)


def _own_size(expr: Expr) -> Range | None:
    match expr:
        case Literal():
            length = len(expr.value) if isinstance(expr.value, str | bytes) else 1
        case ListExpr():
            length = len(expr.items)
        case MapExpr():
            length = len(expr.entries)
        case _:
            return None
    return length, length


def _declared_size(declared: Declaration | None) -> Range | None:
    """Return the range of a declared value's size, or None without a declaration.

    The size of numbers and objects is 0, so comparing them costs nothing, as in Go.
    """
    return None if declared is None else (0, declared.max_elements)


def _type_size(kind: Type) -> Range | None:
    if kind.name == "optional_type":
        return _type_size(kind.params[0])
    return _ONE if kind.name in _SCALARS else None


# ---- the costs of operators


_COMPARISONS = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"})
_MAX_FORMAT = 64
_SMALL = frozenset({"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"})


def _sum_cost(args: list[_Node], node: _Node, kinds: list[tuple[Type, ...]]) -> Range:
    names = {kind[0].name for kind in kinds}
    if names.isdisjoint((*_TEXTS, "list")):
        return _ONE
    one, other = args
    size = node.size = _add(one.sized, other.sized)
    if one.values and other.values and one.keys and other.keys:
        node.keys, node.values = _union(one.keys, other.keys), _union(one.values, other.values)
    costs = [_scaled(size, TRAVERSAL) if name in _TEXTS else _ONE for name in names]
    return _all(costs)


def _comparison_cost(name: str, args: list[_Node], kinds: list[tuple[Type, ...]]) -> Range:
    if name not in ("_==_", "_!=_") and all(kind[0].name not in _TEXTS for kind in kinds):
        return _ONE
    if name == "_==_" and args[0].type == args[1].type and args[0].type.name in _SMALL:
        return _ONE
    if name == "_==_" and args[0].type == args[1].type == FORMAT:
        return _scaled((1, _MAX_FORMAT), TRAVERSAL)
    most = min(args[0].sized[1], args[1].sized[1])
    cost = _scaled((1 if most else 0, most), TRAVERSAL)
    return cost if name in ("_==_", "_!=_") or len(kinds) == 1 else _union(cost, _ONE)


# ---- the costs of functions


_Rule: TypeAlias = Callable[[list[_Node], _Node], Range]


def _fixed(cost: int) -> _Rule:
    return lambda args, node: (cost, cost)


def _first(factor: float, *, keeps_size: bool = False) -> _Rule:
    def rule(args: list[_Node], node: _Node) -> Range:
        if keeps_size:
            node.size = args[0].sized
        return _scaled(args[0].sized, factor)

    return rule


def _argument(args: list[_Node], node: _Node) -> Range:
    return _scaled(args[1].sized, TRAVERSAL)


def _converted(args: list[_Node], node: _Node) -> Range:
    return _scaled(args[0].sized, TRAVERSAL) if args[0].type.name in _TEXTS else _ONE


def _contains(args: list[_Node], node: _Node) -> Range:
    return _times(_scaled(args[0].sized, TRAVERSAL), _scaled(args[1].sized, TRAVERSAL))


def _pattern(args: list[_Node], node: _Node) -> Range:
    return _times(_scaled(_add(args[0].sized, _ONE), TRAVERSAL), _scaled(args[1].sized, REGEX))


def _found(args: list[_Node], node: _Node) -> Range:
    node.size = (0, args[0].sized[1])
    return _pattern(args, node)


def _item(of: _Node) -> Range:
    """Return the sizes of a list's items."""
    item = of.declared.item if of.declared is not None else None
    return of.values or _declared_size(item) or _UNKNOWN


def _traversal(args: list[_Node], node: _Node) -> Range:
    target = args[0]
    if target.type.name != "list":
        return _scaled(target.sized, TRAVERSAL)
    each = _ONE
    if target.type.params[0].name in _TEXTS:
        each = _add(each, _scaled(_item(target), TRAVERSAL))
    return _times(target.sized, each)


def _split(args: list[_Node], node: _Node) -> Range:
    node.size = (0, args[0].sized[1])
    return _scaled(args[0].sized, 2 * TRAVERSAL)


def _join(args: list[_Node], node: _Node) -> Range:
    count = args[0].sized
    size = _times(count, _item(args[0]))
    if len(args) > 1:
        separators = (max(0, count[0] - 1), max(0, count[1] - 1))
        size = _add(size, _times(args[1].sized, separators))
    node.size = size
    return _scaled(size, TRAVERSAL)


def _replace(args: list[_Node], node: _Node) -> Range:
    text, old, new = (arg.sized for arg in args[:3])
    if old[0] == 0:
        most = _add(_times((0, min(MAX, text[1] + 1)), (0, new[1])), (0, text[1]))[1]
    elif new[1] <= old[0]:
        most = text[1]
    else:
        most = _times((0, _ceil(text[1], 1 / old[0])), (0, new[1]))[1]
    node.size = (0, most)
    return _scaled(text, 2 * TRAVERSAL)


def _validate(args: list[_Node], node: _Node) -> Range:
    return _scaled(_scaled(args[1].sized, TRAVERSAL), 128 * REGEX)


def _contains_ip(args: list[_Node], node: _Node) -> Range:
    own = _scaled((8, 32), TRAVERSAL)
    return _add(own, _scaled(args[1].sized, TRAVERSAL)) if args[1].type.name == "string" else own


def _contains_cidr(args: list[_Node], node: _Node) -> Range:
    return _add(_add(_contains_ip(args, node), _scaled((4, 16), TRAVERSAL)), _ONE)


def _address(args: list[_Node], node: _Node) -> Range:
    return _ONE if args[0].type.name == "net.CIDR" else _scaled(args[0].sized, TRAVERSAL)


def _squared(times: int) -> _Rule:
    return lambda args, node: _add(_ONE, _times((times, times), _times(args[0].sized, args[1].sized)))


def _quoted(args: list[_Node], node: _Node) -> Range:
    size = args[0].sized
    node.size = _add(_times(size, (1, 2)), (2, 2))
    return _scaled(size, TRAVERSAL)


def _sorted(args: list[_Node], node: _Node) -> Range:
    node.size = args[0].sized
    return _times(args[0].sized, args[0].sized)


def _kept(args: list[_Node], node: _Node) -> Range:
    node.size, node.keys, node.values = args[0].sized, args[0].keys, args[0].values
    return args[0].sized


_CALLS: dict[str, _Rule] = {
    **dict.fromkeys(("startsWith", "endsWith"), _argument),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _traversal),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim", "url"), _first(TRAVERSAL, keeps_size=True)),
    **dict.fromkeys(("format", "cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"),
                    _first(TRAVERSAL)),
    **dict.fromkeys(("find", "findAll"), _found),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _squared(1)),
    "sets.equivalent": _squared(2),
    "strings.quote": _quoted,
    **dict.fromkeys(("sort", "@sortByAssociatedKeys", "distinct"), _sorted),
    **dict.fromkeys(("reverse", "slice"), _kept),
    "matches": _pattern,
    "contains": _contains,
    "string": _converted,
    "bytes": _converted,
    "split": _split,
    "join": _join,
    "replace": _replace,
    "validate": _validate,
    "ip": _address,
    "ip.isCanonical": _first(2 * TRAVERSAL),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "check": _fixed(AUTHORIZATION),
}  # fmt: skip
