"""Every station in every state, drawn in Chromium: in steps, live and in a replay.

Each state is checked where it is drawn: no error in the console, nothing outside its card, no half of a character, and
the number beside a shortened list is that of the objects which are not shown.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import samplecontroller  # noqa: F401  # makes the sample-controller's packages importable
from livequeues import ODD_KEYS, QUEUES, inspected
from programs import ImportedProgram
from tourbrowser import Page

from clientgo import context, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import naming
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.tour.picture import Painter, Scene
from clientgo.tour.script import Step
from clientgo.tour.viewschema import check_views

pytestmark = [pytest.mark.shared_server, pytest.mark.takes_turns(2)]

PROGRAM = ImportedProgram("informer-tour")
with PROGRAM:
    lessons: Any = PROGRAM.module("lessons")
    pageserver: Any = PROGRAM.module("pageserver")

MANY = 2000
SIZES = ((1280, 800), (1024, 700), (390, 844))
ODD_NAMES = ("a-very-long-name-" * 14, "مرحبا-שלום", "𝒳🍞𠮷-bread")
Json = dict[str, Any]

# Returns what is wrong with the picture that is drawn now.
WRONG = """
    const wrong = [];
    const cards = [...document.querySelectorAll("#picture > .card")];
    if (cards.length < 7) wrong.push(`${cards.length} cards`);
    for (const card of cards) {
      const name = card.dataset.station, body = card.querySelector(".body").getBBox();
      const text = card.textContent;
      if (/cannot be drawn/.test(text)) wrong.push(text);
      if (!text.isWellFormed() || text.includes("\\ufffd")) wrong.push(`${name}: half of a character: ${text}`);
      if (/undefined|NaN|\\[object/.test(text)) wrong.push(`${name}: no value: ${text}`);
      for (const each of card.querySelectorAll("text, .chip rect")) {
        const box = each.getBBox();
        if (box.width && (box.x < body.x || box.x + box.width > body.x + body.width + 1 || box.y < body.y - 1
            || box.y + box.height > body.y + body.height + 3))
          wrong.push(`${name}: outside: ${each.textContent || each.parentElement.textContent}`);
      }
    }
    const title = document.querySelector("#problem");
    if (!title.hidden) wrong.push(title.textContent);
    if (document.documentElement.scrollWidth > innerWidth) wrong.push(`${document.documentElement.scrollWidth} wide`);
"""
# Returns the number of keys on a card and of those that it states to hide.
COUNT = """
    const count = (station) => {
      const card = document.querySelector(`#picture .card[data-station=${station}]`);
      return [...card.querySelectorAll("text.empty")].map((each) => /^\\+(\\d+)/.exec(each.textContent)).filter(Boolean)
        .reduce((sum, [, number]) => sum + Number(number), card.querySelectorAll(".chip").length);
    };
"""
WALK = f"""
    const [step, from, station, done] = args, found = [], counts = [], labels = [];
    {COUNT}
    const time = document.getElementById("time");
    for (let hop = from; hop <= Number(time.max); hop += step) {{
      time.value = hop;
      time.dispatchEvent(new Event("input"));
      await new Promise((next) => setTimeout(next));
      {WRONG}
      found.push(...wrong.map((each) => `hop ${{hop + 1}}: ${{each}}`));
      counts.push(count(station));
      labels.push(document.querySelector(`#picture [data-station=${{station}}]`).getAttribute("aria-label"));
    }}
    done([Number(time.max) + 1, found.slice(0, 10), counts, labels]);
"""


SHEET = """
    document.getElementById("settings").open = true;
    const {left, right} = document.getElementById("settings-sheet").getBoundingClientRect();
    document.getElementById("settings").open = false;
    return left >= 0 && right <= innerWidth && right - left > 200;
"""


def wrong_in(page: Page) -> list[str]:
    return [str(each) for each in page.run(f"{WRONG} return wrong;")]


def walk(page: Page, step: int = 1, station: str = "queue", start: int = 0) -> tuple[int, list[int], list[str]]:
    """Draw every `step`th hop of those that are loaded.

    Return how many hops there are, and for each that was drawn the number of keys on a station's card and its label.
    """
    script = f"(async (args) => {{ {WALK} }})(arguments)"
    count, found, counts, labels = page.driver.execute_async_script(script, step, start, station)
    assert found == []
    return int(count), counts, labels


def counted(page: Page, station: str) -> int:
    """Return the number of keys on a card and of those that it states to hide, of one picture."""
    return int(page.run(f"{COUNT} return count(arguments[0])", station))


@pytest.fixture
def quiet(browser: Any) -> Iterator[Any]:
    """Yield the browser; its console is empty at the end."""
    yield browser
    assert browser.get_log("browser") == []
    browser.get("about:blank")


# ---- live


def redrawn(page: Page, count: int = 2) -> None:
    page.run("window.before = Number(document.body.dataset.drawn)")
    page.until(f"return Number(document.body.dataset.drawn) >= window.before + {count}")


def until_card_has(page: Page, station: str, words: str) -> None:
    """Wait until a station's card has these words, for screen readers too."""
    page.run("window.wanted = arguments[0]", [f"#picture [data-station={station}]", words])
    page.until("return document.querySelector(wanted[0]).getAttribute('aria-label').includes(wanted[1])")


def config_map(name: str) -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="default"))


