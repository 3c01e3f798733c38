"""Bearer tokens from files: read at most each minute, and at once after a 401."""

from __future__ import annotations

import pytest
from httpscript import Answer, Received, ScriptedServer
from queueobjects import in_threads, join
from roundtrips import Turns, answer

from clientgo import context, rest, transport
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang import http
from clientgo.rest import in_cluster_config
from clientgo.transport.token_source import Token, new_cached_file_token_source, new_cached_token_source
from clientgo.utils.clock import Clock, RealClock
from clientgo.utils.clock.testing import FakeClock

CTX = context.background()


def test_the_file_is_read_again_after_a_minute(tmp_path):
    """
    Go: TestCachingTokenSource/valid token returned from cache
    Go: TestCachingTokenSource/valid token returned from cache 1 minute before scheduled refresh
    Go: TestCachingTokenSource/new token created when cache is empty
    Go: TestCachingTokenSource/new token created 1 minute after scheduled refresh
    """
    path = tmp_path / "token"
    path.write_text("one\n")
    clock = FakeClock(1000.0)
    source = new_cached_file_token_source(str(path), clock)
    assert source.token().access_token == "one"
    path.write_text("two\n")
    clock.step(49)
    assert source.token().access_token == "one"
    clock.step(2)
    assert source.token().access_token == "two"


