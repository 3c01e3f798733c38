"""Rate limits: token buckets, and backoff per ID. Mirrors util/flowcontrol.

`clientgo.util.flowcontrol.rate` is the token bucket itself, as Go's golang.org/x/time/rate.
"""

from clientgo.util.flowcontrol import rate
from clientgo.util.flowcontrol.backoff import (
    Backoff,
    new_back_off,
    new_back_off_with_jitter,
    new_fake_back_off,
    new_fake_back_off_with_jitter,
)
from clientgo.util.flowcontrol.throttle import (
    Clock,
    PassiveRateLimiter,
    RateLimiter,
    new_fake_always_rate_limiter,
    new_fake_never_rate_limiter,
    new_token_bucket_passive_rate_limiter,
    new_token_bucket_passive_rate_limiter_with_clock,
    new_token_bucket_rate_limiter,
    new_token_bucket_rate_limiter_with_clock,
)

__all__ = [
    "Backoff",
    "Clock",
    "PassiveRateLimiter",
    "RateLimiter",
    "new_back_off",
    "new_back_off_with_jitter",
    "new_fake_always_rate_limiter",
    "new_fake_back_off",
    "new_fake_back_off_with_jitter",
    "new_fake_never_rate_limiter",
    "new_token_bucket_passive_rate_limiter",
    "new_token_bucket_passive_rate_limiter_with_clock",
    "new_token_bucket_rate_limiter",
    "new_token_bucket_rate_limiter_with_clock",
    "rate",
]
