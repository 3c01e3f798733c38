"""Write a clientset's fake: the same typed clients over an object tracker."""

from __future__ import annotations

from clientgo.codegen.client_gen import GENERATED
from clientgo.codegen.clients import Clientset


def render_clientset(clientset: Clientset) -> str:
    """fake/clientset_generated.py."""
    package, _, name = clientset.clientset.rpartition(".")
    imports = "\n".join(
        sorted(
            [
                "from clientgo import testing",
                "from clientgo.apimachinery.runtime.object import Object",
                f"from {package} import {name} as clientset",
                f"from {clientset.clientset}.scheme import CODECS, SCHEME",
            ],
            key=lambda line: (line.split()[1], line),
        )
    )
    return f'''"""A fake clientset, for tests. Mirrors fake/clientset_generated.go. {GENERATED}"""

from __future__ import annotations

{imports}


class Clientset(testing.FakeClientset, clientset.Clientset):
    """All typed clients, over an object tracker. Go: fake.Clientset. `testing.FakeClientset` says more."""

    def __init__(self, tracker: testing.ObjectTracker) -> None:
        super().__init__(tracker, SCHEME)


def new_simple_clientset(*objects: Object, history: bool = False) -> Clientset:
    """A fake clientset that holds `objects`. Go: fake.NewSimpleClientset. Nothing is validated or defaulted.

    An apply is a strategic merge. With `history` it honours resourceVersion in watches: see `clientgo.testing.fixture`.
    """
    return _with_objects(testing.new_object_tracker(SCHEME, CODECS.universal_deserializer(), history=history), objects)


def new_clientset(*objects: Object, history: bool = False) -> Clientset:
    """Return a fake clientset that keeps managedFields and merges applies as a server does. Go: fake.NewClientset."""
    tracker = testing.new_field_managed_object_tracker(SCHEME, CODECS.universal_deserializer(), history=history)
    return _with_objects(tracker, objects)


def _with_objects(tracker: testing.ObjectTracker, objects: tuple[Object, ...]) -> Clientset:
    for obj in objects:
        tracker.add(obj)
    return Clientset(tracker)
'''


def render_init(clientset: Clientset) -> str:
    """fake/__init__.py."""
    return f'''"""A fake clientset over an object tracker, for tests.

    client = fake.new_clientset(obj, ...)
    client.actions()                                       # what was asked
    client.prepend_reactor("get", "<resource>", reaction)  # answer differently

Unlike the rest of the library this package builds on `clientgo.testing`; nothing but tests should import it.
{GENERATED}"""

from {clientset.clientset}.fake.clientset_generated import Clientset, new_clientset, new_simple_clientset

__all__ = [
    "Clientset",
    "new_clientset",
    "new_simple_clientset",
]
'''
