"""The logger of controller-runtime and of the programs written on it. Mirrors pkg/log/log.go.

    ctrl.set_logger(zap.new(zap.use_dev_mode(True)))    # or klog.background(), or nothing: that is klog too
    log = ctrl.LOG.with_name("setup")

In a reconciler `from_context(ctx)` gives a logger that names the controller, the object and the reconcileID.
"""

from __future__ import annotations

from clientgo import klog
from clientgo.context import Context
from clientgo.controller_runtime.log.deleg import DelegatingLogger, Root
from clientgo.klog import Logger

__all__ = ["LOG", "from_context", "into_context", "set_logger"]

_ROOT = Root()

LOG: Logger = DelegatingLogger(_ROOT)
"""Logs to what `set_logger` was given; until then to klog. Go: log.Log."""


def set_logger(logger: Logger) -> None:
    """Let `LOG`, and every logger made of it, log through `logger`. Only the first call counts. Go: log.SetLogger."""
    _ROOT.fulfill(logger)


def from_context(ctx: Context | None, **pairs: object) -> Logger:
    """The logger the context carries, otherwise `LOG`; with the pairs added. Go: log.FromContext."""
    logger = LOG
    if ctx is not None:
        found = klog.from_context(ctx)
        # klog answers with its own logger when the context has none.
        if found is not klog.background():
            logger = found
    return logger.with_values(**pairs) if pairs else logger


def into_context(ctx: Context, logger: Logger) -> Context:
    """A context that carries `logger`, also for `klog.from_context`. Go: log.IntoContext."""
    return klog.new_context(ctx, logger)
