"""Clients of equal settings share a transport, which goes with the last of them. Go: transport/cache_test.go."""

from __future__ import annotations

import gc
import itertools
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority
from httpscript import Answer, ScriptedServer

from clientgo import context, features, kubernetes, rest, transport
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.features.testing import set_feature_during_test
from clientgo.tools.metrics import metrics
from clientgo.transport import cert_rotation
from clientgo.transport.cache import TLS_CACHE, TLSTransportCache, TransportKey, tls_config_key
from clientgo.utils.clock.testing import FakeClock

CTX = context.background()


class Recorder:
    """A metric of the cache that keeps its reports in order."""

    def __init__(self, name: str, log: list[tuple[str, Any]]) -> None:
        self._name, self._log = name, log

    def increment(self, result: Any = None, /) -> None:
        self._log.append((self._name, result))

    def observe(self, value: int, /) -> None:
        self._log.append((self._name, value))


class Recorded:
    """The reports since the last `take`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._log: list[tuple[str, Any]] = []
        for name in ("CREATE_CALLS", "CACHE_ENTRIES", "CACHE_GC_CALLS", "CERT_ROTATION_GC_CALLS"):
            patch.setattr(metrics, f"TRANSPORT_{name}", Recorder(name, self._log))

    def take(self, name: str) -> list[Any]:
        found = [value for key, value in self._log if key == name]
        self._log[:] = [entry for entry in self._log if entry[0] != name]
        return found


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    return Recorded(monkeypatch)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("stranger"), "stranger")


def tls(**settings: Any) -> transport.Config:
    return transport.Config(tls=transport.TLSConfig(**settings))


def no_certificate() -> None:
    return None


def no_dial(host: str, port: int) -> Any:
    raise OSError("not connected")


def test_settings_outside_tls_do_not_change_the_key() -> None:
    """Go: TestTLSConfigKey"""
    identical = [
        transport.Config(),
        transport.Config(username="bob", password="password"),
        transport.Config(bearer_token="token"),
        transport.Config(user_agent="useragent"),
        transport.Config(transport=transport.Transport()),
        transport.Config(wrap_transport=lambda rt: rt),
    ]
    assert {tls_config_key(config) for config in identical} == {tls_config_key(transport.Config())}


def test_settings_of_tls_change_the_key(authority: Authority) -> None:
    """Go: TestTLSConfigKey"""
    holder = transport.GetCertHolder(no_certificate)
    unique = {
        "no tls": transport.Config(),
        "dialer": transport.Config(dial_holder=transport.DialHolder(no_dial)),
        "dialer2": transport.Config(dial_holder=transport.DialHolder(no_dial)),
        "insecure": tls(insecure=True),
        "cadata 1": tls(ca_data=b"1"),
        "cadata 2": tls(ca_data=b"2"),
        "with only ca file": tls(ca_file=authority.path),
        "with both ca file and ca data": tls(ca_file=authority.path, ca_data=authority.data),
        "cert 1, key 1": tls(cert_data=b"1", key_data=b"1"),
        "cert 1, key 1, servername 1": tls(cert_data=b"1", key_data=b"1", server_name="1"),
        "cert 1, key 1, servername 2": tls(cert_data=b"1", key_data=b"1", server_name="2"),
        "cert 1, key 2": tls(cert_data=b"1", key_data=b"2"),
        "cert 2, key 1": tls(cert_data=b"2", key_data=b"1"),
        "cert 2, key 2": tls(cert_data=b"2", key_data=b"2"),
        "cadata 1, cert 1, key 1": tls(ca_data=b"1", cert_data=b"1", key_data=b"1"),
        "getCert1": tls(key_data=b"1", get_cert_holder=holder),
        "getCert2": tls(key_data=b"1", get_cert_holder=transport.GetCertHolder(no_certificate)),
        "getCert1, key 2": tls(key_data=b"2", get_cert_holder=holder),
        "http2, http1.1": tls(next_protos=["h2", "http/1.1"]),
        "http1.1-only": tls(next_protos=["http/1.1"]),
        "no compression": transport.Config(disable_compression=True),
    }
    keys = {name: tls_config_key(config) for name, config in unique.items()}
    for one, other in itertools.combinations(keys, 2):
        assert keys[one] != keys[other], (one, other)
    assert None not in keys.values()
    assert keys == {name: tls_config_key(config) for name, config in unique.items()}, "the same config, the same key"
    assert tls_config_key(transport.Config(proxy=lambda url: None)) is None, "functions cannot be compared"


def test_without_the_feature_an_authority_is_known_by_its_content(authority: Authority) -> None:
    """Go: TestTLSConfigKeyCARotationDisabled"""
    of_file = tls(ca_file=authority.path)
    with set_feature_during_test(features.CLIENTS_ALLOW_CA_ROTATION, False):
        assert tls_config_key(of_file) == tls_config_key(tls(ca_data=authority.data))
    assert not of_file.tls.reload_ca_files
    assert tls_config_key(of_file) != tls_config_key(tls(ca_data=authority.data))


def test_certificate_files_are_known_by_their_paths_if_they_are_read_again(authority: Authority) -> None:
    pair = authority.issue("paths")
    alone = tls_config_key(tls(cert_file=str(pair.cert), key_file=str(pair.key)))
    assert alone is not None
    assert (alone.cert_file, alone.key_file, alone.cert_data) == (str(pair.cert), str(pair.key), b"")
    mixed = tls_config_key(tls(cert_data=pair.cert.read_bytes(), key_file=str(pair.key)))
    assert mixed is not None
    assert (mixed.cert_file, mixed.key_data) == ("", pair.key.read_bytes())


def test_the_text_of_a_key_has_no_secret() -> None:
    shown = repr(tls_config_key(tls(cert_data=b"public", key_data=b"secret-key")))
    assert "secret-key" not in shown
    assert "<redacted>" in shown
    assert "public" in shown
    assert "<none>" in repr(TransportKey())


@pytest.mark.parametrize("fields", [("ca_file",), ("ca_file", "ca_data"), ("ca_data",)])
def test_equal_configs_share_a_transport(authority: Authority, recorded: Recorded, fields: tuple[str, ...]) -> None:
    """Go: TestTLSTransportCacheCARotation"""
    values: dict[str, Any] = {"ca_file": authority.path, "ca_data": authority.data}
    cache = TLSTransportCache()
    first = cache.get(tls(**{field: values[field] for field in fields}))
    assert recorded.take("CREATE_CALLS") == ["miss"]
    assert cache.get(tls(**{field: values[field] for field in fields})) is first
    assert recorded.take("CREATE_CALLS") == ["hit"]
    assert recorded.take("CACHE_ENTRIES") == [1, 1]
    assert len(cache) == 1


def test_configs_without_settings_share_a_transport_that_is_no_entry(recorded: Recorded) -> None:
    """Go: TestTLSTransportCacheCARotation/no TLS config"""
    cache = TLSTransportCache()
    first = cache.get(transport.Config(bearer_token="a"))
    assert cache.get(transport.Config(bearer_token="b")) is first
    assert recorded.take("CREATE_CALLS") == ["miss", "miss"]
    assert recorded.take("CACHE_ENTRIES") == [0, 0]
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None


def test_a_changed_environment_has_its_own_transport(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = TLSTransportCache()
    before, before_named = cache.get(transport.Config()), cache.get(tls(server_name="a"))
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:1")
    assert cache.get(transport.Config()) is not before
    assert cache.get(tls(server_name="a")) is not before_named
    monkeypatch.delenv("HTTPS_PROXY")
    assert cache.get(transport.Config()) is before
    assert cache.get(tls(server_name="a")) is before_named


def test_a_transport_that_may_not_be_shared_is_not_cached(recorded: Recorded) -> None:
    cache = TLSTransportCache()
    config = transport.Config(proxy=lambda url: None)
    assert cache.get(config) is not cache.get(config)
    assert recorded.take("CREATE_CALLS") == ["uncacheable", "uncacheable"]
    assert recorded.take("CACHE_ENTRIES") == []
    assert len(cache) == 0


def test_a_cached_transport_lives_through_a_change_of_its_authority(
    authority: Authority, stranger: Authority, tmp_path: Path, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Go: TestCacheHoldAfterCARotation, TestEmptyCAFileRotationLifecycle"""
    clock = FakeClock(0.0)
    monkeypatch.setattr(cert_rotation, "RealClock", lambda: clock)
    ca_file = tmp_path / "ca"
    ca_file.write_bytes(b"")
    cache = TLSTransportCache()
    held = cache.get(tls(server_name="reload-test", ca_file=str(ca_file)))
    contexts = [held._ssl_context()]
    for content in (authority.data, stranger.data):
        ca_file.write_bytes(content)
        clock.step(2.0)
        contexts.append(held._ssl_context())
    assert [len(each.get_ca_certs()) for each in contexts if each is not None] == [0, 1, 1]
    assert contexts[1] is not contexts[2]
    gc.collect()
    assert len(cache) == 1
    assert cache.get(tls(server_name="reload-test", ca_file=str(ca_file))) is held
    del held
    gc.collect()
    assert len(cache) == 0
    assert recorded.take("CACHE_GC_CALLS") == ["deleted"]


