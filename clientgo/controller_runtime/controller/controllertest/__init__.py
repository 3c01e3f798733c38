"""sigs.k8s.io/controller-runtime/pkg/controller/controllertest: an informer and a queue for tests of sources and
handlers.
"""

from clientgo.controller_runtime.controller.controllertest.testing import ErrorType, Queue, TypedQueue
from clientgo.controller_runtime.controller.controllertest.util import (
    SYNCED,
    FakeInformer,
    InformerOption,
    InformerOptions,
    new_fake_informer,
)

__all__ = [
    "SYNCED",
    "ErrorType",
    "FakeInformer",
    "InformerOption",
    "InformerOptions",
    "Queue",
    "TypedQueue",
    "new_fake_informer",
]
