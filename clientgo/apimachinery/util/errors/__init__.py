"""Aggregated and wrapped errors (k8s.io/apimachinery/pkg/util/errors)."""

from clientgo.apimachinery.util.errors.chain import as_type, chain, is_error
from clientgo.apimachinery.util.errors.errors import (
    Aggregate,
    AggregateError,
    ErrPreconditionViolated,
    Matcher,
    MessageCountMap,
    aggregate_goroutines,
    create_aggregate_from_message_count_map,
    filter_out,
    flatten,
    new_aggregate,
    reduce,
)

__all__ = [
    "Aggregate",
    "AggregateError",
    "ErrPreconditionViolated",
    "Matcher",
    "MessageCountMap",
    "aggregate_goroutines",
    "as_type",
    "chain",
    "create_aggregate_from_message_count_map",
    "filter_out",
    "flatten",
    "is_error",
    "new_aggregate",
    "reduce",
]
