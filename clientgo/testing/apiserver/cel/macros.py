"""Macros: has, all, exists, map, filter ... Mirrors cel-go's parser/macro.go and ext/comprehensions.go."""

from __future__ import annotations

from collections.abc import Callable

from clientgo.testing.apiserver.cel.syntax import (
    ACCUMULATOR,
    MAX_DEPTH,
    Call,
    Comprehension,
    Expr,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
)

_UNUSED = "#unused"
_TARGET = "@target"
_NOT_SIMPLE = "argument must be a simple name"
_NO_IDENTIFIER = "argument is not an identifier"


class MacroError(Exception):
    """A macro with wrong arguments."""

    def __init__(self, pos: int, message: str) -> None:
        super().__init__(message)
        self.pos = pos


def expand(pos: int, function: str, target: Expr | None, args: list[Expr]) -> Expr | None:
    """Return the expression that a macro call expands to, or None if the call is not a macro. Raises MacroError."""
    if target is None:
        return _has(pos, args[0]) if function == "has" and len(args) == 1 else None
    macro = _MACROS.get((function, len(args)))
    if macro is None:
        return None
    expr = macro(_At(pos), target, args)
    if expr.depth > MAX_DEPTH:
        raise MacroError(pos, f"expression recursion limit exceeded: {MAX_DEPTH}")
    return expr


def _has(pos: int, arg: Expr) -> Expr:
    if not isinstance(arg, Select) or arg.test_only:
        raise MacroError(arg.pos, "invalid argument to has() macro")
    return Select(arg.operand, arg.field, test_only=True, pos=pos, depth=arg.depth)


class _At:
    """A factory of nodes at the macro's position."""

    def __init__(self, pos: int) -> None:
        self._pos = pos

    def value(self, value: object) -> Literal:
        return Literal(value, pos=self._pos)

    def name(self, name: str) -> Ident:
        return Ident(name, pos=self._pos)

    def accumulated(self) -> Ident:
        return self.name(ACCUMULATOR)

    def list(self, *items: Expr) -> ListExpr:
        return ListExpr(list(items), pos=self._pos, depth=1 + max((one.depth for one in items), default=0))

    def map(self) -> MapExpr:
        return MapExpr([], pos=self._pos)

    def call(self, function: str, *args: Expr) -> Call:
        return Call(function, None, list(args), pos=self._pos, depth=1 + max((one.depth for one in args), default=0))

    def method(self, target: Expr, function: str, *args: Expr) -> Call:
        depth = 1 + max(one.depth for one in (target, *args))
        return Call(function, target, list(args), pos=self._pos, depth=depth)

    def loop(
        self, over: Expr, names: tuple[str, str], init: Expr, condition: Expr, step: Expr, result: Expr | None = None
    ) -> Comprehension:
        return self._fold(over, names, ACCUMULATOR, init, condition, step, result or self.accumulated())

    def bind(self, name: str, value: Expr, body: Expr) -> Comprehension:
        return self._fold(self.list(), (_UNUSED, ""), name, value, self.value(False), self.name(name), body)

    def _fold(
        self,
        over: Expr,
        names: tuple[str, str],
        accumulator: str,
        init: Expr,
        condition: Expr,
        step: Expr,
        result: Expr,
    ) -> Comprehension:
        depth = 1 + max(one.depth for one in (over, init, condition, step, result))
        return Comprehension(
            over, *names, accumulator, init, condition, step, result, pos=self._pos, depth=depth
        )  # fmt: skip


def _simple(arg: Expr, message: str) -> str:
    if not isinstance(arg, Ident) or arg.name.startswith("."):
        raise MacroError(arg.pos, message)
    if arg.name in (ACCUMULATOR, "__result__"):
        raise MacroError(arg.pos, "iteration variable overwrites accumulator variable")
    return arg.name


def _one(args: list[Expr], message: str = _NOT_SIMPLE) -> tuple[str, str]:
    return _simple(args[0], message), ""


def _two(args: list[Expr]) -> tuple[str, str]:
    first, second = _simple(args[0], _NOT_SIMPLE), _simple(args[1], _NOT_SIMPLE)
    if first == second:
        raise MacroError(args[1].pos, f"duplicate variable name: {first}")
    return first, second


_Names = Callable[[list[Expr]], tuple[str, str]]


