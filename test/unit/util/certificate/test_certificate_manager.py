"""A manager requests a certificate when it is due and keeps the current one until then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography")

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from signers import DAY, Authority, approve, template

from clientgo import context
from clientgo.apimachinery.api import errors
from clientgo.kubernetes import fake
from clientgo.testing import synctest
from clientgo.util import certificate
from clientgo.utils.clock import REAL_CLOCK

USAGES = ["digital signature", "client auth"]
NAME = "system:node:a"


class MemoryStore:
    """A store in memory."""

    def __init__(self, pair: tuple[bytes, bytes] | None = None, error: Exception | None = None) -> None:
        self.pair = pair
        self.error = error

    def current(self) -> certificate.Certificate:
        if self.error is not None:
            raise self.error
        if self.pair is None:
            raise certificate.NoCertKeyError("no cert/key available")
        return certificate.x509_key_pair(*self.pair)

    def update(self, cert: bytes, key: bytes) -> certificate.Certificate:
        self.pair = (cert, key)
        return self.current()


class Metric:
    """A counter and a histogram."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def observe(self, value: float) -> None:
        self.values.append(value)

    def inc(self) -> None:
        self.values.append(1.0)


class Cluster:
    """A fake clientset with a signer; a request gets a certificate at once if `issue` returns one."""

    def __init__(self, issue: Callable[[Any], bytes] | None) -> None:
        self.client: Any = fake.new_simple_clientset()
        self.client.prepend_reactor("create", "certificatesigningrequests", self._created)
        self._issue = issue
        self.times: list[float] = []
        self.requests: list[Any] = []
        # The certificate that each call of the client function got.
        self.certificates: list[str | None] = []

    def clientset(self, current: certificate.Certificate | None) -> Any:
        self.certificates.append(name_of(current))
        return self.client

    def _created(self, action: Any) -> tuple[bool, Any]:
        request = action.get_object()
        if self.requests:
            # The fake ignores the field selector of the wait.
            self.client.tracker().delete(action.get_resource(), "", self.requests[-1].metadata.name)
        request.metadata.name = f"csr-{len(self.requests)}"
        self.times.append(REAL_CLOCK.now())
        self.requests.append(request)
        if self._issue is not None:
            request.status.certificate = self._issue(request)
            approve(request)
        return False, None


def name_of(pair: certificate.Certificate | None) -> str | None:
    return pair.leaf.subject.rfc4514_string() if pair is not None else None


def config(cluster: Cluster | None, store: certificate.Store, **fields: Any) -> certificate.Config:
    wanted: dict[str, Any] = {"template": template(NAME, ["system:nodes"]), "usages": USAGES, **fields}
    return certificate.Config(
        clientset_fn=cluster.clientset if cluster is not None else None,
        certificate_store=store,
        signer_name="example.com/agents",
        **wanted,
    )


def rotate(manager: certificate.Manager) -> bool:
    """Request once, as Go's tests do."""
    found: bool = manager.rotate_certs()  # type: ignore[attr-defined]
    return found


def test_a_valid_stored_certificate_is_used_and_not_renewed() -> None:
    """Go: TestNewManagerNoRotation"""
    with synctest.bubble() as bubble:
        authority = Authority()
        cluster = Cluster(authority.issue)
        manager = certificate.new_manager(config(cluster, MemoryStore(authority.pair(NAME, ["system:nodes"]))))
        assert name_of(manager.current()) == f"CN={NAME},O=system:nodes"
        manager.start()
        bubble.sleep(DAY)
        assert not cluster.requests
        manager.stop()


