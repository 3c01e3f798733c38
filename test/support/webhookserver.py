"""A webhook server of controller_runtime beside an embedded API server, as tests of webhooks use it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from apiclient import Api, eventually

from clientgo import context
from clientgo.context import Context
from clientgo.controller_runtime import envtest, webhook
from clientgo.controller_runtime.webhook import admission
from clientgo.controller_runtime.webhook.admission import Request, Response
from clientgo.golang.http.server import HandlerLike
from clientgo.golang.http.server import Request as HTTPRequest
from clientgo.testing.apiserver import Environment

GROUP = "/apis/admissionregistration.k8s.io/v1"


class Webhooks:
    """An API server and, over TLS, a webhook server. Ends both when closed."""

    def __init__(self) -> None:
        self.options = envtest.WebhookInstallOptions()
        self.options.prep_without_installing()
        self.server = webhook.new_server(
            webhook.Options(
                host=self.options.local_serving_host,
                port=self.options.local_serving_port,
                cert_dir=self.options.local_serving_cert_dir,
            )
        )
        self._ctx, self._cancel = context.with_cancel(context.background())
        self._thread = threading.Thread(target=self.server.start, args=(self._ctx,), name="webhook-server", daemon=True)
        self._thread.start()
        eventually(self._answers)
        self.env = Environment()
        self.env.start()
        self.api = Api(self.env)
        self._count = 0

    def _answers(self) -> bool:
        try:
            self.server.started_checker()(HTTPRequest("GET", "/"))
        except RuntimeError:
            return False
        return True

    def close(self) -> None:
        self.api.close()
        self.env.stop()
        self._cancel()
        self._thread.join()
        self.options.cleanup()

    def serve(self, decide: Callable[[Context, Request], Response] | admission.Webhook) -> dict[str, Any]:
        """Serve a handler of reviews at a path of its own: the client config for it."""
        hook = decide if isinstance(decide, admission.Webhook) else admission.Webhook(handler=decide)
        return self.serve_raw(hook)

    def serve_raw(self, handler: HandlerLike) -> dict[str, Any]:
        """Serve a handler that responds in bytes."""
        self._count += 1
        path = f"/hook-{self._count}"
        self.server.register(path, handler)
        return self.options.client_config(path)

    def configure(self, kind: str, name: str, *webhooks: dict[str, Any], want: int = 201) -> None:
        """Write a configuration of the kind "Mutating" or "Validating"."""
        body = {"metadata": {"name": name}, "webhooks": list(webhooks)}
        self.api("POST", f"{GROUP}/{kind.lower()}webhookconfigurations", body, want=want)


def hook(name: str, config: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a webhook for all operations on config maps."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    return {
        "name": name,
        "clientConfig": config,
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }
