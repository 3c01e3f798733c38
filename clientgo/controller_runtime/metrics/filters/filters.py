"""Authentication and authorization for the metrics endpoint. Mirrors pkg/metrics/filters/filters.go.

For each client the filter sends a TokenReview to learn the user and a SubjectAccessReview to learn the user's
permission. It caches permissions for five minutes, and identities and refusals for a shorter time.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from clientgo import rest
from clientgo.api.authentication import v1 as authenticationv1
from clientgo.api.authorization import v1 as authorizationv1
from clientgo.context import Context
from clientgo.controller_runtime.metrics.server.server import Filter
from clientgo.golang.http import Client as HTTPClient
from clientgo.golang.http import server as http
from clientgo.klog import Logger
from clientgo.kubernetes.typed.authentication.v1 import authentication_client
from clientgo.kubernetes.typed.authorization.v1 import authorization_client
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["with_authentication_and_authorization"]

_TOKEN_SECONDS = 60.0
_ALLOWED_SECONDS = 300.0
_DENIED_SECONDS = 30.0
# Bounded, since any client may send tokens.
_MOST_ANSWERS = 1000

T = TypeVar("T")


def with_authentication_and_authorization(config: rest.Config, http_client: HTTPClient) -> Filter:
    """Return a filter provider for the metrics server's options. Go: filters.WithAuthenticationAndAuthorization.

    The manager needs permission to create tokenreviews and subjectaccessreviews. A client needs `get` on the
    nonResourceURL "/metrics". The server responds with 401 without a token and with 403 without the permission.
    """
    guard = _Guard(
        authentication_client.new_for_config_and_client(config, http_client),
        authorization_client.new_for_config_and_client(config, http_client),
    )

    def metrics_filter(log: Logger, handler: http.HandlerLike) -> http.HandlerLike:
        serve = http.to_handler(handler)

        def filtered(resp: http.ResponseWriter, req: http.Request) -> None:
            if guard.lets_pass(log, resp, req):
                serve(resp, req)

        return filtered

    return metrics_filter


class _ExpiringCache(Generic[T]):
    """A cache of review results that expire. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[object, tuple[float, T]] = {}

    def get(self, key: object, fetch: Callable[[], tuple[T, float]]) -> T:
        """Return the cached result, or call `fetch`, which returns a result and its lifetime in seconds. Blocks for the
        request.
        """
        with self._lock:
            kept = self._answers.get(key)
        if kept is not None and kept[0] > REAL_CLOCK.now():
            return kept[1]
        answer, seconds = fetch()
        with self._lock:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            self._answers[key] = (REAL_CLOCK.now() + seconds, answer)
        return answer


class _Guard:
    def __init__(
        self,
        authentication: authentication_client.AuthenticationV1Client,
        authorization: authorization_client.AuthorizationV1Client,
    ) -> None:
        self._authentication = authentication
        self._authorization = authorization
        self._users: _ExpiringCache[authenticationv1.UserInfo | None] = _ExpiringCache()
        self._rights: _ExpiringCache[bool] = _ExpiringCache()

    def lets_pass(self, log: Logger, resp: http.ResponseWriter, req: http.Request) -> bool:
        """Report whether the request is permitted. If it is not, the response has been written."""
        try:
            user = self._user(req)
        except Exception as err:
            log.error(err, "Authentication failed")
            http.error(resp, "Authentication failed", 500)
            return False
        if user is None:
            log.v(4).info("Authentication failed")
            http.error(resp, "Unauthorized", 401)
            return False
        try:
            allowed = self._is_allowed(user, req)
        except Exception as err:
            log.error(err, f"Authorization for user {user.username} failed")
            http.error(resp, f"Authorization for user {user.username} failed", 500)
            return False
        if not allowed:
            log.v(4).info(f"Authorization denied for user {user.username}")
            http.error(resp, f"Authorization denied for user {user.username}", 403)
        return allowed

    def _user(self, req: http.Request) -> authenticationv1.UserInfo | None:
        scheme, _, token = str(req.headers.get("Authorization", "")).partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            return None

        def fetch() -> tuple[authenticationv1.UserInfo | None, float]:
            review = authenticationv1.TokenReview(spec=authenticationv1.TokenReviewSpec(token=token))
            status = self._authentication.token_reviews().create(req.context(), review).status
            return (status.user.deep_copy() if status.authenticated else None), _TOKEN_SECONDS

        # Not the token itself: a memory dump must not contain it.
        return self._users.get(hashlib.sha256(token.encode()).digest(), fetch)

    def _is_allowed(self, user: authenticationv1.UserInfo, req: http.Request) -> bool:
        verb = req.method.lower()

        def fetch() -> tuple[bool, float]:
            allowed = self._review(req.context(), user, verb, req.path)
            return allowed, _ALLOWED_SECONDS if allowed else _DENIED_SECONDS

        return self._rights.get((user.username, user.uid, tuple(user.groups), verb, req.path), fetch)

    def _review(self, ctx: Context, user: authenticationv1.UserInfo, verb: str, path: str) -> bool:
        spec = authorizationv1.SubjectAccessReviewSpec(
            user=user.username,
            uid=user.uid,
            groups=list(user.groups),
            extra={key: list(values) for key, values in user.extra.items()},
            non_resource_attributes=authorizationv1.NonResourceAttributes(path=path, verb=verb),
        )
        review = authorizationv1.SubjectAccessReview(spec=spec)
        return self._authorization.subject_access_reviews().create(ctx, review).status.allowed
