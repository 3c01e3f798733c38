"""Scripts that run next to a controller: a user's commands and faults, each at its time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes.typed.core.v1 import ConfigMapInterface
from clientgo.testing import synctest
from clientgo.tour.machine import Machine, Program
from clientgo.tour.replica import NAMESPACE, Replica
from clientgo.tour.taps import worker_tap
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["FAULTS", "SHOUTER", "Fault", "Step", "play"]

_FINALIZER = "tour.example/clean-up"


@dataclass(frozen=True)
class Step:
    """A user's command or a fault at a moment, in seconds from the start of the script."""

    at: float
    verb: str
    """A command of the program, or the name of a fault."""
    name: str = ""
    text: str = ""


def play(machine: Machine, steps: Sequence[Step]) -> None:
    """Run a script's steps, each at its time; skip commands that the server refuses. Blocks."""
    began = REAL_CLOCK.now()
    for step in steps:
        left = began + step.at - REAL_CLOCK.now()
        # Steps of the same moment happen without a pause.
        if left > 0 and not context.sleep(machine.ctx, left):
            return
        _do(machine, step)


def _do(machine: Machine, step: Step) -> None:
    fault = FAULTS.get(step.verb)
    if fault is not None:
        fault.do(machine)
        return
    try:
        machine.program.verbs[step.verb](machine, step)
    except errors.StatusError:
        return  # a visitor's decision may have deleted the object


def _create(machine: Machine, step: Step) -> None:
    new = corev1.ConfigMap(metadata=metav1.ObjectMeta(name=step.name), data={"text": step.text})
    _config_maps(machine).create(context.background(), new, metav1.CreateOptions())


def _update(machine: Machine, step: Step) -> None:
    _change(machine, step.name, "text", step.text)


def _intervene(machine: Machine, step: Step) -> None:
    """Change the field that the controller reconciles."""
    _change(machine, step.name, "shout", step.text)


def _change(machine: Machine, name: str, field: str, text: str) -> None:
    client = _config_maps(machine)
    changed = client.get(context.background(), name, metav1.GetOptions())
    changed.data[field] = text
    client.update(context.background(), changed, metav1.UpdateOptions())


def _delete(machine: Machine, step: Step) -> None:
    _config_maps(machine).delete(context.background(), step.name, metav1.DeleteOptions())


def _delete_foreground(machine: Machine, step: Step) -> None:
    """Delete an object in the foreground: after its dependents."""
    options = metav1.DeleteOptions(propagation_policy="Foreground")
    _config_maps(machine).delete(context.background(), step.name, options)


def _own(machine: Machine, step: Step) -> None:
    """Create an object that the object named by the step's text owns."""
    client = _config_maps(machine)
    owner = client.get(context.background(), step.text, metav1.GetOptions())
    reference = metav1.new_controller_ref(owner, corev1.SCHEME_GROUP_VERSION.with_kind("ConfigMap"))
    metadata = metav1.ObjectMeta(name=step.name, owner_references=[reference])
    new = corev1.ConfigMap(metadata=metadata, data={"text": f"of {step.text}"})
    client.create(context.background(), new, metav1.CreateOptions())


def _hold(machine: Machine, step: Step) -> None:
    """Add a finalizer to an object."""
    _finalizers(machine, step.name, [_FINALIZER])


def _release(machine: Machine, step: Step) -> None:
    """Remove the finalizer from an object."""
    _finalizers(machine, step.name, [])


def _finalizers(machine: Machine, name: str, ours: list[str]) -> None:
    client = _config_maps(machine)
    changed = client.get(context.background(), name, metav1.GetOptions())
    others = [each for each in changed.metadata.finalizers if each != _FINALIZER]
    changed.metadata.finalizers = [*others, *ours]
    client.update(context.background(), changed, metav1.UpdateOptions())


def _elsewhere(machine: Machine, step: Step) -> None:
    """Create an object of a resource that no informer of the machine watches."""
    new = corev1.Secret(metadata=metav1.ObjectMeta(name=step.name))
    machine.outside.core_v1().secrets(NAMESPACE).create(context.background(), new, metav1.CreateOptions())


def _config_maps(machine: Machine) -> ConfigMapInterface:
    return machine.outside.core_v1().config_maps(NAMESPACE)


