"""Type checker: assigns a type to every node of an expression's tree. Mirrors cel-go's checker/checker.go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clientgo.testing.apiserver.cel import library
from clientgo.testing.apiserver.cel.common.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    Fields,
    Substitutions,
    Type,
    is_dyn,
    list_of,
    map_of,
    object_type,
    optional_of,
    type_of,
)
from clientgo.testing.apiserver.cel.common.values import TypeValue, Uint
from clientgo.testing.apiserver.cel.library.declare import Function, Overload
from clientgo.testing.apiserver.cel.source import Issues
from clientgo.testing.apiserver.cel.syntax import (
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

_LITERALS: tuple[tuple[type, Type], ...] = (
    (bool, BOOL),
    (Uint, UINT),
    (int, INT),
    (float, DOUBLE),
    (str, STRING),
    (bytes, BYTES),
)


@dataclass(frozen=True, slots=True)
class Environment:
    """The names that an expression may use. `structs` are the types that it may create, by name."""

    variables: Mapping[str, Type]
    structs: Mapping[str, Fields] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=library.functions)


@dataclass(slots=True)
class Checked:
    """A tree and the checker's results for its nodes, by their `id()`."""

    expr: Expr
    types: dict[int, Type] = field(default_factory=dict)
    # Identifiers and selections that are the name of a variable.
    variables: dict[int, str] = field(default_factory=dict)
    # The nodes that are the name of a type.
    constants: dict[int, TypeValue] = field(default_factory=dict)
    calls: dict[int, tuple[Function, list[Overload], bool]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)

    @property
    def output(self) -> Type:
        return self.types[id(self.expr)]


def check(source: str, expr: Expr, environment: Environment) -> Checked:
    """Return the tree with the type of every node. Raises CompileError, which lists all type errors."""
    issues = Issues(source)
    checker = _Checker(environment, issues)
    checker.type_of(expr)
    checked = checker.checked
    checked.expr = expr
    issues.check()
    for node, kind in checked.types.items():
        checked.types[node] = checker.known.resolve(kind, dyn=True)
    return checked


