"""The operator-patterns: each practice of the operator guides, over the fake client and in virtual time."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakeleases import FakeLeases
from programs import ImportedProgram

from clientgo import context, klog
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.types import NamespacedName
from clientgo.controller_runtime import client, event, source
from clientgo.controller_runtime import controller as ctrlcontroller
from clientgo.controller_runtime.client import fake, interceptor
from clientgo.testing import synctest
from clientgo.tools.sharding import shard_of
from clientgo.util import workqueue
from clientgo.utils.clock.testing import FakeClock

PROGRAM = ImportedProgram("operator-patterns")
with PROGRAM:
    v1alpha1 = PROGRAM.module("api.v1alpha1")
    controller = PROGRAM.module("controller")
    main = PROGRAM.module("main")
    reconciler_base = PROGRAM.module("reconciler_base")
    shards = PROGRAM.module("shards")
    validation = PROGRAM.module("validation")
    watches = PROGRAM.module("watches")
    webhook = PROGRAM.module("webhook")
    zone = PROGRAM.module("zone")

CTX = context.background()
KEY = ctrl.Request("default", "site")
HOST = "site.default.example.com"
OURS = zone.Record(owner="default/site", target="site.default.svc")
THEIRS = zone.Record(owner="default/other", target="other.default.svc")
NOON = 1_700_000_000.0


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


def new_site(name: str = "site", **spec: Any) -> Any:
    return v1alpha1.Site(
        metadata=metav1.ObjectMeta(name=name, namespace="default", uid=f"uid-of-{name}", generation=1),
        spec=v1alpha1.SiteSpec(**{"page": "Hello", **spec}),
    )


def new_secret(certificate: bytes = b"certificate", annotated: str = "true", kind: str = "kubernetes.io/tls") -> Any:
    return corev1.Secret(
        metadata=metav1.ObjectMeta(
            name="tls", namespace="default", annotations={watches.CERTIFICATE_ANNOTATION: annotated}
        ),
        type=kind,
        data={"tls.crt": certificate, "tls.key": b"key"},
    )


class Events:
    """A recorder that remembers what it was told, and when."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.texts: list[str] = []
        self.times: list[float] = []

    def eventf(self, regarding: Any, related: Any, kind: str, reason: str, action: str, note: str, *args: Any) -> None:
        self.texts.append(f"{kind} {reason} {note % args}")
        self.times.append(self._now())


class Setup:
    """A reconciler over a fake client that notes each write and can be told to fail."""

    def __init__(self, folder: Path, *objects: Any, now: Callable[[], float] | None = None) -> None:
        self.writes: list[str] = []
        self.failures: dict[str, Exception] = {}
        scheme = main.new_scheme()
        builder = fake.new_client_builder().with_scheme(scheme).with_objects(*objects)
        builder = builder.with_status_subresource(v1alpha1.Site, appsv1.Deployment)
        builder = builder.with_index(v1alpha1.Site, watches.TLS_SECRET_FIELD, watches.index_tls_secret)
        funcs = interceptor.Funcs(
            create=self._note("create"),
            update=self._note("update"),
            apply=self._note("apply"),
            sub_resource_update=self._update_status,
        )
        self.client = interceptor.new_client(builder.build(), funcs)
        self.clock = FakeClock(NOON)
        self.events = Events(now or self.clock.now)
        self.zone = zone.Zone(folder / "zone")
        more = () if now else (self.clock,)
        self.reconciler = controller.SiteReconciler(
            self.client, scheme, self.events, self.zone, "example.com", *more
        )

    def _note(self, verb: str) -> Any:
        def write(ctx: Any, c: Any, obj: Any, *opts: Any) -> None:
            self._written(f"{verb} {type(obj).__name__}")
            getattr(c, verb)(ctx, obj, *opts)

        return write

    def _update_status(self, ctx: Any, c: Any, name: str, obj: Any, *opts: Any) -> None:
        self._written(f"update {type(obj).__name__}/{name}")
        c.sub_resource(name).update(ctx, obj, *opts)

    def _written(self, text: str) -> None:
        self.writes.append(text)
        if text in self.failures:
            raise self.failures[text]

    def reconcile(self, key: ctrl.Request = KEY) -> Any:
        return self.reconciler.reconcile(CTX, key)

    def get(self, kind: Any, key: NamespacedName = KEY) -> Any:
        return self.client.get(CTX, key, kind)

    def site(self) -> Any:
        return self.get(v1alpha1.Site)

    def change(self, obj: Any, change: Callable[[Any], object]) -> None:
        changed = obj.deep_copy()
        change(changed)
        self.client.update(CTX, changed)

    def change_spec(self, **spec: Any) -> None:
        """Change the spec and increase the generation, as a server does."""

        def change(site: Any) -> None:
            for name, value in spec.items():
                setattr(site.spec, name, value)
            site.metadata.generation += 1

        self.change(self.site(), change)


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    """Return a Site that is initialised and reconciled."""
    made = Setup(tmp_path, new_site())
    assert made.reconcile() == ctrl.Result()
    assert made.reconcile() == ctrl.Result()
    made.writes.clear()
    return made


