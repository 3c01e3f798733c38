"""Retries of failed operations, mainly after conflicts. Mirrors k8s.io/client-go/util/retry."""

from clientgo.util.retry.util import DEFAULT_BACKOFF, DEFAULT_RETRY, on_error, retry_on_conflict

__all__ = ["DEFAULT_BACKOFF", "DEFAULT_RETRY", "on_error", "retry_on_conflict"]
