"""GO.md: which Python function stands for which Go function, by Go file.

The exported functions come from the tables of hack/data/parity. The others come from where they are defined: the hops
of [hops.py](../../clientgo/hops.py), and docstrings of private functions that end with `Go: name`.
"""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

_HEAD = """\
# From Go to Python, file by file

Written by `hack/update-docs`; do not edit. Each Go file is one Python module of the same name, and a Go function \
`FooBar` is `foo_bar` there. This page lists every exported Go function of client-go v0.36, of the packages of \
apimachinery that it stands on and of controller-runtime, and those unexported ones that the port names. A Python \
function in **bold** stands in another module than its Go file's. A dash stands for a function that the port leaves \
out, with the reason.
"""

_PREFIXES = {
    "k8s.io/client-go/": "",
    "k8s.io/apimachinery/pkg/": "apimachinery/",
    "k8s.io/utils/": "utils/",
    "sigs.k8s.io/controller-runtime/pkg/": "controller_runtime/",
    "sigs.k8s.io/controller-runtime": "controller_runtime",
}


def render() -> str:
    """Return the page. Imports all of the port. Raises LookupError for a row whose function cannot be imported."""
    rows: dict[str, dict[str, str]] = {}
    for go_file, go, python in (*_exported(), *_hops(), *_private()):
        rows.setdefault(go_file, {}).setdefault(go, python)
    parts = [_HEAD.strip()]
    for go_file in sorted(rows):
        lines = [f"| `{go}` | {rows[go_file][go]} |" for go in sorted(rows[go_file], key=_order)]
        parts.append("\n".join([f"## {go_file}", "", "| Go | Python |", "|---|---|", *lines]))
    return "\n\n".join(parts) + "\n"


def _order(name: str) -> tuple[str, str]:
    receiver, _, method = name.rpartition(".")
    return receiver.strip("(*)").lower(), method.lower()


def _exported() -> Iterator[tuple[str, str, str]]:
    parity = _parity()
    excuses = parity.Excuses.read(parity.read_table("left-out.tsv"))
    for row in (parity.Row(**row) for table in parity.TABLES for row in parity.read_table(table)):
        if row.kind not in ("func", "method"):
            continue
        go = f"({row.receiver_or_owner}).{row.name}" if row.kind == "method" else row.name
        found, _, why = parity.resolve(row.python_name.split("."))
        absent = parity.Verdict(row, parity.MISSING, why)
        if why:
            reason = excuses.reason(row.python_name, parity.MISSING, parity.absent_owners(row, absent))
            if not reason:
                # Often an extra that is not installed: the page would lose the functions that need it.
                raise LookupError(f"{row.python_name}: {why}")
            yield f"{row.go_package}/{row.go_file}", go, f"– {reason}"
        else:
            yield (
                f"{row.go_package}/{row.go_file}",
                go,
                _link(row.python_name, found, _twin(row.go_package, row.go_file)),
            )


def _twin(package: str, file: str) -> str:
    """Return the path of the module of a Go file, below clientgo/."""
    for prefix, ours in _PREFIXES.items():
        if package.startswith(prefix):
            folder = ours + package.removeprefix(prefix)
            return f"{folder}/{file.removesuffix('.go')}.py".replace("-", "_")
    return ""


def _link(name: str, found: Any, twin: str) -> str:
    """Return a link to where the function is defined; bold if that is not the module of its Go file."""
    function = inspect.unwrap(found) if callable(found) else found
    module = getattr(function, "__module__", None) or ""
    qualname = getattr(function, "__qualname__", "")
    if not module.startswith("clientgo.") or not qualname or "<" in qualname:
        *parts, qualname = name.split(".")
        while parts and ".".join(parts) not in sys.modules:
            qualname = f"{parts.pop()}.{qualname}"
        module = ".".join(parts)
    path = Path(sys.modules[module].__file__ or "").relative_to(ROOT).as_posix()
    link = f"[`{qualname}`]({path})"
    elsewhere = twin and (ROOT / "clientgo" / twin).exists() and path != f"clientgo/{twin}"
    return f"**{link}**" if elsewhere else link


def _hops() -> Iterator[tuple[str, str, str]]:
    importlib.import_module("clientgo.tour")
    hops = importlib.import_module("clientgo.hops")
    for hop in hops.TABLE.values():
        module, _, file = hop.go_file.rpartition("/")
        if hop.go_function and _is_unexported(hop.go_function) and not hop.module.startswith("clientgo.testing."):
            package = _package_of(module)
            yield f"{package}/{file}", hop.go_function.replace("(*", "("), _link("", hop.function, _twin(package, file))


def _package_of(folder: str) -> str:
    if folder.startswith("controller-runtime: "):
        return f"sigs.k8s.io/controller-runtime/{folder.removeprefix('controller-runtime: ')}"
    for prefix in ("apimachinery/", "utils/"):
        if folder.startswith(prefix):
            return {v: k for k, v in _PREFIXES.items()}[prefix] + folder.removeprefix(prefix)
    return f"k8s.io/client-go/{folder}"


def _is_unexported(go: str) -> bool:
    receiver, _, name = go.rpartition(".")
    return name[:1].islower() or receiver.strip("(*)")[:1].islower()


def _private() -> Iterator[tuple[str, str, str]]:
    """Yield the private functions whose docstrings end with the name of a Go function."""
    library = ROOT / "clientgo"
    for path in sorted(library.rglob("*.py")):
        folder = path.parent.relative_to(library).as_posix()
        if folder.split("/")[0] in ("api", "applyconfigurations", "testing", "tour", "codegen", "scaffold"):
            continue
        text = path.read_text(encoding="utf-8")
        if "Go: " not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef | ast.Module):
                for child in node.body:
                    if isinstance(child, ast.FunctionDef) and child.name.startswith("_") and child.name[1] != "_":
                        said = re.search(r"\bGo: ([\w.()*]+?)\.?$", ast.get_docstring(child) or "")
                        if said and _is_unexported(said[1]):
                            owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                            place = f"[`{owner}{child.name}`]({path.relative_to(ROOT).as_posix()})"
                            file = f"{_package_of(folder)}/{path.stem}.go"
                            yield file, said[1].replace("(*", "("), place


def _parity() -> ModuleType:
    """Return hack/verify-parity, which has no ending of a module."""
    path = str(ROOT / "hack" / "verify-parity")
    loader = importlib.machinery.SourceFileLoader("verify_parity", path)
    spec = importlib.util.spec_from_loader("verify_parity", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["verify_parity"] = module
    loader.exec_module(module)
    return module
