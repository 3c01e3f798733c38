"""The metrics endpoint, its filters, and the depth of queues with many priorities."""

from __future__ import annotations

import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import context, rest
from clientgo.apimachinery.util import wait
from clientgo.controller_runtime import certwatcher
from clientgo.controller_runtime.internal.metrics.workqueue import DepthWithPriorityMetric
from clientgo.controller_runtime.metrics import server
from clientgo.controller_runtime.metrics.registry import new_counter_vec
from clientgo.golang.http import server as http
from clientgo.golang.tls import load_key_pair
from clientgo.testing.apiserver.wire.signing import make_certificates
from clientgo.utils.clock import REAL_CLOCK

CONFIG = rest.Config(host="http://127.0.0.1:1")


class Gauges:
    def __init__(self) -> None:
        self.values: dict[str, float] = defaultdict(float)

    def labels(self, *values: str) -> Any:
        return Gauge(self, values[-1])


class Gauge:
    def __init__(self, gauges: Gauges, label: str) -> None:
        self.gauges = gauges
        self.label = label

    def inc(self) -> None:
        self.gauges.values[self.label] += 1

    def dec(self) -> None:
        self.gauges.values[self.label] -= 1


@pytest.mark.parametrize("priorities", [1, 25, 26, 60])
def test_too_many_priorities_share_a_label(priorities: int) -> None:
    """Go: internal/metrics: depthWithPriorityMetric"""
    gauges: Any = Gauges()
    metric = DepthWithPriorityMetric(gauges, "q")
    for priority in range(priorities):
        metric.inc(priority)
    expected = {str(priority): 1 for priority in range(min(priorities, 25))}
    if priorities > 25:
        expected["exceeded_cardinality_limit"] = priorities - 25
    assert gauges.values == expected


@pytest.fixture
def serve() -> Iterator[Any]:
    stops: list[Any] = []

    def start(options: server.Options) -> str:
        client: Any = None
        options.bind_address = "127.0.0.1:0"
        made: Any = server.new_server(options, CONFIG, client)
        made.add_extra_handler("/extra", lambda resp, req: resp.write("extra"))
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=made.start, args=(ctx,), name="metrics")
        thread.start()
        stops.append((cancel, thread))
        while not made.get_bind_addr():
            thread.join(0.01)
        return f"http://{made.get_bind_addr()}"

    yield start
    for cancel, thread in stops:
        cancel()
        thread.join()


def test_endpoint_shows_the_registry_and_extra_handlers(serve: Any) -> None:
    """Go: manager: manger.Manager > Start > should start serving metrics"""
    new_counter_vec("test_things_total", "Things.", ["kind"]).labels("small").inc()
    new_counter_vec("test_nothing_total", "Nothing yet.", ["kind"])
    url = serve(server.Options())
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        text = answer.read().decode()
    assert '# TYPE test_things_total counter\ntest_things_total{kind="small"} 1.0\n' in text
    assert "_created" not in text and "test_nothing" not in text
    with urllib.request.urlopen(f"{url}/extra") as answer:
        assert answer.read() == b"extra"


def test_without_prometheus_client_the_endpoint_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.server, "AVAILABLE", False)
    resp = http.ResponseWriter()
    server.metrics_handler()(resp, http.Request())
    assert resp.status == 501 and b"pip install 'clientgo[metrics]'" in resp.body


def test_filter_stands_before_all_handlers(serve: Any) -> None:
    def provider(config: Any, client: Any) -> server.Filter:
        return lambda log, handler: lambda resp, req: http.error(resp, "Unauthorized", 401)

    url = serve(server.Options(filter_provider=provider))
    for path in ("/metrics", "/extra"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(url + path)
        assert caught.value.code == 401
        caught.value.close()


def test_what_is_refused() -> None:
    client: Any = None
    assert server.new_server(server.Options(bind_address="0"), CONFIG, client) is None
    with pytest.raises(ValueError, match="overriding builtin /metrics endpoint is not allowed"):
        server.new_server(server.Options(extra_handlers={"/metrics": http.not_found}), CONFIG, client)
    made: Any = server.new_server(server.Options(), CONFIG, client)
    made.add_extra_handler("/a", http.not_found)
    with pytest.raises(ValueError, match="duplicate path"):
        made.add_extra_handler("/a", http.not_found)


def shown(url: str) -> dict[str, Any]:
    """Return the server's certificate, after verifying it for its own names."""
    host, _, port = url.rpartition("://")[2].rpartition(":")
    pem = ssl.get_server_certificate((host, int(port)))
    trust = ssl.create_default_context(cadata=pem)
    trust.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    with (
        socket.create_connection((host, int(port)), timeout=PATIENCE) as connection,
        trust.wrap_socket(connection, server_hostname="localhost") as secure,
    ):
        found: Any = secure.getpeercert()
    return found


def test_without_a_certificate_the_server_makes_one_for_itself(serve: Any, tmp_path: Path) -> None:
    found = shown(serve(server.Options(secure_serving=True, cert_dir=str(tmp_path))))
    assert found["subjectAltName"] == (("DNS", "localhost"), ("IP Address", "127.0.0.1"))
    begin, end = (ssl.cert_time_to_seconds(found[name]) for name in ("notBefore", "notAfter"))
    assert begin < REAL_CLOCK.now() < end < begin + 367 * 24 * 3600


def test_a_certificate_in_the_folder_or_of_an_option_is_shown_instead(serve: Any, tmp_path: Path) -> None:
    _ca, certificate, key = make_certificates(["localhost", "127.0.0.1"], REAL_CLOCK.now(), ("a", "from a file"))
    (tmp_path / "tls.crt").write_text(certificate)
    (tmp_path / "tls.key").write_text(key)
    found = shown(serve(server.Options(secure_serving=True, cert_dir=str(tmp_path))))
    assert found["subject"] == ((("commonName", "from a file"),),)
    _, own, own_key = make_certificates(["localhost"], REAL_CLOCK.now(), ("a", "from an option"))

    def change(tls: ssl.SSLContext) -> None:
        load_key_pair(tls, own, own_key)

    found = shown(serve(server.Options(secure_serving=True, cert_dir=str(tmp_path), tls_opts=[change])))
    assert found["subject"] == ((("commonName", "from an option"),),)


def test_a_certificate_that_changes_is_shown_from_then_on(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certwatcher.certwatcher, "_DEFAULT_WATCH_INTERVAL", 0.05)

    def install(name: str) -> None:
        _ca, certificate, key = make_certificates(["localhost", "127.0.0.1"], REAL_CLOCK.now(), ("a", name))
        (tmp_path / "tls.key").write_text(key)
        (tmp_path / "tls.crt").write_text(certificate)

    install("before")
    url = serve(server.Options(secure_serving=True, cert_dir=str(tmp_path)))
    assert shown(url)["subject"] == ((("commonName", "before"),),)
    install("after")

    def is_after(_: context.Context) -> bool:
        try:
            return bool(shown(url)["subject"] == ((("commonName", "after"),),))
        except ssl.SSLError:  # It changed between the two connections of `shown`.
            return False

    wait.poll_until_context_timeout(context.background(), 0.05, 60.0, True, is_after)
