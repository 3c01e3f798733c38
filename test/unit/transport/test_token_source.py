"""Bearer tokens from files: read at most each minute, and at once after a 401."""

from __future__ import annotations

import pytest
from httpscript import Answer, Received, ScriptedServer

from clientgo import context, rest, transport
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.rest import in_cluster_config
from clientgo.transport.token_source import new_cached_file_token_source
from clientgo.utils.clock.testing import FakeClock

CTX = context.background()


def test_the_file_is_read_again_after_a_minute(tmp_path):
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
    with pytest.raises(OSError, match=r'failed to read token file ".*/none": No such file or directory'):
        new_cached_file_token_source(str(tmp_path / "none")).token()
    (tmp_path / "empty").write_text(" \n")
    with pytest.raises(ValueError, match="read empty token from file"):
        new_cached_file_token_source(str(tmp_path / "empty")).token()


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
