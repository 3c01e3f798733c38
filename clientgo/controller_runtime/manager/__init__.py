"""sigs.k8s.io/controller-runtime/pkg/manager: the manager, which runs controllers and their dependencies."""

from clientgo.controller_runtime.manager.internal import LeaderElectionLost
from clientgo.controller_runtime.manager.manager import (
    BaseContextFunc,
    LeaderElectionRunnable,
    Manager,
    Options,
    Runnable,
    RunnableFunc,
    RunnableLike,
    new,
)
from clientgo.controller_runtime.manager.runnable_group import ErrRunnableGroupStopped
from clientgo.controller_runtime.manager.server import Server

__all__ = [
    "BaseContextFunc",
    "ErrRunnableGroupStopped",
    "LeaderElectionLost",
    "LeaderElectionRunnable",
    "Manager",
    "Options",
    "Runnable",
    "RunnableFunc",
    "RunnableLike",
    "Server",
    "new",
]
