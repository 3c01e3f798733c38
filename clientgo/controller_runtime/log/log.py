"""The logger of controller-runtime and of the programs written on it. Mirrors pkg/log/log.go.

    ctrl.set_logger(zap.new(zap.use_dev_mode(True)))    # or klog.background(), or nothing: that is klog too
    log = ctrl.LOG.with_name("setup")

In a reconciler `from_context(ctx)` returns a logger that names the controller, the object and the reconcileID.
"""

from __future__ import annotations

from clientgo import klog
from clientgo.context import Context
from clientgo.controller_runtime.log.deleg import DelegatingLogger, Root
from clientgo.klog import Logger

__all__ = ["LOG", "from_context", "into_context", "set_logger"]

_ROOT = Root()

LOG: Logger = DelegatingLogger(_ROOT)
"""The package's logger. It logs through the logger of `set_logger`, and through klog before. Go: log.Log."""


def set_logger(logger: Logger) -> None:
    """Make `LOG`, and every logger derived from it, log through `logger`. Only the first call has an effect.

    Go: log.SetLogger.
    """
    _ROOT.fulfill(logger)


def from_context(ctx: Context | None, **pairs: object) -> Logger:
    """Return the context's logger, or `LOG`, with the pairs added. Go: log.FromContext."""
    logger = LOG
    if ctx is not None:
        found = klog.from_context(ctx)
        # klog returns its own logger if the context has none.
        if found is not klog.background():
            logger = found
    return logger.with_values(**pairs) if pairs else logger


def into_context(ctx: Context, logger: Logger) -> Context:
    """Return a context with `logger`, which `klog.from_context` returns too. Go: log.IntoContext."""
    return klog.new_context(ctx, logger)
