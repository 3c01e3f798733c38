"""What all controllers of a manager have in common, unless they say otherwise. Mirrors pkg/config/controller.go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clientgo.klog import Logger

__all__ = ["Controller"]


@dataclass(kw_only=True)
class Controller:
    """The defaults of controllers: `manager.Options(controller=Controller(...))`. Go: config.Controller."""

    skip_name_validation: bool | None = None
    """Allow several controllers of one name. Their metrics are then one."""
    group_kind_concurrency: Mapping[str, int] = field(default_factory=dict)
    """How many workers the controllers for a kind have: {"Deployment.apps": 5}, {"Pod": 2}. Used by the builder."""
    max_concurrent_reconciles: int = 0
    """How many workers every other controller has; 1 when 0."""
    cache_sync_timeout: float = 0.0
    """Seconds until a source must have started and synced; two minutes when 0."""
    recover_panic: bool | None = None
    """Whether a bug in a reconciler is an error like others; True when None. See internal.controller."""
    need_leader_election: bool | None = None
    """Whether controllers run only where the manager is the leader; True when None."""
    enable_warmup: bool | None = None
    """Whether sources start before the manager is elected, so that a new leader begins at once; False when None."""
    use_priority_queue: bool | None = None
    """Whether the queue knows priorities; True when None."""
    logger: Logger | None = None
    """What controllers log to; the manager's when None."""
    reconciliation_timeout: float = 0.0
    """Seconds after which the context of a reconcile ends; never when 0."""
