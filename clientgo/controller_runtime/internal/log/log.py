"""The logger of controller-runtime itself. Mirrors pkg/internal/log/log.go."""

from clientgo.controller_runtime.log.log import LOG

__all__ = ["RUNTIME_LOG"]

RUNTIME_LOG = LOG.with_name("controller-runtime")
"""The default logger of this package. Go: log.RuntimeLog."""
