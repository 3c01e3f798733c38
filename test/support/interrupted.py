"""A program that interrupts itself in each of the calls a main thread blocks in; test_interrupts.py runs it.

It is a process of its own, because an interrupt may come between making a ticker and promising to stop it: what that
leaves behind is nothing to a program about to end, and a leak to the tests that come after.
"""

from __future__ import annotations

import itertools
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from clientgo import context
from clientgo.apimachinery.util import wait
from clientgo.golang.channel import Channel, select
from clientgo.tools import cache
from clientgo.util import flowcontrol, workqueue
from clientgo.utils.clock import REAL_CLOCK

PATIENCE = 120.0  # seconds after the interrupt, for what takes milliseconds
ROUNDS = 50


class Interrupter:
    """Interrupter of the main thread, once, `delay` seconds after `start`. A call that blocks much longer raises
    TimeoutError.
    """

    def __init__(self) -> None:
        # 2: armed, the next signal is the interrupt; 1: the one after it is the failure; 0: disarmed.
        self._awaited = 0
        signal.signal(signal.SIGALRM, self._on_signal)

    def _on_signal(self, number: int, frame: object) -> None:
        if self._awaited == 0:
            return
        self._awaited -= 1
        if self._awaited == 1:
            raise KeyboardInterrupt
        raise TimeoutError(f"blocks on, {PATIENCE} s after the interrupt")

    def start(self, delay: float) -> None:
        """Arm the timer. The kernel sends the signals: the interrupt meets no lock of this class."""
        self._awaited = 2
        signal.setitimer(signal.ITIMER_REAL, delay, PATIENCE)

    def stop(self) -> None:
        self._awaited = 0
        signal.setitimer(signal.ITIMER_REAL, 0)


def never(*_: object) -> bool:
    return False


def for_ever(step: Callable[[], object]) -> Callable[[], object]:
    return lambda: [step() for _ in itertools.repeat(None)]


# What blocks, made outside of the reach of the interrupt.
BLOCKING: dict[str, Callable[[], Callable[[], object]]] = {
    "context": lambda: context.background().done().wait,
    "channel": lambda: Channel[int]().receive,
    "select": lambda: partial(select, [Channel[int](), threading.Event()]),
    "select, again and again": lambda: for_ever(partial(select, [Channel[int](), threading.Event()], timeout=0.001)),
    "wait_for_cache_sync": lambda: partial(cache.wait_for_cache_sync, threading.Event(), never),
    "poll": lambda: partial(wait.poll_until_context_cancel, context.background(), 0.001, True, never),
    "until": lambda: partial(wait.until, lambda: None, 0.001, threading.Event()),
    "sleep": lambda: for_ever(partial(REAL_CLOCK.sleep, 0.001)),
    "rate limiter": lambda: for_ever(flowcontrol.new_token_bucket_rate_limiter(1000.0, 1).accept),
    "FIFO": lambda: partial(cache.new_fifo(cache.meta_namespace_key_func).pop, never),
}


def interrupted_in_condition(error: RuntimeError) -> bool:
    """Report whether CPython turned the interrupt into `error`.

    A signal handler that raises inside `Condition.wait`, between the release of the lock and its return, leaves the
    lock free, and the `with` around `wait` fails to release it. The call ends nevertheless, and the interrupt is the
    context of its error. `Thread.start` and `Event.wait` have this flaw too, so the library cannot prevent it.
    """
    texts = ("release unlocked lock", "cannot release un-acquired lock")
    if str(error) not in texts or not isinstance(error.__context__, KeyboardInterrupt):
        return False
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__context__.__traceback__)]
    # The last function is the signal handler.
    return files[-2:-1] == [threading.__file__]


def interrupt(interrupter: Interrupter, call: Callable[[], object]) -> None:
    """Interrupt the call repeatedly after different delays, since the place of the interrupt must not matter."""
    for number in range(ROUNDS):
        try:
            interrupter.start(delay=0.0005 + 0.0001 * number)
            call()
            raise AssertionError("came back without an interrupt")
        except KeyboardInterrupt:
            pass
        except RuntimeError as error:
            if not interrupted_in_condition(error):
                raise
        finally:
            interrupter.stop()


def interrupt_queue(interrupter: Interrupter, queue: Any) -> None:
    """Check that an interrupted `get` leaves the queue unchanged."""
    interrupt(interrupter, queue.get)
    queue.add("a")
    assert queue.get()[0] == "a"
    queue.done("a")
    queue.shut_down()
    assert queue.get()[1]


def main() -> None:
    interrupter = Interrupter()
    for name, make in BLOCKING.items():
        interrupt(interrupter, make())
        sys.stdout.write(f"{name}\n")
    for make_queue in (workqueue.new, workqueue.new_typed_delaying_queue, workqueue.new_priority_queue):
        interrupt_queue(interrupter, make_queue())
        sys.stdout.write(f"{make_queue.__name__}\n")


if __name__ == "__main__":
    main()
