"""The OpenAPI v3 documents of a server. Go: openapi/client.go, openapi/groupversion_test.go, openapi/cached."""

from __future__ import annotations

import pytest
from httpscript import Answer, status
from scripteddiscovery import discovering, path_of

from clientgo.apimachinery.api import errors
from clientgo.openapi import cached

DOCUMENT = Answer(200, b'{"openapi":"3.0.0"}')


@pytest.mark.parametrize(
    ("base_path", "listed", "asked"),
    [
        # Go: TestGroupVersion/no prefix
        ("", "/openapi/v3/apis/apps/v1?hash=014f", "/openapi/v3/apis/apps/v1"),
        ("", "/openapi/v3/apis/apps/v1", "/openapi/v3/apis/apps/v1"),
        # A proxy that leaves the answers as they are. Go: TestGroupVersion/prefix not in discovery
        ("/clusters/a", "/openapi/v3/apis/apps/v1?hash=014f", "/clusters/a/openapi/v3/apis/apps/v1"),
        # One that puts its own path into them. Go: TestGroupVersion/prefix in discovery
        ("/clusters/a", "/clusters/a/openapi/v3/apis/apps/v1?hash=014f", "/clusters/a/openapi/v3/apis/apps/v1"),
    ],
)
def test_a_document_is_asked_for_where_the_index_says(base_path, listed, asked):
    index = {"paths": {"apis/apps/v1": {"serverRelativeURL": listed}}}
    with discovering({f"{base_path}/openapi/v3": index, asked: DOCUMENT}, base_path=base_path) as (client, server):
        document = client.openapi_v3().paths()["apis/apps/v1"]
        assert document.server_relative_url() == listed.removeprefix(base_path)
        assert document.schema("application/json") == DOCUMENT.body
        request = server.requests[-1]
    assert path_of(request) == asked
    assert ("hash=014f" in request.target) == ("hash=014f" in listed)
    assert request.headers["Accept"] == "application/json"


def test_without_an_index_there_is_an_error():
    forbidden = {"/openapi/v3": status(403, "Forbidden", "no")}
    with discovering(forbidden) as (client, _), pytest.raises(errors.StatusError):
        client.openapi_v3().paths()


def test_no_documents():
    with discovering({"/openapi/v3": {}}) as (client, _):
        assert client.openapi_v3().paths() == {}


def test_the_cached_client_asks_once_also_for_what_fails():
    index = {"paths": {"version": {"serverRelativeURL": "/openapi/v3/version"}}}
    documents = {"/openapi/v3": index, "/openapi/v3/version": status(403, "Forbidden", "no")}
    with discovering(documents) as (client, server):
        remembering = cached.new_client(client.openapi_v3())
        assert remembering.paths() is remembering.paths()
        document = remembering.paths()["version"]
        for _ in range(2):
            with pytest.raises(errors.StatusError):
                document.schema()
        assert len(server.requests) == 2
        documents["/openapi/v3/version"] = DOCUMENT
        assert document.schema("text/other") == DOCUMENT.body, "another format is another document"
        assert document.server_relative_url() == "/openapi/v3/version"


def test_the_cached_client_remembers_that_there_is_no_index():
    documents = {"/openapi/v3": status(403, "Forbidden", "no")}
    with discovering(documents) as (client, server):
        remembering = cached.new_client(client.openapi_v3())
        for _ in range(2):
            with pytest.raises(errors.StatusError):
                remembering.paths()
        assert len(server.requests) == 1
