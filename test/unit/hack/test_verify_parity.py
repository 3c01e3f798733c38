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
from patience import PATIENCE

from clientgo.apimachinery.runtime import conversion
from clientgo.tools import cache

SCRIPT = Path(__file__).resolve().parents[3] / "hack" / "verify-parity"


@pytest.fixture(scope="module")
def parity() -> ModuleType:
    """Return the script as a module."""
    spec = spec_from_loader("verify_parity", SourceFileLoader("verify_parity", str(SCRIPT)))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["verify_parity"] = module
    spec.loader.exec_module(module)
    return module


def test_what_must_be_complete_is() -> None:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    tools_cache = next(line for line in done.stdout.splitlines() if "client-go/tools/cache " in line)
    assert tools_cache.endswith("complete"), tools_cache


def row(parity: ModuleType, python_name: str, parameters: str = "-", kind: str = "") -> Any:
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


def raises_not_implemented(self: object, process: object) -> None:
    """Explain itself, and raise an error."""
    raise NotImplementedError("soon")


def does_nothing(self: object, process: object) -> None:
    """Explain itself, and do nothing."""


FIFO = "clientgo.tools.cache.the_real_fifo.RealFIFO"


@pytest.mark.parametrize(
    ("name", "kind", "parameters", "fake", "state"),
    [
        pytest.param(f"{FIFO}.pop", "method", "process", raises_not_implemented, "no body", id="not implemented"),
        pytest.param(f"{FIFO}.pop", "method", "process", does_nothing, "no body", id="empty"),
        pytest.param(f"{FIFO}.pop", "method", "process", lambda *a, **k: None, "no body", id="lambda with anything"),
        pytest.param(f"{FIFO}.pop", "method", "process", lambda self, process: None, "no body", id="lambda"),
        pytest.param(f"{FIFO}.pop", "method", "process", None, "other kind", id="no function"),
        pytest.param(f"{FIFO}.pop", "method", "process", lambda self: [1][0], "differs", id="other arguments"),
        pytest.param(FIFO, "type-struct", "-", dict, "other kind", id="a dict"),
        pytest.param(FIFO, "type-struct", "-", cache.DeltaFIFO, "other kind", id="another class of ours"),
        pytest.param(FIFO, "type-struct", "-", lambda *a, **k: None, "other kind", id="a lambda as class"),
        pytest.param("clientgo.tools.cache.store.Store", "type-interface", "-", list, "other kind", id="a list"),
        pytest.param("clientgo.tools.cache.store.new_store", "func", "k,*opts", dict, "other kind", id="builtin"),
        pytest.param("clientgo.tools.cache.store.KeyFunc", "type-func", "-", str, "other kind", id="no functions"),
        pytest.param("clientgo.tools.cache.index.NAMESPACE_INDEX", "const", "-", None, "other kind", id="no constant"),
    ],
)
def test_a_fake_is_refused(
    parity: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    kind: str,
    parameters: str,
    fake: Any,
    state: str,
) -> None:
    """It can be imported, and yet it is not what Go has there."""
    fifo = row(parity, name, parameters, kind)
    assert parity.judge(fifo).state == "have"
    owner, _, last = name.rpartition(".")
    monkeypatch.setattr(parity.resolve(owner.split("."))[0], last, fake)
    if callable(fake) and not isinstance(fake, type):
        monkeypatch.setattr(fake, "__module__", "clientgo.tools.cache")
    assert parity.judge(fifo).state == state


