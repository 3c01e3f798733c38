"""The most used names of controller-runtime, in one module. Mirrors alias.go.

    from clientgo import controller_runtime as ctrl

    mgr = ctrl.new_manager(ctrl.get_config_or_die())
    ctrl.new_controller_managed_by(mgr).for_(Foo).complete(reconciler)
    mgr.start(ctrl.setup_signal_handler())
"""

from __future__ import annotations

from clientgo.apimachinery.apis.meta.v1 import ObjectMeta
from clientgo.apimachinery.runtime import TypeMeta
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersion
from clientgo.controller_runtime.builder.controller import Builder
from clientgo.controller_runtime.builder.controller import controller_managed_by as new_controller_managed_by
from clientgo.controller_runtime.builder.webhook import webhook_managed_by as new_webhook_managed_by
from clientgo.controller_runtime.client.config import get_config, get_config_or_die, register_flags
from clientgo.controller_runtime.controller.controllerutil import (
    create_or_patch,
    create_or_update,
    set_controller_reference,
)
from clientgo.controller_runtime.log.log import LOG, set_logger
from clientgo.controller_runtime.log.log import from_context as logger_from
from clientgo.controller_runtime.log.log import into_context as logger_into
from clientgo.controller_runtime.manager.manager import Manager, Options
from clientgo.controller_runtime.manager.manager import new as new_manager
from clientgo.controller_runtime.manager.signals import setup_signal_handler
from clientgo.controller_runtime.reconcile.reconcile import Request, Result
from clientgo.controller_runtime.scheme.scheme import Builder as SchemeBuilder

__all__ = [
    "LOG",
    "Builder",
    "GroupResource",
    "GroupVersion",
    "Manager",
    "ObjectMeta",
    "Options",
    "Request",
    "Result",
    "SchemeBuilder",
    "TypeMeta",
    "create_or_patch",
    "create_or_update",
    "get_config",
    "get_config_or_die",
    "logger_from",
    "logger_into",
    "new_controller_managed_by",
    "new_manager",
    "new_webhook_managed_by",
    "register_flags",
    "set_controller_reference",
    "set_logger",
    "setup_signal_handler",
]


