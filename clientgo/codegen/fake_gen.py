"""Write a fake clientset, whose typed clients read and write an object tracker."""

from __future__ import annotations

from clientgo.codegen.client_gen import GENERATED
from clientgo.codegen.clients import Clientset


def render_clientset(clientset: Clientset) -> str:
    """Return the text of fake/clientset_generated.py."""
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
    """A clientset whose typed clients read and write an object tracker. See testing.FakeClientset. Go: fake.Clientset."""

    def __init__(self, tracker: testing.ObjectTracker) -> None:
        super().__init__(tracker, SCHEME)


def new_simple_clientset(*objects: Object, history: bool = False) -> Clientset:
    """Return a fake clientset that holds `objects`. Go: fake.NewSimpleClientset.

    It neither validates objects nor sets defaults, and handles an apply as a strategic merge. With `history`, watches
    honour resourceVersion: see `clientgo.testing.fixture`.
    """
    return _with_objects(testing.new_object_tracker(SCHEME, CODECS.universal_deserializer(), history=history), objects)


def new_clientset(*objects: Object, history: bool = False) -> Clientset:
    """Return a fake clientset that holds `objects` and tracks field managers. Go: fake.NewClientset.

    It merges an apply by managedFields, like an API server. See `new_simple_clientset` for `history`.
    """
    tracker = testing.new_field_managed_object_tracker(SCHEME, CODECS.universal_deserializer(), history=history)
    return _with_objects(tracker, objects)


def _with_objects(tracker: testing.ObjectTracker, objects: tuple[Object, ...]) -> Clientset:
    for obj in objects:
        tracker.add(obj)
    return Clientset(tracker)
'''


def render_init(clientset: Clientset) -> str:
    """Return the text of fake/__init__.py."""
    return f'''"""A fake clientset over an object tracker, for tests.

    client = fake.new_clientset(obj, ...)
    client.actions()                                       # the requests so far
    client.prepend_reactor("get", "<resource>", reaction)  # replace the answer

Only tests should import this package: unlike the rest of the library, it depends on `clientgo.testing`.
{GENERATED}"""

from {clientset.clientset}.fake.clientset_generated import Clientset, new_clientset, new_simple_clientset

__all__ = [
    "Clientset",
    "new_clientset",
    "new_simple_clientset",
]
'''
