"""Recordings as runs of the tour: forwards and backwards, from any moment, with other machines; and their page."""

from __future__ import annotations

import http.client
import json
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from patience import PATIENCE

from clientgo import context, tour
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.tour import past
from clientgo.tour.pastmenu import keys_in
from clientgo.tour.recording import Source
from clientgo.tour.replay import scenario_of

OUTAGE = Path(__file__).parent / "outage.jsonl"


@pytest.fixture(scope="module")
def recording() -> Any:
    with tour.Recording(OUTAGE) as opened:
        yield opened


def kinds(trace: tour.Trace) -> list[str]:
    return [f"{point.hop.station}.{point.hop.kind}" for point in trace.points]


def test_an_informer_goes_through_the_outage_hop_by_hop(recording):
    trace = tour.replay(recording, recording.sources[0])
    assert trace.is_complete and trace.origin == 0.0
    seen = kinds(trace)
    assert seen.count("reflector.backoff") == 2 and seen.count("reflector.listed") == 2
    first = trace.state(seen.index("indexer.relisted"))
    assert [each["key"] for each in first["indexer"]["objects"]] == ["default/apple", "default/bread"]
    last = trace.state(len(seen) - 1)
    assert [each["key"] for each in last["indexer"]["objects"]] == ["default/bread"]
    assert last["apiserver"]["history"][-1]["version"] == "26" and last["apiserver"]["version"] == "27"
    assert trace.objects["default/bread@26"]["data"]["shout"] == "DARK BREAD"
    server = last["apiserver"]
    assert (server["remote"], server["wire"], server["objects"], server["oldest"]) == (True, "up", [], "")
    assert server["facts"][0][0] == "moment" and server["facts"][0][1].endswith("s")


def test_a_run_is_always_the_same_and_a_part_of_it_is_its_beginning(recording):
    source = recording.sources[0]
    full = tour.replay(recording, source)
    assert tour.replay(recording, source).to_dict() == full.to_dict()
    part = tour.replay(recording, source, limit=20)
    assert not part.is_complete and part.to_dict()["points"] == full.to_dict()["points"][:20]


def test_it_begins_at_any_moment_with_what_was_known_then(recording):
    source = recording.sources[0]
    for moment in (1.0, 3.0, 10.0, 19.0):
        trace = tour.replay(recording, source, start=moment)
        listed = trace.state(kinds(trace).index("indexer.relisted"))["indexer"]["objects"]
        known = recording.known(source, moment).objects
        assert {each["key"]: each["version"] for each in listed} == {
            key: obj["metadata"]["resourceVersion"] for key, obj in known.items()
        }
        assert trace.origin == moment
        assert [each["key"] for each in trace.state(10**6)["indexer"]["objects"]] == ["default/bread"]


def test_another_machine_is_fed_with_the_same(recording):
    source = recording.sources[0]
    other = tour.Settings(fifo="DeltaFIFO", handlers=2, workers=2, queue="PriorityQueue")
    trace = tour.replay(recording, source, other)
    end = trace.state(len(trace.points) - 1)
    assert end["fifo"]["name"] == "DeltaFIFO" and len(end["handlers"]["handlers"]) == 2
    assert set(end["workers"]["workers"]) == {"worker-0", "worker-1"}
    assert [each["key"] for each in end["indexer"]["objects"]] == ["default/bread"]


def test_another_thread_goes_on_but_nothing_else_breaks(recording):
    source = recording.sources[0]
    trace = tour.replay(recording, source, limit=40)
    at, thread = next(
        (number, name)
        for number, point in enumerate(trace.points)
        for name in point.runnable[1:]
        if name == "worker-0" and trace.points[number + 1].hop.thread != name
    )
    other = tour.replay(recording, source, None, [tour.Decision(at, "thread", thread)], 40)
    assert other.to_dict()["points"][: at + 1] == trace.to_dict()["points"][: at + 1]
    assert other.points[at + 1].hop.thread == thread
    with pytest.raises(ValueError, match="happens what happened"):
        tour.replay(recording, source, None, [tour.Decision(3, "fault", "cut")])


