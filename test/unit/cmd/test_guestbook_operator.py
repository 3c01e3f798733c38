"""The guestbook-operator: its reconciler over the fake client, its directory, its webhooks over HTTPS."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority, Pair
from patience import PATIENCE
from programs import ImportedProgram

from clientgo import context, rest
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime.client import fake, interceptor
from clientgo.controller_runtime.metrics import server as metricsserver
from clientgo.controller_runtime.webhook import Options as WebhookOptions
from clientgo.controller_runtime.webhook import new_server
from clientgo.golang.channel import Channel
from clientgo.tools import events

PROGRAM = ImportedProgram("guestbook-operator")
with PROGRAM:
    webappv1 = PROGRAM.module("api.v1")
    controller = PROGRAM.module("controller")
    directory = PROGRAM.module("directory")
    main = PROGRAM.module("main")
    webhook = PROGRAM.module("webhook")

CTX = context.background()
KEY = ctrl.Request("default", "book")
ADDRESS = {"default/book": "http://book.default:80"}


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


def new_guestbook(**spec: Any) -> Any:
    return webappv1.Guestbook(
        metadata=metav1.ObjectMeta(name="book", namespace="default", uid="uid-of-book", generation=3),
        spec=webappv1.GuestbookSpec(**{"size": 2, "image": "guestbook:1.0", "port": 80, **spec}),
    )


class Setup:
    """A reconciler over a fake client that notes each write."""

    def __init__(self, folder: Path) -> None:
        self.writes: list[str] = []
        self.failure: Exception | None = None
        scheme = main.new_scheme()
        builder = fake.new_client_builder().with_scheme(scheme).with_objects(new_guestbook())
        self.client = interceptor.new_client(
            builder.with_status_subresource(webappv1.Guestbook, appsv1.Deployment).build(),
            interceptor.Funcs(create=self._note("create"), update=self._note("update")),
        )
        self.texts: Channel[str] = Channel(100)
        self.directory = directory.Directory(folder / "directory.json")
        self.reconciler = controller.GuestbookReconciler(
            self.client, scheme, events.FakeRecorder(self.texts), self.directory
        )

    def _note(self, verb: str) -> Any:
        def write(ctx: Any, c: Any, obj: Any, *opts: Any) -> None:
            if self.failure is not None:
                raise self.failure
            getattr(c, verb)(ctx, obj, *opts)
            self.writes.append(f"{verb} {type(obj).__name__}")

        return write

    def reconcile(self) -> None:
        assert self.reconciler.reconcile(CTX, KEY) is None

    def get(self, kind: Any) -> Any:
        return self.client.get(CTX, KEY, kind)

    def condition(self) -> Any:
        return meta.find_status_condition(self.get(webappv1.Guestbook).status.conditions, "Available")

    def set_ready(self, replicas: int) -> None:
        deployment = self.get(appsv1.Deployment).deep_copy()
        deployment.status.ready_replicas = replicas
        self.client.status().update(CTX, deployment)


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


def test_the_first_time_everything_is_made_and_the_second_time_nothing(setup: Setup) -> None:
    setup.reconcile()
    assert setup.writes == ["update Guestbook", "create Deployment", "create Service"]
    assert setup.get(webappv1.Guestbook).get_finalizers() == [controller.FINALIZER]
    for kind in (appsv1.Deployment, corev1.Service):
        assert metav1.is_controlled_by(setup.get(kind), setup.get(webappv1.Guestbook))
    spec = setup.get(appsv1.Deployment).spec
    assert spec.template.metadata.labels == spec.selector.match_labels == setup.get(corev1.Service).spec.selector
    assert setup.directory.entries() == ADDRESS
    assert len(setup.texts) == 2

    setup.writes.clear()
    version = setup.get(webappv1.Guestbook).get_resource_version()
    setup.reconcile()

    assert setup.writes == []
    assert len(setup.texts) == 2
    assert setup.get(webappv1.Guestbook).get_resource_version() == version


def test_the_condition_has_its_generation(setup: Setup) -> None:
    setup.reconcile()
    condition = setup.condition()
    assert (condition.status, condition.reason) == ("False", "DeploymentNotReady")
    assert condition.observed_generation == setup.get(webappv1.Guestbook).get_generation()

    setup.set_ready(2)
    setup.reconcile()

    condition = setup.condition()
    assert (condition.status, condition.message) == ("True", "2 of 2 replicas are ready")
    assert setup.get(webappv1.Guestbook).status.ready_replicas == 2


def test_a_change_reaches_what_is_owned_and_leaves_what_others_added(setup: Setup) -> None:
    setup.reconcile()
    deployment = setup.get(appsv1.Deployment).deep_copy()
    deployment.spec.template.spec.containers.append(corev1.Container(name="sidecar", image="proxy:1"))
    setup.client.update(CTX, deployment)
    guestbook = setup.get(webappv1.Guestbook).deep_copy()
    guestbook.spec.image, guestbook.spec.size = "guestbook:2.0", 5
    setup.client.update(CTX, guestbook)

    setup.reconcile()

    deployment = setup.get(appsv1.Deployment)
    assert [each.image for each in deployment.spec.template.spec.containers] == ["guestbook:2.0", "proxy:1"]
    assert deployment.spec.replicas == 5


def test_a_deleted_guestbook_goes_when_the_directory_is_clean(setup: Setup) -> None:
    setup.reconcile()
    setup.client.delete(CTX, setup.get(webappv1.Guestbook))
    assert setup.get(webappv1.Guestbook).get_deletion_timestamp() is not None

    setup.reconcile()

    assert setup.directory.entries() == {}
    with pytest.raises(errors.StatusError) as gone:
        setup.get(webappv1.Guestbook)
    assert errors.is_not_found(gone.value)
    setup.reconcile()  # the event of its end


def test_a_directory_that_cannot_be_cleaned_keeps_the_guestbook(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup.reconcile()
    setup.client.delete(CTX, setup.get(webappv1.Guestbook))

    def fail(name: str) -> bool:
        raise OSError("no space left")

    monkeypatch.setattr(setup.directory, "unregister", fail)
    with pytest.raises(OSError, match="no space left"):
        setup.reconcile()

    assert setup.get(webappv1.Guestbook).get_finalizers() == [controller.FINALIZER]


def test_a_cache_that_is_behind_may_show_a_guestbook_that_is_gone(setup: Setup) -> None:
    setup.reconcile()
    setup.client.delete(CTX, setup.get(webappv1.Guestbook))
    resource = ctrl.GroupResource("webapp.example.com", "guestbooks")
    setup.failure = errors.new_conflict(resource, "book", ValueError("changed"))
    assert setup.reconciler.reconcile(CTX, KEY) == ctrl.Result(requeue=True)

    setup.failure = errors.new_not_found(resource, "book")
    setup.reconcile()


@pytest.mark.parametrize("reason", ["conflict", "already exists"])
def test_a_cache_that_is_behind_is_no_error(setup: Setup, caplog: pytest.LogCaptureFixture, reason: str) -> None:
    """It passes by itself, so the log has one line at INFO, and the request comes back."""
    resource = ctrl.GroupResource("webapp.example.com", "guestbooks")
    setup.failure = {
        "conflict": errors.new_conflict(resource, "book", ValueError("changed")),
        "already exists": errors.new_already_exists(resource, "book"),
    }[reason]
    with caplog.at_level("INFO"):
        assert setup.reconciler.reconcile(CTX, KEY) == ctrl.Result(requeue=True)
    (record,) = caplog.records
    assert record.levelname == "INFO"
    assert "The cache is behind, trying again" in record.getMessage()
    assert "\n" not in record.getMessage()


def test_any_other_error_of_the_server_is_raised(setup: Setup) -> None:
    setup.failure = errors.new_internal_error(ValueError("no space left"))
    with pytest.raises(errors.StatusError, match="no space left"):
        setup.reconcile()


def test_a_file_that_is_no_directory_is_named_and_left_alone(tmp_path: Path) -> None:
    for text in ("[]", "{", '{"a": 1}', "[" * 100_000):
        file = tmp_path / "precious.txt"
        file.write_text(text)
        with pytest.raises(ValueError, match=r"precious\.txt is no directory of guestbooks"):
            directory.Directory(file)
        assert file.read_text() == text


class Webhooks:
    """A manager that serves the program's webhooks, and a client that calls them like the API server."""

    def __init__(self, authority: Authority, pair: Pair) -> None:
        self._trust = authority.trust()
        self._listener = socket.create_server(("127.0.0.1", 0))
        options = WebhookOptions(cert_dir=str(pair.cert.parent), listener=self._listener)
        mgr = ctrl.new_manager(
            rest.Config(host="http://127.0.0.1:1"),
            ctrl.Options(
                scheme=main.new_scheme(),
                metrics=metricsserver.Options(bind_address="0"),
                webhook_server=new_server(options),
            ),
        )
        webhook.setup_webhook_with_manager(mgr)
        ctx, self._cancel = context.with_cancel(CTX)
        self._thread = threading.Thread(target=mgr.start, args=(ctx,), name="manager", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._cancel()
        self._thread.join()

    def ask(self, verb: str, operation: str, new: Any = None, old: Any = None) -> dict[str, Any]:
        request: dict[str, Any] = {"uid": "u", "operation": operation}
        for field, obj in (("object", new), ("oldObject", old)):
            if obj is not None:
                request[field] = {**obj.to_dict(), "apiVersion": "webapp.example.com/v1", "kind": "Guestbook"}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
        connection = http.client.HTTPSConnection(*self._listener_address, context=self._trust, timeout=PATIENCE)
        try:
            path = f"/{verb}-webapp-example-com-v1-guestbook"
            connection.request("POST", path, json.dumps(review), {"Content-Type": "application/json"})
            response = connection.getresponse()
            assert response.status == 200
            answer = json.loads(response.read())
        finally:
            connection.close()
        assert answer["response"]["uid"] == "u"
        return answer["response"]

    @property
    def _listener_address(self) -> tuple[str, int]:
        return self._listener.getsockname()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Pair]:
    authority = Authority(tmp_path_factory.mktemp("certificates"))
    return authority, authority.issue("tls", "IP:127.0.0.1")


