"""A manager gets its certificate from an API server whose signer takes its time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography")

from signers import Authority, approve, template

from clientgo import context, kubernetes
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import wait
from clientgo.context import Context
from clientgo.testing.apiserver import Environment
from clientgo.util import certificate

SIGNER = "example.com/agents"


@pytest.fixture
def client() -> Iterator[kubernetes.Clientset]:
    with Environment() as environment:
        client = kubernetes.new_for_config(environment.config)
        yield client
        client.close()


def poll(condition: Any) -> None:
    def holds(ctx: Context) -> bool:
        return bool(condition())

    wait.poll_until_context_timeout(context.background(), 0.02, 60.0, True, holds)


def test_a_request_is_approved_signed_and_stored(client: kubernetes.Clientset, tmp_path: Path) -> None:
    ctx = context.background()
    authority = Authority()
    store = certificate.new_file_store("agent", str(tmp_path), str(tmp_path), "", "")
    manager = certificate.new_manager(
        certificate.Config(
            clientset_fn=lambda current: client,
            template=template("agent", ["agents"]),
            signer_name=SIGNER,
            usages=["digital signature", "client auth"],
            requested_certificate_lifetime=3600.0,
            certificate_store=store,
        )
    )
    manager.start()
    requests = client.certificates_v1().certificate_signing_requests()
    poll(lambda: len(requests.list(ctx, metav1.ListOptions()).items) == 1)
    [found] = requests.list(ctx, metav1.ListOptions()).items
    assert found.metadata.name.startswith("csr-")
    assert (found.spec.signer_name, found.spec.expiration_seconds) == (SIGNER, 3600)
    assert manager.current() is None

    found = found.deep_copy()
    approve(found)
    found = requests.update_approval(ctx, found.metadata.name, found, metav1.UpdateOptions())
    found.status.certificate = authority.issue(found)
    requests.update_status(ctx, found, metav1.UpdateOptions())

    poll(lambda: manager.current() is not None)
    assert manager.server_healthy()
    manager.stop()
    pair = manager.current()
    assert pair is not None
    assert pair.leaf.subject.rfc4514_string() == "CN=agent,O=agents"
    assert pair == store.current()
