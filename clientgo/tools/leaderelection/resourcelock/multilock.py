"""A lock that consists of two locks, for the migration from one kind of lock to another.

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
"""Identity of the leader if the two locks have different holders."""


class MultiLock:
    """A lock that holds two locks or none. Not thread-safe. Go: resourcelock.MultiLock."""

    def __init__(self, primary: Interface, secondary: Interface) -> None:
        self.primary = primary
        self.secondary = secondary

    def get(self, ctx: Context) -> tuple[LeaderElectionRecord, bytes]:
        """Return the primary's record and the bytes of both; the holder is UNKNOWN_LEADER if the holders differ.

        A missing secondary matters only if this candidate holds the primary. Raises the locks' errors.

        Go: MultiLock.Get.
        """
        primary, primary_raw = self.primary.get(ctx)
        try:
            secondary, secondary_raw = self.secondary.get(ctx)
        except StatusError as err:
            # A candidate without a secondary lock holds the primary.
            if errors.is_not_found(err) and primary.holder_identity != self.identity():
                return primary, primary_raw
            raise
        if primary.holder_identity != secondary.holder_identity:
            primary = dataclasses.replace(primary, holder_identity=UNKNOWN_LEADER)
            primary_raw = primary.to_json()
        return primary, concat_raw_record(primary_raw, secondary_raw)

    def create(self, ctx: Context, ler: LeaderElectionRecord) -> None:
        """Create both records; an existing primary is kept. Go: MultiLock.Create."""
        try:
            self.primary.create(ctx, ler)
        except StatusError as err:
            if not errors.is_already_exists(err):
                raise
        self.secondary.create(ctx, ler)

    def update(self, ctx: Context, ler: LeaderElectionRecord) -> None:
        """Update both records; a missing secondary is created. Go: MultiLock.Update."""
        self.primary.update(ctx, ler)
        try:
            self.secondary.get(ctx)
        except Exception as err:
            if errors.is_not_found(err):
                self.secondary.create(ctx, ler)
                return
        # If the get failed for another reason, the update raises the error.
        self.secondary.update(ctx, ler)

    def record_event(self, s: str) -> None:
        """Record the event in both locks. Go: MultiLock.RecordEvent."""
        self.primary.record_event(s)
        self.secondary.record_event(s)

    def describe(self) -> str:
        """Return the primary's description. Go: MultiLock.Describe."""
        return self.primary.describe()

    def identity(self) -> str:
        """Return the primary's identity. Go: MultiLock.Identity."""
        return self.primary.identity()


def concat_raw_record(primary_raw: bytes, secondary_raw: bytes) -> bytes:
    """Return the bytes of both records, separated by a comma. Go: resourcelock.ConcatRawRecord."""
    return primary_raw + b"," + secondary_raw
