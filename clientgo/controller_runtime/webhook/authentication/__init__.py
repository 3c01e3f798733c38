"""Token review webhooks, which authenticate bearer tokens for the API server. Mirrors pkg/webhook/authentication."""

from clientgo.controller_runtime.webhook.authentication.response import (
    authenticated,
    errored,
    review_response,
    unauthenticated,
)
from clientgo.controller_runtime.webhook.authentication.webhook import Handler, HandlerFunc, Request, Response, Webhook

__all__ = [
    "Handler",
    "HandlerFunc",
    "Request",
    "Response",
    "Webhook",
    "authenticated",
    "errored",
    "review_response",
    "unauthenticated",
]
