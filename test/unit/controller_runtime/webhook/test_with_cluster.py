"""Webhooks that the API server of envtest calls, over TLS: with a manager, of several handlers, and without one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from clientgo import context, kubernetes
from clientgo import controller_runtime as ctrl
from clientgo.api.admissionregistration import v1 as admissionregistrationv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import wait
from clientgo.controller_runtime import envtest, webhook
from clientgo.controller_runtime.metrics.server import Options as MetricsOptions
from clientgo.controller_runtime.webhook import admission

CTX = context.background()
REJECTS = admissionregistrationv1.ValidatingWebhookConfiguration.from_dict(
    {
        "metadata": {"name": "rejects"},
        "webhooks": [
            {
                "name": "rejects.example.com",
                "clientConfig": {"service": {"name": "s", "namespace": "default", "path": "/failing"}},
                "rules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
                ],
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }
        ],
    }
)


@pytest.fixture
def env() -> Iterator[envtest.Environment]:
    made = envtest.Environment()
    made.webhook_install_options.validating_webhooks = [REJECTS.deep_copy()]
    made.start()
    yield made
    made.stop()


@pytest.fixture
def server(env: envtest.Environment) -> webhook.DefaultServer:
    """Return a webhook server at the address that the API server uses."""
    options = env.webhook_install_options
    return webhook.new_server(
        webhook.Options(
            host=options.local_serving_host, port=options.local_serving_port, cert_dir=options.local_serving_cert_dir
        )
    )


def rejection(env: envtest.Environment, start: Callable[[context.Context], None]) -> str:
    """Return the error of creating a ConfigMap while `start` runs."""
    assert env.config is not None
    clients = kubernetes.new_for_config(env.config)
    ctx, cancel = context.with_cancel(CTX)
    thread = threading.Thread(target=start, args=(ctx,), name="serving")
    thread.start()
    refused: list[str] = []

    def asked(ctx: context.Context) -> bool:
        """Report whether the webhook has responded. Until then the creation fails with another error."""
        try:
            clients.core_v1().config_maps("default").create(
                ctx, corev1.ConfigMap(metadata=metav1.ObjectMeta(name="a")), metav1.CreateOptions()
            )
        except errors.StatusError as err:
            refused.append(str(err))
        return bool(refused) and "failed calling webhook" not in refused[-1]

    try:
        wait.poll_until_context_timeout(CTX, 0.05, 20.0, True, asked)
    finally:
        cancel()
        thread.join()
        clients.close()
    return refused[-1]


def manager_of(env: envtest.Environment, server: webhook.Server) -> ctrl.Manager:
    assert env.config is not None
    options = ctrl.Options(webhook_server=server, metrics=MetricsOptions(bind_address="0"))
    return ctrl.new_manager(env.config, options)


def deny(ctx: context.Context, req: admission.Request) -> admission.Response:
    return admission.denied("Always denied")


def test_a_managers_webhook_rejects(env: envtest.Environment, server: webhook.DefaultServer) -> None:
    """Go: webhook: Webhook > when running a webhook server with a manager > should reject create request for webhook
    Go: envtest: Test > Webhook > should reject create request for webhook that rejects all requests
    """
    mgr = manager_of(env, server)
    mgr.get_webhook_server().register("/failing", webhook.Admission(handler=deny))
    assert 'admission webhook "rejects.example.com" denied the request: Always denied' in rejection(env, mgr.start)


def test_a_webhook_of_several_handlers_rejects(env: envtest.Environment, server: webhook.DefaultServer) -> None:
    """Go: webhook: Webhook > when running a webhook server with a manager > should reject create request
    ... for multi-webhook
    Go: webhook: Example
    """
    mgr = manager_of(env, server)
    handler = admission.multi_validating_handler(lambda ctx, req: admission.allowed(""), deny)
    mgr.get_webhook_server().register("/failing", webhook.Admission(handler=handler))
    assert "Always denied" in rejection(env, mgr.start)


def test_a_server_without_a_manager_rejects(env: envtest.Environment, server: webhook.DefaultServer) -> None:
    """Go: webhook: Webhook > when running a webhook server without a manager
    Go: webhook: ExampleServer_Start
    """
    server.register("/failing", webhook.Admission(handler=deny))
    assert "Always denied" in rejection(env, server.start)


def test_a_standalone_webhook_rejects(env: envtest.Environment, server: webhook.DefaultServer) -> None:
    """Go: webhook: ExampleStandaloneWebhook"""
    hook = admission.standalone_webhook(webhook.Admission(handler=deny), admission.StandaloneOptions())
    server.webhook_mux().handle("/failing", hook)
    assert "Always denied" in rejection(env, server.start)
