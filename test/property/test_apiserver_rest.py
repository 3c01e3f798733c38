"""The embedded API server's REST semantics against a small model, over random requests.

Requests go straight to the server's handler, without sockets. The model is a dict; every answer, list, page and
replayed watch must agree with it.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.store.storage import Event
from clientgo.testing.apiserver.wire.http import Request

Json = dict[str, Any]
COLLECTION = "/api/v1/namespaces/default/configmaps"
NAMES = st.sampled_from(["a", "b", "c", "d"])
TIERS = st.sampled_from(["web", "db", None])
HOLD = "example.com/hold"


class RestMachine(RuleBasedStateMachine):
    """Model: name to (data, tier label, held by a finalizer, being deleted)."""

    def __init__(self) -> None:
        super().__init__()
        self.server = Server(collect_garbage=False)
        self.model: dict[str, Json] = {}
        self.stale: dict[str, Json] = {}
        self.last_version = 0

    def teardown(self) -> None:
        self.server.stop()

    @initialize()
    def namespace(self) -> None:
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}}, want=201)
        self.begin = self.server.store.version

    def call(self, method: str, path: str, body: Any = None, *, want: int | None = None, **params: Any) -> Any:
        headers = {"authorization": f"Bearer {self.server.token}", "user-agent": "machine/1"}
        headers["content-type"] = "application/merge-patch+json" if method == "PATCH" else "application/json"
        target = f"{path}?{urlencode(params)}" if params else path
        request = Request(method, target, headers, None)  # type: ignore[arg-type]
        request.body = b"" if body is None else json.dumps(body).encode()
        response = self.server.handle(request, False)
        answer = json.loads(response.body)
        if want is not None:
            assert response.status == want, answer
        return response.status, answer

    def wrote(self, answer: Json) -> None:
        """Check that every write increases the version, unless it changed nothing."""
        self.last_version = max(self.last_version, int(answer["metadata"]["resourceVersion"]))

    @rule(name=NAMES, value=st.integers(0, 3), tier=TIERS, held=st.booleans())
    def create(self, name: str, value: int, tier: str | None, held: bool) -> None:
        metadata: Json = {"name": name}
        if tier:
            metadata["labels"] = {"tier": tier}
        if held:
            metadata["finalizers"] = [HOLD]
        status, answer = self.call("POST", COLLECTION, {"metadata": metadata, "data": {"v": str(value)}})
        if name in self.model:
            assert (status, answer["reason"]) == (409, "AlreadyExists")
            return
        assert status == 201
        self.wrote(answer)
        self.model[name] = {"v": str(value), "tier": tier, "held": held, "going": False}
        self.stale[name] = answer

    @rule(name=NAMES, value=st.integers(0, 3), fresh=st.booleans())
    def update(self, name: str, value: int, fresh: bool) -> None:
        if name not in self.model:
            self.call("PUT", f"{COLLECTION}/{name}", {"metadata": {"name": name}}, want=404)
            return
        _, current = self.call("GET", f"{COLLECTION}/{name}", want=200)
        obj = current if fresh else json.loads(json.dumps(self.stale[name]))
        obj["data"] = {"v": str(value)}
        status, answer = self.call("PUT", f"{COLLECTION}/{name}", obj)
        if obj["metadata"]["resourceVersion"] != current["metadata"]["resourceVersion"]:
            assert (status, answer["reason"]) == (409, "Conflict")
            return
        assert status == 200
        changed = self.model[name]["v"] != str(value)
        moved = answer["metadata"]["resourceVersion"] != current["metadata"]["resourceVersion"]
        assert moved is changed
        self.model[name]["v"] = str(value)
        self.wrote(answer)

    @rule(name=NAMES, tier=TIERS)
    def label(self, name: str, tier: str | None) -> None:
        patch = {"metadata": {"labels": {"tier": tier}}}
        status, answer = self.call("PATCH", f"{COLLECTION}/{name}", patch)
        assert status == (200 if name in self.model else 404)
        if status == 200:
            self.model[name]["tier"] = tier
            self.wrote(answer)

    @rule(name=NAMES)
    def release(self, name: str) -> None:
        status, _ = self.call("PATCH", f"{COLLECTION}/{name}", {"metadata": {"finalizers": None}})
        assert status == (200 if name in self.model else 404)
        if status == 200:
            self.model[name]["held"] = False
            if self.model[name]["going"]:
                del self.model[name]

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        status, answer = self.call("DELETE", f"{COLLECTION}/{name}")
        assert status == (200 if name in self.model else 404)
        if status != 200:
            return
        if self.model[name]["held"]:
            assert answer["metadata"]["deletionTimestamp"]
            self.model[name]["going"] = True
        else:
            assert answer["status"] == "Success"
            del self.model[name]

    @rule(limit=st.integers(1, 3), tier=TIERS, name=NAMES)
    def page_through(self, limit: int, tier: str | None, name: str) -> None:
        """Check that all pages together are the state at the first page, despite writes in between."""
        params: Json = {"limit": limit, **({"labelSelector": f"tier={tier}"} if tier else {})}
        expected = [n for n in sorted(self.model) if tier is None or self.model[n]["tier"] == tier]
        seen: list[str] = []
        version = ""
        while True:
            _, page = self.call("GET", COLLECTION, want=200, **params)
            version = version or page["metadata"]["resourceVersion"]
            assert page["metadata"]["resourceVersion"] == version
            assert len(page["items"]) <= limit
            seen += [item["metadata"]["name"] for item in page["items"]]
            token = page["metadata"].get("continue")
            if not token:
                break
            params["continue"] = token
            self.label(name, "db")
        assert seen == expected

    @rule()
    def watch_from_the_beginning(self) -> None:
        """Check that the events since the start lead from no objects to the present state."""
        events: list[Event] = []
        self.server.store.follow("/configmaps", "default/", self.begin, lambda version, first: events.extend(first))
        state: dict[str, str] = {}
        for event in events:
            if event.type == "DELETED":
                del state[event.new.name]
            else:
                assert (event.type == "ADDED") is (event.new.name not in state)
                state[event.new.name] = event.new.obj["data"]["v"]
        assert state == {name: obj["v"] for name, obj in self.model.items()}

    @invariant()
    def lists_are_the_model(self) -> None:
        _, listing = self.call("GET", COLLECTION, want=200)
        got = {
            item["metadata"]["name"]: {
                "v": item["data"]["v"],
                "tier": (item["metadata"].get("labels") or {}).get("tier"),
                "held": bool(item["metadata"].get("finalizers")),
                "going": "deletionTimestamp" in item["metadata"],
            }
            for item in listing["items"]
        }
        assert got == self.model
        assert int(listing["metadata"]["resourceVersion"]) >= self.last_version
        self.server.store.check()


TestRest = RestMachine.TestCase
