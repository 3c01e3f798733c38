"""The loop of all poll functions. Mirrors apimachinery/pkg/util/wait/loop.go."""

from __future__ import annotations

from clientgo.apimachinery.util.wait.timer import Timer
from clientgo.apimachinery.util.wait.wait import ConditionWithContextFunc
from clientgo.context import Context
from clientgo.golang.channel import select
from clientgo.klog.answers import is_true

__all__ = ["loop_condition_until_context"]


def loop_condition_until_context(
    ctx: Context, t: Timer, immediate: bool, sliding: bool, condition: ConditionWithContextFunc
) -> None:
    """Call `condition` whenever `t` fires until it returns True; see `DelayFunc.until`.

    With `immediate` it calls the condition at least once, even if the context is already done. Stops the timer at the
    end. Raises the context's error if that is done first.
    """
    try:
        if not sliding:
            t.c()  # starts the first interval before the condition runs
        if immediate and is_true(condition, ctx):
            return
        fired = t.c()
        done = ctx.done()
        while True:
            # `select` prefers its first case: a timer that is always due cannot hide a context that is done.
            select([done, fired])
            err = ctx.err()
            if err is not None:
                raise err
            if not sliding:
                t.next()
            if is_true(condition, ctx):
                return
            if sliding:
                t.next()
    finally:
        t.stop()
