"""A cache for short arguments: it is as fast as any, and long texts do not stay in it."""

from __future__ import annotations

import ast
import gc
import weakref
from pathlib import Path

import pytest

import clientgo
from clientgo.golang.http.server_request import parse_head
from clientgo.testing.apiserver.kinds import protobuf
from clientgo.utils.shortcache import short_cache


class Text(str):
    """A text that can have weak references."""

    __slots__ = ("__weakref__",)


def test_short_arguments_are_computed_once_and_long_ones_are_not_kept() -> None:
    calls: list[str] = []

    @short_cache(maxsize=2, longest=3)
    def size(text: str, factor: int = 1) -> int:
        """Return a size."""
        calls.append(text)
        return len(text) * factor

    assert (size("abc"), size("abc"), size("abc", factor=2)) == (3, 3, 6)
    assert calls == ["abc", "abc"]
    long = Text("abcd")
    kept = weakref.ref(long)
    assert (size(long), size("abcd")) == (4, 4)
    del long
    calls.clear()
    gc.collect()
    assert kept() is None
    assert [size(text) for text in ("a", "b", "c", "a")] == [1, 1, 1, 1]
    assert calls == ["a", "b", "c", "a"], "only the last two results stay"
    assert size.__doc__ == "Return a size."


def test_a_failure_is_not_cached() -> None:
    @short_cache(maxsize=2)
    def read(text: str) -> int:
        return int(text)

    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            read("x")


# Caches whose arguments are texts of the library's own or of its user, each with the reason.
OWN = {
    "clientgo/testing/apiserver/kinds/patterns.py: _linear": "the size of a pattern is limited",
    "clientgo/testing/apiserver/kinds/protobuf.py: _begin_event": "the type of an event and a number",
    "clientgo/testing/apiserver/cel/library/standard.py: _zone": "only names of time zones have a result",
    "clientgo/testing/apiserver/cel/library/regex.py: _compiled": "RE2 limits the memory of a pattern",
    "clientgo/testing/apiserver/cel/library/regex.py: _compiled_of_schema": "RE2 limits the memory of a pattern",
    "clientgo/testing/apiserver/kinds/schema.py: codec": "types of Go",
    "clientgo/testing/apiserver/kinds/schema.py: _named": "types of Go",
    "clientgo/testing/apiserver/kinds/schema.py: element": "types of Go",
    "clientgo/testing/apiserver/views/table.py: _built_in": "resources of the server",
    "clientgo/apimachinery/util/strategicpatch/meta.py: _type_of": "types of fields",
    "clientgo/apimachinery/runtime/serializer/protobuf/message_source.py: common": "kinds that a client knows",
    "clientgo/apimachinery/runtime/serializer/protobuf/protobuf.py: begin_envelope": "kinds that have messages",
    "clientgo/apimachinery/runtime/serializer/protobuf/messages.py: _table": "packages of API types",
    "clientgo/apimachinery/runtime/serializer/protobuf/messages.py: _message": "names in those packages",
}


def test_no_cache_of_a_server_or_a_decoder_keeps_texts_of_any_size() -> None:
    """A cache without a limit of the size has an argument that is no text, or stands in the list above."""
    root = Path(clientgo.__file__).parent
    found = set()
    for folder in ("testing/apiserver", "golang", "apimachinery"):
        for path in sorted((root / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.FunctionDef):
                    continue
                decorators = [ast.unparse(each) for each in node.decorator_list]
                cached = any(each.removeprefix("functools.").startswith(("cache", "lru_cache")) for each in decorators)
                types = [ast.unparse(each.annotation) for each in node.args.args if each.annotation is not None]
                if cached and any("str" in each or "bytes" in each or "set" in each for each in types):
                    found.add(f"clientgo/{path.relative_to(root)}: {node.name}")
    assert found == OWN.keys()


def test_names_from_requests_do_not_fill_the_memory() -> None:
    name = Text("K" * 1000)
    kept = weakref.ref(name)
    assert protobuf.message_of("v1", name) is None
    assert protobuf.message_of(name, "Pod") is None
    assert protobuf.message_of("meta.k8s.io/v1", name) is None
    del name
    gc.collect()
    assert kept() is None
    assert parse_head(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a" * 100 + b": 1").header("a" * 100) == "1"
