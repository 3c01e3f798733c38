"""sigs.k8s.io/controller-runtime/pkg/reconcile: what programs write, the rest is there to call it."""

from clientgo.controller_runtime.reconcile.reconcile import (
    Func,
    ObjectReconciler,
    Reconciler,
    ReconcilerLike,
    Request,
    Result,
    TerminalError,
    TypedFunc,
    TypedReconciler,
    as_reconciler,
    is_terminal_error,
    result_of,
    terminal_error,
    to_function,
    with_result,
)

__all__ = [
    "Func",
    "ObjectReconciler",
    "Reconciler",
    "ReconcilerLike",
    "Request",
    "Result",
    "TerminalError",
    "TypedFunc",
    "TypedReconciler",
    "as_reconciler",
    "is_terminal_error",
    "result_of",
    "terminal_error",
    "to_function",
    "with_result",
]
