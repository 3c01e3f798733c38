"""Access to the metrics over TLS: the API server decides, and its decisions are cached."""

from __future__ import annotations

import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from clientgo import context, rest
from clientgo.api.rbac import v1 as rbacv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime.metrics import filters, server
from clientgo.controller_runtime.metrics.registry import new_counter_vec
from clientgo.golang.http import server as http
from clientgo.kubernetes import new_for_config
from clientgo.testing import apiserver

TOKENS = {"reader-token": apiserver.User("reader"), "other-token": apiserver.User("other")}


@pytest.fixture
def config() -> Iterator[rest.Config]:
    with apiserver.Environment(tokens=TOKENS) as environment:
        clients = new_for_config(environment.config)
        ctx, name = context.background(), metav1.ObjectMeta(name="metrics-reader")
        rule = rbacv1.PolicyRule(verbs=["get"], non_resource_urls=["/metrics", "/extra"])
        clients.rbac_v1().cluster_roles().create(ctx, rbacv1.ClusterRole(metadata=name, rules=[rule]))
        binding = rbacv1.ClusterRoleBinding(
            metadata=name,
            role_ref=rbacv1.RoleRef(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name="metrics-reader"),
            subjects=[rbacv1.Subject(kind="User", name="reader", api_group="rbac.authorization.k8s.io")],
        )
        clients.rbac_v1().cluster_role_bindings().create(ctx, binding)
        clients.close()
        yield environment.config


class Serving:
    """A metrics server with the filter, over TLS, with the certificate it makes for itself."""

    def __init__(self, config: rest.Config) -> None:
        http_client = rest.http_client_for(config)
        options = server.Options(
            bind_address="127.0.0.1:0",
            secure_serving=True,
            filter_provider=filters.with_authentication_and_authorization,
            extra_handlers={"/extra": lambda resp, req: resp.write("Some debug info")},
        )
        self.http_client = http_client
        self.server: Any = server.new_server(options, config, http_client)
        self.ctx, self.cancel = context.with_cancel(context.background())
        self.thread = threading.Thread(target=self.server.start, args=(self.ctx,), name="metrics")
        self.thread.start()
        while not self.server.get_bind_addr():
            self.thread.join(0.01)

    def __enter__(self) -> Serving:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()
        self.thread.join()
        self.http_client.close_idle_connections()

    def get(self, path: str, authorization: str = "") -> tuple[int, str]:
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        request = urllib.request.Request(f"https://{self.server.get_bind_addr()}{path}")
        if authorization:
            request.add_header("Authorization", authorization)
        try:
            with urllib.request.urlopen(request, context=tls) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as err:
            with err:
                return err.code, err.read().decode()


def test_only_authorized_users_may_read(config: rest.Config) -> None:
    """Go: metrics/filters: manger.Manager > Start > should start serving metrics with https and authn/authz >"""
    new_counter_vec("test_filtered_total", "Things.", ["kind"]).labels("small").inc()
    with Serving(config) as serving:
        assert serving.get("/metrics") == (401, "Unauthorized\n")
        assert serving.get("/metrics", "Bearer nobody")[0] == 401
        assert serving.get("/metrics", "Basic reader-token")[0] == 401
        assert serving.get("/metrics", "Bearer other-token") == (403, "Authorization denied for user other\n")
        status, text = serving.get("/metrics", "Bearer reader-token")
        assert status == 200 and 'test_filtered_total{kind="small"} 1.0' in text
        assert serving.get("/extra", "bearer  reader-token") == (200, "Some debug info")
        assert serving.get("/extra", "Bearer other-token")[0] == 403


def test_answers_are_kept_and_failures_are_not(config: rest.Config, caplog: pytest.LogCaptureFixture) -> None:
    """While the server is down, cached decisions still hold, and other requests get an error."""
    asked = rest.copy_config(config)
    with Serving(asked) as serving:
        assert serving.get("/metrics", "Bearer reader-token")[0] == 200
    http_client = rest.http_client_for(rest.Config(host="http://127.0.0.1:1"))
    provider = filters.with_authentication_and_authorization(rest.Config(host="http://127.0.0.1:1"), http_client)
    from clientgo.controller_runtime.log import LOG

    handler = http.to_handler(provider(LOG, lambda resp, req: resp.write("never")))
    response, request = http.ResponseWriter(), http.Request("GET", "/metrics")
    request.headers["Authorization"] = "Bearer secret-token"
    handler(response, request)
    assert (response.status, bytes(response.body)) == (500, b"Authentication failed\n")
    assert "secret-token" not in caplog.text
    http_client.close_idle_connections()
