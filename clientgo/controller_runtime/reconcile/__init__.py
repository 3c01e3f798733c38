"""sigs.k8s.io/controller-runtime/pkg/reconcile: the interface of reconcilers, which programs implement."""

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
