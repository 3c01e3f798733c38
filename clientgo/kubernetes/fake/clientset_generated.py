"""The fake clientset. Mirrors kubernetes/fake/clientset_generated.go, without being generated: see fake_rest.py."""

from __future__ import annotations

from clientgo import kubernetes, testing
from clientgo.apimachinery.runtime.object import Object
from clientgo.kubernetes.scheme import CODECS, SCHEME

__all__ = ["Clientset", "new_clientset", "new_simple_clientset"]


class Clientset(testing.FakeClientset, kubernetes.Clientset):
    """All typed clients, over an object tracker (Go: fake.Clientset). `testing.FakeClientset` says more."""

    def __init__(self, tracker: testing.ObjectTracker) -> None:
        super().__init__(tracker, SCHEME)


def new_simple_clientset(*objects: Object, history: bool = False) -> Clientset:
    """A fake clientset that holds `objects` (Go: fake.NewSimpleClientset). Nothing is validated or defaulted.

    An apply is a strategic merge. With `history` it honours resourceVersion in watches: see `clientgo.testing.fixture`.
    """
    return _with_objects(testing.new_object_tracker(SCHEME, CODECS.universal_deserializer(), history=history), objects)


def new_clientset(*objects: Object, history: bool = False) -> Clientset:
    """As `new_simple_clientset`, with owners of fields and real server-side apply (Go: fake.NewClientset)."""
    tracker = testing.new_field_managed_object_tracker(SCHEME, CODECS.universal_deserializer(), history=history)
    return _with_objects(tracker, objects)


def _with_objects(tracker: testing.ObjectTracker, objects: tuple[Object, ...]) -> Clientset:
    for obj in objects:
        tracker.add(obj)
    return Clientset(tracker)