WAITING = {
    "plain": (),
    "delaying": ("heap (waiting) later",),
    "rate limiting": ("heap (waiting) later", "failed ×1"),
    "priority": ("heap (waiting) later", "failed ×1"),
    "sharded": ("heap (waiting) later", "failed ×1"),
}


def wait(queue: Any) -> None:
    if hasattr(queue, "add_after"):
        queue.add_after("default/later", 1000.0)
    if hasattr(queue, "add_rate_limited"):
        queue.add_rate_limited("default/failed")


def add_odd(queue: Any) -> None:
    for key in ODD_KEYS:
        queue.add(key)


def add_many(queue: Any) -> None:
    for number in range(MANY):
        queue.add(f"default/ready-{number}")


# What brings a queue into a state, and the words that its card has then; after each other.
QUEUE_STATES: Mapping[str, tuple[Callable[[Any], object], tuple[str, ...]]] = {
    "nothing": (lambda queue: None, ("queue, in order",)),
    "ready": (lambda queue: queue.add("default/apple"), ("queue, in order apple",)),
    "processing": (lambda queue: queue.get(), ("processing apple",)),
    "dirty": (lambda queue: queue.add("default/apple"), ("dirty apple", "processing apple")),
    "waiting": (wait, ()),
    "odd": (add_odd, ("a-very-long-name", "مرحبا-שלום", "𝒳🍞𠮷-bread")),
    "thousands": (add_many, ("ready-0",)),
}


def test_a_live_queue_of_each_kind_is_drawn_in_every_state(quiet):
    with contextlib.ExitStack() as stack:
        plain = QUEUES["plain"]()  # the tour would find a plain one at its first item
        served = stack.enter_context(tour.serve(plain, title="a program \u202b مرحبا 🍞"))
        queues = {kind: plain if kind == "plain" else make() for kind, make in QUEUES.items()}
        for queue in queues.values():
            stack.callback(queue.shut_down)
        stack.callback(quiet.get, "about:blank")
        page = Page(quiet, served.url)
        page.resize(*SIZES[0])
        page.open("")
        for number, (kind, queue) in enumerate(queues.items()):
            page.choose("queue-choice", str(number))
            for state, (act, words) in QUEUE_STATES.items():
                act(queue)
                for word in WAITING[kind] if state == "waiting" else words:
                    until_card_has(page, "queue", word)
                redrawn(page, 1)
                assert wrong_in(page) == [], (kind, state)
            if number == 0:
                quiet.refresh()
                page.until("return document.body.dataset.ready === 'true'")
            # The other sizes are drawn for one kind here, and for each kind in steps and in a replay.
            for size in SIZES[: None if kind == "priority" else 1]:
                page.resize(*size)
                redrawn(page)
                assert wrong_in(page) == [], (kind, size)
                contents = served.live.queues()[number].queue.contents()
                sets = (contents.order, contents.dirty, contents.processing, contents.waiting, contents.failures)
                assert counted(page, "queue") == sum(map(len, sets)), (kind, size)
            page.resize(*SIZES[0])


