"""The round trippers for credentials, impersonation, the user agent, and the log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from clientgo import context, klog, transport
from clientgo.golang import http
from clientgo.transport import DebugLevel
from clientgo.transport.round_trippers import _mask_value, header_key_escape


class Bottom:
    """A round tripper that records the request and responds."""

    def __init__(self, response: http.Response | None = None) -> None:
        self.response = response or http.Response(status_code=200)
        self.request: http.Request | None = None

    def round_trip(self, request: http.Request) -> http.Response:
        self.request = request
        return self.response


def sent(wrap: transport.WrapperFunc, **headers: str) -> http.Header:
    """Return the headers that the wrapper sends. The original request must be unchanged."""
    bottom = Bottom()
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    request = http.Request(method="GET", url="http://h/", headers=http.Header(given))
    wrap(bottom).round_trip(request)
    assert request.headers == http.Header(given), "a retry sends the original again"
    assert bottom.request is not None
    return bottom.request.headers


def test_a_bearer_token():
    """Go: TestBearerAuthRoundTripper"""
    wrap: transport.WrapperFunc = lambda rt: transport.new_bearer_auth_round_tripper("test", rt)  # noqa: E731
    assert sent(wrap)["Authorization"] == "Bearer test"
    assert sent(wrap, Authorization="Basic x")["Authorization"] == "Basic x"


def test_a_user_and_a_password():
    """Go: TestBasicAuthRoundTripper/basic"""
    wrap: transport.WrapperFunc = lambda rt: transport.new_basic_auth_round_tripper("user", "p\u00e4ss", rt)  # noqa: E731
    assert sent(wrap)["Authorization"] == "Basic dXNlcjpww6Rzcw=="
    assert sent(wrap, Authorization="Bearer x")["Authorization"] == "Bearer x"


def test_an_empty_password_is_one():
    """Go: TestBasicAuthRoundTripper/no pass"""
    headers = sent(lambda rt: transport.new_basic_auth_round_tripper("user", "", rt))
    assert headers["Authorization"] == "Basic dXNlcjo="


def test_a_user_agent():
    """Go: TestUserAgentRoundTripper"""
    wrap: transport.WrapperFunc = lambda rt: transport.new_user_agent_round_tripper("test", rt)  # noqa: E731
    assert sent(wrap)["User-Agent"] == "test"
    assert sent(wrap, User_Agent="other")["User-Agent"] == "other"


@pytest.mark.parametrize(
    ("impersonate", "expected"),
    [
        ({"user_name": "user"}, [("Impersonate-User", "user")]),
        ({"user_name": "user", "uid": "1"}, [("Impersonate-User", "user"), ("Impersonate-Uid", "1")]),
        (
            {"user_name": "user", "groups": ["g1", "g2"]},
            [("Impersonate-User", "user"), ("Impersonate-Group", "g1"), ("Impersonate-Group", "g2")],
        ),
        (
            {"user_name": "user", "extra": {"first": ["A", "a"], "se/cond%": ["B"]}},
            [
                ("Impersonate-User", "user"),
                ("Impersonate-Extra-first", "A"),
                ("Impersonate-Extra-first", "a"),
                ("Impersonate-Extra-se%2Fcond%25", "B"),
            ],
        ),
        (
            {"user_name": "user", "uid": "1", "groups": ["g"], "extra": {"test%20key": ["x"]}},
            [
                ("Impersonate-User", "user"),
                ("Impersonate-Uid", "1"),
                ("Impersonate-Group", "g"),
                ("Impersonate-Extra-test%2520key", "x"),
            ],
        ),
    ],
)
def test_impersonation(impersonate: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    """
    Go: TestImpersonationRoundTripper/all
    Go: TestImpersonationRoundTripper/username, groups and extra
    Go: TestImpersonationRoundTripper/username and uid
    Go: TestImpersonationRoundTripper/escape handling
    Go: TestImpersonationRoundTripper/double escape handling
    """
    config = transport.Config(impersonate=transport.ImpersonationConfig(**impersonate))
    headers = sent(lambda rt: transport.http_wrappers_for_config(config, rt))
    assert list(headers.items()) == expected
    own = sent(lambda rt: transport.http_wrappers_for_config(config, rt), Impersonate_User="own")
    assert list(own.items()) == [("Impersonate-User", "own")]


def test_an_authenticating_proxys_headers_replace_those_of_a_stranger():
    """
    Go: TestAuthProxyRoundTripper/allfields
    Go: TestAuthProxyRoundTripper/escaped extra
    Go: TestAuthProxyRoundTripper/double escaped extra
    """

    def wrap(rt: http.RoundTripper) -> http.RoundTripper:
        extra = {"a/b": ["x", "y"], "c%20d": ["z"]}
        return transport.new_auth_proxy_round_tripper("user", "1", ["g1", "g2"], extra, rt)

    evil = {"X_Remote_User": "root", "x_remote_group": "masters", "X_Remote_Extra_Scope": "all", "X_Remote_Uid": "0"}
    assert list(sent(wrap, **evil).items()) == [
        ("X-Remote-User", "user"),
        ("X-Remote-Uid", "1"),
        ("X-Remote-Group", "g1"),
        ("X-Remote-Group", "g2"),
        ("X-Remote-Extra-a%2Fb", "x"),
        ("X-Remote-Extra-a%2Fb", "y"),
        ("X-Remote-Extra-c%2520d", "z"),
    ]


@pytest.mark.parametrize(
    ("key", "escaped"),
    [
        ("alpha", "alpha"),
        ("alphanumeric-1.2_3", "alphanumeric-1.2_3"),
        ("100%", "100%25"),
        ("a b", "a%20b"),
        ("example.com/x", "example.com%2Fx"),
        ("a:b", "a%3Ab"),
        ("ü", "%C3%BC"),
        ("!#$&'*+^`|~", "!#$&'*+^`|~"),
        ('"(),;<=>?@[\\]{}', "%22%28%29%2C%3B%3C%3D%3E%3F%40%5B%5C%5D%7B%7D"),
    ],
)
def test_keys_of_headers_are_escaped(key: str, escaped: str) -> None:
    """Go: TestHeaderEscapeRoundTrip"""
    assert header_key_escape(key) == escaped


@pytest.mark.parametrize(
    ("key", "value", "masked"),
    [
        ("Authorization", "Basic YWxhZGRpbjpvcGVuc2VzYW1l", "Basic <masked>"),
        ("authorization", "bearer cn389ncoiwuencr", "bearer <masked>"),
        ("Authorization", "Negotiate cn389ncoiwuencr", "Negotiate <masked>"),
        ("Authorization", "Bearer", "Bearer"),
        ("Authorization", "bearer ", "bearer"),
        ("Authorization", "", ""),
        ("Authorization", "abc cn389ncoiwuencr", "<masked>"),
        ("Authorization", " Bearer x", "<masked>"),
        ("Authorization", "token", "<masked>"),
        ("ABC", "Negotiate cn389ncoiwuencr", "Negotiate cn389ncoiwuencr"),
    ],
)
def test_masks(key: str, value: str, masked: str) -> None:
    """Go: TestMaskValue"""
    assert _mask_value(key, value) == masked


REQUEST_HEADERS = 'headers=<\n\tAuthorization: bearer <masked>\n\tX-Test-Request: te"st\n >'
RESPONSE_HEADERS = "headers=<\n\tX-Test-Response: a\n\tX-Test-Response: b\n >"
URL = 'verb="GET" url="https://u:***@h/api/v1/pods?limit=500"'
CURL = (
    'curlCommand=<\n\tcurl -v -XGET  -H "Authorization: bearer <masked>" -H "X-Test-Request: te\\"st" '
    "'https://u:***@h/api/v1/pods?limit=500'\n >"
)


@pytest.fixture
def verbosity() -> Iterator[Any]:
    yield klog.set_verbosity
    klog.set_verbosity(0)


@pytest.mark.parametrize(
    ("levels", "v", "expected"),
    [
        ([DebugLevel.JUST_URL], 0, [f'"Request" {URL}']),
        ([DebugLevel.REQUEST_HEADERS], 0, [f'"Request" {REQUEST_HEADERS}']),
        ([DebugLevel.RESPONSE_HEADERS], 0, [f'"Response" {RESPONSE_HEADERS}']),
        ([DebugLevel.URL_TIMING], 0, [f'"Response" {URL} status="200 Fine" milliseconds=']),
        ([DebugLevel.RESPONSE_STATUS], 0, ['"Response" status="200 Fine" milliseconds=']),
        ([DebugLevel.CURL_COMMAND], 0, [f'"Request" {CURL}']),
        ([DebugLevel.BY_CONTEXT], 5, []),
        ([DebugLevel.BY_CONTEXT, DebugLevel.URL_TIMING], 5, [f'"Response" {URL} status="200 Fine" milliseconds=']),
        ([DebugLevel.BY_CONTEXT], 6, [f'"Response" {URL} status="200 Fine" milliseconds=']),
        (
            [DebugLevel.BY_CONTEXT],
            7,
            [f'"Request" {URL} {REQUEST_HEADERS}', '"Response" status="200 Fine" milliseconds='],
        ),
        (
            [DebugLevel.BY_CONTEXT],
            8,
            [f'"Request" {URL} {REQUEST_HEADERS}', f'"Response" status="200 Fine" {RESPONSE_HEADERS} milliseconds='],
        ),
        (
            [DebugLevel.BY_CONTEXT],
            9,
            [f'"Request" {CURL}', f'"Response" {URL} status="200 Fine" {RESPONSE_HEADERS} milliseconds='],
        ),
    ],
)
def test_the_log(levels, v, expected, verbosity, caplog):
    """Go: TestDebuggingRoundTripper. The password of the URL, which Go shows, is masked too."""
    verbosity(v)
    caplog.set_level(logging.DEBUG)
    answered = http.Header()
    for value in ("a", "b"):
        answered.add("X-Test-Response", value)
    bottom = Bottom(http.Response(status_code=200, reason="Fine", headers=answered))
    headers = http.Header({"Authorization": "bearer secretauthtoken", "X-Test-Request": 'te"st'})
    request = http.Request(method="GET", url="https://u:p@h/api/v1/pods?limit=500", headers=headers)
    if levels == [DebugLevel.BY_CONTEXT]:
        transport.debug_wrappers(bottom).round_trip(request)
    else:
        transport.new_debugging_round_tripper(bottom, *levels).round_trip(request)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == len(expected)
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(start)


def test_a_done_context_refuses_new_requests():
    """
    Go: Test_contextCanceller_RoundTrip/open context should call nested round tripper
    Go: Test_contextCanceller_RoundTrip/closed context should return a known error
    """
    ctx, cancel = context.with_cancel(context.background())
    bottom = Bottom()
    canceller = transport.context_canceller(ctx, ValueError("no more"))(bottom)
    request = http.Request(method="GET", url="http://h/")
    assert canceller.round_trip(request) is bottom.response
    cancel()
    with pytest.raises(ValueError, match="no more"):
        canceller.round_trip(request)


@pytest.mark.parametrize(
    ("names", "expected"),
    [([], None), ([None], None), (["a"], "a"), ([None, "a"], "a"), (["a", None, "b"], "ba"), (["a", "b", "c"], "cba")],
)
def test_wrappers_apply_in_order_and_skip_none(names, expected):
    """Go: TestWrappers"""
    called: list[str] = []

    def wrapper(name: str) -> transport.WrapperFunc:
        class Wrapper(Bottom):
            def __init__(self, inner: http.RoundTripper) -> None:
                super().__init__()
                self.inner = inner

            def round_trip(self, request: http.Request) -> http.Response:
                called.append(name)
                return self.inner.round_trip(request)

        return Wrapper

    wrapped = transport.wrappers(*(None if name is None else wrapper(name) for name in names))
    if expected is None:
        assert wrapped is None
        return
    assert wrapped is not None
    wrapped(Bottom()).round_trip(http.Request(method="GET", url="http://h/"))
    assert "".join(called) == expected
