"""`ControllerMachine`: the controller under test, its rules, and the Hypothesis test that searches for violations."""

from __future__ import annotations

import inspect
import logging
import os
import unittest
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st

from clientgo import rest
from clientgo.context import Context
from clientgo.testing.apiserver import read_manifests
from clientgo.testing.controllertest import runner
from clientgo.testing.controllertest.cluster import Cluster, Json
from clientgo.testing.controllertest.steps import Step
from clientgo.testing.controllertest.strategies import FAULTS, scripts

# pytest leaves this module's frames out of a traceback: the program replaces them.
__tracebackhide__ = True

Check = TypeVar("Check", bound=Callable[..., None])
_KIND = "_controllertest_kind"
# Examples of a profile for long searches.
_LONG = 10_000


def invariant() -> Callable[[Check], Check]:
    """Mark a method `(self, cluster)` that is called after each change of an object, under any fault.

    It raises AssertionError for a violation, reads through `cluster` only, and does not block. Any other exception is
    reported like a violation, with the script that leads to it.
    """
    return _marked("invariant")


def eventually() -> Callable[[Check], Check]:
    """Mark a method `(self, cluster)` that must hold after the faults have ended and nothing changes any more."""
    return _marked("eventually")


def _marked(kind: str) -> Callable[[Check], Check]:
    def mark(check: Check) -> Check:
        setattr(check, _KIND, kind)
        return check

    return mark


class _TestCase:
    """The attribute `TestCase` of a machine: a unittest case that pytest collects."""

    def __get__(self, instance: object, machine: type[ControllerMachine]) -> type[unittest.TestCase]:
        if "_test_case" not in vars(machine):
            machine._test_case = _test_case(machine)
        return machine._test_case


class ControllerMachine:
    """The base class of a controller's property test.

    Each run makes an instance for its rules, and each life of the controller another one, which is lost when the
    controller is killed.
    """

    crds: ClassVar[Sequence[str | Path | Json]] = ()
    """CRDs to install: files, relative to the machine's module, or documents."""
    setup: ClassVar[Sequence[Json]] = ()
    """Other objects that exist before the controller starts, and that no step changes."""
    replicas: ClassVar[int] = 1
    """Number of processes. Several need leader election in `start`, with `config.user_agent` as the identity.

    A process whose `start` returns, as after a lost lease, is started again.
    """
    namespaces: ClassVar[Sequence[str]] = ()
    """Namespaces besides "default" that exist at first. The fault DeleteNamespace deletes them."""
    workloads: ClassVar[bool] = False
    """True to run the simulator of Deployments, Pods and so on. It makes a run several times slower."""
    cases: ClassVar[int | None] = None
    """Number of scripts that `TestCase` tries; None for that of Hypothesis' profile.

    A profile with 10,000 examples or more, such as `thorough`, sets the number for all machines.
    """
    max_rounds: ClassVar[int] = 4
    """Number of rounds in the longest script. A round has up to four steps."""
    latency: ClassVar[float] = 0.02
    """Virtual seconds from the beginning of a request to its response."""
    faults: ClassVar[Sequence[str]] = FAULTS
    """Names of the fault steps to use."""
    skip: ClassVar[Sequence[str]] = ()
    """Names of checks to skip, for a controller that violates them on purpose: see README.md."""
    keeps: ClassVar[Sequence[str]] = ()
    """Resources whose objects may stay after their owners are gone, such as "persistentvolumeclaims"."""
    quiet_for: ClassVar[float] = 60.0
    """Virtual seconds without a change after which the cluster counts as quiet."""
    busy_limit: ClassVar[float] = 30.0
    """Number of requests a minute that are allowed while nothing changes."""

    TestCase: ClassVar[Any] = _TestCase()
    _test_case: ClassVar[type[unittest.TestCase]]

    outside: Any = None
    """The result of `new_outside`. It is the same for all lives of a run and for the rules."""

    def new_outside(self) -> Any:
        """Return the systems outside the cluster that the controller manages, for a run. They outlive a kill."""
        return None

    def start(self, config: rest.Config, ctx: Context) -> object:
        """Run the controller as in its main function: blocks until `ctx` is done and all its threads have ended."""
        raise NotImplementedError

    def desired(self) -> st.SearchStrategy[Step]:
        """Return a strategy of user actions, such as `objects(...)`."""
        raise NotImplementedError

    def normalize(self, obj: Json) -> Json:
        """Return the object for the comparison of two end states, without fields that may differ. May change `obj`."""
        return obj

    @classmethod
    def definitions(cls) -> Iterator[Json]:
        """Yield the documents of `crds`."""
        folder = Path(inspect.getfile(cls)).parent
        for crd in cls.crds:
            if isinstance(crd, dict):
                yield crd
            else:
                yield from read_manifests([folder / crd])

    def invariants(self) -> list[tuple[str, Callable[[Cluster], None]]]:
        """Return the names and bound methods of the invariants."""
        return self._checks("invariant")

    def final_conditions(self) -> list[tuple[str, Callable[[Cluster], None]]]:
        """Return the names and bound methods of the conditions that hold at the end."""
        return self._checks("eventually")

    def _checks(self, kind: str) -> list[tuple[str, Callable[[Cluster], None]]]:
        return [(name, getattr(self, name)) for name in _names_of_checks(type(self), kind)]


