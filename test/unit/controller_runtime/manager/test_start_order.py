"""A manager whose parts need each other to start: probes, webhooks, caches and controllers come in the right order."""

from __future__ import annotations

import threading
import urllib.request
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import context
from clientgo import controller_runtime as ctrl
from clientgo.apiextensions import v1 as apiextensionsv1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema
from clientgo.controller_runtime import client, controller, envtest, webhook
from clientgo.controller_runtime.metrics.server import Options as MetricsOptions
from clientgo.controller_runtime.webhook import conversion
from clientgo.golang.http.server import Request, ResponseWriter
from clientgo.kubernetes import scheme as clientgoscheme

CTX = context.background()
GROUP = "crew.example.com"


class DriverV1(runtime.ResourceObject):
    """The stored version."""

    GROUP_VERSION_KIND = schema.GroupVersionKind(GROUP, "v1", "Driver")
    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    licence: str = runtime.field("licence", "string", default="")

    def hub(self) -> None:
        pass


class DriverV2(runtime.ResourceObject):
    """The version that the program uses."""

    GROUP_VERSION_KIND = schema.GroupVersionKind(GROUP, "v2", "Driver")
    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    licences: list[str] = runtime.field("licences", "[]string", default=runtime.EMPTY)

    def convert_to(self, dst: runtime.Object) -> None:
        assert isinstance(dst, DriverV1)
        dst.metadata, dst.licence = self.metadata, ",".join(self.licences)

    def convert_from(self, src: runtime.Object) -> None:
        assert isinstance(src, DriverV1)
        self.metadata, self.licences = src.metadata, src.licence.split(",")


class DriverV2List(runtime.ListObject):
    GROUP_VERSION_KIND = schema.GroupVersionKind(GROUP, "v2", "DriverList")
    ITEM = DriverV2
    items: list[DriverV2] = runtime.field("items", "[]DriverV2", default=runtime.EMPTY)


def driver_scheme() -> runtime.Scheme:
    made = runtime.Scheme()
    clientgoscheme.add_to_scheme(made)
    for cls in (DriverV1, DriverV2, DriverV2List):
        made.add_known_type_with_name(cls.GROUP_VERSION_KIND, cls)
    return made


def driver_crd() -> apiextensionsv1.CustomResourceDefinition:
    anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return apiextensionsv1.CustomResourceDefinition.from_dict(
        {
            "metadata": {"name": f"drivers.{GROUP}"},
            "spec": {
                "group": GROUP,
                "names": {"plural": "drivers", "singular": "driver", "kind": "Driver", "listKind": "DriverList"},
                "scope": "Namespaced",
                "versions": [
                    {"name": "v1", "served": True, "storage": True, "schema": anything},
                    {"name": "v2", "served": True, "storage": False, "schema": anything},
                ],
            },
        }
    )


class ConversionWhenReady:
    """A conversion webhook behind a Service, which responds only once the program reports ready."""

    def __init__(self, mgr: Any) -> None:
        host, port = mgr._parts.health_probe_listener.getsockname()[:2]
        self.readyz = f"http://{host}:{port}/readyz"
        self.convert = conversion.new_webhook_handler(mgr.get_scheme(), mgr.get_converter_registry())
        self.conversions = 0

    def __call__(self, resp: ResponseWriter, req: Request) -> None:
        with urllib.request.urlopen(self.readyz, timeout=PATIENCE) as answer:
            assert answer.status == 200
        self.conversions += 1
        self.convert(resp, req)


@pytest.mark.parametrize("warmup", [True, False], ids=["warm-up", "no warm-up"])
def test_all_parts_start_although_they_need_each_other(warmup: bool) -> None:
    """The cache needs the conversion webhook, which needs the readiness probe, which needs the webhook server.

    Go: manager/internal/integration: manger.Manager Start > should start all components without deadlock
    """
    scheme = driver_scheme()
    env = envtest.Environment(scheme=scheme, crds=[driver_crd()])
    config = env.start()
    ctx, cancel = context.with_cancel(CTX)
    failures: list[Exception] = []
    threads: list[threading.Thread] = []
    try:
        direct = client.new(config, client.Options(scheme=scheme))
        direct.create(ctx, DriverV1(metadata=metav1.ObjectMeta(namespace="default", name="ada"), licence="a,b"))
        webhooks = env.webhook_install_options
        server = webhook.new_server(
            webhook.Options(
                host=webhooks.local_serving_host,
                port=webhooks.local_serving_port,
                cert_dir=webhooks.local_serving_cert_dir,
            )
        )
        options = ctrl.Options(
            scheme=scheme,
            health_probe_bind_address="127.0.0.1:0",
            metrics=MetricsOptions(bind_address="0"),
            webhook_server=server,
        )
        mgr = ctrl.new_manager(config, options)
        mgr.add_readyz_check("webhook", mgr.get_webhook_server().started_checker())
        mgr.add_healthz_check("webhook", mgr.get_webhook_server().started_checker())
        reconciled = threading.Event()
        seen: list[DriverV2] = []

        def reconcile(ctx: context.Context, request: ctrl.Request) -> None:
            seen.append(mgr.get_client().get(ctx, request, DriverV2))
            reconciled.set()

        builder = ctrl.new_controller_managed_by(mgr).for_(DriverV2).named(f"driver-{'warm' if warmup else 'cold'}")
        builder.with_options(controller.Options(enable_warmup=warmup)).complete(reconcile)
        hook = ConversionWhenReady(mgr)
        mgr.get_webhook_server().register("/convert", hook)
        # An index makes the informer, for whose first list the start of the manager waits.
        mgr.get_cache().index_field(ctx, DriverV2, "name", lambda driver: [driver.get_name()])

        def run() -> None:
            try:
                mgr.start(ctx)
            except Exception as err:
                failures.append(err)
                reconciled.set()

        threads.append(threading.Thread(target=run, name="manager"))
        threads[0].start()
        assert reconciled.wait(PATIENCE) and not failures
        assert mgr.elected().wait(PATIENCE)
        assert [*seen[0].licences] == ["a", "b"] and hook.conversions > 0
        found = mgr.get_client().list(ctx, DriverV2List, client.MatchingFields({"name": "ada"})).items
        assert [driver.get_name() for driver in found] == ["ada"]
        key = client.ObjectKey("default", "ada")
        assert direct.get(ctx, key, DriverV1).licence == "a,b"
        assert [*direct.get(ctx, key, DriverV2).licences] == ["a", "b"]
    finally:
        cancel()
        for thread in threads:
            thread.join()
        env.stop()
    assert failures == []
