"""Interpreter: turns a checked tree to functions that evaluate it and count its cost. Mirrors cel-go's interpreter."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from clientgo.testing.apiserver.cel.checker import Checked
from clientgo.testing.apiserver.cel.common.values import (
    NONE,
    CostExceeded,
    EvalError,
    ObjectValue,
    Optional,
    from_key,
    key_of,
    type_name,
)
from clientgo.testing.apiserver.cel.library.declare import no_overload
from clientgo.testing.apiserver.cel.library.operators import at, checked, maybe_at
from clientgo.testing.apiserver.cel.runtime_cost import LIST, MAP, STRUCT, call_cost
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

# Seconds of an evaluation. It limits operations that take longer than their cost suggests.
_MAX_SECONDS = 10.0


class Run:
    """One evaluation: the values of its variables, and its cost so far."""

    __slots__ = ("_deadline", "cost", "limit", "names")

    def __init__(self, names: Mapping[str, Any], limit: int) -> None:
        self.names = dict(names)
        self.cost = 0
        self.limit = limit
        self._deadline = time.monotonic() + _MAX_SECONDS

    def spend(self, cost: int) -> None:
        """Add to the cost of this evaluation. Raises CostExceeded above the limit."""
        self.cost += cost
        if self.cost > self.limit:
            raise CostExceeded

    def look_at_the_clock(self) -> None:
        """Raise CostExceeded if the evaluation has reached its deadline, whatever its cost."""
        if time.monotonic() > self._deadline:
            raise CostExceeded


Step: TypeAlias = Callable[[Run], Any]


def plan(checked: Checked) -> Step:
    """Return the function that evaluates the tree. The function raises EvalError and CostExceeded."""
    return _Planner(checked).step(checked.expr)


class _Planner:
    def __init__(self, checked: Checked) -> None:
        self._checked = checked

    def step(self, expr: Expr) -> Step:
        constant = self._checked.constants.get(id(expr))
        if constant is not None:
            return lambda run: constant
        name = self._checked.variables.get(id(expr))
        if name is not None:
            return _variable(name)
        match expr:
            case Literal():
                value = expr.value
                return lambda run: value
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
                return self._bind(expr) if expr.is_bind else self._loop(expr)
            case Ident():
                return _variable(expr.name)
        raise TypeError(f"no such node: {expr!r}")

    # ---- fields

    def _select(self, expr: Select) -> Step:
        operand, field = self.step(expr.operand), expr.field
        if expr.test_only:
            return lambda run: _is_there(operand(run), field)

        def select(run: Run) -> Any:
            value = operand(run)
            run.spend(1)
            if type(value) in (dict, ObjectValue) and field in value:
                found = value[field]
                return found.value(run) if type(found) is Lazy else checked(found)
            return _field(value, field)

        return select

    # ---- calls

    def _call(self, expr: Call) -> Step:
        special = _SPECIAL.get(expr.function)
        if special is not None and expr.target is None:
            return special(*(self.step(arg) for arg in expr.args))
        if expr.function == "_?._":
            operand, name = self.step(expr.args[0]), expr.args[1]
            assert isinstance(name, Literal)
            return _optional_field(operand, name.value)
        function, _, member = self._checked.calls[id(expr)]
        given = [expr.target, *expr.args] if member and expr.target is not None else expr.args
        steps = [self.step(arg) for arg in given]
        if member and function.name in ("or", "orValue"):
            return _or_value(steps[0], steps[1], unwrap=function.name == "orValue")
        name_, body = function.name, function.body

        def call(run: Run) -> Any:
            args = tuple([step(run) for step in steps])
            run.spend(call_cost(name_, args))
            try:
                return body(*args)
            except (TypeError, AttributeError, OverflowError, RecursionError) as err:
                raise EvalError(f"{name_}: {err}") from err

        return call

    # ---- literals with parts

    def _list(self, expr: ListExpr) -> Step:
        steps = [(self.step(item), i in expr.optional) for i, item in enumerate(expr.items)]

        def make(run: Run) -> list[Any]:
            run.spend(LIST)
            items = []
            for step, optional in steps:
                value = step(run)
                if not optional:
                    items.append(value)
                elif _unwrapped(value).present:
                    items.append(value.value)
            return items

        return make

    def _map(self, expr: MapExpr) -> Step:
        steps = [(self.step(key), self.step(value), optional) for key, value, optional in expr.entries]

        def make(run: Run) -> dict[Any, Any]:
            run.spend(MAP)
            entries: dict[Any, Any] = {}
            for key_step, step, optional in steps:
                key = key_of(key_step(run))
                value = step(run)
                if optional:
                    if not _unwrapped(value).present:
                        continue
                    value = value.value
                if key in entries:
                    raise EvalError(f"Failed with repeated key {key}")
                entries[key] = value
            return entries

        return make

    def _struct(self, expr: Struct) -> Step:
        steps = [(name, self.step(value), optional) for name, value, optional, _ in expr.fields]
        kind = expr.name

        def make(run: Run) -> ObjectValue:
            run.spend(STRUCT)
            fields = {}
            for name, step, optional in steps:
                value = step(run)
                if not optional:
                    fields[name] = value
                elif _unwrapped(value).present:
                    fields[name] = value.value
            return ObjectValue(fields, kind)

        return make

    # ---- comprehensions

    def _bind(self, expr: Comprehension) -> Step:
        value, body, name = self.step(expr.init), self.step(expr.result), expr.accumulator

        def bind(run: Run) -> Any:
            given = value(run)
            with _Scope(run, name):
                run.names[name] = given
                return body(run)

        return bind

    def _loop(self, expr: Comprehension) -> Step:
        over, init, result = self.step(expr.range), self.step(expr.init), self.step(expr.result)
        condition, step = self.step(expr.condition), self._loop_step(expr)
        first, second, accumulator = expr.variable, expr.variable2, expr.accumulator
        always = isinstance(expr.condition, Literal)

        def loop(run: Run) -> Any:
            items = _items(over(run), two=bool(second))
            with _Scope(run, accumulator), _Scope(run, first), _Scope(run, second):
                names = run.names
                names[accumulator] = init(run)
                for one, other in items:
                    run.look_at_the_clock()
                    names[first], names[second] = one, other
                    if not always and not condition(run):
                        break
                    try:
                        names[accumulator] = step(run)
                    except EvalError as err:
                        # An error is a value: of `all` and `exists` a later item may still decide.
                        names[accumulator] = err
                        if always:
                            break
                return result(run)

        return loop

    def _loop_step(self, expr: Comprehension) -> Step:
        """Return the step of a loop.

        The steps of map and filter append to the accumulated list instead of copying it.
        """
        step = expr.step
        if not (isinstance(expr.init, ListExpr) and isinstance(step, Call)):
            return self.step(step)
        if step.function == "_?_:_" and isinstance(step.args[1], Call):
            return _ternary(self.step(step.args[0]), self._append(step.args[1]), self.step(step.args[2]))
        return self._append(step)

    def _append(self, add: Call) -> Step:
        accumulated, item = self.step(add.args[0]), self.step(add.args[1])

        def append(run: Run) -> Any:
            items = accumulated(run)
            items += item(run)
            run.spend(1)
            return items

        return append


class _Scope:
    """A context that restores a loop variable's previous value when the loop ends."""

    __slots__ = ("_before", "_name", "_run")

    def __init__(self, run: Run, name: str) -> None:
        self._run = run
        self._name = name

    def __enter__(self) -> None:
        self._before = self._run.names.get(self._name, self)

    def __exit__(self, *_: object) -> None:
        if self._before is self:
            self._run.names.pop(self._name, None)
        else:
            self._run.names[self._name] = self._before


