"""A cache of fake informers, for tests of sources and handlers. Mirrors pkg/cache/informertest/fake_cache.go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, cast

from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context
from clientgo.controller_runtime.cache.cache import Informer, InformerGetOption
from clientgo.controller_runtime.client import (
    GetOption,
    IndexerFunc,
    ListOption,
    Object,
    ObjectKey,
    ObjectList,
)
from clientgo.controller_runtime.client.apiutil import gvk_for_object
from clientgo.controller_runtime.controller.controllertest import SYNCED, FakeInformer, new_fake_informer
from clientgo.kubernetes.scheme import SCHEME

T = TypeVar("T", bound=Object)
L = TypeVar("L", bound=ObjectList)

__all__ = ["FakeInformers"]


@dataclass
class FakeInformers:
    """An empty cache.Cache whose informers deliver the events that a test makes. Go: informertest.FakeInformers.

    A kind's informer is created on first use and counts as synced.
    """

    # The informers by kind. A test may insert its own.
    informers_by_gvk: dict[GroupVersionKind, Informer] = field(default_factory=dict)
    # Maps classes to kinds.
    scheme: Scheme = SCHEME
    # Raised by `start` and by the methods that return an informer.
    error: Exception | None = None
    # The result of `wait_for_cache_sync`.
    synced: bool = True

    def get_informer_for_kind(self, ctx: Context, gvk: GroupVersionKind, *opts: InformerGetOption) -> Informer:
        """Return the informer of the kind with this name. Raises the scheme's error for an unknown kind."""
        self.scheme.new(gvk)
        return self._informer_for(gvk)

    def fake_informer_for_kind(self, ctx: Context, gvk: GroupVersionKind) -> FakeInformer:
        """Return the informer of the kind with this name, typed as a FakeInformer."""
        return cast(FakeInformer, self.get_informer_for_kind(ctx, gvk))

    def get_informer(self, ctx: Context, obj: type[T] | T, *opts: InformerGetOption) -> Informer:
        """Return the informer of a kind."""
        return self._informer_for(gvk_for_object(obj, self.scheme))

    def remove_informer(self, ctx: Context, obj: type[T] | T) -> None:
        """Forget the informer of a kind. Does nothing if there is none."""
        self.informers_by_gvk.pop(gvk_for_object(obj, self.scheme), None)

    def wait_for_cache_sync(self, ctx: Context) -> bool:
        """Return `synced`. Never blocks."""
        return self.synced

    def fake_informer_for(self, ctx: Context, obj: type[T] | T) -> FakeInformer:
        """Return the informer of a kind, typed as a FakeInformer."""
        return cast(FakeInformer, self.get_informer(ctx, obj))

    def _informer_for(self, gvk: GroupVersionKind) -> Informer:
        if self.error is not None:
            raise self.error
        if gvk not in self.informers_by_gvk:
            self.informers_by_gvk[gvk] = new_fake_informer(SYNCED)
        return self.informers_by_gvk[gvk]

    def start(self, ctx: Context) -> None:
        """Return at once, or raise `error`."""
        if self.error is not None:
            raise self.error

    def index_field(self, ctx: Context, obj: type[T] | T, field: str, extract_value: IndexerFunc) -> None:
        """Do nothing."""

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        """Return an empty object of the kind."""
        return obj() if isinstance(obj, type) else type(obj).from_dict({})

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        """Return an empty list of the kind."""
        return obj() if isinstance(obj, type) else type(obj).from_dict({})