def test_many_objects_of_a_kind_that_nobody_knows(tmp_path):
    with synctest.bubble() as bubble, tour.record(tmp_path / "r"):
        source = new_fake_controller_source()
        for number in range(300):
            metadata = {"name": f"foo-{number}", "namespace": "default"}
            source.add(Unstructured({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": metadata}))
        example = Unstructured({"apiVersion": "example.com/v1", "kind": "Foo"})
        informer = cache.new_shared_index_informer(source, example, 0.0, {})
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
        thread.start()
        bubble.sleep(1.0)
        cancel()
        thread.join()
        source.shutdown()
    with tour.Recording(tmp_path / "r") as recording:
        trace = tour.replay(recording, recording.sources[0], limit=10)
        view = trace.state(trace.points[-1].hop.number)["indexer"]
    assert view["facts"] == [["length", 300]] and len(view["objects"]) == 24
    assert view["indices"]["namespace"]["default"][-1] == "+276"


# ---- the page


@pytest.fixture(scope="module")
def page(recording: tour.Recording) -> Any:
    with tour.ReplayPage(recording) as served:
        yield served


def ask(page: tour.ReplayPage, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(page.url).port, timeout=PATIENCE)
    try:
        text = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {page.token}"}
        connection.request(method, path, text, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_the_page_is_told_what_is_recorded_and_runs_it(page, recording):
    status, about = ask(page, "GET", "/api/tour")
    assert status == 200 and about["replay"] == recording.to_dict()
    (scenario,) = about["scenarios"]
    asked = {"scenario": scenario["name"], "limit": 5, "start": 3.0, "settings": {"fifo": "DeltaFIFO"}}
    status, run = ask(page, "POST", "/api/run", asked)
    assert status == 200 and run["origin"] == 3.0 and len(run["points"]) == 5
    code = run["points"][0]["hop"]["code"]
    assert ask(page, "GET", f"/api/source?file={code['file']}&function={code['function']}")[0] == 200
    assert ask(page, "GET", "/api/source?file=clientgo/tour/playback.py&function=Playback.event")[0] == 200


def test_the_recorded_hops_are_those_until_a_moment(page):
    status, recorded = ask(page, "GET", "/api/recorded?time=4.5")
    assert status == 200 and {hop["kind"] for hop in recorded["hops"]} >= {"ended", "backoff", "called"}
    assert max(hop["time"] for hop in recorded["hops"]) <= 4.5
    assert ask(page, "GET", "/api/recorded?time=-1")[1] == {"hops": []}


def test_a_recording_to_which_nothing_came_has_no_page(tmp_path):
    with tour.record(tmp_path / "r"):
        pass
    with tour.Recording(tmp_path / "r") as empty, pytest.raises(tour.RecordingError, match="nothing came"):
        tour.ReplayPage(empty)


def test_what_makes_no_sense_is_refused(page):
    for path in ("x", "nan", ""):
        assert ask(page, "GET", f"/api/recorded?time={path or '%20'}")[0] == 400
    bad: list[Any] = [
        {"settings": 1},
        {"settings": {"fifo": "x"}},
        {"decisions": 1},
        {"decisions": [1]},
        {"limit": "1"},
    ]
    for wrong in [*bad, {"start": "x"}, {"start": None}, {"decisions": [{"at": 1, "kind": "fault", "name": "cut"}]}]:
        assert ask(page, "POST", "/api/run", {"scenario": "source-0", **wrong})[0] == 400, wrong
    assert ask(page, "POST", "/api/run", {"scenario": "source-1"})[0] == 404


@pytest.mark.parametrize("seconds", [20_000, 10**7, 10**11])
def test_a_server_that_did_not_answer_for_long_is_replayed(tmp_path, seconds):
    lines = []
    for line in OUTAGE.read_text().splitlines():
        entry = json.loads(line)
        is_request = entry["what"] in ("recording", "source", "list", "watch") and entry["t"] < 1.0
        entry["t"] += 0 if is_request else seconds
        lines.append(json.dumps(entry, separators=(",", ":")))
    (tmp_path / "r").write_text("\n".join(lines) + "\n")
    with tour.Recording(tmp_path / "r") as late:
        trace = tour.replay(late, late.sources[0])
    assert trace.is_complete
    assert kinds(trace).count("reflector.listed") == 2


def test_a_source_whose_line_was_damaged_has_its_number_as_title():
    sources = (Source(2), Source(2, "cmd/x.py:7"), Source(2, "cmd/x.py:7", "*v1.Pod"))
    titles = [scenario_of(each).title for each in sources]
    assert titles == ["#2", "#2 (cmd/x.py:7)", "*v1.Pod (cmd/x.py:7)"]


def test_a_recording_without_an_end_is_refused_in_one_line(recording, page, monkeypatch):
    def perform(*_: Any) -> None:
        raise synctest.LivelockError("no end\nafter many operations")

    monkeypatch.setattr(sys.modules["clientgo.tour.replay"], "perform", perform)
    with pytest.raises(tour.RecordingError, match="cannot be replayed: the times of its lines are too far") as caught:
        tour.replay(recording, recording.sources[0])
    status, answer = ask(page, "POST", "/api/run", {"scenario": "source-0"})
    assert (status, answer["error"]) == (422, str(caught.value))
    assert "\n" not in answer["error"]


def test_threads_are_named_after_the_recorded_programs_reflector(recording):
    source = recording.sources[0]
    threads = {point.hop.thread for point in tour.replay(recording, source).points}
    assert f"reflector {source.name}" in threads and f"{source.name} list" in threads
    assert [each for each in threads if "tour/replay" in each] == []


@pytest.mark.parametrize("fifo", ["RealFIFO", "DeltaFIFO"])
@pytest.mark.parametrize("start", [0.0, 3.0])
def test_every_key_that_is_shown_has_a_chain_from_what_the_reflector_received(recording, fifo, start):
    source = recording.sources[0]
    trace = tour.replay(recording, source, tour.Settings(fifo=fifo, handlers=2, resync=15.0), start=start)
    hops = [point.hop.to_dict() for point in trace.points]
    assert {hop["thread"] for hop in hops if hop["station"] == "reflector" and hop["kind"] == "line"} == {
        f"reflector {source.name}"
    }
    asked = 0
    for at in range(len(hops)):
        for where in keys_in(trace.state(at)):
            links = past.chain(hops, at, **where._asdict())
            first = hops[links[0].at] if links else None
            assert first is not None and first["station"] == "reflector", (at, where, first)
            asked += 1
    assert asked > 400


def test_a_run_of_the_page_begins_at_the_first_line_and_has_250_hops(page, recording):
    status, run = ask(page, "POST", "/api/run", {"scenario": "source-0"})
    assert status == 200 and run["origin"] == 0.0
    assert run["points"] == json.loads(json.dumps(tour.replay(recording, recording.sources[0]).to_dict()["points"]))
    assert ask(page, "GET", "/api/recorded")[1]["hops"] == ask(page, "GET", "/api/recorded?time=0")[1]["hops"]


def test_a_run_of_the_page_has_at_most_a_hundred_decisions(page):
    decision = {"at": 1, "kind": "thread", "name": "x"}
    asked = [{"scenario": "source-0", "limit": 5, "decisions": [decision] * many} for many in (100, 101)]
    (status, _), refused = (ask(page, "POST", "/api/run", body) for body in asked)
    assert status == 200 and refused == (400, {"error": "a run has at most 100 decisions: undo some"})


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"scenario": "none"}, 404, "there is no such source"),
        ({}, 404, "there is no such source"),
        ({"scenario": "source-0", "settings": []}, 400, "settings is an object, decisions a list, limit a number"),
        ({"scenario": "source-0", "decisions": {}}, 400, "settings is an object, decisions a list, limit a number"),
        ({"scenario": "source-0", "limit": True}, 400, "settings is an object, decisions a list, limit a number"),
        ({"scenario": "source-0", "start": "nan"}, 400, "a moment is a number of seconds"),
        ({"scenario": "source-0", "start": []}, 400, "a moment is a number of seconds"),
    ],
)
def test_a_run_that_cannot_be_is_refused_with_its_reason(page, body, status, error):
    assert ask(page, "POST", "/api/run", body) == (status, {"error": error})


def test_settings_that_cannot_be_are_refused_before_a_replay(recording):
    with pytest.raises(ValueError, match="workers is between 1 and 4, not 9"):
        tour.replay(recording, recording.sources[0], tour.Settings(workers=9))
