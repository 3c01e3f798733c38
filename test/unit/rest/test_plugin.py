"""Auth providers that are compiled in. Go: rest/plugin_test.go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from roundtrips import Turns, answer

from clientgo import rest
from clientgo.golang import http
from clientgo.rest import plugin
from clientgo.tools.clientcmd import api


class Provider:
    """A plugin that marks each request and keeps its arguments."""

    def __init__(self, address: str, config: Mapping[str, str], persister: rest.AuthProviderConfigPersister) -> None:
        self.address, self.config, self.persister = address, config, persister

    def wrap_transport(self, rt: http.RoundTripper) -> http.RoundTripper:
        class Marking:
            def round_trip(self, request: http.Request) -> http.Response:
                request.headers["Marked"] = "by the provider"
                return rt.round_trip(request)

        return Marking()

    def login(self) -> None:
        raise AssertionError("nobody asks for it")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Provider]]:
    """Yield the providers that a separate registry creates."""
    monkeypatch.setattr(plugin, "_plugins", {})
    providers: list[Provider] = []

    def make(address: str, config: Mapping[str, str], persister: rest.AuthProviderConfigPersister) -> Provider:
        if config.get("fail"):
            raise ValueError("Failed to load AuthProvider")
        providers.append(Provider(address, config, persister))
        return providers[-1]

    rest.register_auth_provider_plugin("marking", make)
    yield providers


def test_a_provider_wraps_the_transport(made):
    """Go: TestAuthPluginWrapTransport"""
    turns = Turns(answer())
    provider = api.AuthProviderConfig(name="marking")
    client = rest.http_client_for(rest.Config(host="http://h", transport=turns, auth_provider=provider))
    client.do(http.Request(method="GET", url="http://h/"))
    assert turns.requests[0].headers["Marked"] == "by the provider"
    assert made[0].address == "http://h"


@pytest.mark.parametrize(
    ("name", "config", "message"),
    [
        ("marking", {"fail": "yes"}, "Failed to load AuthProvider"),
        ("unknown", {}, 'no Auth Provider found for name "unknown"'),
    ],
)
def test_a_provider_that_cannot_be_had_is_an_error_before_any_request(made, name, config, message):
    provider = api.AuthProviderConfig(name=name, config=config)
    with pytest.raises(ValueError, match=message):
        rest.http_client_for(rest.Config(host="http://h", auth_provider=provider))


def test_what_a_provider_persists_reaches_the_persister(made):
    """Go: TestAuthPluginPersist"""
    kept: list[Mapping[str, str]] = []

    class Persister:
        def persist(self, config: Mapping[str, str]) -> None:
            kept.append(config)

    given = api.AuthProviderConfig(name="marking", config={"token": "a"})
    http_client_config = rest.Config(host="http://h", auth_provider=given, auth_config_persister=Persister())
    rest.http_client_for(http_client_config)
    assert made[0].config == {"token": "a"}
    made[0].persister.persist({"token": "b"})
    assert kept == [{"token": "b"}]


def test_without_a_persister_there_is_one_that_forgets(made):
    """Go: Test_WhenNilPersister_NoOpPersisterIsAssigned"""
    rest.get_auth_provider("127.0.0.1", api.AuthProviderConfig(name="marking"), None)
    made[0].persister.persist({"token": "b"})


def test_a_name_is_taken_once(made):
    with pytest.raises(ValueError, match="was registered twice"):
        rest.register_auth_provider_plugin("marking", Provider)
