"""A certificate and its key are read again when their files change."""

from __future__ import annotations

import ssl
import threading
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority, Pair
from patience import PATIENCE
from tlspeers import connect

from clientgo import context, klog
from clientgo.controller_runtime import certwatcher
from clientgo.controller_runtime.metrics import REGISTRY
from clientgo.testing import synctest
from clientgo.utils.clock.testing import FakeClock


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    folder = tmp_path / "ca"
    folder.mkdir()
    return Authority(folder)


@pytest.fixture
def pair(tmp_path: Path, authority: Authority) -> Pair:
    """Return the watched files."""
    found = Pair(tmp_path / "tls.crt", tmp_path / "tls.key")
    put(authority.issue("first", "DNS:a"), found)
    return found


def put(source: Pair, target: Pair) -> None:
    target.cert.write_bytes(source.cert.read_bytes())
    target.key.write_bytes(source.key.read_bytes())


def test_without_certificate_or_key_there_is_no_watcher(tmp_path: Path) -> None:
    """Go: certwatcher: CertWatcher > certwatcher New > should errors without cert/key"""
    with pytest.raises(FileNotFoundError, match="nowhere"):
        certwatcher.new(tmp_path / "nowhere.crt", tmp_path / "nowhere.key")


def test_a_watcher_needs_no_leader_and_has_the_pair_from_the_start(pair: Pair) -> None:
    """Go: certwatcher: CertWatcher > certwatcher Start > should not require LeaderElection
    Go: certwatcher: CertWatcher > certwatcher Start > should read the initial cert/key
    """
    watcher = certwatcher.new(pair.cert, pair.key)
    assert not watcher.need_leader_election()
    current = watcher.get_certificate()
    assert current is not None
    assert current.certificate == pair.cert.read_bytes()
    assert pair.key.read_text() not in repr(current)


def test_a_changed_pair_is_reloaded_and_reported(pair: Pair, authority: Authority) -> None:
    """Go: certwatcher: CertWatcher > certwatcher Start > should reload currentCert when changed
    Go: certwatcher: CertWatcher > certwatcher Start > should reload currentCert when changed with rename
    """
    clock = FakeClock(0.0)
    watcher = certwatcher.CertWatcher(pair.cert, pair.key, clock).with_watch_interval(2.0)
    watcher.read_certificate()
    notified: list[bytes] = []
    called = threading.Semaphore(0)

    def callback(certificate: certwatcher.Certificate) -> None:
        notified.append(certificate.certificate)
        called.release()

    watcher.register_callback(callback)
    assert notified == [pair.cert.read_bytes()]
    ctx, cancel = context.with_cancel(context.background())
    running = threading.Thread(target=watcher.start, args=(ctx,))
    running.start()
    try:
        second = authority.issue("second", "DNS:a")
        beside = Pair(pair.cert.with_suffix(".new"), pair.key.with_suffix(".new-key"))
        put(second, beside)
        beside.key.replace(pair.key)
        beside.cert.replace(pair.cert)
        assert called.acquire(timeout=PATIENCE)
        while len(notified) < 2:
            clock.step(2.0)
            called.acquire(timeout=0.05)
        assert notified[1] == second.cert.read_bytes()
    finally:
        cancel()
        running.join()


def test_an_unchanged_pair_is_not_told_again(pair: Pair, authority: Authority) -> None:
    watcher = certwatcher.new(pair.cert, pair.key)
    notified: list[bytes] = []
    watcher.register_callback(lambda certificate: notified.append(certificate.certificate))
    watcher.read_certificate()
    watcher.read_certificate()
    assert len(notified) == 1
    put(authority.issue("second", "DNS:a"), pair)
    watcher.read_certificate()
    watcher.read_certificate()
    assert notified[1:] == [pair.cert.read_bytes()]


def test_readings_and_failures_are_counted(pair: Pair) -> None:
    """Go: certwatcher: CertWatcher > certwatcher Start > prometheus metric read_certificate_total"""

    def counted() -> tuple[float, float]:
        names = ("certwatcher_read_certificate_total", "certwatcher_read_certificate_errors_total")
        total, errors = (REGISTRY.get_sample_value(name) or 0.0 for name in names)
        return total, errors

    total, errors = counted()
    watcher = certwatcher.new(pair.cert, pair.key)
    watcher.watch()
    assert counted() == (total + 2, errors)
    pair.key.unlink()
    watcher.watch()
    assert counted() == (total + 3, errors + 1)


