"""Go's rules for HTTP_PROXY, HTTPS_PROXY and NO_PROXY."""

from __future__ import annotations

import pytest

from clientgo.golang.http import proxy as httpproxy

ENVIRONMENT = {"HTTP_PROXY": "http://plain:1", "https_proxy": "secure:2"}


def chosen(url: str, **environ: str) -> str | None:
    return httpproxy.from_environment({**ENVIRONMENT, **environ}).proxy_func()(url)


def test_the_scheme_of_the_url_says_which_proxy():
    assert chosen("http://host") == "http://plain:1"
    assert chosen("https://host") == "http://secure:2", "a proxy without scheme is an http one"
    assert chosen("ftp://host") is None
    assert httpproxy.from_environment({"ALL_PROXY": "http://p"}).proxy_func()("http://host") is None


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "127.0.0.1:6443", "127.3.2.1", "[::1]:6443"])
def test_nothing_on_this_machine_is_asked_for_through_a_proxy(host):
    assert chosen(f"http://{host}/x") is None


@pytest.mark.parametrize(
    ("no_proxy", "host", "proxied"),
    [
        ("*", "a.example", False),
        ("x, *", "a.example", False),
        ("a.example", "a.example", False),
        ("A.EXAMPLE", "a.example:80", False),
        ("a.example", "sub.a.example", False),
        ("a.example", "aa.example", True),
        (".a.example", "a.example", True),
        (".a.example", "sub.a.example", False),
        ("*.a.example", "a.example", True),
        ("*.a.example", "sub.a.example", False),
        ("a.example:80", "a.example", False),
        ("a.example:81", "a.example", True),
        ("a.example:81", "a.example:81", False),
        ("10.1.2.3", "10.1.2.3:6443", False),
        ("10.1.2.3:6443", "10.1.2.3:6443", False),
        ("10.1.2.3:1", "10.1.2.3:6443", True),
        ("10.0.0.0/8", "10.1.2.3", False),
        ("10.0.0.0/8", "11.1.2.3", True),
        ("10.0.0.0/8", "host", True),
        ("fd00::/8", "[fd00::1]:6443", False),
        ("fd00::1", "[fd00::1]", False),
        ("[fd00::1]:6443", "[fd00::1]:6443", False),
        ("[fd00::1]:6443", "[fd00::1]:1", True),
        (" , ,:80", "a.example", True),
        ("10.0.0.0/99", "10.0.0.0", True),
        ("10.0.0.0/255.0.0.0", "10.1.2.3", True),
        ("10.1.2.3/8", "10.9.9.9", False),
        ("0.0.0.0/0", "10.9.9.9", False),
        ("0.0.0.0/0", "[fd00::1]", True),
        ("::/0", "[fd00::1]", False),
        ("10.0.0.0/8:6443", "10.1.2.3:6443", True),
        ("10.1.2.3", "[::ffff:10.1.2.3]", False),
        ("::ffff:10.1.2.3", "10.1.2.3", False),
        ("example", "a.example", False),
        ("example", "example.com", True),
        ("..example", "a.example", True),
        ("*example", "a.example", True),
        ("a.*", "a.example", True),
        ("http://a.example", "a.example", True),
        ("a.example b.example", "a.example", True),
        ("a.example;b.example", "a.example", True),
        ("b.example,a.example", "user:pw@a.example", False),
        ("a.example:http", "a.example", True),
        ("b\u00fccher.example", "xn--bcher-kva.example", False),
        ("xn--bcher-kva.example", "b\u00fccher.example", False),
        ("b\u00fccher.example", "sub.b\u00dccher.example", False),
        (".", "a.example", True),
        ("\u00fc" * 300, "a.example", True),
    ],
)
def test_exceptions(no_proxy, host, proxied):
    """Go: TestProxierWithNoProxyCIDR."""
    assert (chosen(f"http://{host}/", NO_PROXY=no_proxy) is not None) is proxied


@pytest.mark.parametrize("proxy", ["", "://x", "http://", "http://h:port", "h:99999"])
def test_a_broken_proxy_is_none(proxy):
    assert chosen("http://host", HTTP_PROXY=proxy) is None


def test_capitals_win_over_small_letters():
    assert chosen("http://host", http_proxy="http://other:1") == "http://plain:1"


def test_a_cgi_script_does_not_trust_a_header():
    with pytest.raises(ValueError, match="refusing to use HTTP_PROXY value in CGI environment"):
        chosen("http://host", REQUEST_METHOD="GET")
    assert chosen("https://host", REQUEST_METHOD="GET") == "http://secure:2"
