"""ARCHITECTURE.md tells the truth: its links lead somewhere, and an event takes the way it says."""

from __future__ import annotations

import ast
import itertools
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from decoding import protobuf_is_the_default
from eventwalk import Function, Walk
from libraryimports import imports_of
from patience import PATIENCE

from clientgo import context, informers, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment
from clientgo.tools import cache

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
WALK = TEXT[TEXT.index("## One event's way") : TEXT.index("## Threads and locks")]


def sections() -> dict[str, list[Function]]:
    """The thread each part of the walk is about, and the functions it links, in order."""
    found = {}
    for part in WALK.split("\n### ")[1:]:
        thread = re.search(r"`(.+?)`", part.splitlines()[0])
        assert thread, part.splitlines()[0]
        found[thread[1]] = [(path, name) for name, path in re.findall(r"\[`([\w.]+)`\]\(clientgo/([\w/.]+)\)", part)]
    return found


def asides() -> list[str]:
    """What the walk passes over in silence: files and folders, as its first paragraphs list them."""
    listed = WALK.split("\n### ")[0]
    return re.findall(r"^\* \[`[\w/.]+`\]\(clientgo/([\w/.]+)\)", listed, re.MULTILINE)


def is_aside(function: Function) -> bool:
    return function[0].startswith(tuple(asides()))


def walk_of_a_real_event() -> dict[str, list[Function]]:
    walk = Walk(is_aside)
    handled, later = threading.Event(), threading.Event()

    def on_add(config_map: corev1.ConfigMap) -> None:
        {"walk": handled, "later": later}.get(config_map.name, threading.Event()).set()

    ctx, cancel = context.with_cancel(context.background())
    with Environment() as env, walk.in_new_threads():
        client = kubernetes.new_for_config(env.config)
        config_maps = client.core_v1().config_maps("default")

        def create(name: str) -> None:
            new = corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name))
            config_maps.create(ctx, new, metav1.CreateOptions())

        factory = informers.new_shared_informer_factory(client, 0.0)
        informer = factory.core().v1().config_maps().informer()
        informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=on_add))
        factory.start_with_context(ctx)
        factory.wait_for_cache_sync_with_context(ctx)
        create("later")  # when this one is handled, the watch stands
        assert later.wait(PATIENCE)
        settle(walk)
        with walk.recording():
            create("walk")
            assert handled.wait(PATIENCE)
            settle(walk)
        cancel()
        factory.shutdown()
        client.close()
    return walk.functions


def settle(walk: Walk) -> None:
    """Wait until every thread has nothing to do: none moves for a while."""
    quiet = threading.Event()
    here = threading.get_ident()
    for _ in range(100):
        stood = [walk.where_threads_stand(here)]
        for _ in range(4):
            quiet.wait(0.25)
            stood.append(walk.where_threads_stand(here))
        if all(places == stood[0] for places in stood):
            return
    raise AssertionError("the threads do not come to rest")


@protobuf_is_the_default
def test_an_event_takes_the_way_the_text_says() -> None:
    """Three events at most: on a busy machine one may find a thread that is still on its way to where it waits."""
    for _ in range(3):
        functions = walk_of_a_real_event()
        differing = [
            f"{thread}: the event went\n{as_text(went)}" for thread, told, went in compared(functions) if told != went
        ]
        if not differing:
            return
    raise AssertionError("ARCHITECTURE.md is stale.\n" + "\n\n".join(differing))


def compared(functions: dict[str, list[Function]]) -> Iterator[tuple[str, list[Function], list[Function]]]:
    for thread, told in sections().items():
        # The name of a reflector or a handler ends with where it was made.
        (name,) = [name for name in functions if re.fullmatch(re.escape(thread).replace("…", ".*"), name)]
        yield thread, told, functions[name]


def as_text(functions: list[Function]) -> str:
    """The lines for ARCHITECTURE.md, without what to say of each."""
    return "\n".join(
        f"{number}. [`{name}`](clientgo/{path}): " for number, (path, name) in enumerate(functions, start=1)
    )


DOCUMENTS = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "test/README.md", "hack/README.md"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_a_document_links_is_there(document: str) -> None:
    linked = re.findall(r"\]\(([^)#:]+)\)", (ROOT / document).read_text())
    folder = (ROOT / document).parent

    assert linked
    assert [name for name in linked if not (folder / name).exists()] == []


LAYERS = TEXT[TEXT.index("## The layers") : TEXT.index("## One event's way")]


def layer_of_each_package() -> dict[str, int]:
    rows = [line.split("|")[2] for line in LAYERS.splitlines() if line.startswith("| ")][1:]
    return {name: number for number, row in enumerate(rows) for name in re.findall(r"`(\w+)`", row)}


def exceptions() -> set[tuple[str, str]]:
    found = set()
    for line in LAYERS.splitlines():
        if line.startswith("* ") and " import " in line:
            who, whom = line.split(" import ")
            found |= set(itertools.product(re.findall(r"`(\w+)`", who), re.findall(r"`(\w+)`", whom)))
    return found


def top_level_imports(path: Path) -> Iterator[str]:
    """The packages of clientgo that a module imports when it is imported itself."""
    for node in [found.node for found in imports_of(path) if found.outermost]:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "clientgo":
            package = (node.module or "").partition(".")[2]
            yield from [package.partition(".")[0]] if package else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            yield from [name[1] for name in names if name[0] == "clientgo" and len(name) > 1]


def test_every_package_imports_only_its_own_layer_and_those_above() -> None:
    layers, library = layer_of_each_package(), ROOT / "clientgo"
    against = set()
    for path in library.rglob("*.py"):
        package = path.relative_to(library).parts[0].removesuffix(".py")
        if package == "__init__":
            continue
        for imported in top_level_imports(path):
            if layers[imported] > layers[package]:
                against.add((package, imported))

    assert against == exceptions()


# No module is longer, for nobody reads more at a time.
MOST_LINES = 600
# But these, whose Go file, named beside, is longer than that as well: a reader has both open.
LONG_IN_GO_TOO = {
    "apimachinery/labels/selector.py": "k8s.io/apimachinery/pkg/labels/selector.go",
    "apimachinery/util/strategicpatch/patch.py": "k8s.io/apimachinery/pkg/util/strategicpatch/patch.go",
    "controller_runtime/client/fake/client.py": "pkg/client/fake/client.go",
    "controller_runtime/client/options.py": "pkg/client/options.go",
    "rest/request.py": "rest/request.go",
    "testing/actions.py": "testing/actions.go",
    "tools/cache/controller.py": "tools/cache/controller.go",
    "tools/cache/reflector.py": "tools/cache/reflector.go",
    "tools/cache/shared_informer.py": "tools/cache/shared_informer.go",
}


def test_a_module_is_long_only_where_its_go_file_is_too() -> None:
    library = ROOT / "clientgo"
    sources = {path.relative_to(library).as_posix(): path.read_text() for path in library.rglob("*.py")}
    long = {name for name, source in sources.items() if source.count("\n") > MOST_LINES and not is_generated(source)}

    assert long == LONG_IN_GO_TOO.keys()
    for name, go_file in LONG_IN_GO_TOO.items():
        assert f"Mirrors {go_file}." in docstring(sources[name])


def is_generated(source: str) -> bool:
    return docstring(source).endswith("; do not edit.")


def docstring(source: str) -> str:
    return source[: source.find('"""', 3)]