# By machine and kind.
_check_names: dict[tuple[type, str], list[str]] = {}


def _names_of_checks(machine: type, kind: str) -> list[str]:
    names = _check_names.get((machine, kind))
    if names is None:
        names = [name for name, each in inspect.getmembers(machine) if getattr(each, _KIND, "") == kind]
        _check_names[machine, kind] = names
    return names


def number_of_cases(machine: type[ControllerMachine], profile: settings) -> int:
    """Return the number of scripts to try under a profile of Hypothesis."""
    is_long = profile.max_examples >= _LONG
    return profile.max_examples if machine.cases is None or is_long else machine.cases


def _test_case(machine: type[ControllerMachine]) -> type[unittest.TestCase]:
    profile = settings()
    quiet = Verbosity.quiet if profile.verbosity is Verbosity.normal else profile.verbosity

    @settings(
        max_examples=number_of_cases(machine, profile),
        deadline=None,
        verbosity=quiet,
        report_multiple_bugs=False,
        phases=[phase for phase in profile.phases if phase is not Phase.explain],
        suppress_health_check=list(HealthCheck),
    )
    @given(scripts(machine))
    def test_controller(self: unittest.TestCase, script: tuple[list[Step], int]) -> None:
        __tracebackhide__ = True
        with _logs_discarded():
            runner.check(machine, *script)

    name = f"{machine.__name__}.TestCase"
    test_case: Any = type(name, (unittest.TestCase,), {"test_controller": test_controller})
    test_case.__module__ = machine.__module__
    return test_case  # type: ignore[no-any-return]


@contextmanager
def _logs_discarded() -> Iterator[None]:
    """Discard log lines: those of thousands of runs would bury the report. The printed program shows them.

    Loggers and levels stay as they are, since controllers may ask for them.
    """
    loggers = [logging.getLogger(), logging.getLogger("clientgo")]
    kept = [logger.handlers for logger in loggers]
    for logger in loggers:
        logger.handlers = [logging.NullHandler()]
    try:
        yield
    finally:
        for logger, handlers in zip(loggers, kept):
            logger.handlers = handlers


def replay(
    machine: type[ControllerMachine],
    steps: Sequence[Step],
    schedule: int = 0,
    *,
    record: str | os.PathLike[str] | None = None,
) -> runner.Result:
    """Run a script as a failure prints it.

    record: a new file, a recording of the run for the informer tour: `clientgo tour --replay FILE` shows hop by hop
        what the controller's caches and queues did.

    Raises ControllerFailure if the script still violates a check, and FileExistsError if the file exists.
    """
    return runner.check(machine, steps, schedule, Path(record) if record is not None else None)
