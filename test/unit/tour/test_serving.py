"""The server of the live tour's page: its answers about a program that runs, and its orders to the program."""

from __future__ import annotations

import ast
import http.client
import json
import re
import signal
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import livequeues
import pytest
from patience import PATIENCE

from clientgo import tour
from clientgo.tour import serving, web
from clientgo.tour.seam import relative_path
from clientgo.util import workqueue


def ask(page: tour.LivePage, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(page.url).port, timeout=PATIENCE)
    try:
        text = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {page.token}"}
        connection.request(method, path, text, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_the_source_of_the_programs_own_worker_is_shown():
    queue: Any = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
    tap = tour.worker_tap("livequeues", "fill", "controller.go", "(*Controller).syncHandler")
    file = relative_path(livequeues.__file__)
    with tour.serve(queue, title="a program", taps=[tap]) as page:
        shown = ask(page, "GET", f"/api/source?file={file}&function=fill")
        other = ask(page, "GET", f"/api/source?file={file}&function=another")
    queue.shut_down()
    assert shown[0] == 200 and "def fill" in str(shown[1]) and other[0] == 404


def test_only_one_thread_at_a_time_parses_a_source(monkeypatch, tmp_path):
    """CPython 3.11 counts the depth of syntax trees for all threads together, and fails when two threads parse."""
    (tmp_path / "parsed_once.py").write_text("def fill() -> None:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    held: list[bool] = []

    class Parser:
        """The module ast as the server sees it; pytest itself needs the real one."""

        def __getattr__(self, name):
            return getattr(ast, name)

        def parse(self, text):
            held.append(web._parsing.locked())
            return ast.parse(text)

    monkeypatch.setattr(web, "ast", Parser())
    found = web.sources([tour.worker_tap("parsed_once", "fill", "controller.go", "(*Controller).syncHandler")])
    assert held and all(held) and not web._parsing.locked()
    assert any(function == "fill" for _, function in found)


def test_the_page_is_served_with_what_there_is_to_see_and_takes_orders():
    queue: Any = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
    with tour.serve(queue, title="a test") as page:
        queue.add("a")
        assert ask(page, "GET", "/api/tour")[1]["title"] == "a test"
        status, seen = ask(page, "GET", "/api/live")
        assert status == 200 and seen["views"]["queue"]["order"] == ["a"]
        assert [hop["kind"] for hop in seen["hops"]] == ["added"]
        assert ask(page, "GET", f"/api/live?since={seen['last']}&queue=7&informer=7")[1]["hops"] == []
        assert ask(page, "POST", "/api/control", {"pause": "x"}) == (200, {"paused": ["x"], "delays": {}})
        assert ask(page, "POST", "/api/control", {"slow": "w", "delay": 1}) == (
            200,
            {"paused": ["x"], "delays": {"w": 1.0}},
        )
        assert ask(page, "POST", "/api/control", {"go-on": "x"})[1]["paused"] == []
        assert ask(page, "GET", "/api/object?key=default/none") == (200, {})
        status, past = ask(page, "GET", "/api/past?place=queue.order&key=a")
        assert status == 200 and [past["hops"][link["at"]]["kind"] for link in past["links"]] == ["added"]
        for path in ("informer=x", "queue=-1", f"since={'9' * 5000}", "informer=1.5"):
            assert ask(page, "GET", f"/api/live?{path}")[0] == 400
        orders: list[Any] = [{}, {"pause": 1}, {"slow": "w"}, {"slow": "w", "delay": True}, {"slow": "w", "delay": -1}]
        for order in [*orders, {"slow": "w", "delay": float("nan")}, {"slow": "w", "delay": 1e9}]:
            assert ask(page, "POST", "/api/control", order)[0] == 400, order
    queue.shut_down()


def test_the_page_can_detach_and_the_pauses_end_at_once():
    with tour.serve() as page:
        ask(page, "POST", "/api/control", {"pause": "x"})
        assert ask(page, "POST", "/api/control", {"detach": True}) == (200, {"paused": [], "delays": {}})
        assert page.live.is_detached() and ask(page, "GET", "/api/connected") == (200, {"detached": True})
        assert ask(page, "GET", "/api/live")[0] == 200


def test_the_page_keeps_its_connection_but_for_what_is_refused():
    with tour.serve() as page:
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(page.url).port, timeout=PATIENCE)
        sockets = []
        for path in ("/api/live", "/api/live", "/api/live?informer=x", "/api/live"):
            connection.request("GET", path, headers={"Cookie": f"a=b; informer-tour-{connection.port}={page.token}"})
            sockets.append(connection.sock)
            with connection.getresponse() as response:
                assert json.loads(response.read())
        # Behind a refusal may come a body that is no request.
        assert sockets[0] is sockets[1] is sockets[2] is not sockets[3]
    connection.close()


def test_threads_of_the_page_leave_signals_to_the_program():
    names = ("tour ticker", "informer-tour-accept")
    with tour.serve():
        ids = [thread.native_id for thread in threading.enumerate() if thread.name in names]
        states = [Path(f"/proc/self/task/{number}/status").read_text() for number in ids]
    masks = [re.search(r"^SigBlk:\s*(\w+)", state, re.MULTILINE) for state in states]
    assert len(masks) == 2
    assert all(mask and int(mask[1], 16) & 1 << (signal.SIGTERM - 1) for mask in masks)


def test_a_page_gets_only_what_is_new_behind_its_last_look():
    queue: Any = workqueue.new_typed()
    with tour.serve(queue) as page:
        queue.add("a")
        first = ask(page, "GET", "/api/live?after=0&queue=0")[1]
        again = ask(page, "GET", f"/api/live?after={first['look']}&since={first['last']}")[1]
        queue.add("b")
        later = ask(page, "GET", f"/api/live?after={again['look']}&since={first['last']}")[1]
        whole = ask(page, "GET", "/api/live")[1]
        keyed = ask(page, "GET", "/api/live?key=b")[1]
        behind = ask(page, "GET", f"/api/live?since={first['last']}")[1]
        assert ask(page, "GET", "/api/live?after=x")[0] == 400
    queue.shut_down()
    # The queue's view has the age of its item, which may grow between two looks.
    assert first["views"]["queue"]["order"] == ["a"] and "indexer" in first["views"] and {*again["views"]} <= {"queue"}
    assert later["views"]["queue"]["order"] == ["a", "b"] == whole["views"]["queue"]["order"]
    assert [hop["key"] for hop in whole["hops"]] == ["a", "b"] and "look" not in whole
    assert [hop["key"] for hop in keyed["hops"]] == [hop["key"] for hop in behind["hops"]] == ["b"]


@pytest.mark.parametrize(
    ("number", "is_good"), [("0", True), ("0" * 15, True), ("0" * 16, False), ("1.5", False), ("x", False), ("", False)]
)
def test_numbers_have_at_most_fifteen_digits(number, is_good):
    for name in ("informer", "queue", "since", "after"):
        query = {name: number}
        if is_good:
            assert serving._number(query, name, 7) == 0
        else:
            with pytest.raises(web.Refused, match=f"{name} is a number"):
                serving._number(query, name)
        assert serving._number(query, "other") == 0 and serving._number({}, name, -1) == -1


def test_the_past_is_asked_for_with_all_that_the_page_names(monkeypatch):
    names = ("place", "key", "handler", "version")
    with tour.serve() as page:
        monkeypatch.setattr(page._view, "past", lambda **asked: asked)
        given = "&".join(f"{name}={name.upper()}" for name in names)
        whole = ask(page, "GET", f"/api/past?{given}&queued=1.5&informer=2&queue=3")
        empty = ask(page, "GET", "/api/past?queued=")
        wrong = [ask(page, "GET", f"/api/past?queued={queued}") for queued in ("x", "1,5")]
    assert whole == (200, {**{name: name.upper() for name in names}, "queued": 1.5, "informer": 2, "queue": 3})
    assert empty == (200, {**dict.fromkeys(names, ""), "queued": None, "informer": 0, "queue": 0})
    assert all(status == 400 and "queued is a number of seconds" in str(answer) for status, answer in wrong)


def test_a_served_tour_is_recorded_under_its_title(tmp_path):
    queue: Any = workqueue.new_typed()
    file = tmp_path / "tour.jsonl"
    with tour.serve(queue, title="a title", record=file) as page:
        queue.add("a")
        assert ask(page, "GET", "/api/tour")[1]["live"] is True
    queue.add("behind the end")
    queue.shut_down()
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert "a title" in str(lines[0])
    keys = [line["key"] for line in lines if line.get("station") == "queue"]
    assert keys == ["a"]
    with pytest.raises(FileExistsError), tour.serve(record=file):
        pass


def test_what_is_no_part_of_the_machinery_is_not_served():
    with pytest.raises(TypeError), tour.serve(object()):
        pass


def test_servers_have_ports_of_their_own_unless_one_is_asked_for():
    with tour.serve() as first, tour.serve() as second:
        ports = [urlsplit(page.url).port for page in (first, second)]
        assert ports[0] != ports[1] and min(ports) >= 1024
        with pytest.raises(OSError), tour.serve(port=ports[0]):
            pass


def test_every_look_and_every_order_notes_that_a_page_is_connected(monkeypatch):
    with tour.serve() as page:
        noted: list[str] = []
        monkeypatch.setattr(page.live, "connected", lambda: noted.append("connected"))
        monkeypatch.setattr(page.live, "stay_connected", lambda: noted.append("stays"))
        for method, path, body in (
            *(("GET", "/api/live", None), ("POST", "/api/control", {"pause": "x"}), ("GET", "/api/connected", None)),
            *(("GET", "/api/tour", None), ("GET", "/api/object", None), ("GET", "/api/past", None)),
        ):
            assert ask(page, method, path, body)[0] == 200
    assert noted == ["connected", "connected", "stays"]