def test_a_missing_file_is_an_error_of_each_new_client(authority: Authority, tmp_path: Path) -> None:
    pair = authority.issue("unreadable")
    ca_file = tmp_path / "ca"
    ca_file.write_bytes(authority.data)
    cache = TLSTransportCache()
    settings = {"ca_file": str(ca_file), "cert_file": str(pair.cert), "key_file": str(pair.key)}
    held = cache.get(tls(**settings))
    pair.key.rename(tmp_path / "moved")
    with pytest.raises(FileNotFoundError):
        cache.get(tls(**settings))
    (tmp_path / "moved").rename(pair.key)
    assert cache.get(tls(**settings)) is held
    ca_file.unlink()
    with pytest.raises(FileNotFoundError):
        cache.get(tls(**settings))


def test_an_invalid_certificate_is_an_error_of_the_first_client_and_leaves_no_entry(recorded: Recorded) -> None:
    cache = TLSTransportCache()
    for _ in range(2):
        with pytest.raises(ValueError, match="unable to load root certificates"):
            cache.get(tls(ca_data=b"not a certificate"))
    assert recorded.take("CREATE_CALLS") == ["miss", "miss"]
    assert recorded.take("CACHE_ENTRIES") == [0, 0]


def test_without_the_feature_nothing_leaves_the_cache(authority: Authority, recorded: Recorded) -> None:
    """Go: TestCacheGCDisabledNoEviction, TestCacheGCDisabledCertRotationNoCancel"""
    pair = authority.issue("kept")
    cache = TLSTransportCache()
    with set_feature_during_test(features.CLIENTS_ALLOW_TLS_CACHE_GC, False):
        for settings in ({"server_name": "kept"}, {"cert_file": str(pair.cert), "key_file": str(pair.key)}):
            kept = weakref.ref(cache.get(tls(**settings)))
            gc.collect()
            assert kept() is not None
            assert cache.get(tls(**settings)) is kept()
        assert recorded.take("CREATE_CALLS") == ["miss", "hit", "miss", "hit"]
        assert recorded.take("CACHE_ENTRIES") == [1, 1, 2, 2]
        assert recorded.take("CACHE_GC_CALLS") == []
        assert recorded.take("CERT_ROTATION_GC_CALLS") == []


