"""The result of the last reconcile, for the status of any kind.

`status`, `reason` and `lastUpdate` come from the guides. Today a condition with its observedGeneration has the same
meaning, and `kubectl wait --for=condition=Ready` and other programs read it.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1

# The values of `status`.
SUCCESS = "Success"
FAILURE = "Failure"
# The type of the condition.
READY = "Ready"


class ReconcileStatus(runtime.Struct):
    """The outcome of the last reconcile."""

    status: str = runtime.field("status", "string", default="", schema=runtime.Schema(enum=[SUCCESS, FAILURE]))
    # The time of the reconciliation, in whole seconds.
    last_update: datetime | None = runtime.field("lastUpdate", "*metav1.Time", default=None)
    # Why it failed.
    reason: str = runtime.field("reason", "string", default="")
    # The reconciled generation. If the object has another one, the operator has not reconciled it yet.
    observed_generation: int = runtime.field("observedGeneration", "int64", default=0)
    conditions: MutableSequence[metav1.Condition] = runtime.field(
        "conditions",
        "[]metav1.Condition",
        default=runtime.EMPTY,
        schema=runtime.Schema(list_type="map", list_map_keys=["type"]),
    )


@runtime_checkable
class ReconcileStatusAware(Protocol):
    """A kind whose status has the result of the last reconciliation."""

    def get_reconcile_status(self) -> ReconcileStatus:
        """Return the part of the status that records reconciliations. Writing to it changes the object."""
        ...
