"""The logger that stands for the one `set_logger` will give. Mirrors pkg/log/deleg.go.

Differs from Go in what happens before `set_logger`: Go drops the lines and complains after 30 seconds; here they go to
klog, so that nothing is lost. What follows from that: there are no promises to fulfil, a delegating logger only looks
whether the program has chosen one meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from clientgo import klog
from clientgo.klog import Logger

__all__ = ["DelegatingLogger", "Root"]


class Root:
    """The logger the program chose, once it has. Thread-safe.

    Invariant: `logger` is set once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.logger: Logger | None = None

    def fulfill(self, logger: Logger) -> None:
        """Log through `logger` from now on; only the first call counts, as in Go."""
        with self._lock:
            if self.logger is None:
                self.logger = logger


class DelegatingLogger(Logger):
    """Logs through the root's logger, with names, values and verbosity of its own. Immutable and thread-safe.

    `_derive` makes the logger to write to from the root's; what it made last is kept until the root has another.
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
            # One frame further up: the caller of this logger is the one to name.
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