def test_a_live_informer_is_drawn_in_every_state(quiet):
    source = new_fake_controller_source()
    indexers: cache.Indexers = {
        cache.NAMESPACE_INDEX: cache.meta_namespace_index_func,
        "initial": lambda obj: [obj.get_name()[:1]],
    }
    informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 0.0, indexers)
    informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=lambda obj: None))
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(tour.serve(informer, title="a program"))
        for end in (source.shutdown, thread.join, cancel):
            stack.callback(end)
        stack.callback(quiet.get, "about:blank")
        page = Page(quiet, served.url)
        page.resize(*SIZES[0])
        page.open("")

        def check(state: str, size: tuple[int, int] = SIZES[0]) -> None:
            redrawn(page)
            assert wrong_in(page) == [], (state, size)

        check("not begun")
        thread.start()
        page.until("return document.querySelector('[data-station=fifo]').textContent.includes('✓')")
        check("no object")
        for name in ODD_NAMES:
            source.add(config_map(name))
            until_card_has(page, "indexer", name)
            check(name)
        page.click("#tab-break", draws=False)
        page.until("return document.querySelector('[data-handler]')")
        page.run("document.querySelector('[data-handler]').click()")
        page.until("return document.querySelector('[data-handler][aria-pressed=true]')")
        check("paused")
        for number in range(MANY):
            source.add(config_map(f"n-{number}"))
        until_card_has(page, "indexer", f"length {MANY + len(ODD_NAMES)}")
        for size in SIZES:
            page.resize(*size)
            check("thousands, and a full buffer", size)
            assert "paused" in page.run("return document.querySelector('[data-station=handlers]').textContent")
            assert counted(page, "indexer") == MANY + len(ODD_NAMES), size
            assert counted(page, "handlers") == MANY, size
        for tab in ("lesson", "source", "object", "past"):
            page.run(f"document.getElementById('tab-{tab}').click()")
            check(tab, SIZES[-1])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_tab_of_a_live_page_scrolls_sideways(quiet, language):
    queue = QUEUES["rate limiting"]()
    with tour.serve(queue, title="a program") as served:
        threads = [threading.Thread(target=queue.get, name=f"worker-{n}-of-a-program", daemon=True) for n in range(2)]
        for thread in threads:
            thread.start()
        page = Page(quiet, served.url)
        page.open("")
        if page.run("return document.documentElement.lang") != language:
            page.click("#language")
        queue.add_after("default/" + "c" * 253, 1000.0)  # its heading in the tab about the past breaks inside of it
        page.until("return document.querySelector('[data-station=workers]').textContent.includes('worker-1')")
        page.until("return document.querySelector('[data-station=queue] [data-key*=cc]')")
        page.run("document.querySelector('[data-station=queue] [data-key*=cc]').dispatchEvent(new Event('click'))")
        page.run("document.getElementById('tab-past').click()")
        page.until("return document.querySelector('#pane h3')?.textContent.includes('cccc')")
        page.until("return location.hash.includes('tab=past&key=')")
        assert page.run("return document.getElementById('tab-past').getAttribute('aria-selected')") == "true"
        for width in (1400, 1024, 360):
            page.resize(width, 700)
            for tab in ("lesson", "source", "object", "past", "break"):
                page.run(f"document.getElementById('tab-{tab}').click()")
                page.until(f"return document.getElementById('tab-{tab}').getAttribute('aria-selected') === 'true'")
                redrawn(page)
                wide = page.run("const p = document.getElementById('pane'); return p.scrollWidth - p.clientWidth")
                assert wide <= 0, (width, tab)
        queue.shut_down()
        for thread in threads:
            thread.join()
        quiet.get("about:blank")


# ---- in steps


ODD_TEXTS = ("مرحبا שלום", "𝒳🍞𠮷 bread", "long " + "word" * 60)
EXTRA = {
    "no-object": tour.Scenario(name="no-object", title="No object", after=5.0),
    "odd": dataclasses.replace(
        tour.SCENARIOS["handlers"],
        name="odd",
        before=[Step(0, "create", "a-very-long-name-" * 14, ODD_TEXTS[0]), Step(0, "create", "b", ODD_TEXTS[1])],
        steps=[
            Step(2, "handler-blocks"),  # its buffer fills
            *(Step(3, "create", f"n-{number}", ODD_TEXTS[number % 3]) for number in range(6)),
        ],
        settings=tour.Settings(handlers=2, workers=2, words=True),
    ),
    "thousands": dataclasses.replace(tour.SCENARIOS["queue"], name="thousands"),
}
STATES = tour.Scenario(name="states", title="Every state", after=1.0)


@dataclasses.dataclass(frozen=True)
class State:
    """A state of a station, as the painter of runs and replays sends it."""

    name: str
    station: str
    view: Json
    words: tuple[str, ...]
    """Words of the card, for screen readers too."""
    total: int
    """Number of keys that the card shows or states to hide."""


