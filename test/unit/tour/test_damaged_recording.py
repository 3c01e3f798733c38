"""Damaged recordings: whatever a file holds, no thread ends because of it, and each error names line and field.

The seed of the random damages changes daily; a failure prints it. `TOUR_FUZZ_SEED=20261124` repeats a day.
"""

from __future__ import annotations

import copy
import datetime
import gzip
import http.client
import json
import os
import random
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from patience import PATIENCE

from clientgo import context, tour
from clientgo.api.core import v1 as corev1
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tour import terminal

OUTAGE = Path(__file__).parent / "outage.jsonl"
LINES = OUTAGE.read_text().splitlines() if OUTAGE.exists() else []
SEED = int(os.environ.get("TOUR_FUZZ_SEED") or datetime.datetime.now(datetime.UTC).strftime("%Y%m%d"))
ROUNDS = 12

DEEP: Any = "bottom"
for _ in range(300):
    DEEP = [DEEP]
ODD: list[Any] = [
    *(None, True, -1, 0.5, 2**70, 1e308, "", "x" * 5000, "\x1b[31mred", "a\nb", "\u2028", "\ud800"),
    *([], {}, [[]], [{}], {"": None}, {"metadata": 7}, {"a": {"b": {}}}, DEEP, ["ADDED"], {"ADDED": 1}, "NEW"),
]


@pytest.fixture(autouse=True)
def dead_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Yield the list of exceptions that ended threads, which must be empty."""
    died: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", lambda about: died.append((about.thread, about.exc_value)))
    yield died
    assert died == []


def play_all(path: Path) -> list[str]:
    """Do everything that can be done with a recording; what is damaged."""
    try:
        recording = tour.Recording(path)
    except tour.RecordingError as err:
        return [str(err)]
    with recording:
        hops = recording.hops_until(recording.duration, most=100_000)
        shown: list[Any] = [hops, recording.to_dict()]
        for source in recording.sources.values():
            known = recording.known(source, recording.duration)
            shown.append([known.objects, known.version])
            for kind in (corev1.ConfigMap, None):
                with synctest.bubble() as bubble:
                    played = tour.Playback(recording, source, kind)
                    informer = cache.new_shared_index_informer(played, None, 0.0, {})
                    ctx, cancel = context.with_cancel(context.background())
                    thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="i", daemon=True)
                    thread.start()
                    bubble.sleep(300.0)
                    cancel()
                    thread.join()
                    played.close()
            if source.entries:
                shown.append(tour.replay(recording, source, limit=60).to_dict())
        # As a page and a terminal get it.
        json.dumps(shown, allow_nan=False).encode()
        for text in (recording.program, recording.began, *recording.damages, *(str(hop["key"]) for hop in hops)):
            assert not re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", text), text
        return recording.damages


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in items:
        yield from paths(each, (*path, name))


def changed(line: str, path: tuple[Any, ...], value: Any) -> str:
    document = copy.deepcopy(json.loads(line))
    if not path:
        return json.dumps(value, separators=(",", ":"))
    *way, last = path
    within = document
    for name in way:
        within = within[name]
    within[last] = value
    return json.dumps(document, separators=(",", ":"))


@pytest.mark.parametrize("number", range(ROUNDS))
def test_no_damage_of_today_ends_a_thread(tmp_path: Path, number: int) -> None:
    seed = SEED * 1000 + number
    rng = random.Random(seed)
    lines = list(LINES)
    wire = [at for at, line in enumerate(lines) if '"what":"hop"' not in line[:20] and '"what":"code"' not in line[:20]]
    for _ in range(8):
        at = rng.choice(wire) if rng.random() < 0.7 else rng.randrange(len(lines))
        try:
            path = rng.choice(list(paths(json.loads(lines[at]))))
            lines[at] = changed(lines[at], path, rng.choice(ODD))
        except (ValueError, TypeError, KeyError):
            continue
        if rng.random() < 0.1:  # a key that is there twice
            lines[at] = (
                lines[at][:-1] + f',"{rng.choice(["what", "t", "source", "type"])}":{rng.choice(["[]", "NaN"])}}}'
            )
    (tmp_path / "r").write_text("\n".join(lines) + "\n")
    try:
        play_all(tmp_path / "r")
    except BaseException as err:
        err.add_note(f"repeat this with TOUR_FUZZ_SEED={SEED}, number {number}")
        raise


def _replaced(rng: random.Random, data: bytes, pattern: bytes, share: float, values: list[bytes]) -> bytes:
    return re.sub(pattern, lambda match: rng.choice(values) if rng.random() < share else match[0], data)


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Return the file with one damage of the kinds that disks, editors, networks and other programs cause."""
    lines, at = data.split(b"\n"), rng.randrange(len(data) + 1)
    match rng.randrange(11):
        case 0:
            return data[:at]
        case 1:
            return data + rng.choice([data, data[at:], bytes(5000)])
        case 2:
            packed = bytearray(gzip.compress(data, mtime=0))
            packed[rng.randrange(len(packed))] ^= rng.choice([0, 1, 255])
            return bytes(packed)
        case 3:
            flipped = bytearray(data)
            for _ in range(min(20, len(data))):
                flipped[rng.randrange(len(data))] = rng.randrange(256)
            return bytes(flipped)
        case 4:
            odd = [b"\0" * 50, b"\xff", b"\xed\xa0\x80", "\U0001f600\u202e".encode()]
            return data[:at] + rng.choice(odd) + data[at:]
        case 5:
            names = [("\U0001f600" * 50).encode(), b"\\ud83d\\ude00", b"\\u001b[2J", b"\\u0000", b"x" * 100_000]
            return data.replace(rng.choice([b"apple", b"bread", b"default", b"ConfigMap"]), rng.choice(names))
        case 6:
            rng.shuffle(lines)
        case 7:
            lines[1:1] = [rng.choice(lines)] * rng.randrange(200)
        case 8:
            times = [b'"t":%d.5' % 10 ** rng.randrange(12) for _ in range(3)]
            return _replaced(rng, data, rb'"t":[0-9.]+', 0.3, times)
        case 9:
            sources = [b'"source":%d' % number for number in (1, 7, 10**8, 10**18)]
            return _replaced(rng, data, rb'"source":0', 0.3, sources)
        case _:
            in_utf_16 = data.decode(errors="replace").encode("utf-16")
            return rng.choice([data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data, in_utf_16])
    return b"\n".join(lines)


