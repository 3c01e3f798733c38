"""One policy, compiled. Mirrors apiserver's plugin/policy/validating/compile and plugin/cel/composition.go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clientgo.testing.apiserver.cel import admission
from clientgo.testing.apiserver.cel.common.types import BOOL, NULL, STRING, Type
from clientgo.testing.apiserver.cel.mutation import OBJECT, PATCHES
from clientgo.testing.apiserver.cel.program import Program
from clientgo.testing.apiserver.cel.source import CompileError
from clientgo.testing.apiserver.webhooks.conditions import Conditions
from clientgo.testing.apiserver.wire.jsonio import Json


@dataclass(frozen=True, slots=True)
class Validation:
    """An expression that must be true, and the message if it is not."""

    spec: Json
    program: Program
    message: Program | None


class Policy:
    """The expressions of one policy, validating or mutating. Thread-safe: nothing changes once it is made."""

    def __init__(self, obj: Json) -> None:
        """Compile a policy. Never raises: a compile error becomes `error`, and evaluating the policy fails."""
        spec = obj.get("spec") or {}
        self.name: str = obj["metadata"]["name"]
        self.fails: bool = spec.get("failurePolicy", "Fail") != "Ignore"
        self.error = ""
        params = bool(spec.get("paramKind"))
        self.conditions = Conditions(spec.get("matchConditions") or (), params=params)
        self._variables: list[tuple[str, Program]] = []
        self.validations: list[Validation] = []
        self.audit: list[tuple[str, Program]] = []
        self.mutations: list[tuple[str, Program]] = []
        try:
            (self._compile_mutations if spec.get("mutations") else self._compile)(spec, params)
        except CompileError as err:
            self.error = str(err)

    def __repr__(self) -> str:
        return f"<Policy {self.name}>"

    def _compile(self, spec: Json, params: bool) -> None:
        types = self.compile_variables(spec, params)
        known = admission.environment(params=params, variables=types)
        message_environment = admission.environment(params=params, variables=types, authorizer=False)
        for one in spec.get("validations") or ():
            message = one.get("messageExpression")
            program = admission.compiled(one.get("expression") or "", known, BOOL)
            self.validations.append(
                Validation(one, program, admission.compiled(message, message_environment, STRING) if message else None)
            )
        for one in spec.get("auditAnnotations") or ():
            value = admission.compiled(one.get("valueExpression") or "", known, STRING, NULL)
            self.audit.append((one.get("key", ""), value))

    def _compile_mutations(self, spec: Json, params: bool) -> None:
        types = self.compile_variables(spec, params, mutation=True)
        known = admission.environment(params=params, variables=types, mutation=True)
        for one in spec.get("mutations") or ():
            kind = one.get("patchType", "")
            wanted, place = (PATCHES, "jsonPatch") if kind == "JSONPatch" else (OBJECT, "applyConfiguration")
            source = (one.get(place) or {}).get("expression") or ""
            self.mutations.append((kind, admission.compiled(source, known, wanted)))

    def compile_variables(self, spec: Json, params: bool, *, mutation: bool = False) -> dict[str, Type]:
        """Compile the policy's variables and return their types.

        Each variable may use those before it. Raises CompileError.
        """
        types: dict[str, Type] = {}
        for one in spec.get("variables") or ():
            known = admission.environment(params=params, variables=types, mutation=mutation)
            program = admission.compiled(one.get("expression") or "", known)
            self._variables.append((one["name"], program))
            types[one["name"]] = program.output
        return types

    def names(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the variables of the policy's expressions.

        They are the given ones, and the policy's, which are evaluated when they are read.
        """
        variables: dict[str, Any] = {}
        names = {**given, "variables": variables}
        for name, program in self._variables:
            variables[name] = program.lazy(names)
        return names
