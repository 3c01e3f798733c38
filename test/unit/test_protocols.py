"""Methods of protocols that users implement take their arguments by position alone.

pyright rejects a user's class whose method names a parameter otherwise than the protocol does. mypy accepts it. See
test/typing/protocols.py for such classes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[2] / "clientgo"

# Folders and modules whose protocols are called by the library and implemented by its users.
IMPLEMENTED = (
    "tools/cache/controller.py",
    "tools/cache/listwatch.py",
    "tools/cache/store.py",
    "tools/cache/index.py",
    "tools/cache/fifo.py",
    "tools/cache/fifo_metrics.py",
    "tools/cache/reflector.py",
    "tools/cache/thread_safe_store.py",
    "tools/leaderelection",
    "tools/record",
    "tools/events",
    "tools/metrics",
    "tools/remotecommand/remotecommand.py",
    "util/workqueue",
    "util/flowcontrol",
    "golang/http",
    "transport/token_source.py",
    "controller_runtime/handler",
    "controller_runtime/predicate",
    "controller_runtime/reconcile",
    "controller_runtime/finalizer",
    "controller_runtime/client/options.py",
    "controller_runtime/client/interfaces.py",
    "controller_runtime/client/client.py",
    "apimachinery/util/waitgroup/ratelimited_waitgroup.py",
    "apimachinery/labels/labels.py",
    "apimachinery/fields/fields.py",
    "apimachinery/sharding/selector.py",
    "apimachinery/runtime/schema/interfaces.py",
    "apimachinery/util/strategicpatch/meta.py",
    "apimachinery/watch/streamwatcher.py",
    "discovery/helper.py",
    "golang/net.py",
    "logr.py",
    "rest/plugin.py",
    "rest/request.py",
    "rest/urlbackoff.py",
    "testing/apiserver/streams/runtime.py",
    "testing/fake.py",
    "testing/synctest/schedule.py",
    "utils/clock/clock.py",
    "util/certificate/certificate_manager.py",
)


def files() -> Iterator[Path]:
    for name in IMPLEMENTED:
        path = LIBRARY / name
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def protocols(source: str) -> Iterator[ast.ClassDef]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
            if any(isinstance(base, ast.Name) and base.id == "Protocol" for base in bases):
                yield node


def named_parameters(source: str) -> list[str]:
    """Return the methods of protocols with a parameter that a caller may name."""
    return [
        f"{protocol.name}.{method.name}"
        for protocol in protocols(source)
        for method in protocol.body
        if isinstance(method, ast.FunctionDef) and len(method.args.args) > 1
    ]


@pytest.mark.parametrize("name", IMPLEMENTED)
def test_the_place_has_protocols(name: str) -> None:
    path = LIBRARY / name
    assert [each for file in ([path] if path.is_file() else path.rglob("*.py")) for each in protocols(file.read_text())]


def test_the_methods_of_protocols_that_users_implement_take_arguments_by_position() -> None:
    found = {str(path.relative_to(LIBRARY)): named_parameters(path.read_text()) for path in files()}
    assert {name: methods for name, methods in found.items() if methods} == {}


def test_a_parameter_with_a_name_is_found() -> None:
    source = """
class A(Protocol):
    def named(self, obj): ...
    def by_position(self, obj, /): ...
class B(Protocol[T]):
    def named(self, obj, initial=False): ...
class C:
    def named(self, obj): ...
"""
    assert named_parameters(source) == ["A.named", "B.named"]