def test_a_certificate_is_renewed_between_70_and_90_percent_of_its_life() -> None:
    """Go: TestSetRotationDeadline"""
    offsets = []
    for _ in range(10):
        with synctest.bubble() as bubble:
            start = REAL_CLOCK.now()
            authority = Authority()
            cluster = Cluster(authority.issue)
            pair = authority.pair(NAME, ["system:nodes"], start=0.0, end=100.0)
            manager = certificate.new_manager(config(cluster, MemoryStore(pair)))
            manager.start()
            bubble.sleep(69.0 * DAY)
            assert not cluster.requests
            bubble.sleep(22.0 * DAY)
            offsets.append((cluster.times[0] - start) / DAY)
            manager.stop()
    assert all(69.9 <= offset <= 90.1 for offset in offsets)
    assert len({round(offset, 3) for offset in offsets}) > 5


TEMPLATES = [
    # The stored certificate, the template, and whether the manager requests another certificate at once.
    pytest.param(None, None, False, id="No certificate, no template"),
    pytest.param(None, template(NAME, ["system:nodes"]), True, id="No certificate"),
    pytest.param(("system:node:fake", ["system:nodes"]), None, False, id="No template"),
    pytest.param(
        (NAME, ["system:nodes"]), template("system:node:b", ["system:nodes"]), True, id="Mismatched common name"
    ),
    pytest.param((NAME,), template(NAME, ["system:nodes"]), True, id="Missing orgs in certificate"),
    pytest.param((NAME, ["a", "b"]), template(NAME, ["a"]), False, id="Extra orgs in certificate"),
    pytest.param((NAME, [], ["a"]), template(NAME, [], ["a", "b"]), True, id="Missing DNS names in certificate"),
    pytest.param((NAME, [], ["a", "b"]), template(NAME, [], ["b"]), False, id="Extra DNS names in certificate"),
    pytest.param(
        (NAME, [], [], ["10.0.0.1"]),
        template(NAME, [], [], ["10.0.0.1", "fd00::1"]),
        True,
        id="Missing IP addresses in certificate",
    ),
    pytest.param(
        (NAME, [], [], ["10.0.0.1", "fd00::1"]),
        template(NAME, [], [], ["fd00:0::1"]),
        False,
        id="Extra IP addresses in certificate",
    ),
    pytest.param(
        (NAME, ["o"], ["a"], ["10.0.0.1"]), template(NAME, ["o"], ["a"], ["10.0.0.1"]), False, id="Matching certificate"
    ),
]


@pytest.mark.parametrize(("stored", "wanted", "is_requested"), TEMPLATES)
def test_a_certificate_that_lacks_something_of_the_template_is_renewed_at_once(
    stored: Any, wanted: x509.CertificateSigningRequestBuilder | None, is_requested: bool
) -> None:
    """Go: TestCertSatisfiesTemplate"""
    with synctest.bubble() as bubble:
        authority = Authority()
        cluster = Cluster(authority.issue)
        store = MemoryStore(authority.pair(*stored) if stored else None)
        manager = certificate.new_manager(config(cluster, store, template=wanted))
        manager.start()
        bubble.sleep(5.0)
        assert len(cluster.requests) == is_requested
        manager.stop()


def refusing(make: Callable[[Any], Exception], verb: str = "create") -> Cluster:
    cluster = Cluster(None)

    def refuse(action: Any) -> tuple[bool, Any]:
        raise make(action.get_resource().group_resource())

    cluster.client.prepend_reactor(verb, "certificatesigningrequests", refuse)
    return cluster


def test_an_error_of_the_request_is_counted_and_not_raised(caplog: pytest.LogCaptureFixture) -> None:
    """Go: TestRotateCertCreateCSRError"""
    failures = Metric()
    cluster = refusing(lambda resource: RuntimeError("create error"))
    manager = certificate.new_manager(config(cluster, MemoryStore(), certificate_renew_failure=failures))
    assert not rotate(manager)
    assert failures.values == [1.0]
    assert "Failed while requesting a signed certificate" in caplog.text
    assert manager.current() is None


def test_a_request_that_is_not_signed_in_a_quarter_of_an_hour_is_counted() -> None:
    """Go: TestRotateCertWaitingForResultError"""
    failures = Metric()
    with synctest.bubble():
        start = REAL_CLOCK.now()
        manager = certificate.new_manager(config(Cluster(None), MemoryStore(), certificate_renew_failure=failures))
        assert not rotate(manager)
        assert 900.0 <= REAL_CLOCK.now() - start < 930.0
    assert failures.values == [1.0]