def states(most: int) -> list[State]:
    """Return each kind of queue in each state, and handlers; their lists are shortened to `most` entries."""
    found: list[State] = []
    hop = tour.execute(EXTRA["no-object"], limit=1).points[0].hop
    for kind, make in QUEUES.items():
        queue = make()
        inner = inspected(queue)
        painter = Painter(Scene(queue=inner), most=most)
        for state, (act, words) in QUEUE_STATES.items():
            act(queue)
            view = painter.paint(hop)["queue"]
            contents = inner.contents()
            sets = (contents.order, contents.dirty, contents.processing, contents.waiting, contents.failures)
            words = WAITING[kind] if state == "waiting" else words
            found.append(State(f"{kind} {state}", "queue", view, words, sum(map(len, sets))))
        queue.shut_down()
    key = f"default/{ODD_NAMES[0]}"
    notice = {"method": "on_add", "key": key, "version": "7", "ref": f"{key}@7", "tombstone": False}
    handler = {"name": f"pkg.{ODD_NAMES[1]}.{ODD_NAMES[2]}", "pending": [], "taken": [], "delivering": None}
    full = {**handler, "pending": [notice] * min(most, MANY), "totals": {"pending": MANY, "taken": 0}}
    for name, each, total in (("idle", handler, 0), ("with a full buffer", full, MANY)):
        for is_paused in (False, True):
            view = {"handlers": [{**each, "calls": 3, "raised": 0, "paused": is_paused}]}
            words = ("paused",) if is_paused else ()
            found.append(State(f"a handler {name}{', paused' * is_paused}", "handlers", view, words, total))
    delta = {"type": "Sync", "version": "7", "ref": "", "tombstone": False}
    for name, number in (("empty", 0), ("thousands", MANY)):
        # A key's own chip is left out, so that each key has one.
        keys = [{"key": "", "deltas": [delta]} for _ in range(min(24, number))]
        view = {"name": "DeltaFIFO", "keys": keys, "length": number, "initialLeft": 0, "synced": True}
        found.append(State(f"a FIFO: {name}", "fifo", view, ("HasSynced",), number))
    return found


def points_of(found: list[State], answer: Json) -> Json:
    """Return a run whose hops bring these states, after each other."""
    changes = [{state.station: state.view} for state in found]
    for changed in changes:
        check_views(changed)
    first = answer["points"][0]
    points = [{**first, "changed": {**first["changed"], **changes[0]}}]
    return {**answer, "points": [*points, *({**first, "changed": each} for each in changes[1:])], "complete": True}


def check_states(page: Page, found: list[State], size: tuple[int, int]) -> None:
    """Draw the states that are loaded; at other sizes than the first one those of many keys alone."""
    page.resize(*size)
    for station in ("queue", "handlers", "fifo"):
        here = [number for number, state in enumerate(found) if state.station == station]
        if size != SIZES[0]:
            queues = "priority thousands" if size == SIZES[-1] else "thousands"
            ends = (queues, "full buffer, paused", "FIFO: thousands")
            here = [number for number in here if found[number].name.endswith(ends)]
        _, counts, labels = walk(page, station=station, start=here[0], step=(here[1:] or [here[0] + 99])[0] - here[0])
        for number, count, label in zip(here, counts, labels, strict=False):
            state = found[number]
            assert count == state.total, (state.name, size)
            assert [word for word in state.words if word not in label] == [], (state.name, label)
        assert len(counts) >= len(here) > 0


def multiplied(view: Json) -> Json:
    """Return a view of the station with thousands of each key that it has."""
    found = dict(view)
    for name, value in view.items():
        if name == "handlers":
            found[name] = [multiplied(each) for each in value]
        elif name in ("objects", "keys", "order", "dirty", "pending", "taken") and value:
            copies = ((value[number % len(value)], number) for number in range(MANY))
            found[name] = [
                f"{each}-{number}" if isinstance(each, str) else {**each, "key": f"{each['key']}-{number}"}
                for each, number in copies
            ]
    return {**found, "length": len(found["keys"])} if "keys" in found else found


def run(request: Any, query: Any) -> Json:
    """Answer as the server does; in the scenario "thousands", with thousands of things in a short run."""
    answer: Json = RUN(request, query)
    if answer["scenario"] == "states":
        return points_of(states(sys.maxsize), answer)
    if answer["scenario"] == "thousands":
        points = answer["points"][:12]
        for point in points:
            changed = {station: multiplied(view) for station, view in point["changed"].items()}
            point["changed"] = changed
            check_views(changed)
        return {**answer, "points": points, "complete": True}
    return answer