def conflict() -> Exception:
    return errors.new_conflict(ctrl.GroupResource("patterns.example.com", "sites"), "site", ValueError("changed"))


# ---- the cycle


def test_the_cycle_initialises_then_makes_everything_then_rests(tmp_path: Path) -> None:
    setup = Setup(tmp_path, new_site())
    setup.reconcile()
    # Initialisation ends the cycle: the write is the event that begins the next one.
    assert setup.writes == ["update Site"]
    setup.writes.clear()

    setup.reconcile()
    assert setup.writes == ["create ConfigMap", "apply Deployment", "update Site/status"]
    assert setup.zone.records() == {HOST: OURS}
    setup.writes.clear()

    version = setup.site().get_resource_version()
    setup.reconcile()
    # What is applied as it was changes nothing; see also the test against a server.
    assert setup.writes == ["apply Deployment"]
    assert setup.site().get_resource_version() == version
    assert setup.events.texts == []


def test_a_site_that_is_gone_is_done_with(tmp_path: Path) -> None:
    assert Setup(tmp_path).reconcile() is None


# ---- validation


def test_semantic_validation_names_the_field_at_fault() -> None:
    (found,) = validation.validate(new_site(host="www.elsewhere.org"), "example.com")
    assert str(found) == 'spec.host: Invalid value: "www.elsewhere.org": must be in the domain example.com'
    for host in ("", "www.example.com", "a.b.example.com"):
        assert not validation.validate(new_site(host=host), "example.com")
    for host in ("example.com", "wwwexample.com"):
        assert validation.validate(new_site(host=host), "example.com")


def test_the_validating_webhook_refuses_what_is_invalid() -> None:
    validator = webhook.SiteValidator("example.com")
    valid, invalid = new_site(host=HOST), new_site(host="www.elsewhere.org")
    text = r'Site\.patterns\.example\.com "site" is invalid: spec\.host'
    with pytest.raises(errors.StatusError, match=text):
        validator.validate_create(CTX, invalid)
    with pytest.raises(errors.StatusError, match=text):
        validator.validate_update(CTX, valid, invalid)

    assert validator.validate_delete(CTX, invalid) is None
    assert validator.validate_create(CTX, new_site(tls_secret_name="tls")) is None
    assert validator.validate_create(CTX, valid) == ["without spec.tlsSecretName the Site is served unencrypted"]


def test_the_validating_webhook_lets_an_invalid_site_lose_its_finalizer() -> None:
    old = new_site(host="www.elsewhere.org")
    old.set_finalizers([controller.FINALIZER])
    new = new_site(host="www.elsewhere.org")
    assert webhook.SiteValidator("example.com").validate_update(CTX, old, new) is None


def test_is_valid_stops_in_the_controller_what_no_webhook_has_seen(tmp_path: Path) -> None:
    setup = Setup(tmp_path, new_site(host="www.elsewhere.org"))
    ok, err = setup.reconciler.is_valid(setup.site())
    assert (ok, errors.is_invalid(err)) == (False, True)

    result = setup.reconcile()

    assert result == ctrl.Result(requeue_after=1.0)
    assert setup.writes == ["update Site/status"]
    assert setup.zone.records() == {}
    (texts,) = setup.events.texts
    assert texts.startswith('Warning ProcessingError Site.patterns.example.com "site" is invalid: spec.host')
    assert setup.site().status.status == "Failure"
    assert texts.endswith(setup.site().status.reason)


# ---- initialisation