def test_a_transport_in_use_is_returned_again_and_a_released_one_is_created_anew(recorded: Recorded) -> None:
    """Go: TestCacheReviveAfterDrop"""
    cache = TLSTransportCache()
    held = cache.get(tls(server_name="keep-alive-test"))
    assert cache.get(tls(server_name="keep-alive-test")) is held
    assert recorded.take("CREATE_CALLS") == ["miss", "hit"]
    del held
    gc.collect()
    again = cache.get(tls(server_name="keep-alive-test"))
    assert recorded.take("CREATE_CALLS") == ["miss"]
    assert recorded.take("CACHE_GC_CALLS") == ["deleted"]
    assert len(cache) == 1
    del again


def test_the_end_of_a_rotation_is_counted(authority: Authority, recorded: Recorded) -> None:
    """Go: TestUncacheableCertRotationLeak, TestCacheableCertRotationLeak"""
    pair = authority.issue("rotating")
    files = {"cert_file": str(pair.cert), "key_file": str(pair.key)}
    cache = TLSTransportCache()
    threads = threading.active_count()
    uncacheable = tls(**files)
    uncacheable.proxy = lambda url: None
    cache.get(uncacheable)
    gc.collect()
    assert len(cache) == 0
    assert recorded.take("CERT_ROTATION_GC_CALLS") == [None]
    assert recorded.take("CACHE_GC_CALLS") == []
    cache.get(tls(**files))
    gc.collect()
    assert len(cache) == 0
    assert recorded.take("CERT_ROTATION_GC_CALLS") == [None]
    assert recorded.take("CACHE_GC_CALLS") == ["deleted"]
    assert threading.active_count() == threads


def test_the_end_of_a_replaced_transport_leaves_the_newer_one_in_the_cache(recorded: Recorded) -> None:
    """Go: TestCacheStaleEvictionSkipped

    Python reports an end late: the same key may have a new transport by then.
    """
    cache = TLSTransportCache()
    config = tls(server_name="stale-test")
    old = cache.get(config)
    key = tls_config_key(config)
    assert key is not None
    replacement = transport.Transport()
    cache._transports[key] = weakref.ref(replacement)
    del old
    gc.collect()
    assert len(cache) == 1
    assert recorded.take("CACHE_GC_CALLS") == ["skipped"]
    assert cache.get(config) is replacement


