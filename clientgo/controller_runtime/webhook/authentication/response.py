"""Constructors of responses to token reviews. Mirrors pkg/webhook/authentication/response.go."""

from __future__ import annotations

from clientgo.api.authentication import v1 as authenticationv1
from clientgo.controller_runtime.webhook.authentication.webhook import Response
from clientgo.klog.exceptions import full_text

__all__ = ["authenticated", "errored", "review_response", "unauthenticated"]


def authenticated(reason: str, user: authenticationv1.UserInfo) -> Response:
    """Return a response that authenticates the user. Go: Authenticated."""
    return review_response(True, user, reason)


def unauthenticated(reason: str, user: authenticationv1.UserInfo) -> Response:
    """Return a response that rejects the token. Go: Unauthenticated."""
    return review_response(False, authenticationv1.UserInfo(), reason)


def errored(err: object) -> Response:
    """Return a response for a failed review. Go: Errored."""
    return Response(status=authenticationv1.TokenReviewStatus(authenticated=False, error=full_text(err)))


def review_response(authenticated: bool, user: authenticationv1.UserInfo, err: str, *audiences: str) -> Response:
    """Return a response with the decision, the user and the token's audiences. Go: ReviewResponse."""
    status = authenticationv1.TokenReviewStatus(
        authenticated=authenticated, user=user.deep_copy(), audiences=list(audiences)
    )
    if err:
        status.error = err
    return Response(status=status)
