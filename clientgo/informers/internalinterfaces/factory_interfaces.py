"""The interface between a generated informer and its factory. Mirrors internalinterfaces/factory_interfaces.go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.context import StopChannel
from clientgo.golang.functions import describe_function, raise_returned, require_function
from clientgo.tools import cache

# Makes an informer from a clientset and a resync period in seconds. Go: NewInformerFunc.
NewInformerFunc = Callable[[Any, float], cache.SharedIndexInformer]

# Changes the options of every list and watch, in place. Go: TweakListOptionsFunc.
TweakListOptionsFunc = Callable[[metav1.ListOptions], None]


class SharedInformerFactory(Protocol):
    """The methods of a factory that its informers use. Go: internalinterfaces.SharedInformerFactory."""

    def start(self, stop_ch: StopChannel) -> None: ...

    def informer_for(
        self, object_class: type[runtime.Object], new_func: NewInformerFunc
    ) -> cache.SharedIndexInformer: ...

    def informer_name(self) -> cache.InformerName | None: ...


def checked_tweak(function: Callable[[metav1.ListOptions], object]) -> TweakListOptionsFunc:
    """Return `function` with a TypeError if it returns new options, which would be ignored. Raises TypeError for an async
    function, and for one with other parameters.
    """
    require_function(function, "a function that changes list options", "options")

    def tweak(options: metav1.ListOptions) -> None:
        returned = function(options)
        raise_returned(returned)
        if isinstance(returned, metav1.ListOptions) and returned is not options:
            raise TypeError(f"{describe_function(function)} returned new options: change its argument in place")

    return tweak


@dataclass(kw_only=True)
class InformerOptions:
    """The options of an informer. Go: internalinterfaces.InformerOptions."""

    resync_period: float = 0.0
    """Seconds between resyncs; 0 for none."""
    indexers: cache.Indexers = field(default_factory=dict)
    informer_name: cache.InformerName | None = None
    """The informer's name in metrics; None disables them."""
    tweak_list_options: TweakListOptionsFunc | None = None

    def __post_init__(self) -> None:
        """Check what the user's function returns, at each call."""
        if self.tweak_list_options is not None:
            self.tweak_list_options = checked_tweak(self.tweak_list_options)


def identifier(options: InformerOptions, gvr: GroupVersionResource) -> cache.InformerNameAndResource:
    """Return the identity of the informer of `gvr` in metrics; empty without a name, as Go's nil InformerName."""
    name = options.informer_name
    return cache.InformerNameAndResource("", gvr) if name is None else name.with_resource(gvr)
