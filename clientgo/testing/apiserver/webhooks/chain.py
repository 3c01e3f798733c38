"""Admission as the verbs see it: mutate first, then, when the object is complete and valid, validate.

Differs from Go: webhooks see an object after the system fields that its kind's strategy sets, not before; what they do
to managedFields is undone; connects (exec, proxy) are not asked about, for nothing is behind them here.
"""

from __future__ import annotations

from clientgo.testing.apiserver.access.rbac import Authorizer
from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.options import DeleteOptions, WriteOptions
from clientgo.testing.apiserver.webhooks import attributes
from clientgo.testing.apiserver.webhooks.attributes import CREATE, UPDATE, Attributes
from clientgo.testing.apiserver.webhooks.matching import Matcher
from clientgo.testing.apiserver.webhooks.mutating import Mutating
from clientgo.testing.apiserver.webhooks.validating import Validating
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.webhooks import WebhookClients


class WebhookChain:
    """Asks whoever wants to be asked about writes. Thread-safe; every method blocks until all have answered."""

    def __init__(
        self, clients: WebhookClients, store: Store, registry: Registry, authorizer: Authorizer | None = None
    ) -> None:
        """`authorizer` is the one that match conditions can ask."""
        matcher = Matcher(store, registry)
        self._mutating = Mutating(clients, matcher, authorizer)
        self._validating = Validating(clients, matcher, authorizer)

    def __repr__(self) -> str:
        return f"<WebhookChain {self._mutating!r} {self._validating!r}>"

    def mutate(self, call: Call, obj: Json, old: Json | None, options: WriteOptions) -> Json:
        """The object as the mutating webhooks want it, the given one itself when they leave it. Raises ApiError."""
        given = _of(call, obj, old, options)
        made = self._mutating.admit(given)
        return obj if made is given or made.obj is None else made.obj

    def validate(self, call: Call, obj: Json, old: Json | None, options: WriteOptions) -> None:
        """Raises ApiError when a webhook refuses the complete object."""
        self._validating.validate(_of(call, obj, old, options))

    def delete(self, call: Call, old: Json, options: DeleteOptions) -> None:
        """Raises ApiError when a webhook of either sort refuses the delete."""
        asked = attributes.of_delete(call, old, options)
        self._mutating.admit(asked)
        self._validating.validate(asked)


def _of(call: Call, obj: Json, old: Json | None, options: WriteOptions) -> Attributes:
    return attributes.of_write(CREATE if old is None else UPDATE, call, obj, old, options)
