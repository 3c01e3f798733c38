"""OpenAPI documents by group version, and the fakes for tests. Go: openapi3/root_test.go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ctrlcluster import WIDGETS, Cluster, new_cluster

from clientgo import discovery, openapi3
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind
from clientgo.apimachinery.util import managedfields
from clientgo.openapi import new_type_converter, openapitest
from clientgo.openapi.client import Client
from clientgo.openapi3.root import gv_to_api_path, path_to_group_version

pytestmark = pytest.mark.shared_server

APPS = GroupVersion("apps", "v1")


@pytest.fixture(scope="module")
def documents() -> Iterator[Client]:
    with new_cluster(crds=[WIDGETS]) as cluster:
        yield _openapi(cluster)


def _openapi(cluster: Cluster) -> Client:
    client = discovery.new_discovery_client_for_config_and_client(cluster.config, cluster.http_client)
    found: Client = client.openapi_v3()
    return found


@pytest.mark.parametrize(
    ("paths", "versions"),
    [
        pytest.param([], [], id="OpenAPI V3 Root: No openapi.Paths() equals no GroupVersions."),
        pytest.param(["apis/apps/v1"], ["apps/v1"], id="OpenAPI V3 Root: Single openapi.Path equals one GroupVersion."),
        pytest.param(
            ["apis/batch/v1beta1", "apis/apps/v1", "api/v1"],
            ["apps/v1", "batch/v1beta1", "v1"],
            id="OpenAPI V3 Root: Multiple openapi.Paths equals multiple GroupVersions.",
        ),
        pytest.param(
            ["apis/batch/v1", "api/v1", "apis/apps", "openapi/v2", "version", ""],
            ["batch/v1", "v1"],
            id="Multiple GroupVersions, some invalid",
        ),
    ],
)
def test_the_group_versions_of_the_paths_are_sorted(paths: list[str], versions: list[str]) -> None:
    """Go: TestOpenAPIV3Root_GroupVersions."""
    client = openapitest.FakeClient(paths_map={path: openapitest.FakeGroupVersion() for path in paths})

    assert [str(gv) for gv in openapi3.new_root(client).group_versions()] == versions


@pytest.mark.parametrize("message", [pytest.param("forced", id="OpenAPI V3 Root: Forced error returns error.")])
def test_an_error_of_the_client_is_raised(message: str) -> None:
    """Go: TestOpenAPIV3Root_GroupVersions."""
    client = openapitest.new_fake_client()
    client.forced_err = OSError(message)

    root = openapi3.new_root(client)

    with pytest.raises(OSError, match="forced"):
        root.group_versions()
    with pytest.raises(OSError, match="forced"):
        root.gv_spec(APPS)


@pytest.mark.parametrize(
    ("group_version", "paths"),
    [
        pytest.param(APPS, ["deployments", "replicasets", "daemonsets"], id="OpenAPI V3 for apps/v1 works"),
        pytest.param(
            GroupVersion("networking.k8s.io", "v1"), ["ingressclasses"], id="OpenAPI V3 for networking/v1alpha1 works"
        ),
        pytest.param(GroupVersion("batch", "v1"), ["jobs", "cronjobs"], id="OpenAPI V3 for batch/v1 works"),
        pytest.param(GroupVersion("example.com", "v1"), ["widgets"], id="a custom resource"),
    ],
)
def test_the_document_of_a_group_version(documents: Client, group_version: GroupVersion, paths: list[str]) -> None:
    """Go: TestOpenAPIV3Root_GVSpec, TestOpenAPIV3Root_GVSpecAsMap. The embedded server supplies the documents."""
    root = openapi3.new_root(documents)

    document = root.gv_spec_as_map(group_version)

    assert root.gv_spec(group_version) == document
    assert group_version in root.group_versions()
    # With and without namespace.
    ends = {path.rpartition("/")[2] for path in document["paths"]}
    assert set(paths) <= ends


def test_a_group_version_without_document(documents: Client) -> None:
    # Go: TestOpenAPIV3Root_GVSpec/OpenAPI V3 spec not found
    # Go: TestOpenAPIV3Root_GVSpecAsMap/OpenAPI V3 spec not found
    root = openapi3.new_root(documents)
    for call in (root.gv_spec, root.gv_spec_as_map):
        with pytest.raises(openapi3.GroupVersionNotFoundError) as found:
            call(GroupVersion("not", "found"))
        assert str(found.value) == "GroupVersion (not/found) not found as OpenAPI V3 path"


@pytest.mark.parametrize("text", [b"[]", b"{", b"", b"null"])
def test_a_document_that_is_no_object_is_an_error(text: bytes) -> None:
    client = openapitest.FakeClient(paths_map={"apis/apps/v1": openapitest.FakeGroupVersion(gv_spec=text)})

    with pytest.raises(ValueError):
        openapi3.new_root(client).gv_spec(APPS)


@pytest.mark.parametrize(
    ("group_version", "path"),
    [
        pytest.param(APPS, "apis/apps/v1", id="OpenAPI V3 Root: Path to GroupVersion apps group"),
        pytest.param(
            GroupVersion("batch", "v1beta1"),
            "apis/batch/v1beta1",
            id="OpenAPI V3 Root: Path to GroupVersion batch group",
        ),
        pytest.param(GroupVersion("", "v1"), "api/v1", id="OpenAPI V3 Root: Path to GroupVersion core group"),
    ],
)
def test_a_group_version_and_its_path(group_version: GroupVersion, path: str) -> None:
    # Go: TestOpenAPIV3Root_GroupVersionToPath
    # Go: TestOpenAPIV3Root_PathToGroupVersion/OpenAPI V3 Root: Path to GroupVersion apps/v1 group
    # Go: TestOpenAPIV3Root_PathToGroupVersion/OpenAPI V3 Root: Path to GroupVersion batch group
    # Go: TestOpenAPIV3Root_PathToGroupVersion/OpenAPI V3 Root: Path to GroupVersion core group
    assert gv_to_api_path(group_version) == path
    assert path_to_group_version(path) == group_version


@pytest.mark.parametrize("path", ["apis/apps", "apis", "api", "", "openapi/v3", "/api/v1"])
def test_a_path_that_is_of_no_group_version(path: str) -> None:
    """Go: TestOpenAPIV3Root_PathToGroupVersion/Group without Version throws error."""
    assert path_to_group_version(path) is None


def test_documents_from_files(tmp_path: Path) -> None:
    """Go: TestOpenAPITest."""
    (tmp_path / "apis__apps__v1_openapi.json").write_bytes(b'{"paths":{}}')
    (tmp_path / "api__v1_openapi.json").write_bytes(b"{}")

    paths = openapitest.new_file_client(str(tmp_path)).paths()

    assert sorted(paths) == ["api/v1", "apis/apps/v1"]
    assert openapi3.new_root(openapitest.new_file_client(str(tmp_path))).gv_spec(APPS) == {"paths": {}}
    assert paths["api/v1"].server_relative_url() == "api__v1_openapi.json"
    with pytest.raises(ValueError, match="only supports 'application/json'"):
        paths["api/v1"].schema("application/yaml")
    with pytest.raises(FileNotFoundError):
        openapitest.new_file_client(str(tmp_path / "nope")).paths()


def test_a_fake_document() -> None:
    document = openapitest.FakeGroupVersion(gv_spec=b"{}", forced_err=OSError("forced"))

    with pytest.raises(OSError, match="forced"):
        document.schema("application/json")
    with pytest.raises(ValueError, match="is only content type supported"):
        document.schema("text/plain")
    with pytest.raises(NotImplementedError):
        document.server_relative_url()


DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")


def test_the_merge_semantics_of_a_servers_kinds(documents: Client) -> None:
    converter = new_type_converter(documents, False)

    deployment = converter(DEPLOYMENT)
    pod_spec = deployment.fields["spec"].fields["template"].fields["spec"]
    container = pod_spec.fields["containers"].elem
    assert (pod_spec.fields["containers"].kind, pod_spec.fields["containers"].keys) == ("assoc", ("name",))
    assert container is not None and container.fields["ports"].keys == ("containerPort", "protocol")
    assert deployment.fields["spec"].fields["selector"].kind == "leaf"
    assert deployment.fields["metadata"].fields["finalizers"].kind == "set"
    assert deployment.fields["spec"].fields["replicas"].scalar == "numeric"
    ports = container.fields["ports"].elem
    assert ports is not None and ports.fields["name"].scalar == "string"
    assert container.fields["livenessProbe"].fields["httpGet"].fields["port"].scalar == "untyped"
    crd = converter(GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition"))
    assert crd.fields["spec"].fields["versions"].inside is not None
    assert converter(GroupVersionKind("example.com", "v1", "Widget")).fields["spec"].elem is not None
    with pytest.raises(KeyError, match="no corresponding type for"):
        converter(GroupVersionKind("", "v1", "Nope"))


def test_a_converter_may_accept_unknown_fields(documents: Client) -> None:
    assert new_type_converter(documents, True)(DEPLOYMENT).fields["spec"].elem is not None
    assert new_type_converter(documents, False)(DEPLOYMENT).fields["spec"].elem is None


def test_an_inline_schema_follows_references_and_defaults() -> None:
    schemas: dict[str, Any] = {
        "Port": {"properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}}},
        "Thing": {
            "type": "object",
            "x-kubernetes-group-version-kind": [{"group": "g", "version": "v1", "kind": "Thing"}],
            "properties": {
                "ports": {
                    "type": "array",
                    "items": {"default": {}, "allOf": [{"$ref": "#/components/schemas/Port"}]},
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                },
                "child": {"$ref": "#/components/schemas/Thing"},
                "one": {"allOf": [{"$ref": "#/components/schemas/Port"}], "x-kubernetes-map-type": "atomic"},
            },
        },
    }
    node = managedfields.new_type_converter(schemas, False)(GroupVersionKind("g", "v1", "Thing"))

    assert node.fields["child"].fields["child"] is node.fields["child"]
    assert node.fields["ports"].defaults == {"protocol": "TCP"}
    assert (node.fields["one"].kind, node.fields["one"].inside is not None) == ("leaf", True)


@pytest.mark.parametrize(
    ("client", "message"),
    [
        (openapitest.FakeClient(forced_err=OSError("x")), "failed to list paths: x"),
        (
            openapitest.FakeClient(paths_map={"a": openapitest.FakeGroupVersion(forced_err=OSError("y"))}),
            "failed to download schema: y",
        ),
        (
            openapitest.FakeClient(paths_map={"a": openapitest.FakeGroupVersion(gv_spec=json.dumps([]).encode())}),
            "failed to parse schema",
        ),
        (
            openapitest.FakeClient(paths_map={"a": openapitest.FakeGroupVersion(gv_spec=b"[" * 20_000)}),
            "failed to parse schema",
        ),
    ],
)
def test_a_converter_without_documents_is_an_error(client: Client, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        new_type_converter(client, False)
