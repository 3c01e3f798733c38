"""The house can be drawn from the names of its folders: no circle of imports goes through two of them.

A folder is a Go package, which cannot import what imports it; its folder `beyond` of features that Go does not have
belongs to it. `test_architecture` holds the layers above that, by the table in ARCHITECTURE.md. Inside a folder files
may refer to each other as Go's files do; where they do, they stand in `CIRCLES`, and nothing else may.
"""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from libraryimports import imports_of, modules

# Modules of one folder that need each other: Go's files of these names do, or one class of ours is in several.
CIRCLES = [
    "clientgo.apimachinery.apis.meta.v1: type_methods types",
    "clientgo.apimachinery.apis.meta.v1.unstructured: unstructured unstructured_list",
    "clientgo.apimachinery.fields: fields selector",
    "clientgo.apimachinery.labels: labels selector",
    "clientgo.apimachinery.util.wait: backoff delay loop wait",
    "clientgo.controller_runtime.cache: cache delegating_by_gvk_cache informer_cache multi_namespace_cache",
    "clientgo.controller_runtime.client: client metadata_client typed_client unstructured_client",
    "clientgo.controller_runtime.webhook.admission: http response webhook",
    "clientgo.controller_runtime.webhook.authentication: http response webhook",
    "clientgo.features: envvar features",
    "clientgo.rest: client request",
    "clientgo.rest: config exec",
    "clientgo.testing.apiserver.views: documents table",
    "clientgo.testing.synctest: primitives scheduler",
    "clientgo.tools.cache: store thread_safe_store",
    "clientgo.tools.clientcmd: client_config config loader merged_client_builder",
    "clientgo.tools.leaderelection.resourcelock: interface leaselock",
    "clientgo.tools.record: event events_cache",
    "clientgo.transport: cache cert_rotation config round_trippers token_source transport",
]


def imports(path: Path, *, at_import: bool = False) -> Iterator[str]:
    """Yield the modules of the library that a module imports at any time, except under TYPE_CHECKING.

    A package imports these too, when their names are first used. `at_import`: only those that importing it imports.
    """
    for found in imports_of(path):
        if found.for_checkers and (at_import or path.name != "__init__.py"):
            continue
        if at_import and not found.outermost:
            continue
        if isinstance(found.node, ast.Import):
            yield from (alias.name for alias in found.node.names)
        elif found.node.module:
            for alias in found.node.names:
                name = f"{found.node.module}.{alias.name}"
                yield name if name in modules() else found.node.module


@functools.cache
def graph(*, at_import: bool = False) -> dict[str, set[str]]:
    """Return the modules that each module imports."""
    return {
        name: {other for other in imports(path, at_import=at_import) if other in modules()} - {name}
        for name, path in modules().items()
    }


def folder(module: str) -> str:
    """Return the package of a module. A module directly below `clientgo`, or a program, is its own package.
    """
    alone = modules()[module].name in ("__init__.py", "__main__.py") or module.count(".") == 1
    return (module if alone else module.rpartition(".")[0]).removesuffix(".beyond")


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components with two or more nodes, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    waiting: list[str] = []
    found = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        waiting.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in waiting:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            start = waiting.index(node)
            circle = sorted(waiting[start:])
            del waiting[start:]
            if len(circle) > 1:
                found.append(circle)

    for node in sorted(edges):
        if node not in order:
            visit(node)
    return sorted(found)


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"e"}}) == [["b", "c"]]
    assert "clientgo.tools.cache.delta_fifo" in graph()["clientgo.tools.cache.reflector"]
    assert "clientgo.tools.cache.thread_safe_store" in graph()["clientgo.tools.cache.store"]  # Inside a function.
    assert "clientgo.tools.cache.thread_safe_store" not in graph(at_import=True)["clientgo.tools.cache.store"]
    assert "clientgo.tools.cache.delta_fifo" in graph(at_import=True)["clientgo.tools.cache.reflector"]


def test_no_folder_imports_what_imports_it() -> None:
    edges: dict[str, set[str]] = defaultdict(set)
    for module, imported in graph().items():
        here = folder(module)
        edges[here] |= {folder(other) for other in imported} - {here}

    assert circles(edges) == []


def test_no_import_meets_a_module_that_is_still_being_imported() -> None:
    assert circles(graph(at_import=True)) == []


def test_files_that_need_each_other_are_those_that_do_so_in_go() -> None:
    found = set()
    for circle in circles(graph()):
        (package,) = {folder(module) for module in circle}
        found.add(f"{package}: {' '.join(module.removeprefix(f'{package}.') for module in circle)}")

    assert sorted(found) == sorted(CIRCLES)
