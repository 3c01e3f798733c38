"""Manifests: reading files and streams, and applying and creating their objects with an API server."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from clientgo import context, kubernetes
from clientgo.apimachinery.api import errors
from clientgo.dynamic import manifests
from clientgo.testing.apiserver import Environment

CTX = context.background()

STREAM = """\
# The settings.
%YAML 1.1
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: first
data:
  text: |
    --- in a text
    ...
---
# nothing
---

---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: second}
- {apiVersion: v1, kind: Namespace, metadata: {name: third}}
...
--- {apiVersion: v1, kind: ConfigMap, metadata: {name: fourth, namespace: third}}
"""


def config_map(name: str, **data: str) -> str:
    lines = "".join(f"  {key}: {value}\n" for key, value in data.items())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n" + (f"data:\n{lines}" if lines else "")


def locations(*sources: manifests.Source) -> list[tuple[str, str]]:
    return [(each.document["metadata"]["name"], each.origin) for each in manifests.read(*sources)]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_stream_with_documents_lists_and_empty_documents(newline: str) -> None:
    assert locations(io.StringIO(STREAM.replace("\n", newline))) == [
        ("first", "stream, document 1, line 4"),
        ("second", "stream, document 2, line 17, item 1"),
        ("third", "stream, document 2, line 17, item 2"),
        ("fourth", "stream, document 3, line 25"),
    ]
    first = manifests.read(io.BytesIO(b"\xef\xbb\xbf" + STREAM.encode()))[0]
    assert first.document["data"] == {"text": "--- in a text\n...\n"}


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(config_map("b"))
    (tmp_path / "a.yml").write_text("\n---\n" + config_map("a"))
    (tmp_path / "c.json").write_text('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}')
    (tmp_path / "notes.txt").write_text("{")
    expected = [("a", "a.yml", 3), ("b", "b.yaml", 1), ("c", "c.json", 1)]
    found = [(name, f"{tmp_path / file}, document 1, line {line}") for name, file, line in expected]
    assert locations(tmp_path) == found
    assert locations(str(tmp_path / "b.yaml"), tmp_path / "a.yml") == [found[1], found[0]]
    with (tmp_path / "b.yaml").open() as stream:
        assert locations(stream) == [found[1]]
    assert locations(io.StringIO("")) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "stream, document 2, line 6: yaml: line 6: did not find expected node content"),
        ("a: b\nc: d: e", "stream, document 2, line 6: yaml: line 7: mapping values are not allowed in this context"),
        ("kind: A\nkind: B", 'stream, document 2, line 6: line 7: key "kind" already set in map'),
        ("just a text", "stream, document 2, line 6: expected an object with apiVersion and kind, got str"),
        ("kind: ConfigMap", "stream, document 2, line 6: apiVersion is required"),
        ("apiVersion: v1\nkind: 1", "stream, document 2, line 6: kind is required"),
        ("apiVersion: v1\nkind: A\nmetadata: b", "stream, document 2, line 6: metadata is no map"),
        ("apiVersion: v1\nkind: List\nitems: [{}]", "stream, document 2, line 6, item 1: apiVersion is required"),
    ],
)
def test_errors_name_document_and_line(text: str, message: str) -> None:
    with pytest.raises(manifests.ManifestError) as raised:
        manifests.read(io.StringIO(config_map("first") + "---\n" + text))
    assert str(raised.value).startswith(message)


def test_a_text_is_no_path(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"got a text; use io.StringIO\(text\)"):
        manifests.read(config_map("a"))
    with pytest.raises(FileNotFoundError):
        manifests.read(tmp_path / "absent.yaml")


@pytest.fixture
def environment() -> Iterator[Environment]:
    with Environment() as environment:
        yield environment


@pytest.fixture
def applier(environment: Environment) -> Iterator[manifests.Applier]:
    with manifests.new_for_config(environment.config) as applier:
        yield applier


@pytest.fixture
def client(environment: Environment) -> Iterator[kubernetes.Clientset]:
    client = kubernetes.new_for_config(environment.config)
    yield client
    client.close()


def test_apply_again_and_from_another_manager(applier: manifests.Applier, client: kubernetes.Clientset) -> None:
    applied = applier.apply(CTX, io.StringIO(STREAM), field_manager="one")
    assert [(each.get_kind(), each.get_namespace(), each.get_name()) for each in applied] == [
        ("ConfigMap", "default", "first"),
        ("ConfigMap", "default", "second"),
        ("Namespace", "", "third"),
        ("ConfigMap", "third", "fourth"),
    ]
    [manager] = client.core_v1().config_maps("default").get(CTX, "first").metadata.managed_fields
    assert (manager.manager, manager.operation) == ("one", "Apply")
    again = applier.apply(CTX, io.StringIO(STREAM), field_manager="one")
    for before, after in zip(applied, again, strict=True):
        if after.get_kind() == "ConfigMap":
            assert after.get_resource_version() == before.get_resource_version()

    changed = config_map("first", text="changed")
    with pytest.raises(
        manifests.ManifestError, match=r'^stream, document 1, line 1: ConfigMap "first": .*conflict'
    ) as lost:
        applier.apply(CTX, io.StringIO(changed), field_manager="two")
    assert errors.is_conflict(lost.value)
    [forced] = applier.apply(CTX, io.StringIO(changed), field_manager="two", force=True)
    assert forced.unstructured_content()["data"] == {"text": "changed"}


def test_a_dry_run_changes_nothing(applier: manifests.Applier, client: kubernetes.Clientset) -> None:
    text = config_map("first")
    for dry in (
        applier.apply(CTX, io.StringIO(text), field_manager="one", dry_run=True),
        applier.create(CTX, io.StringIO(text), dry_run=True),
    ):
        assert [each.get_name() for each in dry] == ["first"]
        assert errors.get_or_none(client.core_v1().config_maps("default"), CTX, "first") is None


def test_the_first_rejected_object_ends_the_call(applier: manifests.Applier, client: kubernetes.Clientset) -> None:
    text = "---\n".join([config_map("a"), config_map("b").replace("metadata", "dta: {}\nmetadata"), config_map("c")])
    with pytest.raises(
        manifests.ManifestError, match=r'document 2, line 6: ConfigMap "b": .*\.dta: field not declared in schema'
    ) as raised:
        applier.apply(CTX, io.StringIO(text), field_manager="one")
    assert [each.get_name() for each in raised.value.done] == ["a"]
    assert errors.get_or_none(client.core_v1().config_maps("default"), CTX, "c") is None


def test_a_text_that_is_no_yaml_is_found_before_the_first_request(
    applier: manifests.Applier, client: kubernetes.Clientset
) -> None:
    with pytest.raises(manifests.ManifestError):
        applier.apply(CTX, io.StringIO(config_map("a") + "---\na: ["), field_manager="one")
    assert errors.get_or_none(client.core_v1().config_maps("default"), CTX, "a") is None


def test_create_with_names_that_the_server_generates(applier: manifests.Applier, client: kubernetes.Clientset) -> None:
    text = config_map("a").replace("name: a", "generateName: a-")
    [created] = applier.create(CTX, io.StringIO(text), field_manager="one", namespace="kube-system")
    assert created.get_name().startswith("a-")
    assert created.get_namespace() == "kube-system"
    assert created.get_managed_fields()[0].manager == "one"
    with pytest.raises(manifests.ManifestError, match=r'ConfigMap "a-": metadata.name is required'):
        applier.apply(CTX, io.StringIO(text), field_manager="one")
    applier.create(CTX, io.StringIO(config_map("b")))
    with pytest.raises(manifests.ManifestError) as raised:
        applier.create(CTX, io.StringIO(config_map("b")))
    assert errors.is_already_exists(raised.value)


def test_an_unknown_kind(applier: manifests.Applier) -> None:
    text = "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: a, namespace: b}"
    with pytest.raises(
        manifests.ManifestError, match='Foo "b/a": no matches for kind "Foo" in version "example.com/v1"'
    ):
        applier.apply(CTX, io.StringIO(text), field_manager="one")