_PLAIN = frozenset({bool, int, float, str, list, dict})


def _variable(name: str) -> Step:
    def variable(run: Run) -> Any:
        # Not `spend`, since most evaluations read variables most often.
        run.cost += 1
        if run.cost > run.limit:
            raise CostExceeded
        try:
            value = run.names[name]
        except KeyError:
            raise EvalError(f"no such attribute(s): {name}") from None
        if type(value) in _PLAIN:
            return value
        if isinstance(value, EvalError):
            raise value
        return checked(value)

    return variable


class Lazy:
    """A variable that the first reader evaluates. Later readers get the same value or error."""

    __slots__ = ("_done", "_error", "_names", "_step", "_value")

    def __init__(self, step: Step, names: dict[str, Any]) -> None:
        """Create the variable of a step; the step reads `names`, but not the loop variables around its readers."""
        self._step = step
        self._names = names
        self._done = False
        self._value: Any = None
        self._error: EvalError | None = None

    def value(self, run: Run) -> Any:
        """Return the value, evaluated on the first call. Raises the first call's EvalError on every call."""
        if not self._done:
            around, run.names = run.names, self._names
            try:
                self._value = self._step(run)
            except EvalError as err:
                self._error = err
            finally:
                run.names = around
            self._done = True
        if self._error is not None:
            raise self._error
        return self._value