def test_a_pair_that_does_not_fit_together_leaves_the_one_there_was(pair: Pair, authority: Authority) -> None:
    """Go: certwatcher: CertWatcher > certwatcher Start > should reload currentCert after move out
    """
    watcher = certwatcher.new(pair.cert, pair.key)
    before = watcher.get_certificate()
    other = authority.issue("other", "DNS:a")
    pair.cert.write_bytes(other.cert.read_bytes())  # the key comes later
    with pytest.raises(ssl.SSLError):
        watcher.read_certificate()
    watcher.watch()  # which logs it
    assert watcher.get_certificate() == before
    pair.key.unlink()
    watcher.watch()
    assert watcher.get_certificate() == before
    put(other, pair)
    watcher.watch()
    changed = watcher.get_certificate()
    assert changed is not None
    assert changed.certificate == other.cert.read_bytes()


def test_each_reading_is_logged(pair: Pair, caplog: pytest.LogCaptureFixture) -> None:
    """A new pair is logged at the default level, an unchanged one for developers, and a failure as an error."""
    before = klog.verbosity()
    klog.set_verbosity(7)
    caplog.set_level(1)
    try:
        watcher = certwatcher.CertWatcher(pair.cert, pair.key)
        watcher.watch()
        watcher.watch()
        pair.key.write_text("no key")
        watcher.watch()
        ctx, cancel = context.with_cancel(context.background())
        cancel()
        watcher.with_watch_interval(7.0).start(ctx)
    finally:
        klog.set_verbosity(before)
    found = [(each.levelno, each.getMessage()) for each in caplog.records]
    texts = ["Updated current TLS certificate", "certificate already cached", "failed read certificate",
             "Starting certificate poll+watcher"]  # fmt: skip
    assert [level for level, _ in found] == [20, 13, 40, 20]
    for (_, line), text in zip(found, texts, strict=True):
        assert text in line
    assert repr(watcher) == f"<CertWatcher {pair.cert}>"


def test_the_files_are_read_each_interval(pair: Pair) -> None:
    with synctest.bubble() as bubble:
        watcher = certwatcher.CertWatcher(pair.cert, pair.key).with_watch_interval(3.0)
        at: list[float] = []
        watcher.watch = lambda: at.append(bubble.elapsed)  # type: ignore[method-assign]
        ctx, cancel = context.with_timeout(context.background(), 10.0)
        watcher.start(ctx)
        cancel()
    assert at == [3.0, 6.0, 9.0]


def test_a_pair_that_changes_while_it_is_read_is_refused(
    pair: Pair, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificate and the key might not fit together. The next reading gets both."""
    watcher = certwatcher.CertWatcher(pair.cert, pair.key)
    load = ssl.SSLContext.load_cert_chain

    def change(self: ssl.SSLContext, *paths: Path) -> None:
        load(self, *paths)
        put(authority.issue("second", "DNS:b"), pair)

    with monkeypatch.context() as changing:
        changing.setattr(ssl.SSLContext, "load_cert_chain", change)
        with pytest.raises(ValueError, match="or its key changed while it was read"):
            watcher.read_certificate()
    assert watcher.get_certificate() is None
    watcher.read_certificate()
    current = watcher.get_certificate()
    assert current is not None and current.certificate == pair.cert.read_bytes()


class Loads(ssl.SSLContext):
    """A context that counts the pairs loaded into it."""

    count = 0

    def load_cert_chain(self, *args: Any, **kwargs: Any) -> None:
        self.count += 1
        super().load_cert_chain(*args, **kwargs)


def presented(server: ssl.SSLContext, authority: Authority, name: str | None) -> str:
    """Return the common name of the certificate that a handshake presents, with the server name or without one."""
    trust = ssl.create_default_context(cadata=authority.data.decode())
    trust.check_hostname = False
    found = connect(server, trust, name)
    return str(dict(each[0] for each in found["subject"])["commonName"])


def test_files_may_have_comments_and_no_last_line_break(pair: Pair, authority: Authority) -> None:
    for path in pair.cert, pair.key:
        path.write_bytes("# Schlüssel\n".encode("latin-1") + path.read_bytes().rstrip())
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certwatcher.follow(
        certwatcher.new(pair.cert, pair.key), server, lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    )
    assert presented(server, authority, "a") == "first"


@pytest.mark.parametrize("name", ["a", None])
def test_no_pair_is_loaded_into_a_context_that_accepts_connections(
    pair: Pair, authority: Authority, name: str | None
) -> None:
    """OpenSSL crashes the process when another thread accepts a connection at that moment."""
    watcher = certwatcher.new(pair.cert, pair.key)
    made: list[Loads] = []

    def configured() -> ssl.SSLContext:
        made.append(Loads(ssl.PROTOCOL_TLS_SERVER))
        return made[-1]

    server = Loads(ssl.PROTOCOL_TLS_SERVER)
    certwatcher.follow(watcher, server, configured)
    assert presented(server, authority, name) == "first"

    put(authority.issue("second", "DNS:a"), pair)
    watcher.watch()

    assert presented(server, authority, name) == "second"
    assert [server.count, *(each.count for each in made)] == [0, 1, 1]
