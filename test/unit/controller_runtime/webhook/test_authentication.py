"""Token reviews: whose a token is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo import context
from clientgo.api.authentication import v1 as authenticationv1
from clientgo.context import Context
from clientgo.controller_runtime.webhook import authentication
from clientgo.golang.http.server import Request, ResponseWriter


def answer(webhook: authentication.Webhook, body: bytes, content_type: str = "application/json") -> dict[str, Any]:
    request = Request("POST", "/", read=lambda count: body[:count])
    request.headers["Content-Type"] = content_type
    request.headers["Content-Length"] = str(len(body))
    response = ResponseWriter()
    webhook.serve_http(response, request)
    assert response.status == 200
    return json.loads(response.body)


def known(ctx: Context, req: authentication.Request) -> authentication.Response:
    if req.spec.token == "t1":
        return authentication.authenticated("", authenticationv1.UserInfo(username="ada"))
    return authentication.unauthenticated("no such token", authenticationv1.UserInfo())


WEBHOOK = authentication.Webhook(handler=known)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_the_answer_has_the_version_and_the_uid_of_the_review(version: str) -> None:
    """Go: webhook/authentication: Authentication Webhooks > HTTP Handler > should return the v1
    ... response given by the handler
    Go: webhook/authentication: Authentication Webhooks > HTTP Handler > should return the v1beta1
    ... response given by the handler
    Go: webhook/authentication: Authentication Webhooks > should ensure that the response's UID is set
    ... to the request's UID
    """
    review = {
        "apiVersion": f"authentication.k8s.io/{version}",
        "kind": "TokenReview",
        "metadata": {"uid": "u1"},
        "spec": {"token": "t1"},
    }
    found = answer(WEBHOOK, json.dumps(review).encode())
    assert found["apiVersion"] == review["apiVersion"]
    assert found["metadata"]["uid"] == "u1"
    assert found["status"]["authenticated"]
    assert found["status"]["user"]["username"] == "ada"


def test_a_review_without_a_version_is_answered_in_v1() -> None:
    """Go: webhook/authentication: Authentication Webhooks > HTTP Handler > should return the response given by
    ... the handler
    ... with version defaulted to v1
    """
    found = answer(WEBHOOK, b'{"spec": {"token": "t1"}}')
    assert (found["apiVersion"], found["kind"]) == ("authentication.k8s.io/v1", "TokenReview")
    assert found["status"]["authenticated"]


def test_a_body_without_end_is_refused_before_it_is_read() -> None:
    """Go: webhook/authentication: Authentication Webhooks > HTTP Handler > should error when given an infinite body"""
    read = []
    request = Request("POST", "/", read=lambda count: read.append(count) or b"x" * count)  # type: ignore[func-returns-value]
    request.headers["Content-Length"] = str(10**12)
    response = ResponseWriter()
    WEBHOOK.serve_http(response, request)
    assert "request entity is too large; limit is 1048576 bytes" in json.loads(response.body)["status"]["error"]
    assert sum(read) <= 2 * 1024 * 1024


def test_the_context_is_the_requests_or_what_the_program_makes_of_it() -> None:
    """Go: webhook/authentication: Authentication Webhooks > HTTP Handler > should present the Context from the HTTP
    Go: webhook/authentication: Authentication Webhooks > HTTP Handler > should mutate the Context from the HTTP request
    """
    seen = []

    def handle(ctx: Context, req: authentication.Request) -> authentication.Response:
        seen.append(ctx.value("who"))
        return authentication.authenticated("", authenticationv1.UserInfo())

    def ask(webhook: authentication.Webhook) -> None:
        body = b'{"spec": {"token": "t"}}'
        ctx = context.with_value(context.background(), "who", "request")
        request = Request("POST", "/", read=lambda count: body[:count], ctx=ctx)
        request.headers["Content-Type"] = "application/json"
        request.headers["Content-Length"] = str(len(body))
        webhook.serve_http(ResponseWriter(), request)

    ask(authentication.Webhook(handler=handle))
    named = authentication.Webhook(
        handler=authentication.HandlerFunc(handle),
        with_context_func=lambda ctx, req: context.with_value(ctx, "who", f"{ctx.value('who')} of a program"),
    )
    ask(named)
    assert seen == ["request", "request of a program"]


def test_a_handlers_answer_is_kept_and_gets_the_uid() -> None:
    """Go: webhook/authentication: Authentication Webhooks > should invoke the handler to get a response
    Go: webhook/authentication: Authentication Webhooks > should populate the status on a response if one is
    ... not provided
    Go: webhook/authentication: Authentication Webhooks > shouldn't overwrite the status on a response
    """
    status = authenticationv1.TokenReviewStatus(error="as the handler says", audiences=["a"])
    for given, expected in ((None, {}), (status, {"error": "as the handler says", "audiences": ["a"]})):
        made = authentication.Response() if given is None else authentication.Response(status=given)
        request = authentication.Request.from_dict({"metadata": {"uid": "u7"}})
        found = authentication.Webhook(handler=lambda ctx, req, made=made: made).handle(context.background(), request)
        assert found.get_uid() == "u7"
        assert {key: value for key, value in found.to_dict().get("status", {}).items() if value} == expected


def test_the_usual_answers() -> None:
    """Go: webhook/authentication: Authentication Webhook Response Helpers"""
    ada = authenticationv1.UserInfo(username="ada")
    yes = authentication.authenticated("because", ada).status
    assert (yes.authenticated, yes.error, yes.user.username) == (True, "because", "ada")
    assert "error" not in authentication.authenticated("", ada).status.to_dict()
    no = authentication.unauthenticated("because", ada).status
    assert (no.authenticated, no.error, no.user.username) == (False, "because", "")
    assert "error" not in authentication.unauthenticated("", ada).status.to_dict()
    unknown = authentication.errored(ValueError("this is an error")).status
    assert (unknown.authenticated, unknown.error) == (False, "this is an error")
    for decision in (True, False):
        review = authentication.review_response(decision, ada, "because", "api", "other").status
        assert (review.authenticated, review.error, list(review.audiences)) == (decision, "because", ["api", "other"])


def test_an_unknown_token_is_unauthenticated() -> None:
    status = answer(WEBHOOK, b'{"spec": {"token": "t2"}}')["status"]
    assert not status.get("authenticated")
    assert status["error"] == "no such token"
    assert "username" not in status.get("user", {})


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"", "application/json", "request body is empty"),
        (b"{}", "text/plain", "contentType=text/plain, expected application/json"),
        (b"{", "application/json", "couldn't get version/kind; json parse error: unexpected end of JSON input"),
        (b"[]", "application/json", "couldn't get version/kind"),
        (b'{"kind": "Pod"}', "application/json", 'no kind "Pod" is registered'),
        (b"{}", "application/json", "token is empty"),
        (b"[" * 100_000, "application/json", "exceeded max depth"),
        (b" " * 1024 * 1024 + b"{}", "application/json", "request entity is too large"),
    ],
)
def test_what_is_no_review_is_answered_with_an_error(body: bytes, content_type: str, text: str) -> None:
    """Go: webhook/authentication: Authentication Webhooks > HTTP Handler > should return bad-request
    ... when given an empty body
    Go: webhook/authentication: Authentication Webhooks > HTTP Handler > should return bad-request when
    ... given the wrong content-type
    Go: webhook/authentication: Authentication Webhooks > HTTP Handler > should return bad-request when
    ... given an undecodable body
    Go: webhook/authentication: Authentication Webhooks > HTTP Handler > should error when given a NoBody
    """
    status = answer(WEBHOOK, body, content_type)["status"]
    assert not status.get("authenticated")
    assert text in status["error"]


def test_a_handler_that_returns_no_response_is_named() -> None:
    def forgetful(ctx: Context, req: authentication.Request) -> Any:
        return None

    with pytest.raises(TypeError, match=r"a handler returns a Response; .*forgetful returned None"):
        authentication.Webhook(handler=forgetful).handle(context.background(), authentication.Request())