def show_all(path: Path, rng: random.Random) -> None:
    """Show a recording in the terminal and on the page, as far as it can be opened."""
    try:
        recording = tour.Recording(path)
    except tour.RecordingError:
        return
    with recording:
        if not any(source.entries for source in recording.sources.values()):
            return
        screen = terminal.Screen(runs=terminal.recorded(recording), language=rng.choice(["en", "zh"]))
        for _ in range(10):
            screen.press(rng.choice(["\x1b[C", "\x1b[D", "\x1b[F", " ", "s", "w", "?", "m", "1", "z", "\r"]))
            for line in screen.lines(rng.randrange(1, 150), rng.randrange(1, 50)):
                assert not re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", line), line
        with tour.ReplayPage(recording) as page:
            about = asked(page, "GET", "/api/tour")
            asked(page, "GET", "/api/recorded?time=1e12")
            for scenario in about["scenarios"][:3]:
                asked(page, "POST", "/api/run", {"scenario": scenario["name"], "limit": 40, "start": 1.5})


def asked(page: tour.ReplayPage, method: str, path: str, body: Any = None) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(page.url).port, timeout=PATIENCE)
    try:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {page.token}"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        assert response.status == 200 or (response.status < 500 and "\n" not in answer["error"]), answer
        return answer
    finally:
        connection.close()