@pytest.fixture
def webhooks(certificates: tuple[Authority, Pair]) -> Iterator[Webhooks]:
    made = Webhooks(*certificates)
    yield made
    made.stop()


def test_a_guestbook_without_a_title_is_titled_as_it_is_named(webhooks: Webhooks) -> None:
    answer = webhooks.ask("mutate", "CREATE", new_guestbook())
    assert answer["allowed"]
    patch = json.loads(base64.b64decode(answer["patch"]))
    assert patch == [{"op": "add", "path": "/spec/title", "value": "Guestbook book"}]

    assert "patch" not in webhooks.ask("mutate", "CREATE", new_guestbook(title="Ours"))


def test_what_cannot_work_is_refused_with_all_fields_at_fault(webhooks: Webhooks) -> None:
    answer = webhooks.ask("validate", "CREATE", new_guestbook(size=11, image="guestbook:latest"))

    assert not answer["allowed"]
    assert answer["status"]["code"] == 422
    assert answer["status"]["message"] == (
        'Guestbook.webapp.example.com "book" is invalid: [spec.size: Invalid value: 11: must be at most 10, '
        'spec.image: Invalid value: "guestbook:latest": must have a tag that stays the same]'
    )


def test_the_port_is_for_ever(webhooks: Webhooks) -> None:
    assert webhooks.ask("validate", "UPDATE", new_guestbook(size=3), new_guestbook())["allowed"]
    answer = webhooks.ask("validate", "UPDATE", new_guestbook(port=81), new_guestbook())

    assert not answer["allowed"]
    assert "spec.port: Forbidden: may not change" in answer["status"]["message"]


