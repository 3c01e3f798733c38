"""Schedules, which choose the next thread of a bubble: from a list, a seed, or Hypothesis."""

from __future__ import annotations

import importlib.util
import itertools
import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


class Chooser(Protocol):
    """A function that chooses the next thread."""

    def __call__(self, candidates: int, forced: bool, /) -> int:
        """Choose one of `candidates` (at least 2) threads.

        0 is the default: the running thread continues or, if it is blocked or has ended (`forced`), the longest-ready
        thread runs.
        """
        ...


class Schedule:
    """A list of deviations from the default order, which replays a run exactly.

    A decision is a moment at which at least two threads can run. `picks` maps the number of a decision, from 0, to the
    chosen candidate; all other decisions take their default.
    """

    def __init__(self, picks: Mapping[int, int] | None = None) -> None:
        self.picks = dict(picks or {})
        self.memory: dict[Any, Any] = {}
        """Storage for a test across the schedules of a search; empty when the search begins."""

    def chooser(self) -> Chooser:
        decisions = itertools.count()

        def choose(candidates: int, forced: bool) -> int:
            return self.picks.get(next(decisions), 0) % candidates

        return choose

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.picks == other.picks

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Schedule({self.picks})"


class RandomSchedule:
    """A random schedule from a seed: it preempts with probability `preempt` and otherwise chooses uniformly.

    If `preempt` is None, it is drawn from the seed as well, since some races need many switches and others need few.
    """

    def __init__(self, seed: int, preempt: float | None = None) -> None:
        self.seed = seed
        self.preempt = preempt

    def chooser(self) -> Chooser:
        rng = random.Random(self.seed)
        preempt = rng.choice((0.02, 0.1, 0.3, 0.6)) if self.preempt is None else self.preempt

        def choose(candidates: int, forced: bool) -> int:
            if forced:
                return rng.randrange(candidates)
            return rng.randrange(1, candidates) if rng.random() < preempt else 0

        return choose

    def __repr__(self) -> str:
        return f"RandomSchedule({self.seed}{'' if self.preempt is None else f', preempt={self.preempt}'})"


def schedules(decisions: int = 100) -> SearchStrategy[Schedule]:
    """Return a Hypothesis strategy of schedules for the first `decisions` decisions; they shrink to the fewest
    deviations.

    Raises ImportError if Hypothesis is not installed.
    """
    need_hypothesis("synctest.schedules")
    from hypothesis import strategies as st

    # One byte string, which Hypothesis draws ten times faster than single picks. Its length is fixed: Hypothesis
    # prefers short strings, and many races need many switches. Small bytes mean no switch; they shrink to zeros.
    raw = st.binary(min_size=decisions, max_size=decisions)
    memory: dict[Any, Any] = {}

    def schedule(zeros: int, raw: bytes) -> Schedule:
        first = 256 * zeros // (zeros + 3)
        found = Schedule({number: 1 + (byte - first) % 3 for number, byte in enumerate(raw) if byte >= first})
        if not found.picks:  # the simplest one, with which Hypothesis begins each search
            memory.clear()
        found.memory = memory
        return found

    return st.builds(schedule, st.sampled_from((2, 8, 30)), raw)


def explore(cases: int | None = None, **strategies: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test under many schedules, passed as `schedule`: `@synctest.explore()`, `@synctest.explore(1000)`.

    cases: the number of schedules; None selects that of Hypothesis' profile, 100 by default.
    strategies: those of the test's other arguments, or a replacement of `schedule`.

    It is Hypothesis' `given` with settings for threads: no deadline, since any run may be slow on a busy machine, no
    explanation, since the schedule is one, and one failure at a time. The test must not have `@settings`: `cases`
    replaces `max_examples`, and a Hypothesis profile sets everything else.

    Raises TypeError for an argument that is not a strategy and for a test with settings, ImportError if Hypothesis is
    not installed.
    """
    need_hypothesis("synctest.explore")
    from hypothesis import given
    from hypothesis.errors import InvalidArgument
    from hypothesis.strategies import SearchStrategy

    for name, strategy in strategies.items():
        if not isinstance(strategy, SearchStrategy):
            raise TypeError(
                f"synctest.explore({name}={strategy!r}): {name} needs a Hypothesis strategy; "
                f"the number of cases is `@synctest.explore(cases=1000)`"
            )

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        settings = _settings_for_threads(cases, quiet=not strategies)
        try:
            settings(test)
        except InvalidArgument:
            raise TypeError(f"{test.__name__} has settings already: {_ONE_DECORATOR}") from None
        return given(**{"schedule": schedules(), **strategies})(test)

    return decorate


_ONE_DECORATOR = "leave out `@settings(max_examples=1000)` and write `@synctest.explore(cases=1000)`"


def _settings_for_threads(cases: int | None, quiet: bool) -> Callable[[Callable[..., None]], object]:
    """Return Hypothesis' settings for a test with threads. A quiet test does not print the schedule a second time."""
    from hypothesis import HealthCheck, Phase, Verbosity, settings

    class ThreadSettings(settings):
        """Settings whose repr, which Hypothesis shows for a second decorator, explains the solution."""

        def __repr__(self) -> str:
            return f"@synctest.explore(), which takes no @settings: {_ONE_DECORATOR}"

    profile = settings()
    return ThreadSettings(
        max_examples=profile.max_examples if cases is None else cases,
        deadline=None,
        phases=[phase for phase in profile.phases if phase is not Phase.explain],
        suppress_health_check=[*profile.suppress_health_check, HealthCheck.too_slow],
        verbosity=Verbosity.quiet if quiet and profile.verbosity is Verbosity.normal else profile.verbosity,
        report_multiple_bugs=False,
    )


def need_hypothesis(feature: str) -> None:
    """Raise an ImportError that names the extra when Hypothesis is not installed."""
    if importlib.util.find_spec("hypothesis") is None:
        raise ModuleNotFoundError(
            f"{feature} needs Hypothesis, which the extra `testing` brings: pip install 'clientgo[testing]'",
            name="hypothesis",
        )
