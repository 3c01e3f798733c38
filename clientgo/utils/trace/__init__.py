"""k8s.io/utils/trace: operations that say where the time went, when it took too long."""

from clientgo.utils.trace.trace import Field, Trace, context_with_trace, from_context, new

__all__ = ["Field", "Trace", "context_with_trace", "from_context", "new"]