def test_a_template_without_subject_and_a_client_that_cannot_be_made_are_counted() -> None:
    failures = Metric()
    broken = x509.CertificateSigningRequestBuilder()
    manager = certificate.new_manager(
        config(Cluster(None), MemoryStore(), template=broken, certificate_renew_failure=failures)
    )
    assert not rotate(manager)

    def fail(current: object) -> Any:
        raise OSError("no client")

    settings = config(None, MemoryStore(), certificate_renew_failure=failures)
    settings.clientset_fn = fail
    assert not rotate(certificate.new_manager(settings))
    assert failures.values == [1.0, 1.0]


def test_the_bootstrap_certificate_is_used_stored_and_replaced_at_once() -> None:
    """Go: TestNewManagerBootstrap"""
    with synctest.bubble() as bubble:
        authority = Authority()
        cert, key = authority.pair("bootstrap")
        store = MemoryStore()
        cluster = Cluster(authority.issue)
        manager = certificate.new_manager(config(cluster, store, bootstrap_certificate_pem=cert, bootstrap_key_pem=key))
        assert name_of(manager.current()) == name_of(store.current()) == "CN=bootstrap"
        manager.start()
        bubble.sleep(5.0)
        manager.stop()
        assert cluster.certificates == ["CN=bootstrap"]
        assert name_of(manager.current()) == name_of(store.current()) == f"CN={NAME},O=system:nodes"


def test_a_stored_certificate_precedes_the_bootstrap_certificate() -> None:
    """Go: TestNewManagerNoBootstrap"""
    authority = Authority()
    cert, key = authority.pair("bootstrap")
    store = MemoryStore(authority.pair("stored"))
    manager = certificate.new_manager(config(None, store, bootstrap_certificate_pem=cert, bootstrap_key_pem=key))
    assert name_of(manager.current()) == "CN=stored"


def test_the_certificate_to_begin_with() -> None:
    """Go: TestGetCurrentCertificateOrBootstrap"""
    authority = Authority()
    cert, key = authority.pair("bootstrap")
    expired = authority.pair("expired", start=-3.0, end=-1.0)

    def begin(store: MemoryStore, **fields: Any) -> str | None:
        return name_of(certificate.new_manager(config(None, store, **fields)).current())

    assert begin(MemoryStore()) is None
    assert begin(MemoryStore(expired)) is None
    bootstrap = {"bootstrap_certificate_pem": cert, "bootstrap_key_pem": key}
    assert begin(MemoryStore(expired), **bootstrap) == "CN=bootstrap"
    assert begin(MemoryStore(), bootstrap_certificate_pem=cert) is None
    with pytest.raises(OSError, match="disk"):
        begin(MemoryStore(error=OSError("disk")), **bootstrap)
    with pytest.raises(ValueError, match="failed to find any PEM data"):
        begin(MemoryStore(), bootstrap_certificate_pem=b"x", bootstrap_key_pem=key)


