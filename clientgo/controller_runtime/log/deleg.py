"""The logger that delegates to the logger of `set_logger`. Mirrors pkg/log/deleg.go.

Difference before `set_logger`: Go drops the lines and prints a warning after 30 seconds; here they go to klog, so that
none is lost. Therefore there are no promises to fulfil: a delegating logger only checks whether the program has set
one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from clientgo import klog
from clientgo.klog import Logger

__all__ = ["DelegatingLogger", "Root"]


class Root:
    """The program's logger, once it is set. Thread-safe.

    Invariant: `logger` is set at most once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.logger: Logger | None = None

    def fulfill(self, logger: Logger) -> None:
        """Log through `logger` from now on. Later calls have no effect, as in Go."""
        with self._lock:
            if self.logger is None:
                self.logger = logger


class DelegatingLogger(Logger):
    """A logger that delegates to the root's logger, with its own names, values and verbosity. Immutable and
    thread-safe.

    `_derive` makes the actual logger from the root's; the result is cached until the root's logger changes.
    """

    __slots__ = ("_derive", "_made", "_root")

    def __init__(self, root: Root, derive: Callable[[Logger], Logger] = lambda logger: logger, v: int = 0) -> None:
        super().__init__(v=v)
        self._root = root
        self._derive = derive
        self._made: tuple[Logger, Logger] | None = None

    def _target(self) -> Logger:
        base = self._root.logger or klog.background()
        made = self._made
        if made is None or made[0] is not base:
            # One frame further up, so that the log names the caller of this logger.
            made = self._made = (base, self._derive(base).with_call_depth(1))
        return made[1]

    def enabled(self) -> bool:
        return self._target().enabled()

    def info(self, msg: str, /, *keys_and_values: object, **pairs: object) -> None:
        self._target().info(msg, *keys_and_values, **pairs)

    def error(self, err: BaseException | None, msg: str, /, *keys_and_values: object, **pairs: object) -> None:
        self._target().error(err, msg, *keys_and_values, **pairs)

    def v(self, n: int) -> Logger:
        return self._with(lambda logger: logger.v(n), self.get_v() + max(n, 0))

    def with_values(self, /, *keys_and_values: object, **pairs: object) -> Logger:
        return self._with(lambda logger: logger.with_values(*keys_and_values, **pairs), self.get_v())

    def with_name(self, name: str) -> Logger:
        return self._with(lambda logger: logger.with_name(name), self.get_v())

    def with_call_depth(self, depth: int) -> Logger:
        return self._with(lambda logger: logger.with_call_depth(depth), self.get_v())

    def _with(self, change: Callable[[Logger], Logger], v: int) -> Logger:
        derive = self._derive
        return DelegatingLogger(self._root, lambda logger: change(derive(logger)), v)

    def __repr__(self) -> str:
        return f"<DelegatingLogger v={self.get_v()} to {self._root.logger or 'klog, until set_logger is called'}>"