RUN = pageserver._POST["/api/run"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the lessons' scenarios and three more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lessons, "SCENARIOS", {**lessons.SCENARIOS, **EXTRA, "states": STATES})
        patch.setitem(pageserver._POST, "/api/run", run)
        with pageserver.PageServer() as server:
            yield server.url


def test_a_queue_of_each_kind_and_a_handler_are_drawn_in_every_state_in_steps(quiet, address):
    found = states(sys.maxsize)
    assert len(found) == len(QUEUES) * len(QUEUE_STATES) + 6
    page = Page(quiet, address)
    page.resize(*SIZES[0])
    page.open("states?lang=en")
    for size in SIZES:
        check_states(page, found, size)


@pytest.mark.parametrize("scenario", ["handlers", "events", "election", "sample-controller", *EXTRA])
def test_every_station_is_drawn_in_every_state_of_a_run(quiet, address, scenario):
    page = Page(quiet, address)
    for size in SIZES:
        page.resize(*size)
        page.open(f"{scenario}?lang=en")
        walk(page, step=4 if size == SIZES[0] else 23)
        assert page.run(SHEET), size
    if scenario == "thousands":
        page.resize(*SIZES[0])
        page.to(5)
        assert counted(page, "fifo") >= MANY
        page.key("\ue010")  # End
        assert counted(page, "apiserver") >= MANY
        assert counted(page, "indexer") == MANY
    if scenario == "odd":
        assert "مرحبا" in page.run("return JSON.stringify(document.querySelector('#picture').textContent)")


# ---- replay


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record an informer that has no object, then odd ones, then thousands."""
    path = tmp_path_factory.mktemp("recorded") / "r.jsonl"
    with synctest.bubble() as bubble, tour.record(path):
        source = new_fake_controller_source()
        with naming.call_site("pkg/generated/informers/externalversions/samplecontroller/v1alpha1/foo.py:96"):
            informer = cache.new_shared_index_informer(source, corev1.ConfigMap(), 0.0, {})
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
        thread.start()
        bubble.sleep(1.0)
        for name in ODD_NAMES:
            source.add(config_map(name))
            bubble.sleep(1.0)
        for number in range(MANY):
            source.add(config_map(f"n-{number}"))
        bubble.sleep(5.0)
        cancel()
        thread.join()
        source.shutdown()
    return path


def test_a_queue_of_each_kind_and_a_handler_are_drawn_in_every_state_of_a_replay(quiet, recorded, monkeypatch):
    found = states(24)
    real = tour.ReplayPage._run
    monkeypatch.setattr(tour.ReplayPage, "_run", lambda *given: points_of(found, real(*given)))
    with tour.Recording(recorded) as recording, tour.ReplayPage(recording) as served:
        page = Page(quiet, served.url)
        page.resize(*SIZES[0])
        page.open("")
        for size in SIZES:
            check_states(page, found, size)
        quiet.get("about:blank")


def begin_at_the_end(page: Page) -> None:
    """Begin a replay where the recording ends."""
    page.run("""
        window.before = Number(document.body.dataset.drawn);
        const moment = document.getElementById("moment");
        moment.value = 6;
        moment.dispatchEvent(new Event("change"));
    """)
    page.until("return Number(document.body.dataset.drawn) > window.before")
    assert page.hop == 0 and page.run("return Number(document.getElementById('moment').value)") > 5


def test_every_station_is_drawn_in_every_state_of_a_replay(quiet, recorded):
    """With a handler that does not run before its buffer is full."""
    with tour.Recording(recorded) as recording, tour.ReplayPage(recording) as served:
        page = Page(quiet, served.url)
        page.resize(*SIZES[0])
        page.open("")
        page.click("#settings summary", draws=False)
        page.choose("s-last", "handler")
        assert walk(page, step=5)[0] > 200  # no object, then odd ones
        # From the end of the recording the first list has thousands.
        begin_at_the_end(page)
        for size in SIZES:
            page.resize(*size)
            walk(page, step=31)
            assert page.run(SHEET), size
        page.resize(*SIZES[0])
        count = len(ODD_NAMES) + MANY
        assert counted(page, "indexer") == count
        # As many notifications wait as there are objects, before the handler runs.
        assert max(walk(page, station="handlers", step=1)[1]) == count
        for tab in ("source", "object", "past", "break"):
            page.run(f"document.getElementById('tab-{tab}').click()")
            page.until(f"return document.getElementById('pane').getAttribute('aria-labelledby') === 'tab-{tab}'")
            if tab == "source":
                page.until("return document.querySelector('#pane .code')")
            assert wrong_in(page) == []
        quiet.get("about:blank")
