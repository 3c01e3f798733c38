"""A REST client that responds without a server. Mirrors client-go's rest/fake/fake.go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clientgo import rest
from clientgo.apimachinery.runtime import NegotiatedSerializer
from clientgo.apimachinery.runtime.negotiate import new_client_negotiator
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang import http
from clientgo.util import flowcontrol

__all__ = ["RESTClient", "create_http_client"]

_JSON = "application/json"
_NO_VERSION = GroupVersion("", "")


def create_http_client(round_tripper: Callable[[http.Request], http.Response]) -> http.Client:
    """Return a client that calls the function for each request. Go: fake.CreateHTTPClient."""
    return http.Client(_RoundTripperFunc(round_tripper))


class _RoundTripperFunc:
    def __init__(self, func: Callable[[http.Request], http.Response]) -> None:
        self._func = func

    def round_trip(self, request: http.Request) -> http.Response:
        return self._func(request)


@dataclass(kw_only=True)
class RESTClient:
    """A REST client that records the last request and responds with `resp`, `client` or `err`.

    Implements rest.Interface. Not thread-safe. Go: fake.RESTClient.
    """

    negotiated_serializer: NegotiatedSerializer
    group_version: GroupVersion = _NO_VERSION
    versioned_api_path: str = ""
    err: Exception | None = None
    """Raised instead of sending the request, which is then not recorded."""
    req: http.Request | None = None
    """The request that was sent last."""
    client: http.Client | None = None
    """Sends the requests, instead of `resp`."""
    resp: http.Response | None = None
    """The response to each request."""

    def get(self) -> rest.Request:
        """Create a GET request. Go: fake.RESTClient.Get."""
        return self.verb("GET")

    def put(self) -> rest.Request:
        """Create a PUT request. Go: fake.RESTClient.Put."""
        return self.verb("PUT")

    def patch(self, pt: str) -> rest.Request:
        """Create a PATCH request with a body of the patch type `pt`. Go: fake.RESTClient.Patch."""
        return self.verb("PATCH").set_header("Content-Type", str(pt))

    def post(self) -> rest.Request:
        """Create a POST request. Go: fake.RESTClient.Post."""
        return self.verb("POST")

    def delete(self) -> rest.Request:
        """Create a DELETE request. Go: fake.RESTClient.Delete."""
        return self.verb("DELETE")

    def verb(self, verb: str) -> rest.Request:
        """Create a request with an HTTP method. Go: fake.RESTClient.Verb."""
        return self.request().verb(verb)

    def api_version(self) -> GroupVersion:
        """Return `group_version`. Go: fake.RESTClient.APIVersion."""
        return self.group_version

    def get_rate_limiter(self) -> flowcontrol.RateLimiter | None:
        """Return None: a fake is not limited. Go: fake.RESTClient.GetRateLimiter."""
        return None

    def request(self) -> rest.Request:
        """Create a request without a method. Go: fake.RESTClient.Request."""
        config = rest.ClientContentConfig(
            content_type=_JSON,
            group_version=self.group_version,
            negotiator=new_client_negotiator(self.negotiated_serializer, self.group_version),
        )
        client = create_http_client(self._do)
        return rest.new_request_with_client("https://localhost", self.versioned_api_path, config, client)

    def close(self) -> None:
        """Do nothing: there are no connections."""

    def _do(self, request: http.Request) -> http.Response:
        if self.err is not None:
            raise self.err
        self.req = request
        if self.client is not None:
            return self.client.do(request)
        if self.resp is None:
            raise OSError("the fake has no response: set resp, client or err")
        return self.resp
