"""The sample-controller in the test's own process, so that a test can see its requests and its queue."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from patience import PATIENCE
from processes import ROOT

sys.path.insert(0, str(ROOT / "cmd" / "sample-controller"))

from clientgo import context, informers, kubernetes, rest
from clientgo.golang import http
from clientgo.tools import clientcmd
from controller import Controller, new_controller
from pkg.generated.clientset import versioned as clientset
from pkg.generated.informers import externalversions


@dataclass(frozen=True)
class Write:
    """A request that changes something, as it went over the wire."""

    method: str
    path: str  # with the query, without host
    body: Any
    status: int
    user_agent: str


@dataclass
class Recorder:
    """A wrapper of a transport that remembers the writes in the order of their answers."""

    writes: list[Write] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wrap(self, transport: http.RoundTripper) -> http.RoundTripper:
        return _Recording(transport, self)

    def add(self, request: http.Request, status: int) -> None:
        if request.method == "GET":
            return
        body = request.body if isinstance(request.body, bytes) else b"null"
        path = "/" + request.url.split("/", 3)[3]
        agent = request.headers.get("User-Agent") or ""
        with self._lock:
            self.writes.append(Write(request.method, path, json.loads(body), status, agent))

    def __len__(self) -> int:
        with self._lock:
            return len(self.writes)

    def since(self, position: int) -> list[Write]:
        with self._lock:
            return self.writes[position:]


class _Recording:
    def __init__(self, transport: http.RoundTripper, recorder: Recorder) -> None:
        self._transport = transport
        self._recorder = recorder

    def round_trip(self, request: http.Request) -> http.Response:
        response = self._transport.round_trip(request)
        self._recorder.add(request, response.status_code)
        return response

    def wrapped_round_tripper(self) -> http.RoundTripper:
        return self._transport


class RunningController:
    """`main` of the sample-controller, without signals. Use it as a context manager."""

    def __init__(
        self,
        kubeconfig: Path,
        *,
        workers: int = 2,
        qps: float = -1.0,
        change: Callable[[rest.Config], None] | None = None,
        prepare: Callable[[Controller], None] | None = None,
    ) -> None:
        """Start the controller. Before, `change` may change the configuration, and `prepare` the controller."""
        config = clientcmd.build_config_from_flags("", str(kubeconfig))
        config.qps = qps
        if change is not None:
            change(config)
        self._ctx, self._cancel = context.with_cancel(context.background())
        self.kube = kubernetes.new_for_config(config)
        self.sample = clientset.new_for_config(config)
        self._factories = (
            informers.new_shared_informer_factory(self.kube, 30.0),
            externalversions.new_shared_informer_factory(self.sample, 30.0),
        )
        self.controller = new_controller(
            self._ctx,
            self.kube,
            self.sample,
            self._factories[0].apps().v1().deployments(),
            self._factories[1].samplecontroller().v1alpha1().foos(),
        )
        if prepare is not None:
            prepare(self.controller)
        for factory in self._factories:
            factory.start_with_context(self._ctx)
        self._thread = threading.Thread(
            target=self.controller.run, args=(self._ctx, workers), name="sample-controller", daemon=True
        )
        self._thread.start()

    def __enter__(self) -> RunningController:
        return self

    def __exit__(self, *_: object) -> None:
        self._cancel()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the controller did not stop"
        for factory in self._factories:
            factory.shutdown()
        self.kube.close()
        self.sample.close()
