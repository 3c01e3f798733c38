"""Plain HTTP requests to an embedded API server, as tests of its answers make them."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from typing import Any

import requests
from patience import PATIENCE

from clientgo.testing.apiserver import Environment
from clientgo.utils.clock import REAL_CLOCK


class Api:
    """One connection of an administrator. Called with a method, a path and a body, it answers with parsed JSON."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {env.token}"

    def request(self, method: str, path: str, body: Any = None, media: str = "application/json") -> requests.Response:
        """Send a request. `body` is sent unchanged if it is text or bytes, and as JSON otherwise."""
        data = body if body is None or isinstance(body, str | bytes) else json.dumps(body)
        return self.session.request(
            method, self.env.url + path, data=data, headers={"Content-Type": media}, timeout=PATIENCE
        )

    def __call__(
        self, method: str, path: str, body: Any = None, *, want: int = 0, media: str = "application/json"
    ) -> Any:
        response = self.request(method, path, body, media)
        assert not want or response.status_code == want, response.text
        return response.json()

    def warnings(self, method: str, path: str, body: Any = None, media: str = "application/json") -> list[str]:
        """Return the texts of the response's Warning headers."""
        header = self.request(method, path, body, media).headers.get("Warning", "")
        return [text.replace('\\"', '"') for text in re.findall(r'299 - "((?:[^"\\]|\\.)*)"', header)]

    def close(self) -> None:
        self.session.close()


def let_bob(api: Api, *rules: dict[str, Any]) -> None:
    """Give bob these rights in the whole cluster, and speak as bob from now on."""
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    api("POST", f"{rbac}/clusterroles", {"metadata": {"name": "bobs"}, "rules": list(rules)}, want=201)
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "bob"}
    binding = {"metadata": {"name": "bobs"}, "roleRef": {"kind": "ClusterRole", "name": "bobs"}, "subjects": [subject]}
    api("POST", f"{rbac}/clusterrolebindings", binding, want=201)
    api.session.headers["Impersonate-User"] = "bob"


def eventually(condition: Callable[[], bool]) -> None:
    """Ask until it holds; every answer is a request, so nothing spins."""
    clock, wakeup = REAL_CLOCK, threading.Condition()
    end = clock.now() + PATIENCE
    while not condition():
        assert clock.now() < end, "did not happen"
        with wakeup:
            clock.wait(wakeup, 0.02)
