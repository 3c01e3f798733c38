"""A certificate and its key are read again when their files change."""

from __future__ import annotations

import ssl
import threading
from pathlib import Path

import pytest
from certificates import Authority, Pair
from patience import PATIENCE

from clientgo import context
from clientgo.controller_runtime import certwatcher
from clientgo.controller_runtime.metrics import REGISTRY
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
    watcher = certwatcher.CertWatcher(pair.cert, pair.key, FakeClock(0.0)).with_watch_interval(2.0)
    watcher.read_certificate()
    notified: list[bytes] = []
    called = threading.Semaphore(0)

    def callback(certificate: certwatcher.Certificate) -> None:
        notified.append(certificate.certificate)
        called.release()

    watcher.register_callback(callback)
    assert notified == [pair.cert.read_bytes()]
    clock = watcher._clock
    assert isinstance(clock, FakeClock)
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