def test_one_that_no_webhook_has_seen_can_lose_its_finalizer(webhooks: Webhooks) -> None:
    old = new_guestbook(size=11)
    old.set_finalizers([controller.FINALIZER])

    assert webhooks.ask("validate", "UPDATE", new_guestbook(size=11), old)["allowed"]
    assert not webhooks.ask("validate", "UPDATE", new_guestbook(size=12), old)["allowed"]


def test_a_size_of_0_is_allowed_with_a_warning(webhooks: Webhooks) -> None:
    answer = webhooks.ask("validate", "CREATE", new_guestbook(size=0))

    assert answer["allowed"]
    assert answer["warnings"] == ["nobody can sign a guestbook of size 0"]


def test_a_protected_guestbook_may_not_be_deleted(webhooks: Webhooks) -> None:
    guestbook = new_guestbook()
    assert webhooks.ask("validate", "DELETE", old=guestbook)["allowed"]
    guestbook.set_annotations({webhook.PROTECTED: "true"})
    answer = webhooks.ask("validate", "DELETE", old=guestbook)

    assert not answer["allowed"]
    assert "the Guestbook is protected" in answer["status"]["message"]


def test_help_is_a_flag_with_one_dash_too(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("-help", "--help", "-h"):
        with pytest.raises(SystemExit) as end:
            main.parse_flags(main.zap.Options(), [flag])
        assert end.value.code == 0
        assert "-webhook-cert-path" in capsys.readouterr().out


def test_the_flags_are_gos() -> None:
    flags = main.parse_flags(main.zap.Options(), ["--directory=d", "-leader-elect", "-leader-elect-lease-duration=1m"])

    options = main.manager_options(flags)

    assert (options.leader_election, options.lease_duration, options.renew_deadline) == (True, 60.0, 10.0)
