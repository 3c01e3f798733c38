"""A process that stands for election: leader_candidate.py IDENTITY URL TOKEN NAMESPACE NAME LEASE DEADLINE PERIOD.

Prints "leading" and "stopped"; ends when it has stopped leading, as programs that elect a leader should.
"""

from __future__ import annotations

import signal
import sys

from clientgo import context, rest
from clientgo.tools import leaderelection
from clientgo.tools.leaderelection import resourcelock


def report(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(identity: str, url: str, token: str, namespace: str, name: str, *durations: str) -> None:
    lease_duration, renew_deadline, retry_period = map(float, durations)
    ctx, cancel = context.with_cancel(context.background())
    signal.signal(signal.SIGTERM, lambda *_: cancel())
    lock = resourcelock.new_from_kubeconfig(
        resourcelock.LEASES_RESOURCE_LOCK,
        namespace,
        name,
        resourcelock.ResourceLockConfig(identity=identity),
        rest.Config(host=url, bearer_token=token),
        renew_deadline,
    )
    callbacks = leaderelection.LeaderCallbacks(
        on_started_leading=lambda _ctx: report("leading"),
        on_stopped_leading=lambda: report("stopped"),
        on_new_leader=lambda leader: report(f"leader is {leader}"),
    )
    config = leaderelection.LeaderElectionConfig(
        lock=lock,
        lease_duration=lease_duration,
        renew_deadline=renew_deadline,
        retry_period=retry_period,
        callbacks=callbacks,
        release_on_cancel=True,
        name=name,
    )
    report("standing")
    leaderelection.run_or_die(ctx, config)


if __name__ == "__main__":
    main(*sys.argv[1:])