class _Checker:
    def __init__(self, environment: Environment, issues: Issues) -> None:
        self._environment = environment
        self._issues = issues
        self._scopes: list[dict[str, Type]] = []
        self.known = Substitutions()
        self.checked = Checked(Literal(None, pos=0))

    def type_of(self, expr: Expr) -> Type:
        kind = self._find(expr)
        self.checked.types[id(expr)] = kind
        return kind

    def _find(self, expr: Expr) -> Type:
        match expr:
            case Literal():
                return next((kind for cls, kind in _LITERALS if isinstance(expr.value, cls)), NULL)
            case Ident():
                return self._ident(expr)
            case Select():
                return self._select(expr)
            case Call():
                return self._call(expr)
            case ListExpr():
                return self._list(expr)
            case MapExpr():
                return self._map(expr)
            case Struct():
                return self._struct(expr)
            case Comprehension():
                return self._comprehension(expr)
        raise TypeError(f"no such node: {expr!r}")

    # ---- names

    def _ident(self, expr: Ident) -> Type:
        found = self._named(expr, expr.name.removeprefix("."))
        if found is None:
            self._undeclared(expr.pos, expr.name.removeprefix("."))
            return ERROR
        return found

    def _named(self, expr: Expr, name: str) -> Type | None:
        for scope in reversed(self._scopes):
            if name in scope:
                self.checked.variables[id(expr)] = name
                return scope[name]
        if name in self._environment.variables:
            self.checked.variables[id(expr)] = name
            self.checked.used.add(name)
            return self._environment.variables[name]
        kind = library.TYPE_NAMES.get(name)
        if kind is None:
            return None
        self.checked.constants[id(expr)] = TypeValue(name)
        return type_of(kind)

    def _undeclared(self, pos: int, name: str) -> None:
        self._issues.add(pos, f"undeclared reference to '{name}' (in container '')")

    def _select(self, expr: Select) -> Type:
        name = "" if expr.test_only else self._dotted(expr)
        if name and "." in name:
            found = self._named(expr, name)
            if found is not None:
                return found
        result = self._field(expr, self.type_of(expr.operand), expr.field)
        return BOOL if expr.test_only else result

    def _dotted(self, expr: Expr) -> str:
        """Return the dotted name that an expression spells, or "" if it spells none or begins with a loop variable."""
        if isinstance(expr, Ident):
            return "" if any(expr.name in scope for scope in self._scopes) else expr.name.removeprefix(".")
        if isinstance(expr, Select) and not expr.test_only:
            head = self._dotted(expr.operand)
            return f"{head}.{expr.field}" if head else ""
        return ""

    def _field(self, expr: Expr, operand: Type, name: str, *, optional: bool = False) -> Type:
        operand = self.known.resolve(operand)
        if operand.name == "optional_type":
            inner = self._field(expr, operand.params[0], name)
            return optional_of(inner)
        result = self._plain_field(expr, operand, name)
        return optional_of(result) if optional else result

    def _plain_field(self, expr: Expr, operand: Type, name: str) -> Type:
        if operand.name == "map":
            return operand.params[1]
        if operand.fields is not None:
            if name not in operand.fields:
                self._issues.add(expr.pos, f"undefined field '{name}'")
                return ERROR
            return operand.fields[name]
        if operand.is_param:
            self.known.assign((DYN,), (operand,))
            return DYN
        if is_dyn(operand):
            return DYN if operand.name == "dyn" else ERROR
        self._issues.add(expr.pos, f"type '{operand}' does not support field selection")
        return ERROR

    # ---- calls

    def _call(self, expr: Call) -> Type:
        if expr.function == "_?._":
            return self._optional_select(expr)
        if expr.target is not None:
            namespace = self._dotted(expr.target)
            function = self._environment.functions.get(f"{namespace}.{expr.function}") if namespace else None
            if function is not None:
                return self._overloads(expr, function, [self.type_of(arg) for arg in expr.args], member=False)
        args = [self.type_of(arg) for arg in ([] if expr.target is None else [expr.target]) + expr.args]
        function = self._environment.functions.get(expr.function.removeprefix("."))
        if function is None:
            self._undeclared(expr.pos, expr.function.removeprefix("."))
            return ERROR
        return self._overloads(expr, function, args, member=expr.target is not None)

    def _optional_select(self, expr: Call) -> Type:
        operand, name = expr.args
        assert isinstance(name, Literal)
        self.checked.types[id(name)] = STRING
        return self._field(expr, self.type_of(operand), name.value, optional=True)

    def _overloads(self, expr: Call, function: Function, args: list[Type], *, member: bool) -> Type:
        result: Type | None = None
        fitting = []
        for overload in function.overloads:
            if overload.member != member or len(overload.args) != len(args):
                continue
            *wanted, gives = self.known.fresh((*overload.args, overload.result))
            if not self.known.assign(tuple(wanted), tuple(args)):
                continue
            fitting.append(overload)
            gives = self.known.resolve(gives)
            result = gives if result is None or result == gives else DYN
        if result is None:
            shown = [str(self.known.resolve(arg)) for arg in args]
            signature = f"{shown[0]}.({', '.join(shown[1:])})" if member else f"({', '.join(shown)})"
            name = function.name
            self._issues.add(expr.pos, f"found no matching overload for '{name}' applied to '{signature}'")
            return ERROR
        self.checked.calls[id(expr)] = (function, fitting, member)
        self.checked.functions.add(function.name)
        return result

    # ---- literals with parts

    def _list(self, expr: ListExpr) -> Type:
        item: Type | None = None
        for i, one in enumerate(expr.items):
            kind = self.type_of(one)
            if i in expr.optional:
                kind = self._unwrapped(one, kind)
            item = self._joined(one.pos, item, kind)
        return list_of(item or self.known.fresh_param())

    def _map(self, expr: MapExpr) -> Type:
        key: Type | None = None
        value: Type | None = None
        for left, right, optional in expr.entries:
            key = self._joined(left.pos, key, self.type_of(left))
            kind = self.type_of(right)
            value = self._joined(right.pos, value, self._unwrapped(right, kind) if optional else kind)
        if key is None or value is None:
            return map_of(self.known.fresh_param(), self.known.fresh_param())
        return map_of(key, value)

    def _unwrapped(self, expr: Expr, kind: Type) -> Type:
        kind = self.known.resolve(kind)
        if kind.name == "optional_type":
            return kind.params[0]
        if not is_dyn(kind):
            self._issues.add(expr.pos, f"expected type 'optional_type(dyn)' but found '{kind}'")
        return DYN

    def _joined(self, pos: int, before: Type | None, kind: Type) -> Type:
        if before is None:
            return kind
        joined = self.known.join(before, kind)
        if joined is not None:
            return joined
        found = self.known.resolve(kind)
        self._issues.add(pos, f"expected type '{self.known.resolve(before)}' but found '{found}'")
        return before

    def _struct(self, expr: Struct) -> Type:
        fields = self._environment.structs.get(expr.name)
        if fields is None:
            self._undeclared(expr.pos, expr.name)
            for _, value, _, _ in expr.fields:
                self.type_of(value)
            return ERROR
        for name, value, optional, pos in expr.fields:
            kind = self.type_of(value)
            if optional:
                kind = self._unwrapped(value, kind)
            if name not in fields:
                self._issues.add(pos, f"undefined field '{name}'")
            elif not self.known.assign((fields[name],), (kind,)):
                text = f"expected type of field '{name}' is '{fields[name]}' but provided type is '{kind}'"
                self._issues.add(pos, text)
        return object_type(expr.name, fields)

    # ---- comprehensions

    def _comprehension(self, expr: Comprehension) -> Type:
        over = self.known.resolve(self.type_of(expr.range))
        init = self.type_of(expr.init)
        self._scopes.append({expr.accumulator: init})
        self._scopes.append(self._variables(expr, over))
        self._must_be(expr.condition, BOOL)
        self._must_be(expr.step, init)
        self._scopes.pop()
        result = self.type_of(expr.result)
        self._scopes.pop()
        return self.known.resolve(result)

    def _variables(self, expr: Comprehension, over: Type) -> dict[str, Type]:
        if over.name == "list":
            first, second = (INT, over.params[0]) if expr.variable2 else (over.params[0], DYN)
        elif over.name == "map":
            first, second = over.params
        elif is_dyn(over) or over.is_param:
            self.known.assign((DYN,), (over,))
            first = second = DYN
        else:
            text = f"expression of type '{over}' cannot be range of a comprehension (must be list, map, or dynamic)"
            self._issues.add(expr.range.pos, text)
            first = second = ERROR
        return {expr.variable: first, expr.variable2: second} if expr.variable2 else {expr.variable: first}

    def _must_be(self, expr: Expr, wanted: Type) -> None:
        kind = self.type_of(expr)
        if not self.known.assign((wanted,), (kind,)):
            text = f"expected type '{self.known.resolve(wanted)}' but found '{self.known.resolve(kind)}'"
            self._issues.add(expr.pos, text)