class Numbered:
    """Gives another token each time, good for a minute."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.asked = 0

    def token(self) -> Token:
        self.asked += 1
        return Token(f"token-{self.asked}", self._clock.now() + 60)


@pytest.mark.parametrize(("age", "asked"), [(59.999, 1), (60.0, 2), (60.001, 2)])
def test_a_token_is_of_no_use_from_its_expiry_on(age, asked):
    """Go: TestCachingTokenSource, `Expiry.After(now)`."""
    clock = FakeClock(1000.0)
    base = Numbered(clock)
    source = new_cached_token_source(base, clock)
    source.token()
    clock.step(age)
    assert source.token().access_token == f"token-{asked}"


@pytest.mark.parametrize(("older_than", "asked"), [(999.0, 1), (1000.0, 1), (1000.001, 2)])
def test_only_a_token_older_than_the_request_that_was_refused_is_forgotten(older_than, asked):
    """A token that was fetched in the same instant is not the rejected one.

    Go: TestCachingTokenSource, "reset": `t.Before`.
    """
    clock = FakeClock(1000.0)
    base = Numbered(clock)
    source = new_cached_token_source(base, clock)
    source.token()
    source.reset_token_older_than(older_than)
    assert source.token().access_token == f"token-{asked}"


def test_a_token_that_was_fetched_meanwhile_survives_the_refusal_of_the_old_one():
    clock = FakeClock(1000.0)
    base = Numbered(clock)
    source = new_cached_token_source(base, clock)
    source.token()
    clock.step(1)
    for _ in range(5):  # five requests that went out with the old token, and came back one by one
        source.reset_token_older_than(1001.0)
        assert source.token().access_token == "token-2"


def test_there_may_be_no_token_yet_to_forget():
    source = new_cached_token_source(Numbered(clock := FakeClock(1000.0)), clock)
    source.reset_token_older_than(2000.0)
    assert source.token().access_token == "token-1"


def test_an_unreadable_file_keeps_the_old_token(tmp_path):
    path = tmp_path / "token"
    path.write_text("one")
    clock = FakeClock(1000.0)
    source = new_cached_file_token_source(str(path), clock)
    assert source.token().access_token == "one"
    path.unlink()
    clock.step(120)
    assert source.token().access_token == "one"


def test_without_any_token_it_says_which_file(tmp_path):
    """Go: TestCachingTokenSource/error on create token returns error"""
    with pytest.raises(OSError, match=r'failed to read token file ".*/none": No such file or directory'):
        new_cached_file_token_source(str(tmp_path / "none")).token()
    (tmp_path / "empty").write_text(" \n")
    with pytest.raises(ValueError, match="read empty token from file"):
        new_cached_file_token_source(str(tmp_path / "empty")).token()


def test_threads_that_ask_at_once_cause_one_request_for_a_token():
    """Go: TestCachingTokenSourceRace"""
    base = Numbered(FakeClock(1000.0))
    source = new_cached_token_source(base, FakeClock(1000.0))
    found: list[str] = []
    join(in_threads([lambda: found.append(source.token().access_token)] * 50))
    assert found == ["token-1"] * 50
    assert base.asked == 1


@pytest.mark.parametrize(
    ("is_cached", "code", "own", "sent", "asked"),
    [
        # Go: TestTokenSourceTransportRoundTrip/skip oauth rt if has authorization header
        (False, 200, "Basic x", "Basic x", 1),
        # Go: TestTokenSourceTransportRoundTrip/authorized on newly acquired good token
        (False, 200, None, "Bearer token-1", 1),
        # Go: TestTokenSourceTransportRoundTrip/authorized on cached good token
        (True, 200, None, "Bearer token-1", 1),
        # Go: TestTokenSourceTransportRoundTrip/unauthorized on newly acquired bad token
        (False, 401, None, "Bearer token-1", 1),
        # Go: TestTokenSourceTransportRoundTrip/unauthorized on cached bad token
        (True, 401, None, "Bearer token-1", 2),
    ],
)
def test_a_refusal_throws_away_a_token_that_was_there_before_the_request(is_cached, code, own, sent, asked):
    clock = RealClock()
    base = Numbered(clock)
    source = new_cached_token_source(base, clock)
    if is_cached:
        source.token()
    turns = Turns(answer(code))
    wrapped = transport.resettable_token_source_wrap_transport(source)(turns)
    request = http.Request(method="GET", url="http://h/")
    if own is not None:
        request.headers["Authorization"] = own
    wrapped.round_trip(request)
    assert turns.requests[0].headers["Authorization"] == sent
    assert request.headers.get("Authorization") == own, "the caller's request stays as it was"
    source.token()
    assert base.asked == asked


def test_a_401_makes_the_next_request_read_the_file(tmp_path):
    path = tmp_path / "token"
    path.write_text("old")

    def answer(request: Received) -> Answer:
        return Answer(200 if request.headers["Authorization"] == "Bearer new" else 401, b"{}")

    with ScriptedServer(answer) as server:
        config = rest.Config(host=server.url, group_version=GroupVersion("", "v1"), bearer_token_file=str(path), qps=-1)
        client = rest.rest_client_for(config)
        assert client.get().resource("pods").do(CTX).error() is not None
        path.write_text("new")
        assert client.get().resource("pods").do(CTX).status_code() == 200
    assert [request.headers["Authorization"] for request in server.requests] == ["Bearer old", "Bearer new"]


def test_in_cluster_config(tmp_path, monkeypatch):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(rest.ErrNotInCluster):
        in_cluster_config(str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    with pytest.raises(OSError, match="token"):
        in_cluster_config(str(tmp_path))
    (tmp_path / "token").write_text("t")
    config = in_cluster_config(str(tmp_path))
    assert config.host == "https://[fd00::1]:443"
    assert config.bearer_token == "t"
    assert config.bearer_token_file == str(tmp_path / "token")
    assert config.ca_file == "", "there is none"


def test_basic_authentication_and_a_token_exclude_each_other():
    config = transport.Config(username="u", password="p", bearer_token="t")
    with pytest.raises(ValueError, match="username/password or bearer token may be set, but not both"):
        transport.new(config)


def test_a_custom_transport_excludes_tls_options():
    config = transport.Config(transport=transport.Transport(), tls=transport.TLSConfig(insecure=True))
    with pytest.raises(ValueError, match="using a custom transport with TLS certificate options"):
        transport.new(config)
