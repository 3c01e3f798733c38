"""Admission as the verbs see it: mutate first, then, when the object is complete and valid, validate.

Differs from Go: webhooks see an object after the system fields that its kind's strategy sets, not before; what they do
to managedFields is undone; connects (exec, proxy) are not asked about, for nothing is behind them here.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from clientgo.testing.apiserver.access.rbac import Authorizer
from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.options import DeleteOptions, WriteOptions
from clientgo.testing.apiserver.webhooks import attributes, matching
from clientgo.testing.apiserver.webhooks.attributes import CREATE, UPDATE, Attributes
from clientgo.testing.apiserver.webhooks.matching import Matcher
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.webhooks import WebhookClients

if TYPE_CHECKING:
    from clientgo.testing.apiserver.webhooks.mutating import Mutating
    from clientgo.testing.apiserver.webhooks.validating import Validating


class WebhookChain:
    """The webhooks that match a write. Thread-safe; every method blocks until all webhooks have answered."""

    def __init__(
        self, clients: WebhookClients, store: Store, registry: Registry, authorizer: Authorizer | None = None
    ) -> None:
        """Initialize the chain. `authorizer` answers the authorization checks in match conditions."""
        self._store = store
        self._clients = clients
        self._matcher = Matcher(store, registry)
        self._authorizer = authorizer

    def __repr__(self) -> str:
        return f"<WebhookChain {self._matcher!r} {self._clients!r}>"

    @cached_property
    def _mutating(self) -> Mutating:
        # Here, as in _validating: match conditions, and with them CEL, come with the first webhook.
        from clientgo.testing.apiserver.webhooks.mutating import Mutating

        return Mutating(self._clients, self._matcher, self._authorizer)

    @cached_property
    def _validating(self) -> Validating:
        from clientgo.testing.apiserver.webhooks.validating import Validating  # Here, as in _mutating.

        return Validating(self._clients, self._matcher, self._authorizer)

    def mutate(self, call: Call, obj: Json, old: Json | None, options: WriteOptions) -> Json:
        """Return the object after the mutating webhooks, or the given object itself if they change nothing.

        Raises ApiError.
        """
        if not self._store.count(matching.MUTATING):
            return obj
        given = _of(call, obj, old, options)
        made = self._mutating.admit(given)
        return obj if made is given or made.obj is None else made.obj

    def validate(self, call: Call, obj: Json, old: Json | None, options: WriteOptions) -> None:
        """Ask the validating webhooks about the complete object. Raises ApiError if one denies it."""
        if self._store.count(matching.VALIDATING):
            self._validating.validate(_of(call, obj, old, options))

    def delete(self, call: Call, old: Json, options: DeleteOptions) -> None:
        """Ask both kinds of webhooks about a delete. Raises ApiError if one denies it."""
        if not self._store.count(matching.MUTATING) + self._store.count(matching.VALIDATING):
            return
        deletion = attributes.of_delete(call, old, options)
        self._mutating.admit(deletion)
        self._validating.validate(deletion)


def _of(call: Call, obj: Json, old: Json | None, options: WriteOptions) -> Attributes:
    return attributes.of_write(CREATE if old is None else UPDATE, call, obj, old, options)
