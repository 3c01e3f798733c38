"""A cache of fake informers, for tests of what watches. Mirrors pkg/cache/informertest/fake_cache.go."""

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
    """A cache.Cache that holds nothing; its informers tell of what the test says. Go: informertest.FakeInformers.

    A kind's informer is made when it is first asked for, and has synced.
    """

    # The informers, by kind. A test may put its own here.
    informers_by_gvk: dict[GroupVersionKind, Informer] = field(default_factory=dict)
    # What knows kinds by their classes.
    scheme: Scheme = SCHEME
    # What asking for an informer, and `start`, raise.
    error: Exception | None = None
    # What `wait_for_cache_sync` answers.
    synced: bool = True

    def get_informer_for_kind(self, ctx: Context, gvk: GroupVersionKind, *opts: InformerGetOption) -> Informer:
        """The informer of a kind by name. Raises what the scheme raises for a kind it does not know."""
        self.scheme.new(gvk)
        return self._informer_for(gvk)

    def fake_informer_for_kind(self, ctx: Context, gvk: GroupVersionKind) -> FakeInformer:
        """The same, as what it is."""
        return cast(FakeInformer, self.get_informer_for_kind(ctx, gvk))

    def get_informer(self, ctx: Context, obj: type[T] | T, *opts: InformerGetOption) -> Informer:
        """The informer of a kind."""
        return self._informer_for(gvk_for_object(obj, self.scheme))

    def remove_informer(self, ctx: Context, obj: type[T] | T) -> None:
        """Forget the informer of a kind; none is fine."""
        self.informers_by_gvk.pop(gvk_for_object(obj, self.scheme), None)

    def wait_for_cache_sync(self, ctx: Context) -> bool:
        """Says `synced`, at once."""
        return self.synced

    def fake_informer_for(self, ctx: Context, obj: type[T] | T) -> FakeInformer:
        """The informer of a kind, as what it is."""
        return cast(FakeInformer, self.get_informer(ctx, obj))

    def _informer_for(self, gvk: GroupVersionKind) -> Informer:
        if self.error is not None:
            raise self.error
        if gvk not in self.informers_by_gvk:
            self.informers_by_gvk[gvk] = new_fake_informer(SYNCED)
        return self.informers_by_gvk[gvk]

    def start(self, ctx: Context) -> None:
        """Returns at once, or raises `error`."""
        if self.error is not None:
            raise self.error

    def index_field(self, ctx: Context, obj: type[T] | T, field: str, extract_value: IndexerFunc) -> None:
        """Does nothing."""

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        """An empty object of the kind."""
        return obj() if isinstance(obj, type) else type(obj).from_dict({})

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        """An empty list of the kind."""
        return obj() if isinstance(obj, type) else type(obj).from_dict({})