def test_what_only_a_protocol_declares_is_no_method(parity: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    class Declared(cache.Store):
        """A class with all methods, which all do nothing."""

    monkeypatch.setattr(cache.the_real_fifo, "RealFIFO", Declared)
    assert parity.judge(row(parity, f"{FIFO}.add", "obj", "method")).state == "no body"
    assert parity.judge(row(parity, "clientgo.tools.cache.store.Store.add", "obj", "interface-method")).state == "have"


def excuses(parity: ModuleType, *entries: tuple[str, str, str]) -> Any:
    return parity.Excuses.read({"name": name, "state": state, "reason": reason} for name, state, reason in entries)


CONVERT = "clientgo.apimachinery.runtime.conversion.convert_slice_string_to_int"


def test_an_excuse_for_a_difference_hides_no_deletion(parity: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of the entries in left-out.tsv does."""

    def state() -> str:
        known = parity.Excuses.read(parity.read_table("left-out.tsv"))
        [package] = parity.judge_all([row(parity, CONVERT, "in,out,s", "func")], known)
        [verdict] = package.verdicts
        return str(verdict.state)

    assert state() == "left out"
    with monkeypatch.context() as patched:
        patched.setattr(conversion, "convert_slice_string_to_int", lambda *a, **k: None)
        assert state() != "left out"
        patched.setattr(conversion, "convert_slice_string_to_int", lambda text, more: text)
        assert state() != "left out"
    monkeypatch.delattr(conversion, "convert_slice_string_to_int")
    assert state() == "missing"


def test_an_excuse_is_for_one_identifier(parity: ModuleType) -> None:
    for pattern in ("*_cbor", "*.swagger_doc", "clientgo.apimachinery.runtime.*.encode", "x.convert_*"):
        found = excuses(parity, (pattern, "missing", "because"))
        assert found.wrong == [f"{pattern}: an excuse names one identifier"]
        assert not found.reason(pattern, "missing")
    assert excuses(parity, ("x.a", "missing", "")).wrong
    assert excuses(parity, ("x.a", "missing", "because"), ("x.a", "missing", "because")).wrong


def test_an_excuse_that_excuses_nothing_is_dead(parity: ModuleType) -> None:
    store = "clientgo.tools.cache.store"
    known = excuses(parity, (f"{store}.new_store", "missing", "r"), (f"{store}.Nope", "missing", "r"))
    parity.judge_all([row(parity, f"{store}.{name}") for name in ("new_store", "Nope.a", "Nope(Store)")], known)
    assert known.dead() == [f"{store}.new_store: is not missing any more"]


def test_what_is_there_again_excuses_none_of_its_members(parity: ModuleType) -> None:
    known = excuses(parity, ("clientgo.tools.cache.store", "missing", "r"))
    [package] = parity.judge_all([row(parity, "clientgo.tools.cache.store.nope")], known)
    assert package.verdicts[0].state == "missing"


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


def test_each_case_is_named(parity: ModuleType) -> None:
    cases = ("", "one", "long text…", "#0 x", "#2 y")
    rows = [{"package": "p", "test_name": "TestA", "case_name": case} for case in cases]

    def uncovered(*named: tuple[str, str], texts: tuple[str, ...] = ()) -> Any:
        path = "test/unit/p/test_a.py"
        found = [parity.Mention(path, test, case, frozenset(texts)) for test, case in named]
        return dict(parity.uncovered(rows, found, excuses(parity)))

    everything = ["TestA", "TestA/one", "TestA/long text…", "TestA/#0 x", "TestA/#2 y"]
    assert uncovered() == {"p": everything}
    assert uncovered(("TestA", "")) == {"p": everything[1:]}, "the test alone is none of its cases"
    assert uncovered(("TestA", ""), texts=("one", "long text and more")) == {"p": everything[3:]}
    assert uncovered(("TestA", ""), texts=("one and another",)) == {"p": everything[1:]}
    assert uncovered(("TestA", "one"), ("TestA", "#2")) == {"p": ["TestA/long text…", "TestA/#0 x"]}
    assert uncovered(("TestA", "one"), ("TestA", "long text and"), ("TestA", "#0-#2")) == {}


def test_the_cases_of_a_test_named_alone_are_texts_of_the_file(parity: ModuleType) -> None:
    source = '"""A case in a docstring."""\nx = ["an  id_of", "a " "joined one"]  # a comment'
    assert set(parity.texts_in(source)) == {"an id of", "a joined one"}


def test_the_path_distinguishes_a_name_in_two_packages(parity: ModuleType) -> None:
    rows = [{"package": package, "test_name": "TestA", "case_name": ""} for package in ("tools/a", "tools/b")]
    named = [parity.Mention("test/unit/tools/b/test_a.py", "TestA", "")]
    assert parity.uncovered(rows, named, excuses(parity)) == {"tools/a": ["TestA"]}


def test_a_left_out_test_is_not_missed_and_its_excuse_not_dead(parity: ModuleType) -> None:
    rows = [{"package": "p", "test_name": "TestA", "case_name": case} for case in ("", "one")]
    known = excuses(parity, ("TestA", "missing", "r"), ("TestB", "missing", "r"))
    assert parity.uncovered(rows, [], known) == {}
    assert known.dead() == ["TestB: is not missing any more"]
