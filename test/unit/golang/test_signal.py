"""Signals arrive on a channel, whatever the main thread is doing when they come."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest
from patience import PATIENCE

from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify

# In a process of their own: what was said to `notify` holds for as long as one lives.
RECEIVES = """
import signal
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify

signals = Channel[signal.Signals](2)
notify(signals, signal.SIGUSR1, signal.SIGUSR2)
signal.raise_signal(signal.SIGUSR2)
print(signals.receive()[0].name)
for _ in range(5):
    signal.raise_signal(signal.SIGUSR1)
print(signals.receive()[0].name, signals.receive()[0].name)
"""
# `Event.wait` holds the lock that `Event.set` takes when it asks its condition to wait.
SIGNALLED_WHEN_ABOUT_TO_WAIT = """
import signal, threading
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify

class Condition(threading.Condition):
    def wait(self, timeout=None):
        signal.raise_signal(signal.SIGUSR1)
        return super().wait(timeout)

original, threading.Condition = threading.Condition, Condition
stop = threading.Event()
threading.Condition = original
signals = Channel[signal.Signals](1)
notify(signals, signal.SIGUSR1)

def watch():
    signals.receive()
    stop.set()

threading.Thread(target=watch, daemon=True).start()
stop.wait()
print("ended")
"""
# The lock is free when the main thread waits; from then on nothing but the notification wakes it.
COMES_TO_ANOTHER_THREAD = """
import signal, threading
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify

signals = Channel[signal.Signals](1)
notify(signals, signal.SIGUSR1)
condition = threading.Condition()

def watch():
    with condition:
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
    signals.receive()
    with condition:
        condition.notify()

with condition:
    threading.Thread(target=watch, daemon=True).start()
    condition.wait()
print("ended")
"""
SEVERAL_CHANNELS = """
import signal
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify

first, both = Channel[signal.Signals](2), Channel[signal.Signals](2)
notify(first, signal.SIGUSR1)
notify(both, signal.SIGUSR1, signal.SIGUSR2)
signal.raise_signal(signal.SIGUSR2)
signal.raise_signal(signal.SIGUSR1)
print(both.receive()[0].name, both.receive()[0].name, first.receive()[0].name, len(first))
"""
# Its loop takes the wakeup descriptor when it adds a handler, and gives it up when it closes.
BESIDE_ASYNCIO = """
import asyncio, signal
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify

signals = Channel[signal.Signals](2)
notify(signals, signal.SIGUSR1)

async def main():
    heard = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, heard.set)
    for each in (signal.SIGUSR1, signal.SIGUSR2):
        signal.raise_signal(each)
    await heard.wait()
    print(signals.receive()[0].name)

asyncio.run(main())
for _ in range(2):
    signal.raise_signal(signal.SIGUSR1)
    print(signals.receive()[0].name, len(signals))
"""


def run(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_each_signal_that_has_room_is_received() -> None:
    """Go: os/signal: TestSignal"""
    assert run(RECEIVES) == ["SIGUSR2", "SIGUSR1 SIGUSR1"]


def test_a_signal_may_come_while_the_main_thread_holds_a_lock() -> None:
    assert run(SIGNALLED_WHEN_ABOUT_TO_WAIT) == ["ended"]


def test_a_signal_is_received_while_the_main_thread_goes_on_waiting() -> None:
    assert run(COMES_TO_ANOTHER_THREAD) == ["ended"]


def test_each_channel_that_asked_for_a_signal_receives_it() -> None:
    assert run(SEVERAL_CHANNELS) == ["SIGUSR2 SIGUSR1 SIGUSR1 0"]


def test_no_signal_is_lost_to_an_asyncio_loops_wakeup_descriptor() -> None:
    assert run(BESIDE_ASYNCIO) == ["SIGUSR1", "SIGUSR1 0", "SIGUSR1 0"]


def test_only_the_main_thread_may_ask_for_signals() -> None:
    before = signal.getsignal(signal.SIGUSR1)
    errors: list[ValueError] = []

    def elsewhere() -> None:
        with pytest.raises(ValueError) as caught:
            notify(Channel[signal.Signals](1), signal.SIGUSR1)
        errors.append(caught.value)

    thread = threading.Thread(target=elsewhere, name="elsewhere")
    thread.start()
    thread.join()
    assert "main thread" in str(errors[0])
    assert signal.getsignal(signal.SIGUSR1) is before