@pytest.mark.parametrize(
    ("current", "bootstrap", "without"),
    [
        pytest.param(None, False, "", id="No current certificate, no bootstrap certificate"),
        pytest.param(None, False, "v1", id="No current certificate, no bootstrap certificate, no v1 API"),
        pytest.param(None, False, "v1beta1", id="No current certificate, no bootstrap certificate, no v1beta1 API"),
        pytest.param(None, True, "", id="No current certificate, bootstrap certificate"),
        pytest.param((-1.0, 9.0), False, "", id="Current certificate, no bootstrap certificate"),
        pytest.param((-1.0, 9.0), True, "", id="Current certificate, bootstrap certificate"),
        pytest.param((-3.0, -1.0), False, "", id="Current certificate expired, no bootstrap certificate"),
    ],
)
def test_the_client_of_a_request_has_the_valid_certificate(
    current: tuple[float, float] | None, bootstrap: bool, without: str
) -> None:
    """Go: TestInitializeCertificateSigningRequestClient, TestInitializeOtherRESTClients"""
    authority = Authority()
    cluster = Cluster(authority.issue)

    def refuse(action: Any) -> tuple[bool, Any]:
        if action.get_resource().version == without:
            raise errors.new_not_found(action.get_resource().group_resource(), "")
        return False, None

    cluster.client.prepend_reactor("*", "certificatesigningrequests", refuse)
    store = MemoryStore(authority.pair("stored", start=current[0], end=current[1]) if current else None)
    cert, key = authority.pair("bootstrap") if bootstrap else (None, None)
    manager = certificate.new_manager(config(cluster, store, bootstrap_certificate_pem=cert, bootstrap_key_pem=key))
    before = "CN=stored" if current and current[1] > 0 else "CN=bootstrap" if bootstrap else None
    assert name_of(manager.current()) == before

    assert rotate(manager)

    assert cluster.certificates == [before]
    assert name_of(manager.current()) == name_of(store.current()) == f"CN={NAME},O=system:nodes"
    assert manager.server_healthy()


@pytest.mark.parametrize(
    ("make", "is_healthy"),
    [
        pytest.param(None, True, id="Current certificate, bootstrap certificate"),
        pytest.param(lambda resource: RuntimeError("x"), False, id="Generic error on create"),
        pytest.param(lambda resource: errors.new_unauthorized("unauthorized"), True, id="Unauthorized error on create"),
        pytest.param(
            lambda resource: errors.new_generic_server_response(401, "POST", resource, "", "", 0, True),
            True,
            id="Generic unauthorized error on create",
        ),
        pytest.param(
            lambda resource: errors.new_generic_server_response(404, "POST", resource, "", "", 0, True),
            False,
            id="Generic not found error on create",
        ),
        pytest.param(
            lambda resource: errors.new_generic_server_response(404, "POST", resource, "", "", 0, False),
            True,
            id="Not found error on create",
        ),
    ],
)
def test_the_error_of_a_request_shows_whether_the_server_works(
    make: Callable[[Any], Exception] | None, is_healthy: bool
) -> None:
    """Go: TestServerHealth"""
    cluster = refusing(make) if make is not None else Cluster(Authority().issue)
    manager = certificate.new_manager(config(cluster, MemoryStore()))
    assert not manager.server_healthy()
    assert rotate(manager) == (make is None)
    assert manager.server_healthy() == is_healthy


def test_the_age_of_a_replaced_certificate_is_observed() -> None:
    """Go: TestRotationLogsDuration"""
    ages = Metric()
    with synctest.bubble():
        authority = Authority()
        store = MemoryStore(authority.pair(NAME, start=-2.0))
        manager = certificate.new_manager(config(Cluster(authority.issue), store, certificate_rotation=ages))
        assert rotate(manager)
        assert rotate(manager)
    assert ages.values == pytest.approx([2 * DAY, 0.0], abs=5.0)


@pytest.mark.parametrize("by_context", [False, True])
def test_stop_and_the_end_of_the_context_end_all_threads(by_context: bool) -> None:
    """Go: TestStop, TestContext"""
    with synctest.bubble() as bubble:
        ctx, cancel = context.with_cancel(context.background())
        stored = Authority().pair(NAME, ["system:nodes"])
        for store in (MemoryStore(), MemoryStore(stored)):
            wanted = {"template": None, "get_template": lambda: template(NAME, ["system:nodes"])}
            manager = certificate.new_manager(config(Cluster(None), store, ctx=ctx, **wanted))
            manager.start()
            bubble.sleep(30.0)
            if by_context:
                cancel()
                bubble.wait()
            start = REAL_CLOCK.now()
            manager.stop()
            assert REAL_CLOCK.now() == start
        cancel()


