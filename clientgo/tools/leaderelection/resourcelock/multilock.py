"""Two locks that count as one, for moving from one kind of lock to another.

Mirrors client-go/tools/leaderelection/resourcelock/multilock.go.
"""

from __future__ import annotations

import dataclasses

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.api.errors import StatusError
from clientgo.context import Context
from clientgo.tools.leaderelection.resourcelock.interface import Interface, LeaderElectionRecord

__all__ = ["UNKNOWN_LEADER", "MultiLock", "concat_raw_record"]

UNKNOWN_LEADER = "leaderelection.k8s.io/unknown"
"""The leader when the two locks do not agree."""


class MultiLock:
    """Holds both locks or none. Go: resourcelock.MultiLock. Not thread-safe."""

    def __init__(self, primary: Interface, secondary: Interface) -> None:
        self.primary = primary
        self.secondary = secondary

    def get(self, ctx: Context) -> tuple[LeaderElectionRecord, bytes]:
        """The primary's record, and the bytes of both; held by UNKNOWN_LEADER when they have different holders.

        A secondary that is missing counts only if this candidate holds the primary. Raises what the locks raise.

        Go: MultiLock.Get.
        """
        primary, primary_raw = self.primary.get(ctx)
        try:
            secondary, secondary_raw = self.secondary.get(ctx)
        except StatusError as err:
            # Somebody who does not know of the secondary holds the primary.
            if errors.is_not_found(err) and primary.holder_identity != self.identity():
                return primary, primary_raw
            raise
        if primary.holder_identity != secondary.holder_identity:
            primary = dataclasses.replace(primary, holder_identity=UNKNOWN_LEADER)
            primary_raw = primary.to_json()
        return primary, concat_raw_record(primary_raw, secondary_raw)

    def create(self, ctx: Context, ler: LeaderElectionRecord) -> None:
        """Create both; a primary that exists already is left alone. Go: MultiLock.Create."""
        try:
            self.primary.create(ctx, ler)
        except StatusError as err:
            if not errors.is_already_exists(err):
                raise
        self.secondary.create(ctx, ler)

    def update(self, ctx: Context, ler: LeaderElectionRecord) -> None:
        """Update both; a secondary that is missing is created. Go: MultiLock.Update."""
        self.primary.update(ctx, ler)
        try:
            self.secondary.get(ctx)
        except Exception as err:
            if errors.is_not_found(err):
                self.secondary.create(ctx, ler)
                return
        # Whatever else was wrong with the get, the update will tell.
        self.secondary.update(ctx, ler)

    def record_event(self, s: str) -> None:
        """Record the event about both. Go: MultiLock.RecordEvent."""
        self.primary.record_event(s)
        self.secondary.record_event(s)

    def describe(self) -> str:
        """What the primary is called. Go: MultiLock.Describe."""
        return self.primary.describe()

    def identity(self) -> str:
        """The primary's identity. Go: MultiLock.Identity."""
        return self.primary.identity()


def concat_raw_record(primary_raw: bytes, secondary_raw: bytes) -> bytes:
    """The bytes of both records, with a comma in between. Go: resourcelock.ConcatRawRecord."""
    return primary_raw + b"," + secondary_raw