def _items(over: Any, *, two: bool) -> list[tuple[Any, Any]]:
    if isinstance(over, list):
        return [(i, checked(item)) if two else (checked(item), None) for i, item in enumerate(over)]
    if isinstance(over, dict) and not isinstance(over, ObjectValue):
        return [(from_key(key), checked(value) if two else None) for key, value in over.items()]
    raise no_overload()


def _unwrapped(value: Any) -> Optional:
    if isinstance(value, Optional):
        return value
    raise no_overload()


# ---- fields


def _field(value: Any, field: str) -> Any:
    if isinstance(value, Optional):
        return maybe_at(value, field)
    if not isinstance(value, dict):
        fields = getattr(value, "cel_fields", None)
        if fields is None:
            raise no_overload()
        value = fields
    return at(value, field)


def _is_there(value: Any, field: str) -> bool:
    if isinstance(value, Optional):
        return value.present and _is_there(value.value, field)
    if isinstance(value, dict):
        return field in value
    raise no_overload()


def _optional_field(operand: Step, field: str) -> Step:
    def select(run: Run) -> Optional:
        value = operand(run)
        run.spend(1)
        if isinstance(value, Optional):
            if not value.present:
                return NONE
            value = value.value
        if not isinstance(value, dict):
            raise no_overload()
        return Optional(True, checked(value[field])) if field in value else NONE

    return select


# ---- what does not evaluate all of its arguments


def _and(left: Step, right: Step) -> Step:
    return _either(left, right, decides=False)


def _or(left: Step, right: Step) -> Step:
    return _either(left, right, decides=True)


def _either(left: Step, right: Step, *, decides: bool) -> Step:
    """Return the step of `&&` or `||`.

    A side with the value `decides` decides even if the other side raises an error.
    """

    def either(run: Run) -> bool:
        error: EvalError | None = None
        for side in (left, right):
            try:
                value = side(run)
            except EvalError as err:
                error = error or err
                continue
            if not isinstance(value, bool):
                error = error or no_overload()
            elif value is decides:
                return decides
        if error is not None:
            raise error
        return not decides

    return either


def _ternary(condition: Step, yes: Step, no: Step) -> Step:
    def choose(run: Run) -> Any:
        chosen = condition(run)
        if not isinstance(chosen, bool):
            raise no_overload()
        return yes(run) if chosen else no(run)

    return choose


def _not_strictly_false(operand: Step) -> Step:
    def test(run: Run) -> bool:
        run.spend(1)
        try:
            return operand(run) is not False
        except EvalError:
            return True

    return test


def _or_value(target: Step, other: Step, *, unwrap: bool) -> Step:
    def choose(run: Run) -> Any:
        value = target(run)
        if not isinstance(value, Optional):
            raise EvalError(f"no such overload: {type_name(value)}")
        if value.present:
            return value.value if unwrap else value
        return other(run)

    return choose


_SPECIAL: dict[str, Callable[..., Step]] = {
    "_&&_": _and,
    "_||_": _or,
    "_?_:_": _ternary,
    "@not_strictly_false": _not_strictly_false,
}
