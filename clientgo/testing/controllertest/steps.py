"""The steps of a script. Their reprs are the lines of the program that repeats a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clientgo.testing.controllertest import faults
from clientgo.testing.controllertest.faults import Armed

if TYPE_CHECKING:
    from clientgo.testing.controllertest.world import World

Json = dict[str, Any]


class Step:
    """One step of a script."""

    def run(self, world: World) -> None:
        """Do the step. It may let virtual time pass."""
        raise NotImplementedError


# ---- user actions


@dataclass(frozen=True)
class Set(Step):
    """A user action: create the object, or replace its spec."""

    obj: Json

    def run(self, world: World) -> None:
        world.user.actions.append(self)
        world.user.set(self.obj)

    def __repr__(self) -> str:
        return f"Set({self.obj!r})"


@dataclass(frozen=True)
class Delete(Step):
    """A user action: delete an object. `kind` is "Kind" or "group/version/Kind"."""

    kind: str
    name: str
    namespace: str = "default"

    def run(self, world: World) -> None:
        world.user.actions.append(self)
        world.user.delete(self.kind, self.name, self.namespace)


@dataclass(frozen=True)
class DeleteNamespace(Step):
    """A user action: delete the namespace with all its objects."""

    name: str = "default"

    def run(self, world: World) -> None:
        world.user.actions.append(self)
        world.user.delete_namespace(self.name)


@dataclass(frozen=True)
class Sleep(Step):
    """A pause of some seconds of virtual time."""

    seconds: float

    def run(self, world: World) -> None:
        world.sleep(self.seconds)


# ---- faults at an API call of the controller. `call` counts from the step on, without lists, watches and events.


@dataclass(frozen=True)
class Kill(Step):
    """A crash of the controller before or after a call, or immediately (`call=0`). It restarts a second later."""

    call: int = 0
    when: str = "after"

    def run(self, world: World) -> None:
        if self.call:
            world.faults.arm(self.call, Armed(0, f"kill {self.when}"))
            return
        for process in world.processes:
            process.kill()


@dataclass(frozen=True)
class Lose(Step):
    """A lost response: the server completes a call, and the connection breaks before the response arrives."""

    call: int

    def run(self, world: World) -> None:
        world.faults.arm(self.call, Armed(0, "lose"))


@dataclass(frozen=True)
class Fail(Step):
    """A failed call: the server rejects it with 409, 429, 500, 503 or 504."""

    call: int
    code: int

    def run(self, world: World) -> None:
        world.faults.arm(self.call, Armed(0, "fail", code=self.code))


@dataclass(frozen=True)
class Pause(Step):
    """A pause of the calling process before a call, as in a garbage collection or on a suspended machine."""

    call: int
    seconds: float

    def run(self, world: World) -> None:
        world.faults.arm(self.call, Armed(0, "pause", seconds=self.seconds))


@dataclass(frozen=True)
class ChangeLeader(Step):
    """A pause of the calling process before a call, until its leases have expired and another process leads.

    The optional step, such as a user action, happens as soon as the process stands still.
    """

    call: int
    step: Step | None = None

    def run(self, world: World) -> None:
        step = self.step
        act = (lambda: None) if step is None else (lambda: step.run(world))
        world.faults.arm(self.call, Armed(0, "change leader", act=act))

    def __repr__(self) -> str:
        return f"ChangeLeader({self.call})" if self.step is None else f"ChangeLeader({self.call}, ct.{self.step!r})"


@dataclass(frozen=True)
class Before(Step):
    """Another step, immediately before a call."""

    call: int
    step: Step

    def run(self, world: World) -> None:
        world.faults.arm(self.call, Armed(0, "before", act=lambda: self.step.run(world)))


@dataclass(frozen=True)
class Reject(Step):
    """A webhook that rejects the controller's creations and updates of a resource with 403, for some seconds."""

    resource: str
    seconds: float

    def run(self, world: World) -> None:
        world.faults.rejections[self.resource] = world.now() + self.seconds
        world.note("fault", f"admission webhook of {self.resource}", f"rejects writes for {self.seconds:g} s")


# ---- faults of watches


@dataclass(frozen=True)
class Lag(Step):
    """A standstill of a resource's watch cache for some seconds.

    Watches report no new events, and lists with version "0" return the old state.
    """

    resource: str
    seconds: float

    def run(self, world: World) -> None:
        until = world.now() + self.seconds
        world.faults.lags[self.resource] = faults.Lag(until, world.server.store.version)
        world.note("fault", f"watch cache of {self.resource}", f"stands still for {self.seconds:g} s")


@dataclass(frozen=True)
class Drop(Step):
    """A loss of all watches of a resource, which cannot be opened again for some seconds.

    With `compact` the server also drops its history, so that the controller sees no state in between.
    """

    resource: str
    seconds: float
    compact: bool = False

    def run(self, world: World) -> None:
        world.drop_watches(self.resource, self.seconds, self.compact)


@dataclass(frozen=True)
class Rewind(Step):
    """A crash of the controller, which then reads a resource as it was before its last `changes` changes.

    Lists with version "0" return the old state for 20 seconds. The Sieve paper calls this time travel.
    """

    resource: str
    changes: int

    def run(self, world: World) -> None:
        world.rewind(self.resource, self.changes, 20.0)


# ---- the rest of the cluster


@dataclass(frozen=True)
class Touch(Step):
    """An annotation that another writer adds to an object: the `index`-th object of the user and the controller."""

    index: int

    def run(self, world: World) -> None:
        if found := world.nth(self.index):
            world.user.touch(*found)


@dataclass(frozen=True)
class Remove(Step):
    """A deletion, by an administrator, of the `index`-th object that the controller made."""

    index: int

    def run(self, world: World) -> None:
        if found := world.nth(self.index, made_by="controller"):
            world.user.remove(*found)


@dataclass(frozen=True)
class Linger(Step):
    """A finalizer that another controller adds to an object, and removes when the faults end."""

    index: int

    def run(self, world: World) -> None:
        if found := world.nth(self.index):
            world.user.add_finalizer(*found)


@dataclass(frozen=True)
class Clock(Step):
    """A change of the time of day, forward or backward."""

    seconds: float

    def run(self, world: World) -> None:
        world.step_clock(self.seconds)
