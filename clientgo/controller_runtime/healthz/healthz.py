"""Health checks over HTTP. Mirrors pkg/healthz/healthz.go.

A checker is a function of the request that raises an exception when it finds a problem. The handler logs the exception;
the response only states that the check failed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.golang.functions import raise_returned, require_plain
from clientgo.golang.http.server import Request, ResponseWriter, clean_path, error, not_found
from clientgo.golang.strconv import quote
from clientgo.klog.exceptions import cause_text, failure_of
from clientgo.tools.cache.event_handler_name import name_for_function

__all__ = ["CheckHandler", "Checker", "Handler", "ping"]

_LOG = RUNTIME_LOG.with_name("healthz")

Checker: TypeAlias = Callable[[Request], object]
"""A function that raises an exception when it finds a problem. The server's threads may call it concurrently.

Its result has no meaning, except that False, or an exception that it returns, is a problem too.

Go: healthz.Checker.
"""


def ping(req: Request) -> None:
    """Accept every request: the process can respond. Go: healthz.Ping."""


class _Status(NamedTuple):
    name: str
    healthy: bool
    excluded: bool = False
    reason: str = ""
    """The error, for the log only: it may reveal which systems the program connects to. A bug has its location."""


@dataclass
class Handler:
    """A handler that serves all checks at its root, and each check below it by name. Go: healthz.Handler.

    `?verbose` lists the checks, `?exclude=name` skips one. Without checks there is one named ping.
    """

    checks: MutableMapping[str, Checker] = field(default_factory=dict)

    def serve_http(self, resp: ResponseWriter, req: Request) -> None:
        """Respond with 200 if all checks pass, 500 if one fails, 404 for an unknown name."""
        path = clean_path(req.path)
        if path == "/":
            self._serve_aggregated(resp, req)
            return
        checks: Mapping[str, Checker] = self.checks or {"ping": ping}
        checker = checks.get(path[1:])
        if checker is None:
            not_found(resp, req)
            return
        CheckHandler(checker).serve_http(resp, req)

    def _serve_aggregated(self, resp: ResponseWriter, req: Request) -> None:
        query = req.query()
        excluded = set(query.get("exclude", ()))
        parts = [_run(name, checker, req, name in excluded) for name, checker in self.checks.items()]
        unknown = excluded - self.checks.keys()
        for name in unknown:
            _LOG.v(1).info("cannot exclude health check, no matches for it", checker=name)
        if not self.checks:
            parts.append(_Status("ping", True))
        parts.sort(key=lambda part: part.name)
        _write_as_text(resp, parts, unknown, "verbose" in query)


def _run(name: str, checker: Checker, req: Request, is_excluded: bool) -> _Status:
    if is_excluded:
        return _Status(name, True, True)
    try:
        _check(checker, req)
    except Exception as err:
        _LOG.v(1).info("healthz check failed", checker=name, error=err)
        return _Status(name, False, reason=_reason(err))
    return _Status(name, True)


def _check(checker: Checker, req: Request) -> None:
    """Call the checker. Raises its error, or ValueError if it returns False instead of raising one."""
    require_plain(checker, "a health check", "request")
    result = checker(req)
    raise_returned(result)
    if result is False:
        raise ValueError(f"the check {name_for_function(checker)} returned False: raise an exception with the reason")


def _reason(err: Exception) -> str:
    failure = failure_of(err)
    return cause_text(err) if failure is None else f"{failure.text} at {failure.at}"


def _write_as_text(resp: ResponseWriter, parts: list[_Status], unknown: set[str], verbose: bool) -> None:
    resp.header().update({"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"})
    failed = not all(part.healthy for part in parts)
    resp.write_header(500 if failed else 200)
    if not failed and not verbose:
        resp.write("ok")
        return
    for part in parts:
        if part.excluded:
            resp.write(f"[+]{part.name} excluded: ok\n")
        elif part.healthy:
            resp.write(f"[+]{part.name} ok\n")
        else:
            resp.write(f"[-]{part.name} failed: reason withheld\n")
    if unknown:
        names = ",".join(quote(name) for name in sorted(unknown))
        resp.write(f"warn: some health checks cannot be excluded: no matches for {names}\n")
    if failed:
        _LOG.info("healthz check failed", statuses=[part._asdict() for part in parts])
        resp.write("healthz check failed\n")
    else:
        resp.write("healthz check passed\n")


class CheckHandler:
    """A handler that serves one check. Go: healthz.CheckHandler."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker

    def serve_http(self, resp: ResponseWriter, req: Request) -> None:
        """Respond with 200, or with 500 and the checker's error."""
        try:
            _check(self.checker, req)
        except Exception as err:
            error(resp, f"internal server error: {cause_text(err)}", 500)
            return
        resp.write("ok")
