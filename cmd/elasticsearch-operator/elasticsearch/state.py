"""The state and the results of a reconciliation: remaining work, events and status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from api.v1 import (
    ConditionType,
    DownscaledNode,
    Elasticsearch,
    NewNode,
    Phase,
    UpgradedNode,
)
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from elasticsearch import label, sset, version
from elasticsearch.client import HealthStatus, NodeShutdown

# Seconds until the next reconciliation, unless an event comes first. Changes inside of Elasticsearch, such as
# the health of a cluster, cause no event.
REQUEUE_AFTER = 10.0

REACHABLE, COMPLETE, DESIRED_VERSION = (
    ConditionType.ELASTICSEARCH_IS_REACHABLE,
    ConditionType.RECONCILIATION_COMPLETE,
    ConditionType.RUNNING_DESIRED_VERSION,
)


class Refused(Exception):
    """The specification cannot be carried out now. The operator does nothing until this changes."""


class Results:
    """The reasons why a cluster has not reached its desired state. Errors are raised instead."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def requeue(self, reason: str) -> None:
        """Add a reason to reconcile again."""
        if reason not in self.reasons:
            self.reasons.append(reason)

    @property
    def is_reconciled(self) -> bool:
        """Report whether no work is left."""
        return not self.reasons


class NewNodeStatus(StrEnum):
    """The state of a node that is to be created."""

    EXPECTED = "EXPECTED"
    PENDING = "PENDING"


@dataclass
class Event:
    """An event that is recorded after the status is written."""

    type: str
    reason: str
    action: str
    note: str


@dataclass
class State:
    """The status of a cluster, collected during its reconciliation."""

    es: Elasticsearch
    phase: Phase = Phase.APPLYING_CHANGES
    health: HealthStatus = HealthStatus.UNKNOWN
    pods: list[corev1.Pod] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    _new: dict[str, NewNode] = field(default_factory=dict)
    _upgraded: dict[str, UpgradedNode] = field(default_factory=dict)
    _downscaled: dict[str, DownscaledNode] = field(default_factory=dict)
    _message: str = ""

    def add_event(self, type: str, reason: str, action: str, note: str) -> None:
        """Report to the user."""
        self.events.append(Event(type, reason, action, note))

    def refuse(self, reason: str, note: str) -> None:
        """Record an event that this cannot be done; later reconciliations with the same result record no other."""
        self.phase, self._message = Phase.INVALID, note
        known = meta.find_status_condition(self.es.status.conditions, COMPLETE)
        if self.es.status.phase != Phase.INVALID or known is None or known.message != note:
            self.add_event(corev1.EVENT_TYPE_WARNING, reason, "Validation", note)

    def new_node(self, name: str, status: NewNodeStatus, message: str) -> None:
        """Record a node that will be added."""
        self._new[name] = NewNode(name=name, status=status, message=message)

    def nodes_to_upgrade(self, names: Iterable[str]) -> None:
        """Record the nodes that will be restarted."""
        self._upgraded = {name: UpgradedNode(name=name, status="PENDING") for name in names}

    def upgrade_refused(self, name: str, predicate: str) -> None:
        """Record that a predicate refuses the restart of a node for now."""
        message = "Cannot restart node because of failed predicate"
        self._upgraded[name] = UpgradedNode(name=name, status="PENDING", message=message, predicate=predicate)

    def deleted(self, name: str, message: str) -> None:
        """Record that a node's pod was deleted in order to restart it."""
        self._upgraded[name] = UpgradedNode(name=name, status="DELETED", message=message)

    def nodes_to_remove(self, names: Iterable[str]) -> None:
        """Record the nodes that will be removed."""
        self._downscaled = {name: DownscaledNode(name=name, shutdown_status="NOT_STARTED") for name in names}

    def shutdown_seen(self, name: str, shutdown: NodeShutdown) -> None:
        """Record the progress of a node's shutdown."""
        self._downscaled[name] = DownscaledNode(
            name=name, shutdown_status=shutdown.status, explanation=shutdown.explanation
        )

    def finish(self, results: Results) -> None:
        """Set the message and the phase from the results."""
        self._message = "; ".join(results.reasons)
        if results.is_reconciled and self.phase == Phase.APPLYING_CHANGES:
            self.phase = Phase.READY

    def write_to(self, es: Elasticsearch) -> None:
        """Make it the status of the object."""
        status = es.status
        status.phase, status.health = self.phase, self.health
        status.available_nodes = sum(map(sset.is_ready, self.pods))
        status.version = self._lowest_version() or status.version
        operations = status.in_progress_operations
        operations.upscale.nodes = [self._new[name] for name in sorted(self._new)]
        operations.upgrade.nodes = [self._upgraded[name] for name in sorted(self._upgraded)]
        operations.downscale.nodes = [self._downscaled[name] for name in sorted(self._downscaled)]
        self._write_conditions(es)
        status.observed_generation = es.get_generation()

    def _lowest_version(self) -> str:
        running = [each for pod in self.pods if (each := pod.get_labels().get(label.VERSION))]
        return min(running, key=version.parse, default="")

    def _write_conditions(self, es: Elasticsearch) -> None:
        reachable = self.health != HealthStatus.UNKNOWN
        self._condition(es, REACHABLE, reachable, "" if reachable else "Elasticsearch cannot be reached")
        self._condition(es, COMPLETE, self.phase == Phase.READY, self._message)
        running, wanted = es.status.version, es.spec.version
        text = f"All nodes are running version {running}" if running == wanted else f"Upgrading from {running}"
        self._condition(es, DESIRED_VERSION, running == wanted, text if running else "No nodes are running")

    @staticmethod
    def _condition(es: Elasticsearch, type: ConditionType, holds: bool, message: str) -> None:
        condition = metav1.Condition(
            type=type,
            status="True" if holds else "False",
            reason=type if holds else f"Not{type}",
            message=message,
            observed_generation=es.get_generation(),
        )
        meta.set_status_condition(es.status.conditions, condition)