def test_a_failing_server_is_asked_with_a_backoff_and_every_32_seconds_then() -> None:
    with synctest.bubble() as bubble:
        cluster = refusing(lambda resource: RuntimeError("create error"))
        manager = certificate.new_manager(config(cluster, MemoryStore()))
        manager.start()
        bubble.sleep(120.0)
        manager.stop()
        times = [each for each in cluster.certificates if each is None]
    # After 2, 4, 8 and 16 seconds with jitter, and each 32 seconds from then on.
    assert 7 <= len(times) <= 8


def test_a_template_that_changes_interrupts_the_wait() -> None:
    with synctest.bubble() as bubble:
        authority = Authority()
        cluster = Cluster(authority.issue)
        current: list[x509.CertificateSigningRequestBuilder | None] = [None]
        manager = certificate.new_manager(
            config(cluster, MemoryStore(), template=None, get_template=lambda: current[0])
        )
        manager.start()
        bubble.sleep(60.0)
        assert not cluster.requests
        for names in (["a"], ["a", "b"], ["c"]):
            current[0] = template(NAME, [], names)
            bubble.sleep(5.0)
        current[0] = template(NAME, [], ["c"])
        bubble.sleep(60.0)
        manager.stop()
        assert len(cluster.requests) == 3
        pair = manager.current()
        assert pair is not None
        found = pair.leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert found.get_values_for_type(x509.DNSName) == ["c"]


def test_a_template_that_changes_ends_the_wait_for_an_unsigned_request() -> None:
    with synctest.bubble() as bubble:
        cluster = Cluster(None)
        names = ["a"]
        manager = certificate.new_manager(
            config(cluster, MemoryStore(), template=None, get_template=lambda: template(NAME, [], names))
        )
        manager.start()
        bubble.sleep(30.0)
        assert len(cluster.requests) == 1
        names[0] = "b"
        bubble.sleep(30.0)
        assert len(cluster.requests) == 2
        manager.stop()


def test_an_expired_certificate_is_no_current_one() -> None:
    with synctest.bubble() as bubble:
        manager = certificate.new_manager(config(None, MemoryStore(Authority().pair(NAME, end=1.0))))
        manager.start()
        assert manager.current() is not None
        bubble.sleep(DAY + 2.0)
        assert manager.current() is None
        manager.stop()


def test_usages_depend_on_the_key_and_one_source_of_them_is_necessary() -> None:
    one, two = {"usages": USAGES}, {"get_usages": lambda key: USAGES}
    with pytest.raises(ValueError, match="cannot specify both GetUsages and Usages"):
        certificate.new_manager(config(None, MemoryStore(), **one, **two))
    with pytest.raises(ValueError, match="either GetUsages or Usages should be specified"):
        certificate.new_manager(config(None, MemoryStore(), usages=None))

    on_curve, of_rsa = ec.generate_private_key(ec.SECP256R1()), rsa.generate_private_key(65537, 2048)
    assert certificate.DEFAULT_KUBELET_CLIENT_GET_USAGES(on_curve) == ["digital signature", "client auth"]
    assert certificate.DEFAULT_KUBELET_SERVING_GET_USAGES(of_rsa) == [
        "digital signature",
        "key encipherment",
        "server auth",
    ]
    keys: list[Any] = []
    cluster = Cluster(Authority().issue)
    manager = certificate.new_manager(
        config(cluster, MemoryStore(), usages=None, get_usages=lambda key: keys.append(key) or ["any"])
    )
    assert rotate(manager)
    assert isinstance(keys[-1], ec.EllipticCurvePrivateKey)
    assert list(cluster.requests[0].spec.usages) == ["any"]


def test_a_store_in_files_has_the_new_certificate(tmp_path: Path) -> None:
    store = certificate.new_file_store("agent", str(tmp_path), str(tmp_path), "", "")
    lifetime = config(Cluster(Authority().issue), store, requested_certificate_lifetime=3600.0)
    manager = certificate.new_manager(lifetime)
    assert rotate(manager)
    assert manager.current() == store.current()
    assert (tmp_path / "agent-current.pem").is_symlink()