def test_a_transport_that_ends_during_the_request_for_it_is_created_anew(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = TLSTransportCache()
    held = [cache.get(tls(server_name="a"))]
    reported = cache._report_collected

    def report_before_the_end() -> None:
        reported()
        held.clear()

    monkeypatch.setattr(cache, "_report_collected", report_before_the_end)
    again = cache.get(tls(server_name="a"))
    assert recorded.take("CREATE_CALLS") == ["miss", "miss-gc"]
    monkeypatch.undo()
    assert len(cache) == 1
    assert cache.get(tls(server_name="a")) is again


def test_many_threads_and_configs_leave_nothing_behind(recorded: Recorded) -> None:
    """Go: TestCacheLeak"""
    gc.collect()
    before = len(TLS_CACHE)
    kept = [transport.new(tls(server_name=name)) for name in ("1", "2", "1")]
    assert len(TLS_CACHE) == before + 2
    round_trippers: list[transport.RoundTripper] = []
    holders = [transport.DialHolder(no_dial) for _ in range(1000)]
    turn = threading.Barrier(4)

    def create(worker: int) -> None:
        turn.wait()
        for number, holder in enumerate(holders):
            if number % 4 <= worker:
                round_trippers.append(transport.new(transport.Config(dial_holder=holder)))

    workers = [threading.Thread(target=create, args=(worker,), name=f"creator-{worker}") for worker in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(round_trippers) == 2500
    assert len({id(each) for each in round_trippers}) == 1000
    assert len(TLS_CACHE) == before + 1002
    recorded.take("CACHE_GC_CALLS"), recorded.take("CACHE_ENTRIES")
    round_trippers.clear()
    gc.collect()
    assert len(TLS_CACHE) == before + 2
    assert recorded.take("CACHE_GC_CALLS") == ["deleted"] * 1000
    assert recorded.take("CACHE_ENTRIES") == list(range(before + 1001, before + 1, -1))
    kept.clear()
    gc.collect()
    assert len(TLS_CACHE) == before
    assert recorded.take("CACHE_GC_CALLS") == ["deleted"] * 2


def test_a_thread_that_collects_while_it_has_the_lock_does_not_wait_for_itself(recorded: Recorded) -> None:
    """A collection may begin at any allocation, also in the cache and in a metric."""
    cache = TLSTransportCache()
    held = [cache.get(tls(server_name="held"))]
    with cache._lock:
        held.clear()
        gc.collect()
    assert len(cache) == 0
    assert recorded.take("CACHE_GC_CALLS") == ["deleted"]


def test_a_dial_function_that_refers_to_its_client_does_not_keep_it(recorded: Recorded) -> None:
    class Owner:
        client: Any = None

        def dial(self, host: str, port: int) -> Any:
            raise OSError("not connected")

    owner = Owner()
    owner.client = rest.rest_client_for(
        rest.Config(host="http://127.0.0.1:1", group_version=GroupVersion("", "v1"), dial=owner.dial)
    )
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_the_transport_keeps_nothing_of_the_first_client_but_its_security() -> None:
    config = transport.Config(tls=transport.TLSConfig(server_name="a"), wrap_transport=lambda rt: rt)
    assert config.wrap_transport is not None
    gone = weakref.ref(config.wrap_transport)
    held = TLS_CACHE.get(config)
    config.tls.server_name = "changed later"
    del config
    gc.collect()
    assert gone() is None
    assert TLS_CACHE.get(tls(server_name="a")) is held


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(lambda request: Answer(200, b'{"kind":"Pod","apiVersion":"v1"}')) as running:
        yield running


def test_a_thousand_clients_of_a_config_share_connections(server: ScriptedServer) -> None:
    config = rest.Config(host=server.url, qps=-1, user_agent="a")
    clients = [kubernetes.new_for_config(config) for _ in range(1000)]
    for client in clients[::100]:
        client.core_v1().pods("default").get(CTX, "p")
    assert {request.connection for request in server.requests} == {1}
    assert len(server.requests) == 10
    clients[0].core_v1().rest_client().close()
    clients[1].core_v1().pods("default").get(CTX, "p")
    assert server.requests[-1].connection == 2, "a client closes the idle connections of all, as in Go"
    gone = weakref.ref(TLS_CACHE.get(transport.Config()))
    del client
    clients.clear()
    gc.collect()
    assert gone() is None
