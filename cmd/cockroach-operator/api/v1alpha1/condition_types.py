"""The conditions of a cluster, by which the Director selects an actor."""

from __future__ import annotations

import enum
from datetime import datetime

from clientgo.apimachinery import runtime


class ClusterConditionType(enum.StrEnum):
    """The types of conditions."""

    INITIALIZED = "Initialized"
    VERSION_CHECKED = "CrdbVersionChecked"
    CERTIFICATE_GENERATED = "CertificateGenerated"
    UI_INGRESS_EXPOSED = "UIIngressExposed"
    SQL_INGRESS_EXPOSED = "SQLIngressExposed"


class ClusterCondition(runtime.Struct):
    """One of them, and since when it is so."""

    type: str = runtime.field("type", "string", default="", schema=runtime.Schema(required=True))
    status: str = runtime.field("status", "string", default="", schema=runtime.Schema(required=True))
    last_transition_time: datetime | None = runtime.field(
        "lastTransitionTime", "*metav1.Time", default=None, schema=runtime.Schema(required=True)
    )
