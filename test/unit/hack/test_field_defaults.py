"""The defaults that generated types describe are those of the embedded API server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))

from clientgo.testing.apiserver.kinds import defaults  # noqa: E402
from codegen.source import field_defaults, lookup, named, packages  # noqa: E402

Json = dict[str, Any]
# Values that depend on other fields of the object.
COMPUTED = {
    "apiVersion",
    "completions",
    "hostPort",
    "imagePullPolicy",
    "kind",
    "listKind",
    "podReplacementPolicy",
    "serviceAccount",
    "serviceAccountName",
    "singular",
    "targetPort",
}


def struct_of(go_type: str, package: str) -> tuple[str, str] | None:
    """Return the package and name of the struct that a field holds, or lists; None for anything else."""
    if go_type.startswith("map["):
        return None
    owner, name = named(go_type.lstrip("*[]"), package)
    facts = lookup(owner, name)
    return (owner, name) if facts is not None and facts.get("fields") else None


def fields_of(owner: tuple[str, str]) -> Iterator[tuple[tuple[str, str], Json]]:
    """Yield each field of a struct and of the structs that it inlines, with the struct that declares it."""
    facts = lookup(*owner)
    assert facts is not None
    for field in facts["fields"]:
        inlined = struct_of(field["type"], owner[0]) if field.get("inline") else None
        if inlined is not None:
            yield from fields_of(inlined)
        elif not field.get("inline") and field["json"] != "-":
            yield owner, field


def with_all_structs(
    owner: tuple[str, str], above: tuple[tuple[str, str], ...] = ()
) -> Json:
    """Return an object in which every field that holds a struct or a list of structs is present."""
    made: Json = {}
    for declaring, field in fields_of(owner):
        inner = struct_of(field["type"], declaring[0])
        if inner is None or inner in above or inner == owner:
            continue
        value = (
            {} if inner[1] == "ObjectMeta" else with_all_structs(inner, (*above, owner))
        )
        made[field["json"]] = [value] if field["type"].startswith("[]") else value
    return made


def scalars(obj: Json, owner: tuple[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield the place and value of each scalar in the object, outside of metadata and status."""
    for declaring, field in fields_of(owner):
        name = field["json"]
        value = obj.get(name)
        if value in (None, "") or name in COMPUTED or name in ("metadata", "status"):
            continue
        inner = struct_of(field["type"], declaring[0])
        if inner is None and isinstance(value, (str, int)):
            yield f"{declaring[0]} {declaring[1]}.{name}", value
        elif inner is not None:
            for item in value if isinstance(value, list) else [value]:
                yield from scalars(item, inner)


def observed() -> Json:
    found: Json = {}
    for package in packages():
        version = (
            f"{package.group}/{package.version}" if package.group else package.version
        )
        for kind in package.facts["types"]:
            fill = defaults.for_kind(version, kind)
            if fill is None:
                continue
            obj = {
                **with_all_structs((package.go, kind)),
                "apiVersion": version,
                "kind": kind,
            }
            fill(obj)
            found.update(scalars(obj, (package.go, kind)))
    return found


def test_the_data_has_the_defaults_that_the_server_sets() -> None:
    found = observed()
    assert len(found) > 70
    assert json.dumps(field_defaults(), indent=1, sort_keys=True) == json.dumps(
        found, indent=1, sort_keys=True
    )