@pytest.mark.parametrize("number", range(ROUNDS))
def test_no_damaged_file_of_today_ends_a_thread_or_a_request(tmp_path: Path, number: int) -> None:
    rng = random.Random(SEED * 1000 + 500 + number)
    data = OUTAGE.read_bytes()
    for _ in range(rng.randrange(1, 4)):
        data = damaged(rng, data)
    (tmp_path / "r").write_bytes(data)
    try:
        for damage in play_all(tmp_path / "r"):
            assert "\n" not in damage
        show_all(tmp_path / "r", rng)
    except BaseException as err:
        err.add_note(f"repeat this with TOUR_FUZZ_SEED={SEED}, number {number}")
        raise


def test_the_seed_changes_daily_and_draws_other_damages() -> None:
    assert SEED >= 20260101 or "TOUR_FUZZ_SEED" in os.environ
    drawn = {damaged(random.Random(day * 1000 + 500), OUTAGE.read_bytes()) for day in range(20261101, 20261130)}
    assert len(drawn) > 20


HEAD = '{"what":"recording","t":0.0,"format":1,"began":"","program":"p"}'
SOURCE = '{"what":"source","t":0.0,"source":0,"name":"n","type":"*v1.ConfigMap"}'
LIST = '{"what":"list","t":0.1,"source":0,"request":0,"options":{}}'
LISTED = '{"what":"listed","t":0.2,"source":0,"version":"1","items":[]}'
WATCH = '{"what":"watch","t":0.3,"source":0,"request":1,"options":{}}'
OBJECT = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"d","resourceVersion":"2"}}'
EVENT = f'{{"what":"event","t":0.4,"source":0,"request":1,"type":"ADDED","object":{OBJECT}}}'
AFTER = EVENT.replace('"a"', '"b"').replace('"2"', '"3"')


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (EVENT.replace('"ADDED"', "[]"), "line 6: `type` must be a string, not a list"),
        (EVENT.replace('"ADDED"', '{"a":1}'), "line 6: `type` must be a string, not an object"),
        (EVENT.replace('"ADDED"', '"\\u001b[31m"'), "line 6: `type` has control characters"),
        (EVENT.replace(OBJECT, "7"), "line 6: `object` must be an object, not a number"),
        (EVENT.replace(f',"object":{OBJECT}', ""), "line 6: `object` is missing"),
        (EVENT.replace('"a"', "{}"), "line 6: `object.metadata.name` must be a string, not an object"),
        (EVENT.replace('"2"', "2"), "line 6: `object.metadata.resourceVersion` must be a string, not a number"),
        (EVENT.replace('"a"', '"' + "a" * 5000 + '"'), "line 6: `object.metadata.name` has 5000 characters"),
        (EVENT.replace('"d"', '"d","labels":{"x":[]}'), "line 6: `object.metadata.labels` must have strings alone"),
        (EVENT.replace('"d"', '"d","labels":"x"'), "line 6: `object.metadata.labels` must be an object"),
        (EVENT.replace('"v1"', "[]"), "line 6: `object.apiVersion` must be a string, not a list"),
        (EVENT.replace('"v1"', '"v1","data":' + "[" * 200 + "]" * 200), "is deeper than 100 values"),
        (EVENT.replace('"v1"', '"v1","data":' + "[" * 9000 + "]" * 9000), "line 6: `line` cannot be read"),
        (
            EVENT.replace('"d"', '"d","ownerReferences":[7]'),
            "line 6: `object.metadata.ownerReferences` must have objects",
        ),
        (EVENT.replace('"v1"', '"v1","x":NaN'), "line 6: `line` cannot be read: NaN is no JSON"),
        (EVENT.replace('"v1"', '"v1","x":1e999'), "line 6: `object.x` must be a finite number"),
        (EVENT.replace('"v1"', '"v1","x":"\\ud800"'), "line 6: `object.x` has lone surrogates"),
        (EVENT[:-1] + ',"what":["event"]}', "line 6: `what` must be 'event'"),
        (EVENT[:-1] + ',"source":[0]}', "line 6: `source` must be an integer, not a list"),
        (EVENT[:-1] + ',"source":5}', "line 6: `source` must be 0"),
        (EVENT[:-1] + ',"t":{}}', "line 6: `t` must be a number, not an object"),
        (WATCH.replace("{}", "[]"), "line 6: `options` must be an object, not a list"),
        ('{"what":"failed","t":0.4,"source":0,"request":1,"error":[],"type":"X"}', "`error` must be a string"),
        ('{"what":"failed","t":0.4,"source":0,"request":1,"error":"","object":[]}', "`object` must be an object"),
        ('{"what":"listed","t":0.4,"source":0,"version":"1","items":7}', "line 6: `items` must be a list"),
        ('{"what":"hop","t":0.4,"station":{},"key":"a"}', "line 6: `station` must be a string, not an object"),
        ('{"what":"hop","t":0.4,"key":"\\u0007"}', "line 6: `key` has control characters"),
        ('{"what":"hop","t":0.4,"merged":[{}],"key":"a"}', "line 6: `merged` has an entry that must be a string"),
        ('{"what":"code","t":0.4,"code":1,"file":[]}', "line 6: `file` must be a string, not a list"),
        ('{"what":"skipped","t":0.4,"hops":-1}', "line 6: `hops` must be between 0"),
        ('{"what":"skipped","t":0.4}', "line 6: `hops` is missing"),
        ('{"what":"event","t":0.4,"request":1}', "line 6: `source` is missing at the line's beginning"),
        ("x", "line 6 is cut off or no line of a recording"),
    ],
)
def test_an_error_names_line_and_field_and_what_follows_is_played(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "r"
    path.write_text("\n".join([HEAD, SOURCE, LIST, LISTED, WATCH, line, AFTER]) + "\n")
    damages = play_all(path)
    assert any(message in damage for damage in damages), damages
    assert len(damages) == 1, "each damage is described once"
    with tour.Recording(path) as recording:
        assert "d/b" in recording.known(recording.sources[0], 9.0).objects


@pytest.mark.parametrize("damage", [('"name"', '"nbme"'), ('"metadata"', '"metbdata"'), ('"a"', '""')])
def test_an_object_without_a_name_is_skipped(tmp_path: Path, damage: tuple[str, str]) -> None:
    """Its key would be empty, and so would be the chip that shows it."""
    path = tmp_path / "r"
    damaged_object, damaged_event = OBJECT.replace(*damage), EVENT.replace(*damage)
    listed = LISTED.replace("[]", f"[{damaged_object},{OBJECT}]")
    path.write_text("\n".join([HEAD, SOURCE, LIST, listed, WATCH, damaged_event, AFTER]) + "\n")
    assert play_all(path) == [
        "line 4: `items[0].metadata.name` is missing",
        "line 6: `object.metadata.name` is missing",
    ]
    with tour.Recording(path) as recording:
        assert set(recording.known(recording.sources[0], 9.0).objects) == {"d/a", "d/b"}


def test_an_item_of_a_list_that_makes_no_sense_is_left_out(tmp_path: Path) -> None:
    items = f"{OBJECT},7,{OBJECT.replace(chr(34) + 'a' + chr(34), '[]')}"
    path = tmp_path / "r"
    path.write_text("\n".join([HEAD, SOURCE, LIST, LISTED.replace("[]", f"[{items}]"), WATCH]) + "\n")
    assert play_all(path) == [
        "line 4: `items[1]` must be an object, not a number",
        "line 4: `items[2].metadata.name` must be a string, not a list",
    ]


def test_the_names_of_the_program_and_of_a_source_are_printable(tmp_path: Path) -> None:
    path = tmp_path / "r"
    head, source = HEAD.replace('"p"', '"\\u001b]0;x"'), SOURCE.replace('"n"', '"a\\nb"')
    path.write_text("\n".join([head, source, LIST, LISTED, WATCH]) + "\n")
    with tour.Recording(path) as recording:
        assert (recording.program, recording.sources[0].name, recording.sources[0].type) == ("", "", "*v1.ConfigMap")
        assert [damage.split("`")[1] for damage in recording.damages] == ["program", "name"]
