"""k8s.io/utils/trace: log lines that show the steps of an operation that took too long."""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.utils.trace.trace import Field, Trace, context_with_trace, from_context, new
else:
    __getattr__, __dir__ = attach(__name__, {"trace": ["Field", "Trace", "context_with_trace", "from_context", "new"]})

__all__ = ["Field", "Trace", "context_with_trace", "from_context", "new"]