def test_is_initialized_fills_in_what_is_missing_and_says_whether_nothing_was(setup: Setup) -> None:
    site = new_site()
    assert not setup.reconciler.is_initialized(site)
    assert (site.spec.host, site.get_finalizers()) == (HOST, [controller.FINALIZER])
    assert setup.reconciler.is_initialized(site)

    only_the_host = new_site()
    only_the_host.set_finalizers([controller.FINALIZER])
    assert not setup.reconciler.is_initialized(only_the_host)
    only_the_finalizer = new_site(host="www.example.com")
    assert not setup.reconciler.is_initialized(only_the_finalizer)
    assert only_the_finalizer.spec.host == "www.example.com"


def test_the_defaulting_webhook_fills_in_the_host_but_not_of_a_name_that_is_yet_to_be_generated() -> None:
    site, unnamed = new_site(), new_site()
    unnamed.set_name("")
    for each in (site, unnamed):
        webhook.SiteDefaulter("example.com").default(CTX, each)
    assert (site.spec.host, unnamed.spec.host) == (HOST, "")


# ---- finalizers


def test_a_deleted_site_goes_when_the_zone_is_clean(setup: Setup) -> None:
    setup.change(setup.site(), lambda site: site.metadata.finalizers.append("other.example.com/own"))
    setup.client.delete(CTX, setup.site())

    setup.reconcile()

    assert setup.zone.records() == {}
    # Others' finalizers are theirs, and nothing more is done for one that waits for them.
    assert setup.site().get_finalizers() == ["other.example.com/own"]
    setup.writes.clear()
    assert setup.reconcile() == ctrl.Result()
    assert setup.writes == []
    setup.change(setup.site(), lambda site: site.set_finalizers([]))
    assert setup.reconcile() is None


