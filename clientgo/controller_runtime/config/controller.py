"""The defaults of a manager's controllers. Mirrors pkg/config/controller.go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clientgo.klog import Logger

__all__ = ["Controller"]


@dataclass(kw_only=True)
class Controller:
    """The defaults of controllers: `manager.Options(controller=Controller(...))`. Go: config.Controller."""

    skip_name_validation: bool | None = None
    """Allow several controllers with the same name. They share their metrics."""
    group_kind_concurrency: Mapping[str, int] = field(default_factory=dict)
    """Numbers of workers by kind, for example {"Deployment.apps": 5, "Pod": 2}. The builder uses them."""
    max_concurrent_reconciles: int = 0
    """The number of workers of every other controller; 0 selects 1."""
    cache_sync_timeout: float = 0.0
    """Seconds until a source must have started and synced; 0 selects two minutes."""
    recover_panic: bool | None = None
    """Handle a bug in a reconciler as an error. None is True. See internal.controller."""
    need_leader_election: bool | None = None
    """Run controllers only while the manager is the leader. None is True."""
    enable_warmup: bool | None = None
    """Start sources before the manager is elected, so that a new leader works without delay. None is False."""
    use_priority_queue: bool | None = None
    """Use a queue with priorities. None is True."""
    logger: Logger | None = None
    """The controllers' logger; None selects the manager's."""
    reconciliation_timeout: float = 0.0
    """Seconds after which the context of a reconcile ends; 0 sets no timeout."""
