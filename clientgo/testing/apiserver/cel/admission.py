"""The variables of expressions about a write: object, oldObject, request, params, authorizer and others.

Mirrors apiserver's pkg/admission/plugin/cel/compile.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clientgo.testing.apiserver.cel.checker import Environment
from clientgo.testing.apiserver.cel.common.types import (
    BOOL,
    DYN,
    LIST_STRING,
    NULL,
    STRING,
    TIMESTAMP,
    Fields,
    Type,
    list_of,
    map_of,
    object_type,
)
from clientgo.testing.apiserver.cel.library.authz import AUTHORIZER, RESOURCE_CHECK
from clientgo.testing.apiserver.cel.mutation import FUNCTIONS, STRUCTS
from clientgo.testing.apiserver.cel.program import Program
from clientgo.testing.apiserver.cel.source import CompileError

# Cost limits for all expressions of one policy and binding, and for the match conditions of one webhook.
BUDGET = 10_000_000
CONDITIONS_BUDGET = 2_500_000
NO_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"

_STRINGS = map_of(STRING, STRING)


def _strings(*names: str) -> Fields:
    return dict.fromkeys(names, STRING)


_KIND = object_type("kubernetes.GroupVersionKind", _strings("group", "version", "kind"))
_RESOURCE = object_type("kubernetes.GroupVersionResource", _strings("group", "version", "resource"))
_USER = object_type(
    "kubernetes.UserInfo", {**_strings("username", "uid"), "groups": LIST_STRING, "extra": map_of(STRING, LIST_STRING)}
)
_REQUEST = object_type(
    "kubernetes.AdmissionRequest",
    {
        **_strings("name", "namespace", "operation", "subResource", "requestSubResource"),
        "kind": _KIND,
        "requestKind": _KIND,
        "resource": _RESOURCE,
        "requestResource": _RESOURCE,
        "userInfo": _USER,
        "dryRun": BOOL,
        "options": DYN,
    },
)
_METADATA = object_type(
    "kubernetes.NamespaceMetadata",
    {
        **_strings("name", "generateName", "namespace", "UID", "resourceVersion"),
        "labels": _STRINGS,
        "annotations": _STRINGS,
        "creationTimestamp": TIMESTAMP,
    },
)
_CONDITION = object_type("kubernetes.NamespaceCondition", _strings("type", "status", "reason", "message"))
_NAMESPACE = object_type(
    "kubernetes.Namespace",
    {
        "metadata": _METADATA,
        "spec": object_type("kubernetes.NamespaceSpec", {"finalizers": LIST_STRING}),
        "status": object_type("kubernetes.NamespaceStatus", {"phase": STRING, "conditions": list_of(_CONDITION)}),
    },
)


def environment(
    *,
    params: bool = False,
    authorizer: bool = True,
    variables: Mapping[str, Type] | None = None,
    mutation: bool = False,
) -> Environment:
    """Return the environment. `variables` are a policy's, by name. `mutation` adds the types Object and JSONPatch."""
    known: dict[str, Type] = {"object": DYN, "oldObject": DYN, "request": _REQUEST, "namespaceObject": _NAMESPACE}
    if params:
        known["params"] = DYN
    if authorizer:
        known["authorizer"] = AUTHORIZER
        known["authorizer.requestResource"] = RESOURCE_CHECK
    if variables is not None:
        known["variables"] = object_type("kubernetes.variables", dict(variables))
    return Environment(known, STRUCTS, FUNCTIONS) if mutation else Environment(known)


def compiled(source: str, known: Environment, *outputs: Type) -> Program:
    """Compile an expression and return its program.

    Without `outputs` any result type is accepted. Raises CompileError if the source is invalid or the result has
    another type.
    """
    try:
        program = Program(source, known)
    except CompileError as err:
        raise CompileError(f"compilation failed: {err}") from None
    if outputs and program.output not in outputs:
        if len(outputs) == 1:
            raise CompileError(f"must evaluate to {outputs[0]} but got {program.output}")
        raise CompileError(f"must evaluate to one of {_go_list(outputs)}")
    return program


def _go_list(outputs: Iterable[Type]) -> str:
    return "[" + " ".join("null_type" if one == NULL else str(one) for one in outputs) + "]"