def test_a_clean_up_that_fails_keeps_the_site_and_says_so(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    setup.client.delete(CTX, setup.site())

    def fail(owner: str) -> list[str]:
        raise OSError("no space left")

    monkeypatch.setattr(setup.zone, "withdraw", fail)
    assert setup.reconcile() == ctrl.Result(requeue_after=1.0)

    assert setup.site().get_finalizers() == [controller.FINALIZER]
    assert (setup.site().status.status, setup.site().status.reason) == ("Failure", "no space left")


def test_an_invalid_site_can_be_deleted(setup: Setup) -> None:
    setup.change_spec(host="www.elsewhere.org")
    setup.reconcile()
    assert setup.site().status.status == "Failure"
    setup.client.delete(CTX, setup.site())
    setup.reconcile()
    assert setup.reconcile() is None
    assert setup.zone.records() == {}


# ---- ownership


def test_what_it_makes_is_controlled_by_the_site(setup: Setup) -> None:
    for kind in (corev1.ConfigMap, appsv1.Deployment):
        assert metav1.is_controlled_by(setup.get(kind), setup.site())


def test_objects_of_other_owners_are_left_alone_and_reported(tmp_path: Path) -> None:
    other, mine = new_site("other"), new_site()
    config_map = corev1.ConfigMap(metadata=metav1.ObjectMeta(name="site", namespace="default"))
    controller.controllerutil.set_controller_reference(other, config_map, main.new_scheme())
    setup = Setup(tmp_path, mine, config_map)
    setup.reconcile()
    setup.reconcile()
    assert setup.events.texts == [
        "Warning ProcessingError Object default/site is already owned by another Site controller other"
    ]
    assert metav1.is_controlled_by(setup.get(corev1.ConfigMap), other)


# ---- status


def test_manage_success_says_so_once_for_each_generation(setup: Setup) -> None:
    status = setup.site().status
    assert (status.status, status.reason, status.observed_generation) == ("Success", "", 1)
    assert status.last_update.timestamp() == NOON
    condition = meta.find_status_condition(status.conditions, "Ready")
    assert (condition.status, condition.reason, condition.observed_generation) == ("True", "ReconcileSuccess", 1)

    setup.clock.step(60.0)
    setup.reconcile()
    assert setup.writes == ["apply Deployment"]

    setup.change_spec(page="Bye")
    setup.reconcile()
    status = setup.site().status
    assert (status.observed_generation, status.last_update.timestamp()) == (2, NOON + 60)
    assert status.conditions[0].last_transition_time.timestamp() == NOON


def test_a_status_that_cannot_be_written_is_tried_again_in_a_second(setup: Setup) -> None:
    for failure in (conflict(), OSError("no route to host")):
        setup.failures = {"update Site/status": failure}
        setup.change_spec(page=f"after {failure}")
        assert setup.reconcile() == ctrl.Result(requeue_after=1.0)
        setup.failures = {}
        assert setup.reconcile() == ctrl.Result()
        assert setup.site().status.observed_generation == setup.site().get_generation()


def test_a_cache_that_is_behind_is_no_error_of_the_user(setup: Setup) -> None:
    already = errors.new_already_exists(ctrl.GroupResource("", "configmaps"), "site")
    gone = errors.new_not_found(ctrl.GroupResource("patterns.example.com", "sites"), "site")
    setup.change_spec(page="Bye")
    for failure in (conflict(), already, gone):
        setup.failures = {"update ConfigMap": failure}
        assert setup.reconcile() == ctrl.Result(requeue_after=1.0)
    assert setup.events.texts == []
    assert setup.site().status.status == "Success"


def test_stopping_an_operator_during_a_reconcile_reports_no_failure(setup: Setup) -> None:
    ctx, cancel = context.with_cancel(CTX)
    cancel()
    setup.failures = {"update ConfigMap": context.Canceled()}
    setup.change_spec(page="Bye")
    with pytest.raises(context.Canceled):
        setup.reconciler.reconcile(ctx, KEY)
    assert setup.events.texts == []


# ---- errors


def test_manage_error_sets_event_status_and_condition(setup: Setup) -> None:
    setup.change_spec(tls_secret_name="tls")
    result = setup.reconcile()

    assert result == ctrl.Result(requeue_after=1.0)
    assert setup.events.texts == ["Warning ProcessingError there is no TLS Secret tls"]
    status = setup.site().status
    assert (status.status, status.reason) == ("Failure", "there is no TLS Secret tls")
    condition = meta.find_status_condition(status.conditions, "Ready")
    assert (condition.status, condition.reason) == ("False", "ReconcileError")
    assert (condition.message, condition.observed_generation) == ("there is no TLS Secret tls", 2)

    # It is over when the cause is.
    setup.client.create(CTX, new_secret())
    assert setup.reconcile() == ctrl.Result()
    assert (setup.site().status.status, setup.site().status.reason) == ("Success", "")


def test_an_error_of_any_length_fits_into_event_and_status(setup: Setup) -> None:
    result = setup.reconciler.manage_error(CTX, setup.site().deep_copy(), ValueError("x" * 100_000))
    assert result.requeue_after == 1.0
    assert len(setup.site().status.reason) == 1024
    assert len(setup.site().status.conditions[0].message) == 1024
    assert setup.events.texts[0].endswith("x...")


def test_errors_of_a_kind_without_reconcile_status_are_only_events(setup: Setup) -> None:
    config_map = setup.get(corev1.ConfigMap).deep_copy()
    setup.writes.clear()
    assert setup.reconciler.manage_error(CTX, config_map, ValueError("broken")) == ctrl.Result(requeue_after=1.0)
    assert setup.reconciler.manage_success(CTX, config_map) == ctrl.Result()
    assert setup.writes == []
    assert setup.events.texts == ["Warning ProcessingError broken"]


@pytest.mark.parametrize(
    ("status", "since", "generation", "expected"),
    [
        ("", None, 0, 1.0),
        ("Success", 5.0, 1, 1.0),
        ("Failure", 0.0, 1, 1.0),
        ("Failure", 1.0, 1, 2.0),
        ("Failure", 100.0, 1, 200.0),
        ("Failure", 3 * 3600.0, 1, 6 * 3600.0),
        ("Failure", 30 * 3600.0, 1, 6 * 3600.0),
        # The clock was set back.
        ("Failure", -50.0, 1, 1.0),
        # The user has changed something since.
        ("Failure", 3 * 3600.0, 0, 1.0),
        ("Failure", None, 1, 1.0),
    ],
)
def test_the_retry_interval_is_twice_the_time_since_the_last_try(
    setup: Setup, status: str, since: float | None, generation: int, expected: float
) -> None:
    before = v1alpha1.ReconcileStatus(status=status, observed_generation=generation)
    if since is not None:
        before.last_update = metav1.unix(int(NOON - since), 0)
    assert setup.reconciler.retry_interval(before, 1) == expected


class Running:
    """A controller in a bubble, which receives one event of one Site."""

    def __init__(self, setup: Setup) -> None:
        options = ctrlcontroller.Options(
            reconciler=setup.reconciler,
            skip_name_validation=True,
            # One without metrics, which are measured twice a second, and here are days.
            new_queue=lambda name, limiter: workqueue.new_typed_rate_limiting_queue(limiter),
        )
        self.controller = ctrlcontroller.new_unmanaged("site", options)
        self.controller.watch(source.Func(lambda ctx, queue: queue.add(KEY)))
        ctx, self._cancel = context.with_cancel(CTX)
        self._thread = threading.Thread(target=self.controller.start, args=(ctx,), name="controller")
        self._thread.start()

    def stop(self) -> None:
        self._cancel()
        self._thread.join()


def taken_site(folder: Path, now: Callable[[], float]) -> Setup:
    """Return a Site whose host belongs to another Site, which is an error that only a user can correct."""
    site = new_site(host=HOST)
    site.set_finalizers([controller.FINALIZER])
    setup = Setup(folder, site, now=now)
    setup.zone.publish(HOST, THEIRS)
    return setup


def test_manage_error_retries_from_one_second_on_up_to_six_hours_apart(tmp_path: Path) -> None:
    with synctest.bubble() as b:
        setup = taken_site(tmp_path, lambda: b.elapsed)
        running = Running(setup)
        b.sleep(2 * 24 * 3600.0)
        times = setup.events.times
        waits = [round(after - before, 3) for before, after in itertools.pairwise(times)]
        assert waits[:15] == [float(2**number) for number in range(15)]
        assert set(waits[15:]) == {6 * 3600.0}
        assert len(waits) > 20

        # What fails no more is tried no more.
        setup.zone.withdraw(THEIRS.owner)
        b.sleep(24 * 3600.0)
        assert setup.site().status.status == "Success"
        assert len(times) == len(waits) + 1
        running.stop()


def test_an_operator_that_starts_again_retries_where_the_last_one_was(tmp_path: Path) -> None:
    with synctest.bubble() as b:
        setup = taken_site(tmp_path, lambda: b.elapsed)
        running = Running(setup)
        b.sleep(110.0)
        times = setup.events.times
        assert times[-2:] == pytest.approx([31.0, 63.0])
        running.stop()

        running = Running(setup)
        b.sleep(94.0 - 1.0)
        assert times[-1] == pytest.approx(110.0)
        b.sleep(2.0)
        assert times[-1] == pytest.approx(110.0 + 2 * (110.0 - 63.0))
        running.stop()


# ---- watches


def updated(old: Any, new: Any) -> Any:
    return event.TypedUpdateEvent(object_old=old, object_new=new)


def test_the_predicate_passes_changes_of_generation_or_finalizers_only() -> None:
    predicate = watches.ResourceGenerationOrFinalizerChangedPredicate()
    old = new_site()
    status, spec, finalizers, labelled = (old.deep_copy() for _ in range(4))
    status.status.status = "Success"
    spec.metadata.generation = 2
    finalizers.set_finalizers([controller.FINALIZER])
    labelled.set_labels({"a": "b"})
    passed = [predicate.update(updated(old, new)) for new in (status, spec, finalizers, labelled)]
    assert passed == [False, True, True, False]
    assert predicate.update(updated(finalizers, old))
    assert predicate.create(event.CreateEvent(object=old))
    assert predicate.delete(event.DeleteEvent(object=old))


def test_the_predicate_of_secrets_passes_annotated_certificates_only() -> None:
    predicate = watches.is_annotated_secret()
    usable, unannotated, opaque = new_secret(), new_secret(annotated="false"), new_secret(kind="Opaque")
    bare = corev1.Secret(metadata=metav1.ObjectMeta(name="tls"), type="kubernetes.io/tls")
    for secret, passes in ((usable, True), (unannotated, False), (opaque, False), (bare, False)):
        assert predicate.create(event.TypedCreateEvent(object=secret)) is passes
        assert predicate.delete(event.TypedDeleteEvent(object=secret)) is passes

    labelled = new_secret()
    labelled.set_labels({"a": "b"})
    authority = new_secret()
    authority.data["ca.crt"] = b"authority"
    for old, new, passes in (
        (usable, labelled, False),
        (usable, new_secret(b"another"), True),
        (usable, authority, True),
        (unannotated, new_secret(b"another", "no"), False),
        (unannotated, usable, True),
        (usable, unannotated, True),
        (usable, new_secret(b"another", "no"), False),
        (new_secret(annotated="false", kind="Opaque"), new_secret(kind="Opaque"), False),
    ):
        assert predicate.update(updated(old, new)) is passes


def test_match_secret_fans_out_to_the_sites_that_name_the_secret(tmp_path: Path) -> None:
    elsewhere = new_site("elsewhere", tls_secret_name="tls")
    elsewhere.set_namespace("other")
    sites = [new_site("a", tls_secret_name="tls"), new_site("b", tls_secret_name="tls")]
    setup = Setup(tmp_path, *sites, new_site("c", tls_secret_name="another"), new_site("d"), elsewhere)
    found = watches.match_secret(setup.client, CTX, new_secret())
    assert sorted(map(str, found)) == ["default/a", "default/b"]


@pytest.mark.parametrize("secret", [{"annotated": "no"}, {"kind": "Opaque"}], ids=["not annotated", "of another type"])
def test_a_secret_that_may_not_be_used_is_reported(tmp_path: Path, secret: dict[str, str]) -> None:
    setup = Setup(tmp_path, new_site(tls_secret_name="tls"), new_secret(**secret))
    setup.reconcile()
    setup.reconcile()
    wanted = "kubernetes.io/tls, annotated patterns.example.com/certificate=true"
    assert setup.events.texts == [f"Warning ProcessingError the Secret tls is not of type {wanted}"]
    assert setup.zone.records() == {}


# ---- update against server-side apply


def patch_as_another(setup: Setup, kind: Any, patch: str) -> None:
    obj = kind(metadata=metav1.ObjectMeta(name="site", namespace="default"))
    setup.client.patch(CTX, obj, client.raw_patch("application/merge-patch+json", patch.encode()))


def test_update_writes_all_of_the_object_and_keeps_what_others_added(setup: Setup) -> None:
    patch_as_another(setup, corev1.ConfigMap, '{"data":{"index.html":"defaced","robots.txt":"none"}}')
    setup.reconcile()
    assert setup.get(corev1.ConfigMap).data == {"index.html": "Hello", "robots.txt": "none"}


def test_apply_leaves_fields_it_does_not_send_to_others(setup: Setup) -> None:
    patch_as_another(setup, appsv1.Deployment, '{"spec":{"replicas":5},"metadata":{"annotations":{"note":"ours"}}}')
    setup.reconcile()
    deployment = setup.get(appsv1.Deployment)
    assert deployment.spec.replicas == 5
    assert deployment.get_annotations()["note"] == "ours"


def test_apply_takes_its_own_fields_back_from_other_managers(setup: Setup) -> None:
    containers = '[{"name":"web","image":"evil:1"}]'
    patch_as_another(setup, appsv1.Deployment, f'{{"spec":{{"template":{{"spec":{{"containers":{containers}}}}}}}}}')
    setup.reconcile()
    assert [each.image for each in setup.get(appsv1.Deployment).spec.template.spec.containers] == ["nginx:1.27"]


def test_what_is_no_longer_applied_goes_by_itself(setup: Setup) -> None:
    setup.client.create(CTX, new_secret())
    setup.change_spec(tls_secret_name="tls")
    setup.reconcile()
    template = setup.get(appsv1.Deployment).spec.template
    first = template.metadata.annotations[controller.FINGERPRINT_ANNOTATION]
    assert [volume.name for volume in template.spec.volumes] == ["page", "certificate"]

    setup.change(setup.get(corev1.Secret, NamespacedName("default", "tls")), lambda s: s.data.update({"tls.crt": b"2"}))
    setup.reconcile()
    template = setup.get(appsv1.Deployment).spec.template
    assert template.metadata.annotations[controller.FINGERPRINT_ANNOTATION] != first

    setup.change_spec(tls_secret_name="")
    setup.reconcile()
    template = setup.get(appsv1.Deployment).spec.template
    assert controller.FINGERPRINT_ANNOTATION not in template.metadata.annotations
    assert [volume.name for volume in template.spec.volumes] == ["page"]
    assert [mount.name for mount in template.spec.containers[0].volume_mounts] == ["page"]


# ---- outside the cluster


def test_a_site_is_in_the_zone_under_one_host(setup: Setup) -> None:
    setup.change_spec(host="www.example.com")
    setup.reconcile()
    assert setup.zone.records() == {"www.example.com": OURS}
    setup.change_spec(host="")
    setup.reconcile()
    setup.reconcile()
    assert setup.zone.records() == {HOST: OURS}


def test_a_host_is_the_first_ones_until_that_goes(tmp_path: Path) -> None:
    made = zone.Zone(tmp_path / "new" / "zone")
    assert made.publish("a.example.com", THEIRS)
    assert made.publish("b.example.com", OURS)
    with pytest.raises(zone.HostTakenError, match=r"the host a\.example\.com is taken by the Site default/other"):
        made.publish("a.example.com", OURS)
    assert made.records() == {"a.example.com": THEIRS, "b.example.com": OURS}
    assert made.withdraw(THEIRS.owner) == ["a.example.com"]
    assert made.publish("a.example.com", OURS)
    assert not made.publish("a.example.com", OURS)
    assert made.records() == {"a.example.com": OURS}
    moved = zone.Record(owner=OURS.owner, target="elsewhere")
    assert made.publish("a.example.com", moved)
    assert made.records() == {"a.example.com": moved}
    assert made.withdraw(OURS.owner) == ["a.example.com"]
    assert list((tmp_path / "new" / "zone").iterdir()) == []


def test_what_a_killed_process_has_left_harms_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = zone.Zone(tmp_path)
    # Killed when the record is there and its other name still is too.
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: None)
    made.publish("a.example.com", OURS)
    monkeypatch.undo()
    (left,) = [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert left.samefile(tmp_path / "a.example.com")

    monkeypatch.setattr(zone.os, "fsync", lambda file: (_ for _ in ()).throw(OSError("killed")))
    with pytest.raises(OSError, match="^killed$"):
        made.publish("a.example.com", zone.Record(owner=OURS.owner, target="elsewhere"))
    assert made.records() == {"a.example.com": OURS}


def test_a_death_between_two_hosts_leaves_no_record_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = zone.Zone(tmp_path)
    made.publish("old.example.com", OURS)
    unlink = Path.unlink

    def die(path: Path, missing_ok: bool = False) -> None:
        if path.name == "old.example.com":
            raise OSError("killed")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", die)
    with pytest.raises(OSError, match="^killed$"):
        made.publish("new.example.com", OURS)
    monkeypatch.undo()
    made.publish("new.example.com", OURS)
    assert made.records() == {"new.example.com": OURS}


def test_only_one_of_many_gets_a_host(tmp_path: Path) -> None:
    made = zone.Zone(tmp_path)
    start, got = threading.Barrier(8), []

    def claim(number: int) -> None:
        start.wait()
        try:
            made.publish(HOST, zone.Record(owner=f"default/{number}", target="t"))
        except zone.HostTakenError:
            return
        got.append(f"default/{number}")

    threads = [threading.Thread(target=claim, args=(number,), name=f"claim-{number}") for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [made.records()[HOST].owner]


@pytest.mark.parametrize("host", ["", "../secret", "a/b", ".hidden", "a" * 254, "UPPER"])
def test_what_is_no_host_never_becomes_a_path(tmp_path: Path, host: str) -> None:
    made = zone.Zone(tmp_path / "zone")
    with pytest.raises(ValueError, match="is no host name"):
        made.publish(host, OURS)
    assert list((tmp_path / "zone").iterdir()) == []


def test_the_longest_host_is_one(tmp_path: Path) -> None:
    host = ".".join(["a" * 49] * 5 + ["bcd"])
    assert len(host) == 253
    made = zone.Zone(tmp_path)
    made.publish(host, OURS)
    assert made.records() == {host: OURS}


@pytest.mark.parametrize("text", ["[]", "{", '{"owner": "a"}', "[" * 100_000, "\xff"])
def test_a_file_that_is_no_record_is_named_and_left_alone(tmp_path: Path, text: str) -> None:
    made = zone.Zone(tmp_path)
    file = tmp_path / HOST
    file.write_text(text, encoding="latin-1")
    for call in (lambda: made.publish(HOST, OURS), lambda: made.withdraw(OURS.owner)):
        with pytest.raises(ValueError, match=r"site\.default\.example\.com is no record of a zone"):
            call()
    assert file.read_text(encoding="latin-1") == text


# ---- shards


class Replica:
    """One of several operators, in a bubble: its part of the Sites, and a controller that sees them all."""

    def __init__(self, setup: Setup, leases: Any, names: list[str]) -> None:
        self.reconciled: list[str] = []
        flags = main.parse_flags(
            main.zap.Options(), ["-zone=unused", "-shards=6", "-leader-elect-namespace=default"]
        )
        self.shards = shards.Shards(setup.client, leases, "patterns", flags)

        def reconcile(ctx: Any, request: ctrl.Request) -> ctrl.Result | None:
            self.reconciled.append(request.name)
            return setup.reconciler.reconcile(ctx, request)

        def see_all(ctx: Any, queue: Any) -> None:
            for name in names:
                queue.add_with_opts(workqueue.AddOpts(priority=-100), ctrl.Request("default", name))

        options = ctrlcontroller.Options(
            reconciler=reconcile, skip_name_validation=True, new_queue=self.new_queue
        )
        self.controller = ctrlcontroller.new_unmanaged("site", options)
        self.controller.watch(source.Func(see_all))
        ctx, self._cancel = context.with_cancel(CTX)
        targets = {"shards": self.shards.start, "controller": self.controller.start}
        self._threads = [threading.Thread(target=run, args=(ctx,), name=name) for name, run in targets.items()]
        for thread in self._threads:
            thread.start()

    def event(self, name: str) -> None:
        self.queue.add(ctrl.Request("default", name))

    def new_queue(self, name: str, rate_limiter: Any) -> Any:
        self.queue = self.shards.new_queue(name, rate_limiter)
        return self.queue

    def stop(self) -> None:
        self._cancel()
        for thread in self._threads:
            thread.join()


def test_replicas_share_the_sites_and_hand_them_over(tmp_path: Path) -> None:
    names = [f"site-{number}" for number in range(12)]
    assert {shard_of("default", name, 6) for name in names} == set(range(6))
    with synctest.bubble() as b:
        setup = Setup(tmp_path, *(new_site(name) for name in names), now=lambda: b.elapsed)
        leases = FakeLeases()
        first = Replica(setup, leases, names)
        b.sleep(30.0)
        # A Site's events arrive while no replica owns its shard. The next owner reconciles it.
        assert set(first.reconciled) == set(names)

        second = Replica(setup, leases, names)
        b.sleep(60.0)
        shares = [replica.shards.sharder.statistics().held for replica in (first, second)]
        assert [len(share) for share in shares] == [3, 3]
        for replica in (first, second):
            replica.reconciled.clear()
        for replica in (first, second):
            for name in names:
                replica.event(name)
        b.sleep(1.0)
        mine = [name for name in names if shard_of("default", name, 6) in shares[0]]
        assert set(first.reconciled) == set(mine)
        assert set(second.reconciled) == set(names) - set(mine)

        # It stops, and gives back what it has: the other one looks at all of those Sites again.
        first.stop()
        second.reconciled.clear()
        b.sleep(30.0)
        assert set(second.reconciled) == set(mine)
        second.stop()
        options = metav1.ListOptions(label_selector="sharding.clientgo/member-of=patterns")
        assert leases.list(CTX, options).items == []


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (["-shards=2", "-leader-elect", "-leader-elect-namespace=n"], "-shards and -leader-elect exclude each other"),
        (["-shards=2"], "-shards needs -leader-elect-namespace"),
        (["-shards=-1", "-leader-elect-namespace=n"], "shards must be at least 1, got -1"),
    ],
)
def test_flags_that_make_no_sense_together_are_refused(tmp_path: Path, flags: list[str], text: str) -> None:
    parsed = main.parse_flags(main.zap.Options(), ["-zone=z", *flags])
    with pytest.raises(ValueError, match=text) as caught:
        shards.Shards(Setup(tmp_path).client, FakeLeases(), "patterns", parsed)
    assert klog.is_operational(caught.value)


# ---- the program


def test_help_is_a_flag_with_one_dash_too(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("-help", "--help", "-h"):
        with pytest.raises(SystemExit) as end:
            main.parse_flags(main.zap.Options(), [flag])
        assert end.value.code == 0
        assert "-webhook-cert-path" in capsys.readouterr().out


def test_of_secrets_only_certificates_are_cached() -> None:
    options = main.manager_options(main.parse_flags(main.zap.Options(), ["-zone=z"]))
    assert str(options.cache.by_object[corev1.Secret].field) == "type=kubernetes.io/tls"
