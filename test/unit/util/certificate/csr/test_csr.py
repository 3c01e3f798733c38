"""Requests for certificates are created, reused and followed until they have a certificate."""

from __future__ import annotations

import threading
from typing import Any

import pytest

pytest.importorskip("cryptography")

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from signers import Authority, approve, subject

from clientgo import context
from clientgo.api.certificates import v1 as certificatesv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import wait
from clientgo.kubernetes import fake
from clientgo.testing import synctest
from clientgo.util import cert
from clientgo.util.cert.cert import Signer
from clientgo.util.certificate import csr

KEY = ec.generate_private_key(ec.SECP256R1())
REQUEST = cert.make_csr(KEY, subject("agent"))
USAGES = ["client auth"]
SIGNER = "example.com/agents"
AUTHORITY = Authority()


def existing(request: bytes = REQUEST, signer: str = SIGNER, certificate: bytes = b"") -> Any:
    found = certificatesv1.CertificateSigningRequest(metadata=metav1.ObjectMeta(name="mine", uid="u"))
    found.spec.request = request
    found.spec.signer_name = signer
    found.status.certificate = certificate
    return found


def request(client: Any, name: str = "mine", key: Signer = KEY, lifetime: float | None = None) -> tuple[str, str]:
    return csr.request_certificate(client, REQUEST, name, SIGNER, lifetime, USAGES, key)


def actions(client: Any) -> list[str]:
    return [f"{each.get_verb()} {each.get_resource().version}" for each in client.actions()]


def test_a_request_has_the_signer_the_usages_and_the_lifetime() -> None:
    client = fake.new_simple_clientset()
    request(client, lifetime=90.9)
    [stored] = client.certificates_v1().certificate_signing_requests().list(context.background(), _LIST).items
    assert stored.metadata.name == "mine"
    assert stored.spec.request == REQUEST
    assert (stored.spec.signer_name, list(stored.spec.usages)) == (SIGNER, USAGES)
    assert stored.spec.expiration_seconds == 90


_LIST = metav1.ListOptions()


def test_a_lifetime_loses_its_fraction() -> None:
    assert csr.duration_to_expiration_seconds(90.9) == 90
    assert csr.expiration_seconds_to_duration(90) == 90.0


def test_a_request_without_a_name_gets_a_generated_one() -> None:
    client = fake.new_simple_clientset()
    request(client, name="")
    [created] = client.actions()
    assert created.get_object().metadata.generate_name == "csr-"


def test_a_server_without_v1_gets_a_v1beta1_request() -> None:
    client = fake.new_simple_clientset()
    client.prepend_reactor("create", "certificatesigningrequests", refuse_v1)
    request(client)
    assert actions(client) == ["create v1", "create v1beta1"]
    assert client.actions()[1].get_object().spec.signer_name == SIGNER


def refuse_v1(action: Any) -> tuple[bool, Any]:
    if action.get_resource().version == "v1":
        raise errors.new_not_found(action.get_resource().group_resource(), "")
    return False, None


def test_an_existing_request_of_the_same_key_is_used() -> None:
    """Go: TestEnsureCompatible"""
    valid = AUTHORITY.issue(existing())
    client = fake.new_simple_clientset(existing(certificate=valid))
    assert request(client) == ("mine", "u")


OTHER_KEY = ec.generate_private_key(ec.SECP256R1())


@pytest.mark.parametrize(
    ("found", "key", "message"),
    [
        (existing(b"garbage"), KEY, "unable to parse new csr: PEM block type must be CERTIFICATE REQUEST"),
        (existing(cert.make_csr(KEY, subject("other"))), KEY, "csr subjects differ: new: CN=other, orig: CN=agent"),
        (existing(signer="example.com/x"), KEY, 'csr signerNames differ: new "example.com/x"'),
        (existing(), OTHER_KEY, "error validating signature new CSR against old key"),
        (existing(), rsa.generate_private_key(65537, 2048), "error validating signature"),
        (existing(certificate=AUTHORITY.issue(existing(), start=-3, end=-1)), KEY, "CSR has expired"),
        (existing(certificate=b"garbage"), KEY, "error parsing signed certificate for CSR"),
    ],
    ids=["no request", "subject", "signer", "key", "kind of key", "expired", "no certificate"],
)
def test_an_existing_request_that_differs_is_an_error(found: Any, key: Signer, message: str) -> None:
    """Go: TestEnsureCompatible"""
    client = fake.new_simple_clientset(found)
    with pytest.raises(RuntimeError, match="retrieved csr is not compatible: ") as caught:
        request(client, key=key)
    assert message in str(caught.value)


