"""Conversion by separate functions instead of methods of the types. Mirrors
pkg/webhook/conversion/conversion_hubspoke.go.

    converter = new_hub_spoke_converter(v2.Foo, new_spoke_converter(v1.Foo, hub_to_v1, v1_to_hub))

As in Go, a conversion function receives an empty object and fills it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from clientgo.apimachinery.runtime import Object, Scheme
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersionKind
from clientgo.context import Context
from clientgo.controller_runtime.webhook.conversion.conversion_registry import Converter

__all__ = ["SpokeConverter", "new_hub_spoke_converter", "new_spoke_converter"]

HubT = TypeVar("HubT", bound=Object)
SpokeT = TypeVar("SpokeT", bound=Object)
HubT_contra = TypeVar("HubT_contra", bound=Object, contravariant=True)


class SpokeConverter(Protocol[HubT_contra]):
    """A converter between one version and the hub. Go: conversion.SpokeConverter."""

    def get_spoke(self) -> type[Object]:
        """Return the class of the version. Go: GetSpoke."""
        ...

    def convert_hub_to_spoke(self, ctx: Context, hub: HubT_contra, spoke: Object, /) -> None:
        """Fill `spoke` from `hub`. Go: ConvertHubToSpoke."""
        ...

    def convert_spoke_to_hub(self, ctx: Context, spoke: Object, hub: HubT_contra, /) -> None:
        """Fill `hub` from `spoke`. Go: ConvertSpokeToHub."""
        ...


@dataclass(frozen=True)
class _SpokeConverter(Generic[HubT, SpokeT]):
    """Go: spokeConverter."""

    spoke: type[SpokeT]
    hub_to_spoke: Callable[[Context, HubT, SpokeT], object]
    spoke_to_hub: Callable[[Context, SpokeT, HubT], object]

    def get_spoke(self) -> type[Object]:
        return self.spoke

    def convert_hub_to_spoke(self, ctx: Context, hub: HubT, spoke: Any, /) -> None:
        self.hub_to_spoke(ctx, hub, spoke)

    def convert_spoke_to_hub(self, ctx: Context, spoke: Any, hub: HubT, /) -> None:
        self.spoke_to_hub(ctx, spoke, hub)


def new_spoke_converter(
    spoke: type[SpokeT],
    convert_hub_to_spoke: Callable[[Context, HubT, SpokeT], object],
    convert_spoke_to_hub: Callable[[Context, SpokeT, HubT], object],
) -> SpokeConverter[HubT]:
    """Return a converter made of two functions; both fill their last argument. Go: NewSpokeConverter."""
    return _SpokeConverter(spoke, convert_hub_to_spoke, convert_spoke_to_hub)


def new_hub_spoke_converter(
    hub: type[HubT], *spoke_converters: SpokeConverter[HubT]
) -> Callable[[Scheme], Converter]:
    """Return a function that makes the converter for a scheme. The function raises ValueError for inconsistent
    versions.

    Go: NewHubSpokeConverter.
    """

    def make(scheme: Scheme) -> Converter:
        kind = _kind_of(scheme, hub, "hub").group_kind()
        by_spoke: dict[type[Object], SpokeConverter[HubT]] = {}
        for converter in spoke_converters:
            spoke = converter.get_spoke()
            gvk = _kind_of(scheme, spoke, "spoke")
            if gvk.group_kind() != kind:
                raise ValueError(
                    f"failed to create hub spoke converter for {hub.__name__}: "
                    f"spoke GroupKind {gvk.group_kind()} does not match hub GroupKind {kind}"
                )
            if spoke in by_spoke:
                raise ValueError(
                    f"failed to create hub spoke converter for {hub.__name__}: duplicate spoke converter for {gvk}"
                )
            by_spoke[spoke] = converter
        _check_complete(scheme, kind, hub, by_spoke)
        return _HubSpokeConverter(hub, by_spoke)

    return make


def _kind_of(scheme: Scheme, cls: type[Object], role: str) -> GroupVersionKind:
    gvk = cls.GROUP_VERSION_KIND
    if gvk is None or not scheme.recognizes(gvk):
        raise ValueError(
            f"failed to create hub spoke converter: failed to get GVK for {role} {cls.__name__}: "
            f"no kind is registered for the type {cls.__name__} in scheme"
        )
    return gvk


def _check_complete(scheme: Scheme, kind: GroupKind, hub: type[Object], spokes: Iterable[type[Object]]) -> None:
    covered = {hub, *spokes}
    missing = [gvk for gvk, cls in scheme.all_known_types().items() if gvk.group_kind() == kind and cls not in covered]
    if missing:
        names = " ".join(sorted(str(gvk) for gvk in missing))
        raise ValueError(
            f"failed to create hub spoke converter for {kind}: "
            f"expected hub and spoke converters for all versions, no converter for [{names}]"
        )


class _HubSpokeConverter(Generic[HubT]):
    """Go: hubSpokeConverter."""

    def __init__(self, hub: type[HubT], by_spoke: dict[type[Object], SpokeConverter[HubT]]) -> None:
        self._hub = hub
        self._by_spoke = by_spoke

    def convert_object(self, ctx: Context, src: Object, dst: Object, /) -> None:
        if isinstance(src, self._hub):
            self._converter_of(dst).convert_hub_to_spoke(ctx, src, dst)
        elif isinstance(dst, self._hub):
            self._converter_of(src).convert_spoke_to_hub(ctx, src, dst)
        else:
            hub = self._hub()
            self._converter_of(src).convert_spoke_to_hub(ctx, src, hub)
            self._converter_of(dst).convert_hub_to_spoke(ctx, hub, dst)

    def _converter_of(self, spoke: Object) -> SpokeConverter[HubT]:
        converter = self._by_spoke.get(type(spoke))
        if converter is None:
            raise ValueError(f"failed to convert: no converter for {type(spoke).GROUP_VERSION_KIND}")
        return converter
