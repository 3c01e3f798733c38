"""A request of server-side apply has the configuration as its body."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo.api.core import v1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.context import background
from clientgo.golang import http
from clientgo.kubernetes import scheme
from clientgo.rest.fake import RESTClient
from clientgo.util import apply

DOCUMENT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "1"}}
CONFIG_MAP = v1.ConfigMap(api_version="v1", kind="ConfigMap", metadata=metav1.ObjectMeta(name="x"), data={"a": "1"})


@pytest.mark.parametrize("configuration", [DOCUMENT, CONFIG_MAP], ids=["document", "object"])
def test_the_configuration_is_the_body_of_an_apply_patch(configuration: Any) -> None:
    client = RESTClient(negotiated_serializer=scheme.CODECS, group_version=GroupVersion("", "v1"))
    client.resp = http.Response(status_code=200, body=http.BytesBody(b"{}"))

    apply.new_request(client, configuration).resource("configmaps").name("x").do(background()).raw()

    assert client.req is not None and isinstance(client.req.body, bytes)
    assert client.req.method == "PATCH"
    assert client.req.headers.get("Content-Type") == "application/apply-patch+yaml"
    sent = json.loads(client.req.body)
    assert {key: sent[key] for key in DOCUMENT if key != "metadata"} | {
        "metadata": {"name": sent["metadata"]["name"]}
    } == DOCUMENT


def test_what_json_cannot_have_is_an_error() -> None:
    client = RESTClient(negotiated_serializer=scheme.CODECS)

    with pytest.raises(ValueError, match="^failed to marshal apply configuration: "):
        apply.new_request(client, {"data": {1, 2}})
