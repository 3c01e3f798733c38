"""Validating webhooks. They are called in parallel and cannot change the object. Mirrors plugin/webhook/validating."""

from __future__ import annotations

import threading

from clientgo.testing.apiserver.access.rbac import Authorizer
from clientgo.testing.apiserver.webhooks import matching
from clientgo.testing.apiserver.webhooks.attributes import Attributes
from clientgo.testing.apiserver.webhooks.matching import Matcher
from clientgo.testing.apiserver.webhooks.reviews import WebhookCall, call_webhook, is_wanted
from clientgo.testing.apiserver.wire.webhooks import WebhookClients


class Validating:
    """The validating webhooks. Thread-safe."""

    def __init__(self, clients: WebhookClients, matcher: Matcher, authorizer: Authorizer | None) -> None:
        self._clients = clients
        self._matcher = matcher
        self._authorizer = authorizer

    def __repr__(self) -> str:
        return f"<Validating {self._clients!r}>"

    def validate(self, attributes: Attributes) -> None:
        """Call all webhooks and block until they have answered.

        Raises ApiError; with several, the first in the webhooks' order.
        """
        calls = []
        for hook in self._matcher.hooks(matching.VALIDATING, attributes):
            shape = self._matcher.match(hook, attributes)
            if shape is not None and is_wanted(hook, attributes, shape, self._authorizer):
                calls.append(WebhookCall(hook, attributes, shape, mutating=False))
        for failure in self._all(calls):
            if failure is not None:
                raise failure

    def _all(self, calls: list[WebhookCall]) -> list[Exception | None]:
        """Ask all questions in parallel and return the exception of each, or None."""
        failures: list[Exception | None] = [None] * len(calls)

        def run(i: int) -> None:
            try:
                call_webhook(self._clients, calls[i])
            except Exception as err:
                failures[i] = err

        # The last is asked by this thread, which has nothing else to do.
        threads = [
            threading.Thread(target=run, args=(i,), name="apiserver-webhook", daemon=True)
            for i in range(len(calls) - 1)
        ]
        for thread in threads:
            thread.start()
        if calls:
            run(len(calls) - 1)
        for thread in threads:
            thread.join()
        return failures