SHOUTER = Program(
    worker=worker_tap("clientgo.tour.program", "Shouter.reconcile", "controller.go", "(*Controller).syncHandler"),
    resources=("/configmaps",),
    new_replica=Replica,
    verbs={
        "create": _create,
        "update": _update,
        "meddle": _intervene,
        "delete": _delete,
        "delete-foreground": _delete_foreground,
        "own": _own,
        "hold": _hold,
        "release": _release,
        "elsewhere": _elsewhere,
    },
)
"""The lessons' controller."""


@dataclass(frozen=True)
class Fault:
    """A way in which a machine can break, or be repaired."""

    title: str
    do: Callable[[Machine], object]
    place: str
    """The part of the picture where it happens: a station, "wire", "clock", or "" for all of them."""


_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_READS = frozenset({"GET"})


def _gone(machine: Machine) -> None:
    """Create an object while the connection is down, and drop the history: the next watch is too old."""
    machine.replica.wire.down()
    _do(machine, Step(0, "create", "meanwhile", "made while nobody watched"))
    machine.forget_history()
    machine.replica.wire.up()


def _busy(machine: Machine) -> None:
    machine.replica.wire.refuse(3, 429, "TooManyRequests", _READS, retry_after=1)
    machine.replica.wire.cut()


def _restart(machine: Machine) -> None:
    wire = machine.replica.wire
    wire.down()
    machine.pause(5.0)
    wire.up()


def _delete_unseen(machine: Machine) -> None:
    wire = machine.replica.wire
    wire.down()
    names = sorted(stored.name for stored in machine.server.store.contents(machine.program.resources[0])[0])
    if names:
        _do(machine, Step(0, "delete", names[0]))
    machine.forget_history()
    machine.pause(3.0)
    wire.up()


def _put_the_clock_ahead(machine: Machine) -> None:
    bubble = synctest.current()
    assert bubble is not None  # a machine runs in one
    bubble.move_wall_clock(3600.0)


def _reconnect(machine: Machine) -> None:
    machine.replica.wire.reconnect()
    machine.replica.bystander.let_go()
    machine.replica.trouble.let_go()


def _slow(machine: Machine) -> None:
    machine.replica.wire.slow(2.0)


def _lag(machine: Machine) -> None:
    machine.replica.wire.lag(2.5)


def _refuse_writes(machine: Machine) -> None:
    machine.replica.wire.refuse(3, 500, "InternalError", _WRITES)


FAULTS: Mapping[str, Fault] = {
    "cut": Fault("cut the connection", lambda machine: machine.replica.wire.cut_this_or_next(), "wire"),
    "half-open": Fault(
        "half-open: the connection stays, and is silent", lambda machine: machine.replica.wire.freeze(), "wire"
    ),
    "gone": Fault("410 Gone: a change is missed, and the history forgotten", _gone, "apiserver"),
    "clock-jump": Fault("the wall clock is put an hour ahead", _put_the_clock_ahead, "clock"),
    "compact": Fault("compaction: the history is forgotten", Machine.forget_history, "apiserver"),
    "busy": Fault("429: the connection is cut, the next three reads refused", _busy, "apiserver"),
    "slow-server": Fault("the server takes two seconds for each answer", _slow, "apiserver"),
    "watch-lags": Fault("each watch event arrives 2.5 seconds late", _lag, "wire"),
    "worker-raises": Fault(
        "the workers' next three cache reads raise", lambda machine: machine.replica.trouble.fail(3), "workers"
    ),
    "worker-hangs": Fault(
        "each worker hangs at its next cache read", lambda machine: machine.replica.trouble.hang(), "workers"
    ),
    "restart": Fault("the server is down for five seconds", _restart, "apiserver"),
    "delete-unseen": Fault("delete while disconnected: a tombstone", _delete_unseen, "apiserver"),
    "writes-fail": Fault("the next three writes fail", _refuse_writes, "apiserver"),
    "handler-blocks": Fault("the second handler blocks", lambda machine: machine.replica.bystander.block(), "handlers"),
    "handler-goes-on": Fault(
        "the second handler continues", lambda machine: machine.replica.bystander.let_go(), "handlers"
    ),
    "handler-raises": Fault(
        "the second handler raises once", lambda machine: machine.replica.bystander.fail(1), "handlers"
    ),
    "kill": Fault(
        "the controller (of several: the leader) is killed; another starts ten seconds later", Machine.kill, "workers"
    ),
    "mend": Fault("repair: end all faults", _reconnect, ""),
}
"""The faults by name."""
