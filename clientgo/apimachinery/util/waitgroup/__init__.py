"""Counters of work in progress, for a server's shutdown. Mirrors k8s.io/apimachinery/pkg/util/waitgroup."""

from clientgo.apimachinery.util.waitgroup.ratelimited_waitgroup import (
    NotDrainedError,
    RateLimitedSafeWaitGroup,
    RateLimiter,
    RateLimiterFactoryFunc,
)
from clientgo.apimachinery.util.waitgroup.waitgroup import SafeWaitGroup

__all__ = ["NotDrainedError", "RateLimitedSafeWaitGroup", "RateLimiter", "RateLimiterFactoryFunc", "SafeWaitGroup"]