def _all(names: _Names) -> Callable[[_At, Expr, list[Expr]], Expr]:
    def make(at: _At, target: Expr, args: list[Expr]) -> Expr:
        condition = at.call("@not_strictly_false", at.accumulated())
        step = at.call("_&&_", at.accumulated(), args[-1])
        return at.loop(target, names(args), at.value(True), condition, step)

    return make


def _exists(names: _Names) -> Callable[[_At, Expr, list[Expr]], Expr]:
    def make(at: _At, target: Expr, args: list[Expr]) -> Expr:
        condition = at.call("@not_strictly_false", at.call("!_", at.accumulated()))
        step = at.call("_||_", at.accumulated(), args[-1])
        return at.loop(target, names(args), at.value(False), condition, step)

    return make


def _exists_one(names: _Names) -> Callable[[_At, Expr, list[Expr]], Expr]:
    def make(at: _At, target: Expr, args: list[Expr]) -> Expr:
        more = at.call("_+_", at.accumulated(), at.value(1))
        step = at.call("_?_:_", args[-1], more, at.accumulated())
        result = at.call("_==_", at.accumulated(), at.value(1))
        return at.loop(target, names(args), at.value(0), at.value(True), step, result)

    return make


def _map(at: _At, target: Expr, args: list[Expr]) -> Expr:
    names = _one(args, _NO_IDENTIFIER)
    return _listed(at, target, names, args[1] if len(args) == 3 else None, args[-1])


def _filter(at: _At, target: Expr, args: list[Expr]) -> Expr:
    names = _one(args, _NO_IDENTIFIER)
    return _listed(at, target, names, args[1], args[0])


def _transform_list(at: _At, target: Expr, args: list[Expr]) -> Expr:
    return _listed(at, target, _two(args), args[2] if len(args) == 4 else None, args[-1])


def _listed(at: _At, target: Expr, names: tuple[str, str], only: Expr | None, item: Expr) -> Expr:
    step: Expr = at.call("_+_", at.accumulated(), at.list(item))
    if only is not None:
        step = at.call("_?_:_", only, step, at.accumulated())
    return at.loop(target, names, at.list(), at.value(True), step)


def _transform_map(at: _At, target: Expr, args: list[Expr]) -> Expr:
    names = _two(args)
    step = at.call("cel.@mapInsert", at.accumulated(), at.name(names[0]), args[-1])
    return _mapped(at, target, names, args[2] if len(args) == 4 else None, step)


def _transform_map_entry(at: _At, target: Expr, args: list[Expr]) -> Expr:
    step = at.call("cel.@mapInsert", at.accumulated(), args[-1])
    return _mapped(at, target, _two(args), args[2] if len(args) == 4 else None, step)


def _mapped(at: _At, target: Expr, names: tuple[str, str], only: Expr | None, step: Expr) -> Expr:
    if only is not None:
        step = at.call("_?_:_", only, step, at.accumulated())
    return at.loop(target, names, at.map(), at.value(True), step)


def _opt_map(at: _At, target: Expr, args: list[Expr]) -> Expr:
    name, _ = _one(args, "optMap() variable name must be a simple identifier")
    body = at.call("optional.of", at.bind(name, at.method(at.name(_TARGET), "value"), args[1]))
    return _when_present(at, target, body)


def _opt_flat_map(at: _At, target: Expr, args: list[Expr]) -> Expr:
    name, _ = _one(args, "optFlatMap() variable name must be a simple identifier")
    return _when_present(at, target, at.bind(name, at.method(at.name(_TARGET), "value"), args[1]))


def _when_present(at: _At, target: Expr, body: Expr) -> Expr:
    """Return an expression with the value of `body` if the optional target has a value, and none otherwise.

    The target is bound to a name. Go repeats it in the tree, which doubles the tree with each optMap of a chain.
    """
    present = at.method(at.name(_TARGET), "hasValue")
    return at.bind(_TARGET, target, at.call("_?_:_", present, body, at.call("optional.none")))


_MACROS: dict[tuple[str, int], Callable[[_At, Expr, list[Expr]], Expr]] = {
    ("all", 2): _all(_one),
    ("all", 3): _all(_two),
    ("exists", 2): _exists(_one),
    ("exists", 3): _exists(_two),
    ("exists_one", 2): _exists_one(_one),
    ("existsOne", 2): _exists_one(_one),
    ("existsOne", 3): _exists_one(_two),
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("optMap", 2): _opt_map,
    ("optFlatMap", 2): _opt_flat_map,
}
