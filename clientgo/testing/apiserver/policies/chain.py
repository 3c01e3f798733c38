"""Policies and webhooks, in the order in which kube-apiserver asks them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from clientgo.testing.apiserver.access.rbac import Authorizer
from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.options import DeleteOptions, WriteOptions
from clientgo.testing.apiserver.webhooks import attributes
from clientgo.testing.apiserver.webhooks.attributes import CREATE, UPDATE
from clientgo.testing.apiserver.webhooks.chain import WebhookChain
from clientgo.testing.apiserver.webhooks.matching import GROUP
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.webhooks import WebhookClients

if TYPE_CHECKING:
    from clientgo.testing.apiserver.policies.mutating import MutatingPolicies
    from clientgo.testing.apiserver.policies.validating import ValidatingPolicies

_MUTATING, _VALIDATING = f"{GROUP}/mutatingadmissionpolicies", f"{GROUP}/validatingadmissionpolicies"


class AdmissionChain:
    """Asks policies and webhooks about writes. Thread-safe; every method blocks until all have answered."""

    def __init__(self, clients: WebhookClients, store: Store, registry: Registry, authorizer: Authorizer) -> None:
        self._store = store
        self._registry = registry
        self._authorizer = authorizer
        self._webhooks = WebhookChain(clients, store, registry, authorizer)

    def __repr__(self) -> str:
        policies = self._store.count(_MUTATING) + self._store.count(_VALIDATING)
        return f"<AdmissionChain {policies} policies, {self._webhooks!r}>"

    @cached_property
    def _mutating(self) -> MutatingPolicies:
        # Here, as in _validating: CEL comes with the first policy.
        from clientgo.testing.apiserver.policies.mutating import MutatingPolicies

        return MutatingPolicies(self._store, self._registry, self._authorizer)

    @cached_property
    def _validating(self) -> ValidatingPolicies:
        from clientgo.testing.apiserver.policies.validating import ValidatingPolicies  # Here, as in _mutating.

        return ValidatingPolicies(self._store, self._registry, self._authorizer)

    def mutate(self, call: Call, obj: Json, old: Json | None, options: WriteOptions) -> Json:
        """Return the object to store; `obj` itself if neither policies nor webhooks change it. Raises ApiError."""
        if not self._store.count(_MUTATING):
            return self._webhooks.mutate(call, obj, old, options)
        given = attributes.of_write(CREATE if old is None else UPDATE, call, obj, old, options)
        made, again = self._mutating.admit(given)
        mine = obj if made is given or made.obj is None else made.obj
        theirs = self._webhooks.mutate(call, mine, old, options)
        if theirs is mine or not again:
            return theirs
        last, _ = self._mutating.admit(given.of(theirs), again)
        return last.obj if last.obj is not None else theirs

    def validate(self, call: Call, obj: Json, old: Json | None, options: WriteOptions) -> None:
        """Ask all policies and webhooks about the complete object. Raises ApiError if one denies it."""
        if self._store.count(_VALIDATING):
            operation = CREATE if old is None else UPDATE
            self._validating.validate(attributes.of_write(operation, call, obj, old, options))
        self._webhooks.validate(call, obj, old, options)

    def delete(self, call: Call, old: Json, options: DeleteOptions) -> None:
        """Ask the validating policies and all webhooks about a delete. Raises ApiError if one denies it."""
        if self._store.count(_VALIDATING):
            self._validating.validate(attributes.of_delete(call, old, options))
        self._webhooks.delete(call, old, options)
