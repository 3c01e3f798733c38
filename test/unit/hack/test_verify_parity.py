"""hack/verify-parity: the packages that must be complete are, and it would notice if they were not."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "hack" / "verify-parity"


@pytest.fixture(scope="module")
def parity() -> ModuleType:
    """The script as a module."""
    spec = spec_from_loader("verify_parity", SourceFileLoader("verify_parity", str(SCRIPT)))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["verify_parity"] = module
    spec.loader.exec_module(module)
    return module


def test_what_must_be_complete_is() -> None:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    tools_cache = next(line for line in done.stdout.splitlines() if "client-go/tools/cache " in line)
    assert tools_cache.endswith("complete"), tools_cache


def row(parity: ModuleType, python_name: str, parameters: str = "-", kind: str = "func") -> Any:
    return parity.Row("p", "f.go", kind, "", "N", "no", "1", python_name, parameters)


@pytest.mark.parametrize(
    ("python_name", "parameters", "state"),
    [
        ("clientgo.tools.cache.store.new_store", "key_func,*opts", "have"),
        ("clientgo.tools.cache.store.new_store", "key_func,other,*opts", "have"),  # *opts takes it
        ("clientgo.tools.cache.store.meta_namespace_key_func", "obj", "have"),
        ("clientgo.tools.cache.store.meta_namespace_key_func", "", "differs"),
        ("clientgo.tools.cache.store.meta_namespace_key_func", "obj,more", "differs"),
        ("clientgo.tools.cache.delta_fifo.DeltaFIFO.pop", "process", "have"),
        ("clientgo.tools.cache.delta_fifo.DeltaFIFO.nope", "-", "missing"),
        ("clientgo.tools.cache.delta_fifo.Delta.object", "-", "have"),
        ("clientgo.tools.cache.store.KeyError.__str__", "", "have"),
        ("clientgo.tools.cache.heap.Heap.__str__", "", "missing"),  # that of object does not count
        ("clientgo.tools.cache.index.Indexer(Store)", "-", "have"),
        ("clientgo.tools.cache.undelta_store.UndeltaStore(Store)", "-", "have"),
        ("clientgo.tools.cache.heap.Heap(Indexer)", "-", "differs"),
        ("clientgo.tools.cache.event_handler_name.name_for_handler", "handler", "not re-exported"),
        ("clientgo.tools.no_such_package.f", "-", "missing"),
    ],
)
def test_verdicts(parity: ModuleType, python_name: str, parameters: str, state: str) -> None:
    assert parity.judge(row(parity, python_name, parameters)).state == state


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('"""Go: TestA"""', [("TestA", "")]),
        ('"""It works. Go: TestA, TestB."""', [("TestA", ""), ("TestB", "")]),
        ("# Go: TestA/one case, Go: TestA/two, three", [("TestA", "one case"), ("TestA", "two, three")]),
        ("    Go: TestA,\n    TestB", [("TestA", ""), ("TestB", "")]),
        ("# Go: BenchmarkA and ExampleB", [("BenchmarkA", ""), ("ExampleB", "")]),
        ("Good: TestA", []),
    ],
)
def test_tests_named_in_a_text(parity: ModuleType, text: str, named: list[tuple[str, str]]) -> None:
    assert list(parity.named_tests(text)) == named


def test_a_test_named_alone_stands_for_its_cases(parity: ModuleType) -> None:
    rows = [{"package": "p", "test_name": "TestA", "case_name": case} for case in ("", "one", "#2 long text…", "three")]
    whole = [parity.Mention("test/unit/p/test_a.py", "TestA", "")]
    some = [parity.Mention("test/unit/p/test_a.py", "TestA", case) for case in ("one", "#2")]
    assert not parity.uncovered(rows, whole)
    assert parity.uncovered(rows, some) == {"p": ["TestA/three"]}
    assert parity.uncovered(rows, []) == {"p": ["TestA", "TestA/one", "TestA/#2 long text…", "TestA/three"]}


def test_a_name_in_two_packages_is_told_by_the_path(parity: ModuleType) -> None:
    rows = [{"package": package, "test_name": "TestA", "case_name": ""} for package in ("tools/a", "tools/b")]
    named = [parity.Mention("test/unit/tools/b/test_a.py", "TestA", "")]
    assert parity.uncovered(rows, named) == {"tools/a": ["TestA"]}
