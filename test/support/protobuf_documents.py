"""Random documents of the built-in kinds, in the form in which a server would print them, and their messages."""

from __future__ import annotations

import base64
import json
import pkgutil
import random
from functools import cache
from typing import Any

import clientgo.api
from clientgo.api import facts
from clientgo.apimachinery.runtime.serializer.protobuf import messages
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message, Shape
from clientgo.testing.apiserver.kinds import schema

META = "clientgo.apimachinery.apis.meta.v1"
# Beyond this depth there is nothing, and below the top so many fields a message on average.
_DEPTH = 7
_FIELDS = 3


@cache
def packages() -> list[str]:
    """Return all packages of API types that have messages."""
    found = [
        module.name
        for group in pkgutil.iter_modules(clientgo.api.__path__, "clientgo.api.")
        if group.ispkg and group.name != "clientgo.api.data"
        for module in pkgutil.iter_modules(
            [f"{clientgo.api.__path__[0]}/{group.name.rpartition('.')[2]}"], f"{group.name}."
        )
    ]
    return [*found, "clientgo.apiextensions.v1", "clientgo.apiextensions.v1beta1", META]


def all_messages() -> list[Message]:
    """Return all messages."""
    names = [(package, name) for package in packages() for name in messages.names_in(package)]
    return [found for package, name in names if (found := messages.message(package, name)) is not None]


def go_type(message: Message) -> tuple[str, str] | None:
    """Return the Go package and type under which the server has the facts about a message."""
    module, _, name = message.name.rpartition(".")
    if module == META:
        package = facts.META_V1
    elif module.startswith("clientgo.apiextensions"):
        package = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/" + module.rpartition(".")[2]
    else:
        package = "k8s.io/api/" + module.removeprefix("clientgo.api.").replace(".", "/")
    return (package, name) if facts.is_struct(package, name) else None


def normal_form(message: Message, document: dict[str, Any]) -> dict[str, Any] | None:
    """Return the document in the server's form, made from the facts alone, or None without facts."""
    found = go_type(message)
    if found is None:
        return None
    context = schema.Context()
    normal: dict[str, Any] = schema.structure(*found).decode(document, context, "", "")
    assert context.unknown == []
    return json.loads(json.dumps(normal))


def document(message: Message, chance: random.Random, depth: int = 0) -> dict[str, Any]:
    """Return a random document, which is smaller at greater depths."""
    out: dict[str, Any] = {}
    for field in message.fields:
        if not field.json:
            out.update(document(field.message, chance, depth + 1))
        elif depth < _DEPTH and chance.random() < (0.9 if depth == 0 else min(0.6, _FIELDS / len(message.fields))):
            out[field.json] = _value(field, chance, depth)
    return out


def _value(field: Field, chance: random.Random, depth: int) -> Any:
    if field.shape == Shape.LIST:
        return [_element(field, chance, depth) for _ in range(chance.choice((1, 1, 2, 3)))]
    if field.shape == Shape.MAP:
        return {_text(chance): _element(field, chance, depth) for _ in range(chance.choice((1, 1, 2, 3)))}
    return _element(field, chance, depth)


def _element(field: Field, chance: random.Random, depth: int) -> Any:
    kind = field.kind
    if kind == Kind.MESSAGE:
        return document(field.message, chance, depth + 1)
    if kind >= Kind.SCHEMAORARRAY:
        return _schema_or_other(field, chance, depth)
    return LEAVES[kind](chance)


def _schema_or_other(field: Field, chance: random.Random, depth: int) -> Any:
    if field.kind == Kind.SCHEMAORBOOL and chance.random() < 0.5:
        return chance.random() < 0.5
    if field.kind == Kind.SCHEMAORSTRINGS and chance.random() < 0.5:
        return [_text(chance)]
    return document(field.message, chance, depth + 1)


def _text(chance: random.Random) -> str:
    return "".join(chance.choice('abc/.-_ ä€😀\n\0"') for _ in range(chance.choice((0, 1, 5, 20, 200))))


def _integer(chance: random.Random) -> int:
    return chance.choice((0, 1, -1, 127, 128, 300, 2**31 - 1, -(2**31)))


def _time(chance: random.Random) -> str:
    return f"{chance.randrange(1, 10000):04d}-{chance.randrange(2, 13):02d}-28T23:59:{chance.randrange(60):02d}"


def _json(chance: random.Random) -> Any:
    return chance.choice(({}, [], {"f:a": {".": {}}}, "text", 5, 1.5, True, [None, {"ä": "<"}]))


LEAVES: Any = {
    Kind.STRING: _text,
    Kind.BOOL: lambda chance: chance.random() < 0.5,
    Kind.INT: _integer,
    Kind.DOUBLE: lambda chance: chance.choice((0, 1, -2.5, 1e300, 2**53)),
    Kind.BYTES: lambda chance: base64.b64encode(chance.randbytes(chance.randrange(200))).decode(),
    Kind.TIME: lambda chance: f"{_time(chance)}Z",
    Kind.MICROTIME: lambda chance: f"{_time(chance)}.{chance.randrange(10**6):06d}Z",
    Kind.DURATION: lambda chance: chance.choice(("0s", "1.5s", "-1h0m0s", "1ns", "30m0s")),
    Kind.QUANTITY: lambda chance: chance.choice(("0", "100m", "1Gi", "-5", "1e3", "12E")),
    Kind.INTORSTRING: lambda chance: chance.choice((0, 80, -1, "", "http", "25%")),
    Kind.RAW: _json,
    Kind.STRINGS: lambda chance: [_text(chance), ""],
}
