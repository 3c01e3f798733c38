"""Programs: compile an expression's source and evaluate it. Mirrors cel-go's cel.Env.Compile and cel.Program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clientgo.testing.apiserver.cel import literals
from clientgo.testing.apiserver.cel.checker import Checked, Environment, check
from clientgo.testing.apiserver.cel.common.types import Type
from clientgo.testing.apiserver.cel.common.values import CostExceeded, EvalError
from clientgo.testing.apiserver.cel.interpreter import Lazy, Run, Step, plan
from clientgo.testing.apiserver.cel.library import regex
from clientgo.testing.apiserver.cel.parser import parse

# Cost limit of one evaluation.
PER_CALL_LIMIT = 1_000_000


class Program:
    """An expression that can be evaluated. Thread-safe."""

    def __init__(self, source: str, environment: Environment) -> None:
        """Parse, check and plan an expression. Raises CompileError."""
        self.source = source
        self.checked: Checked = check(source, parse(source), environment)
        literals.check(source, self.checked)
        self._step: Step = plan(self.checked)

    def __repr__(self) -> str:
        return f"<Program {self.source!r}>"

    @property
    def output(self) -> Type:
        return self.checked.output

    @property
    def needs_regex(self) -> bool:
        """Report whether the expression needs the extra `cel`, which is not installed."""
        return not regex.AVAILABLE and not regex.NAMES.isdisjoint(self.checked.functions)

    def uses(self, variable: str) -> bool:
        return variable in self.checked.used

    def evaluate(self, variables: Mapping[str, Any], limit: int = PER_CALL_LIMIT) -> Result:
        """Evaluate the expression and return its value and cost.

        An error does not raise: the result has it instead of a value. A cost above `limit` is the error CostExceeded.
        """
        run = Run(variables, limit)
        try:
            return Result(self._step(run), run.cost)
        except (EvalError, CostExceeded) as err:
            return Result(None, run.cost, err)
        except RecursionError:
            return Result(None, run.cost, EvalError("value is too deep"))

    def lazy(self, names: dict[str, Any]) -> Lazy:
        """Return the expression as a variable of other expressions. The first reader evaluates it and pays its cost.

        `names` is not copied, so entries added later are visible.
        """
        return Lazy(self._step, names)


class Result:
    """The value or the error of an evaluation, and its cost."""

    __slots__ = ("cost", "error", "value")

    def __init__(self, value: Any, cost: int, error: EvalError | CostExceeded | None = None) -> None:
        self.value = value
        self.cost = cost
        self.error = error

    def __repr__(self) -> str:
        return f"<Result {self.error or self.value!r}, cost {self.cost}>"

    @property
    def exceeded(self) -> bool:
        """Report whether the evaluation stopped because of its cost."""
        return isinstance(self.error, CostExceeded)
