"""The wire between a controller and its server, and the fault that cuts it."""

from __future__ import annotations

import pytest

from clientgo import tour
from clientgo.golang import http
from clientgo.tour.wire import Wire


class Server:
    """A server that answers every request."""

    def round_trip(self, request: http.Request) -> http.Response:
        return http.Response(status_code=200, headers=http.Header({}), body=http.BytesBody(b"{}"))


def ask(wire: Wire, method: str = "GET") -> int:
    request = http.Request(method=method, url="http://server/api", headers=http.Header({}), body=None)
    return wire.round_trip(request).status_code


def test_a_cut_without_an_open_connection_refuses_the_next_request_to_read():
    wire = Wire(Server())
    wire.cut_this_or_next()
    assert ask(wire, "PUT") == 200
    with pytest.raises(ConnectionRefusedError):
        ask(wire)
    assert ask(wire) == 200


def test_a_repair_ends_a_cut_that_has_broken_nothing_yet():
    wire = Wire(Server())
    wire.cut_this_or_next()
    wire.reconnect()
    assert ask(wire) == 200


@pytest.mark.parametrize("at", [2, 12, 30])
def test_a_cut_ends_the_request_that_is_under_way_at_any_hop(at):
    """At hop 2 the list is under way, and no connection of a watch is open."""
    scenario = tour.SCENARIOS["list-and-watch"]
    plain = tour.execute(scenario, limit=at + 1)
    trace = tour.execute(scenario, decisions=[tour.Decision(at, "fault", "cut")], limit=at + 12)
    assert [point.hop.kind for point in trace.points[: at + 1]] == [point.hop.kind for point in plain.points]
    after = {point.hop.kind for point in trace.points[at + 1 :] if point.hop.station == "reflector"}
    assert after & {"ended", "failed"}, after
