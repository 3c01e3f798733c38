"""The differences between this version and another client-go, for hack/follow-version.

The fields of all kinds are in one file of client-go, the schema of its apply configurations; so one clone is enough to
see what a new Kubernetes adds. That file has no lists and no options, which therefore stay as they are in a rehearsal.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from tour_claims import declared

__all__ = ["compare", "fields_of", "fields_of_data", "go_package", "identifiers", "rehearse", "without"]

ROOT = Path(__file__).resolve().parent.parent
DATA = Path("hack/data/api-schema.json.gz")
NUMBERS = Path("hack/data/field-numbers.json.gz")
TABLE = Path("hack/data/parity/api.tsv.gz")
SCHEMA = "applyconfigurations/internal/internal.go"
MODULE = "k8s.io/client-go"

Json = dict[str, Any]
# The names of the fields of each type, by Go package and type.
Fields = Mapping[tuple[str, str], frozenset[str]]


def _git(clone: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(clone), *arguments], check=True, capture_output=True, text=True).stdout


def go_package(name: str) -> tuple[str, str]:
    """Return the Go package and the type of a name such as "io.k8s.api.apps.v1.Deployment"."""
    host, _, rest = name.removeprefix("io.k8s.").partition(".")
    package, _, kind = rest.rpartition(".")
    return f"k8s.io/{host}/{package.replace('.', '/')}", kind


def fields_of(schema: str) -> Fields:
    """Return the fields of each type in the text of the schema of apply configurations."""
    start = schema.index("`types:") + 1
    document = yaml.load(schema[start : schema.index("\n`", start)], Loader=yaml.CSafeLoader)
    return {
        go_package(each["name"]): frozenset(field["name"] for field in each["map"].get("fields", ()))
        for each in document["types"]
        if each["name"].startswith("io.k8s.") and "map" in each
    }


def fields_of_data(data: Json) -> Fields:
    """Return the fields of each type in hack/data/api-schema.json.gz, with those of embedded structs."""
    found = {}
    for package, facts in data["packages"].items():
        for name in facts["types"]:
            resolved = _resolved(data, package, name)
            if resolved and resolved[1]["kind"] == "struct":
                found[package, name] = frozenset(_json_names(data, *resolved))
    return found


def _json_names(data: Json, package: str, fact: Json) -> Iterator[str]:
    for field in fact.get("fields", ()):
        if not field.get("inline"):
            yield field["json"]
        elif embedded := _resolved(data, package, field["type"]):
            yield from _json_names(data, *embedded)


def _resolved(data: Json, package: str, type_name: str) -> tuple[str, Json] | None:
    """Return the package and the facts of a type, through aliases, or None if the data does not have it."""
    owner, _, name = type_name.rpartition(".")
    if owner and "/" not in owner:  # The name of an import: another version of the group.
        owner = f"{package.rpartition('/')[0]}/{owner}"
    package = owner or package
    fact = data["packages"].get(package, {"types": {}})["types"].get(name)
    if fact and fact["kind"] == "alias" and (aliased := _resolved(data, package, fact.get("underlying", ""))):
        return aliased
    return (package, fact) if fact else None


def without(data: Json, newer: Fields, older: Fields) -> Json:
    """Return the data without the types and fields that only `newer` has. Packages that lose all types disappear."""
    result = json.loads(json.dumps(data))
    for package, facts in list(result["packages"].items()):
        for name, fact in list(facts["types"].items()):  # A list has disappeared with its kind.
            key = (package, name)
            if key in newer and key not in older:
                del facts["types"][name]
                facts["types"].pop(f"{name}List", None)
            elif key in newer and fact["kind"] == "struct":
                _drop(result, package, fact, newer[key] - older[key])
        if data["packages"][package]["types"] and not facts["types"]:
            del result["packages"][package]
    return result


def _drop(data: Json, package: str, fact: Json, gone: frozenset[str]) -> None:
    """Remove fields from the facts of a struct and of the structs that it embeds."""
    for field in fact.get("fields", ()):
        if field.get("inline") and (embedded := _resolved(data, package, field["type"])):
            _drop(data, *embedded, gone)
    if "fields" in fact:
        fact["fields"] = [field for field in fact["fields"] if field.get("inline") or field["json"] not in gone]


def without_numbers(numbers: Json, data: Json, reduced: Json) -> Json:
    """Return the numbers in protobuf without the packages, messages and fields that `reduced` has no more."""
    result: Json = json.loads(json.dumps(numbers))
    for package, facts in data["packages"].items():
        left = reduced["packages"].get(package)
        if left is None:
            result.pop(package, None)
            continue
        for name, fact in facts["types"].items():
            messages = result.get(package, {})
            if name not in left["types"]:
                messages.pop(name, None)
            elif name in messages:
                gone = _own_names(fact) - _own_names(left["types"][name])
                messages[name] = {key: number for key, number in messages[name].items() if key.lower() not in gone}
    return result


def _own_names(fact: Json) -> set[str]:
    return {re.sub("[$-]", "", field["json"]).lower() for field in fact.get("fields", ())}


def differences(before: Fields, after: Fields) -> Iterator[str]:
    """Yield a line for each type and field that one of the versions lacks."""
    for package, name in sorted(before.keys() | after.keys()):
        old, new = before.get((package, name)), after.get((package, name))
        if old is None or new is None:
            yield f"{'+' if old is None else '-'} type {package}.{name}"
            continue
        yield from (f"+ field {package}.{name}: {field}" for field in sorted(new - old))
        yield from (f"- field {package}.{name}: {field}" for field in sorted(old - new))


def identifiers(clone: Path, tag: str, files: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """Return the exported functions, types and methods in the files of each package at a tag."""
    found: dict[str, set[str]] = {}
    for package, names in files.items():
        folder = package.removeprefix(MODULE).strip("/")
        texts = []
        for name in names:
            path = f"{folder}/{name}"
            shown = subprocess.run(["git", "-C", str(clone), "show", f"{tag}:{path}"], capture_output=True, text=True)
            texts.append(shown.stdout)
        declarations = {_bare(each) for text in texts for each in declared(text)}
        found[package] = {each for each in declarations if all(part[:1].isupper() for part in each.split("."))}
    return found


def _is_written_source(name: str) -> bool:
    return name.endswith(".go") and not name.endswith("_test.go") and not name.startswith("zz_generated")


def _bare(name: str) -> str:
    """Return "Type.Method" for "(*Type).Method"."""
    return re.sub(r"[(*)]", "", name)


def compare(clone: Path, tag: str, root: Path = ROOT) -> list[str]:
    """Return what a tag adds (+) and removes (-), a line each: types, fields, files and identifiers of client-go."""
    data = json.loads(gzip.decompress(root.joinpath(DATA).read_bytes()))
    new, known = fields_of(_git(clone, "show", f"{tag}:{SCHEMA}")), fields_of_data(data)
    # The schema has only a part of the types; others of this version are not missing there.
    lines = [line for line in differences(known, new) if not line.startswith("- type")]
    files: dict[str, set[str]] = defaultdict(set)
    names: dict[str, set[str]] = defaultdict(set)
    with gzip.open(root / TABLE, "rt", encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            package = row["go_package"]
            if not package.startswith(MODULE):
                continue
            files[package].add(row["go_file"])
            owner = row["receiver_or_owner"] if row["kind"] == "method" else ""
            names[package].add(f"{owner.strip('*')}.{row['name']}" if owner else row["name"])
    for package in sorted(files):
        folder = package.removeprefix(MODULE).strip("/")
        listed = _git(clone, "ls-tree", "--name-only", tag, f"{folder}/").splitlines()
        there = {name for name in (Path(path).name for path in listed) if _is_written_source(name)}
        lines += [f"- file {package}/{name}" for name in sorted(files[package] - there)]
        found = identifiers(clone, tag, {package: sorted(there)})[package]
        lines += [f"+ name {package}.{name}" for name in sorted(found - names[package])]
    return lines


def rehearse(clone: Path, tag: str, this_tag: str, root: Path = ROOT) -> list[str]:
    """Go back to the types of `tag` and forth again on a copy; return the problems. Blocks for a minute.

    Backwards, the generated code must import, and lack what `tag` lacks. Forwards, all files must be as before.
    """
    newer, older = (fields_of(_git(clone, "show", f"{each}:{SCHEMA}")) for each in (this_tag, tag))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        ignored = shutil.ignore_patterns("__pycache__", ".*", "dist", "build")
        for part in ("clientgo", "cmd", "hack"):
            shutil.copytree(root / part, copy / part, ignore=ignored)
        before = _contents(copy)
        data, numbers = (json.loads(gzip.decompress(copy.joinpath(path).read_bytes())) for path in (DATA, NUMBERS))
        reduced = without(data, newer, older)
        _write(copy / DATA, reduced)
        _write(copy / NUMBERS, without_numbers(numbers, data, reduced))
        problems = _regenerate(copy)
        changed = sum(1 for path, content in _contents(copy).items() if before.get(path) != content)
        print(f"back to {tag}: {len(list(differences(older, newer)))} differences, {changed} files changed")
        for path in (DATA, NUMBERS):
            shutil.copyfile(root / path, copy / path)
        problems += _regenerate(copy)
        after = _contents(copy)
        problems += [f"differs afterwards: {path}" for path in sorted(before.keys() | after.keys())
                     if before.get(path) != after.get(path)]  # fmt: skip
    return problems


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _write(path: Path, data: Json) -> None:
    path.write_bytes(gzip.compress(json.dumps(data, separators=(",", ":")).encode(), 9, mtime=0))


def _regenerate(copy: Path) -> list[str]:
    imports = "import clientgo.kubernetes, clientgo.informers, clientgo.listers, clientgo.api.core.v1"
    problems = []
    for command in (["hack/update-codegen"], ["hack/update-codegen", "--verify"], ["-c", imports]):
        done = subprocess.run([sys.executable, *command], cwd=copy, capture_output=True, text=True, check=False)
        if done.returncode:
            problems.append(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-600:]}")
    return problems