def test_an_error_of_the_api_keeps_its_status() -> None:
    client = fake.new_simple_clientset()

    def refuse(action: Any) -> tuple[bool, Any]:
        raise errors.new_forbidden(action.get_resource().group_resource(), "mine", RuntimeError("no"))

    client.prepend_reactor("create", "certificatesigningrequests", refuse)
    with pytest.raises(errors.StatusError, match="cannot create certificate signing request: ") as caught:
        request(client)
    assert errors.is_forbidden(caught.value)


def follow(client: Any, change: Any, name: str = "mine") -> list[object]:
    """Wait for a certificate in a bubble, change the request meanwhile, and return the result or the error."""
    outcome: list[object] = []

    def wait_for() -> None:
        ctx, cancel = context.with_timeout(context.background(), 60.0)
        try:
            outcome.append(csr.wait_for_certificate(ctx, client, name, "u"))
        except Exception as err:
            outcome.append(err)
        finally:
            cancel()

    with synctest.bubble() as bubble:
        thread = threading.Thread(target=wait_for, name="waiter")
        thread.start()
        bubble.wait()
        assert not outcome
        change(client.certificates_v1().certificate_signing_requests())
        bubble.sleep(61.0)
        thread.join()
    return outcome


def test_the_certificate_of_an_approved_request_is_returned() -> None:
    def issue(requests: Any) -> None:
        each = requests.get(context.background(), "mine", metav1.GetOptions())
        each.status.certificate = b"early"
        requests.update_status(context.background(), each, metav1.UpdateOptions())
        approve(each)
        each.status.certificate = b"PEM"
        requests.update_status(context.background(), each, metav1.UpdateOptions())

    assert follow(fake.new_simple_clientset(existing()), issue) == [b"PEM"]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("Denied", "certificate signing request is denied, reason: Test, message: why"),
        ("Failed", "certificate signing request failed, reason: Test, message: why"),
    ],
)
def test_a_denied_or_failed_request_is_an_error(condition: str, message: str) -> None:
    def decide(requests: Any) -> None:
        each = requests.get(context.background(), "mine", metav1.GetOptions())
        approve(each, condition)
        requests.update_status(context.background(), each, metav1.UpdateOptions())

    [err] = follow(fake.new_simple_clientset(existing()), decide)
    assert str(err) == f"cannot watch on the certificate signing request: {message}"


def test_a_deleted_or_replaced_request_is_an_error() -> None:
    def delete(requests: Any) -> None:
        requests.delete(context.background(), "mine", metav1.DeleteOptions())

    def replace(requests: Any) -> None:
        each = requests.get(context.background(), "mine", metav1.GetOptions())
        each.metadata.uid = "v"
        requests.update(context.background(), each, metav1.UpdateOptions())

    [err] = follow(fake.new_simple_clientset(existing()), delete)
    assert 'csr "mine" was deleted' in str(err)
    [err] = follow(fake.new_simple_clientset(existing()), replace)
    assert 'csr "mine" changed UIDs' in str(err)


def test_the_wait_ends_with_the_context() -> None:
    [err] = follow(fake.new_simple_clientset(existing()), lambda requests: None)
    assert isinstance(err, BaseException)
    assert wait.interrupted(err)


def test_the_wait_goes_on_while_the_server_has_no_version_and_uses_v1beta1_then() -> None:
    client = fake.new_simple_clientset()
    rounds = 0

    def refuse(action: Any) -> tuple[bool, Any]:
        nonlocal rounds
        rounds += 1
        if action.get_resource().version == "v1" or rounds < 6:
            raise errors.new_not_found(action.get_resource().group_resource(), "")
        return False, None

    client.prepend_reactor("list", "certificatesigningrequests", refuse)
    [err] = follow(client, lambda requests: None)
    assert isinstance(err, BaseException)
    assert wait.interrupted(err)
    assert actions(client)[:6] == ["list v1", "list v1beta1"] * 3
    assert "watch v1beta1" in actions(client)
    assert "watch v1" not in actions(client)
