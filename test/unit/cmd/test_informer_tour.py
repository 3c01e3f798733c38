"""The lessons, held to account sentence by sentence, and the page's server, as others may ask it."""

from __future__ import annotations

import http.client
import json
import queue
import re
import socket
import time
import webbrowser
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import pytest
import samplecontroller  # noqa: F401  # makes the sample-controller's packages importable
from chinesetexts import problems
from patience import PATIENCE
from programs import ImportedProgram

from clientgo import tour
from clientgo.tour import web
from clientgo.util import workqueue

PROGRAM = ImportedProgram("informer-tour")
with PROGRAM:
    lessons: Any = PROGRAM.module("lessons")
    pageserver: Any = PROGRAM.module("pageserver")
LESSONS = lessons.all_()
SCENARIOS = lessons.SCENARIOS
PAGE = web.PAGE


class View(dict[str, Any]):
    """JSON whose fields are attributes."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


def view(value: Any) -> Any:
    if isinstance(value, dict | MappingProxyType):
        return View({name: view(each) for name, each in value.items()})
    return [view(each) for each in value] if isinstance(value, list | tuple) else value


def delay_after(failures: int) -> float:
    """Return the delay that the lessons' rate limiter gives a key after so many failures."""
    limiter = workqueue.new_typed_item_exponential_failure_rate_limiter(tour.Settings().base_delay, 1000.0)
    return [limiter.when("key") for _ in range(failures)][-1]


HELPERS: dict[str, Any] = {
    **{name: f"default/{name}" for name in ("apple", "bread", "cheese")},
    **{f"default_{name}": f"default/{name}" for name in ("avocado", "bread", "dates")},
    "slice_": "default/slice",
    "core": "default/core",
    "keys": lambda objects: [each["key"] for each in objects],
    "delay_after": delay_after,
}


@cache
def trace_of(scenario: str, machine: str = "{}") -> tour.Trace:
    settings = tour.Settings.of({**SCENARIOS[scenario].settings.to_dict(), **json.loads(machine)})
    return tour.execute(SCENARIOS[scenario], settings, limit=tour.MAX_HOPS)


@cache
def stops(lesson: Any) -> list[tuple[tour.Trace, int]]:
    """Return the run and the hop of each step. Fails if a step has none."""
    found: list[tuple[tour.Trace, int]] = []
    for step in lesson.steps:
        trace = trace_of(lesson.scenario, json.dumps(step.machine, sort_keys=True))
        after = found[-1][1] if found and found[-1][0] is trace else -1
        at = next((n for n in range(after + 1, len(trace.points)) if step.is_at(trace.points[n].hop)), None)
        assert at is not None, f"{lesson.name}: the step {step.title!r} is never reached"
        found.append((trace, at))
    return found


def scene_of(trace: tour.Trace, at: int) -> dict[str, Any]:
    """Return the names that a check may use at a hop."""
    hop = view(trace.points[at].hop.to_dict())
    return {**HELPERS, **view(trace.state(at)), "hop": hop, "objects": view(trace.objects)}


def test_there_are_the_lessons_that_were_promised():
    titles = {lesson.title for lesson in LESSONS}
    assert titles == {scenario.title for scenario in SCENARIOS.values()}
    assert {lesson.scenario for lesson in LESSONS} == set(SCENARIOS)


PARAGRAPHS = [
    pytest.param(lesson, number, paragraph, id=f"{lesson.name}-{number + 1}-{which}")
    for lesson in LESSONS
    for number, step in enumerate(lesson.steps)
    for which, paragraph in enumerate(step.paragraphs)
]


@pytest.mark.parametrize(("lesson", "number", "paragraph"), PARAGRAPHS)
def test_what_a_lesson_says_is_so(lesson, number, paragraph):
    assert paragraph.check, f"nothing holds this to account: {paragraph.text}"
    assert re.search(rf"\b(hop|delay_after|{'|'.join(tour.STATIONS)})\b", paragraph.check)
    trace, at = stops(lesson)[number]
    # Written by us, beside the sentence.
    assert eval(paragraph.check, scene_of(trace, at)), f"{paragraph.text}\n{paragraph.check}\n{trace.points[at].hop}"


BRANCHES = [
    pytest.param(lesson, number, answer, id=f"{lesson.name}-{number + 1}-{which}")
    for lesson in LESSONS
    for number, step in enumerate(lesson.steps)
    for which, answer in enumerate(step.answers)
    if answer.branch is not None
]


def branch_run(lesson: Any, number: int, branch: Any) -> tuple[tour.Trace, int]:
    """Return the run of a wrong answer to the question before a step, and the number of its hop."""
    scenario, at = SCENARIOS[lesson.scenario], stops(lesson)[number - 1][1]
    settings = tour.Settings.of({**scenario.settings.to_dict(), **branch.settings(lesson.steps[number].machine)})
    decisions = [tour.Decision(at, "fault", branch.fault)] if branch.fault else []
    trace = tour.execute(scenario, settings, decisions, limit=tour.MAX_HOPS)
    return trace, branch.hop_in(trace.points, at)


@pytest.mark.parametrize(("lesson", "number", "answer"), BRANCHES)
def test_a_wrong_answer_is_right_in_the_run_of_its_branch_alone(lesson, number, answer):
    branch = answer.branch
    trace, at = branch_run(lesson, number, branch)
    assert at >= 0, f"the run of {answer.text!r} never stops"
    assert eval(branch.check, scene_of(trace, at)), f"{answer.text}: {branch.check}\n{trace.points[at].hop}"
    plain, there = stops(lesson)[number]
    if (branch.station, branch.kind) == (plain.points[there].hop.station, plain.points[there].hop.kind):
        assert not eval(branch.check, scene_of(plain, there)), f"{answer.text} holds in the lesson's own run"


def test_several_lessons_have_answers_with_branches():
    assert len(BRANCHES) >= 10 and len({param.values[0].name for param in BRANCHES}) >= 6


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        ("{", "no JSON"),
        ('{"fault": "cut", "stop": "reflector nothing", "check": "1"}', "stops nowhere"),
        ('{"stop": "reflector list", "check": "1"}', "either a machine or a known fault"),
        ('{"fault": "fire", "stop": "reflector list", "check": "1"}', "either a machine or a known fault"),
        ('{"machine": {"fifo": "RealFIFO"}, "stop": "reflector list"}', "without a check"),
        ('{"machine": {"cellar": 1}, "stop": "reflector list", "check": "1"}', "cellar"),
        ('{"fault": "cut", "stop": "reflector list", "check": "1"}', "before its run's first stop"),
        ('{"fault": "cut", "stop": "reflector list", "check": "1", "x": 1}', "unknown field: x"),
    ],
)
def test_a_branch_that_breaks_the_rules_is_refused(tmp_path, run, problem):
    head = "# A\nscenario: queue\n\nIntroduction.\n\n## B\nstop: queue added\nask: C?\nright: D\nwrong: E\nwhy: F\n"
    (tmp_path / "lesson.md").write_text(f"{head}run: {run}\n\nG.\n")
    with pytest.raises(ValueError, match=problem):
        lessons.read(tmp_path / "lesson.md")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_each_step_says_something_and_most_ask_first(lesson):
    assert lesson.intro and all(step.paragraphs for step in lesson.steps)
    assert sum(bool(step.ask) for step in lesson.steps) * 2 >= len(lesson.steps)


def test_the_terms_of_the_chinese_texts_stand_beside_the_english_ones():
    text = "\n".join(path.read_text() for path in lessons.FOLDER.glob("*.md"))
    for term in (
        "反射器",
        "监听",
        "列举",
        "增量",
        "队列",
        "索引器",
        "书签",
        "墓碑",
        "限速器",
        "指数退避",
        "事件处理器",
        "水平触发",
        "资源版本",
        "重新同步",
        "列表器",
        "乐观并发控制",
        "事件记录器",
        "关联器",
        "选主",
        "租约",
        "属主引用",
        "终结器",
        "垃圾回收器",
        "优先级队列",
        "自定义资源",
    ):
        assert term in text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no title", "does not begin with a title"),
        ("# A\nscenario: none\n", "names no scenario"),
        ("# A\nscenario: queue\n## B\nstop: queue vanished\n", "stops nowhere"),
        ('# A\nscenario: queue\n## B\nmachine: {"fifo": "x"}\nstop: queue added\n', "no machine: fifo is RealFIFO or"),
        ("# A\nscenario: queue\n## B\nmachine: {\nstop: queue added\n", "no machine"),
        ("# A\nscenario: queue\n## B\nmachine: 7\nstop: queue added\n", "no machine"),
    ],
)
def test_a_lesson_that_cannot_be_read_is_named(tmp_path, text, problem):
    path = tmp_path / "lesson.md"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"lesson\.md.*{problem}"):
        lessons.read(path)


# ---- the words of the texts


TERMS = re.findall(
    r"\w+",
    """
    Reflector ListAndWatch watchHandler DeltaFIFO Delta Deltas Pop Replace Resync DeletedFinalStateUnknown HandleDeltas
    processLoop Indexer Indexers Indices IndexFunc threadSafeMap MetaNamespaceKeyFunc SharedInformer
    sharedIndexInformer sharedProcessor processorListener addCh nextCh pendingNotifications ResourceEventHandler OnAdd
    OnUpdate OnDelete workqueue RateLimitingInterface DelayingInterface queue dirty processing waitingForAdd AddAfter
    AddRateLimited NumRequeues Forget Lister processNextItem syncHandler resourceVersion RealFIFO
    EventRecorder EventBroadcaster EventCorrelator LeaderElector Lease ownerReferences finalizers deletionTimestamp
    PriorityQueue priority
    """,
)


@pytest.mark.parametrize("term", TERMS)
def test_a_reader_of_the_texts_finds_their_words_on_the_page(term):
    assert re.search(rf"\b{term}\b", (PAGE / "words.js").read_text())


def words(language: str) -> set[str]:
    text = (PAGE / "words.js").read_text()
    part = text[text.index(f"  {language}: {{") :]
    keys_alone = re.sub(r':\s*"(?:[^"\\]|\\.)*"', ":", part[: part.index("\n  },")].partition("{")[2])
    return set(re.findall(r'"?([\w-]+)"?:', keys_alone))


def test_the_page_says_everything_in_both_languages():
    assert words("en") == words("zh")
    chinese = (PAGE / "words.js").read_text()
    for station, kinds in tour.KINDS.items():
        for kind in kinds:
            assert f'"{station}.{kind}":' in chinese
    for name in tour.FAULTS:
        assert re.search(rf'[\s{{]"?{name}"?:', chinese), name


def test_the_page_takes_nothing_from_elsewhere():
    for path in PAGE.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//cdn|innerHTML|eval\(", text), path.name


# ---- the server


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with pageserver.PageServer() as running:
        yield running


pytestmark = [pytest.mark.shared_server, pytest.mark.takes_turns(2)]


def ask(server: Any, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, Any, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(server.url).port, timeout=PATIENCE)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        if body is not None:
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body))} | headers
        for name, value in ({"Authorization": f"Bearer {server.token}"} | headers).items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(body)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def test_it_listens_on_this_machine_alone(server):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", server.url)


@pytest.mark.parametrize("path", ["/", "/page/tour.js", "/page/tour.css", "/page/icon.svg", "/api/tour"])
def test_the_page_is_there_and_may_take_nothing_from_elsewhere(server, path):
    status, headers, body = ask(server, "GET", path)
    assert status == 200 and body
    assert headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "path", ["/page/../main.py", "/page/%2e%2e/main.py", "/page/", "/page/lessons", "/main.py", "/api/none"]
)
def test_nothing_else_is_there(server, path):
    assert ask(server, "GET", path)[0] == 404


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1", "127.0.0.1:1", "localhost.example.com:80", ""])
def test_another_name_leads_nowhere(server, host):
    """A page whose host name was redirected to this server (DNS rebinding) gets no access."""
    assert ask(server, "GET", "/api/tour", Host=host)[0] == 421


RUN = json.dumps({"scenario": "queue", "limit": 3}).encode()


def answers_of(server: Any, query: str = "", **headers: str) -> set[int]:
    """Return the status codes of all kinds of requests: the page, its files, its queries and its commands."""
    asked = [("GET", "/", None), ("GET", "/page/tour.js", None), ("GET", "/api/tour", None), ("POST", "/api/run", RUN)]
    headers = {"Authorization": "", **headers}
    return {ask(server, method, f"{path}{query}", body, **headers)[0] for method, path, body in asked}


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("", {}),
        ("?token=", {"Cookie": "informer-tour-{port}="}),
        ("?token={wrong}", {}),
        ("?token={token}x", {}),
        ("?token=%C3%BC%00", {}),
        ("", {"Authorization": "Bearer {wrong}"}),
        ("", {"Authorization": "Basic {token}"}),
        ("", {"Authorization": "{token}"}),
        ("", {"Authorization": "Bearer \xff"}),
        ("", {"Cookie": "informer-tour-{port}={wrong}"}),
        ("", {"Cookie": "informer-tour-1={token}"}),
    ],
)
def test_a_request_without_the_token_gets_nothing(server, query, headers):
    about = {"token": server.token, "wrong": server.token[:-1], "port": urlsplit(server.url).port}
    given = {name: value.format(**about) for name, value in headers.items()}
    assert answers_of(server, query.format(**about), **given) == {401}


def test_the_token_is_taken_from_the_url_a_header_or_the_cookie_that_the_page_sets(server):
    assert answers_of(server, f"?token={server.token}") == {200}
    assert answers_of(server, Authorization=f"Bearer {server.token}") == {200}
    cookie = ask(server, "GET", f"/?token={server.token}", Authorization="")[1]["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert answers_of(server, Cookie=f"other=1; {cookie.split(';')[0]}") == {200}


def test_the_token_opens_the_page_from_a_file_and_nothing_else_from_another_site(server):
    """A browser calls the way from a file to the page cross-site."""
    cross = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert ask(server, "GET", f"/?token={server.token}", Authorization="", **cross)[0] == 200
    assert ask(server, "GET", f"/api/tour?token={server.token}", Authorization="", **cross)[0] == 403
    assert ask(server, "POST", f"/api/run?token={server.token}", RUN, Authorization="", **cross)[0] == 403
    assert ask(server, "GET", f"/?token={server.token}", Authorization="", Host="evil.example")[0] == 421
    no_cors = {**cross, "Sec-Fetch-Mode": "no-cors"}
    assert ask(server, "GET", f"/?token={server.token}", Authorization="", **no_cors)[0] == 403


def test_every_server_has_a_token_of_its_own(server):
    with pageserver.PageServer() as other:
        assert other.token != server.token
        assert answers_of(other, f"?token={server.token}") == {401}


def test_the_token_is_in_no_arguments_of_the_browser(server, monkeypatch):
    """Every user of the machine can read the arguments of a process."""
    opened: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(webbrowser, "open", opened.put)
    with web.browser_on(f"{server.url}#queue"):
        argument = opened.get(timeout=PATIENCE)
        file = Path(urlsplit(argument).path)
        assert server.token not in argument and f"{server.url}#queue" in file.read_text()
        assert file.stat().st_mode & 0o077 == 0 and file.parent.stat().st_mode & 0o077 == 0
    assert not file.parent.exists()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content_Length": "65537"}, 413),
        ({"Content_Length": "9" * 30}, 413),
        ({"Content_Length": "-1"}, 411),
        ({"Content_Length": "x"}, 411),
    ],
)
def test_what_another_sites_page_could_send_is_refused(server, headers, status):
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    assert ask(server, "POST", "/api/run", RUN, **given)[0] == status


def run_of(**changes: Any) -> bytes:
    return json.dumps({"scenario": "queue", **changes}).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"1",
        b"[" * 60_000,
        b"\xff",
        run_of(scenario=7),
        run_of(scenario="none"),
        run_of(limit="x"),
        run_of(limit=True),
        run_of(settings=[]),
        run_of(settings={"workers": 1_000_000}),
        run_of(settings={"resync": float("nan")}),
        run_of(decisions=[1]),
        run_of(decisions=[{"at": -1, "kind": "fault", "name": "cut"}]),
        run_of(decisions=[{"at": 1, "kind": "fault", "name": "fire"}]),
        run_of(decisions=[{"at": 1, "kind": "thread", "name": "x"}] * 101),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(server, body):
    status, _, answer = ask(server, "POST", "/api/run", body)
    assert status in (400, 404) and json.loads(answer)["error"]


def test_a_run_comes_as_its_trace(server):
    status, _, answer = ask(server, "POST", "/api/run", RUN)
    assert status == 200
    expected = tour.execute(tour.SCENARIOS["queue"], limit=3).to_dict()
    assert json.loads(answer) == json.loads(json.dumps(expected))


def test_equal_requests_get_one_run_and_others_a_run_of_their_own(server, monkeypatch):
    pageserver._trace.cache_clear()
    execute, computed = tour.execute, []

    def counted(*asked: Any) -> tour.Trace:
        computed.append(asked)
        return execute(*asked)

    monkeypatch.setattr(tour, "execute", counted)
    broken = run_of(decisions=[{"at": 1, "kind": "fault", "name": "cut"}])
    answers = [ask(server, "POST", "/api/run", body)[2] for body in (RUN, broken, RUN, broken)]
    assert answers[:2] == answers[2:] and answers[0] != answers[1] and len(computed) == 2


def test_only_the_source_of_watched_functions_is_shown(server):
    status, _, answer = ask(server, "GET", "/api/source?file=clientgo/util/workqueue/queue.py&function=Typed.add")
    source = json.loads(answer)
    assert status == 200 and source["lines"][0].strip().startswith("def add") and source["doc"]
    for query in ("file=/etc/passwd&function=x", "file=clientgo/util/workqueue/queue.py&function=Typed.len", ""):
        assert ask(server, "GET", f"/api/source?{query}")[0] == 404


def test_every_hop_of_every_scenario_has_a_source_to_show(server):
    codes = [point.hop.code for name in SCENARIOS for point in trace_of(name).points]
    for file, function in {(code.file, code.function) for code in codes}:
        assert ask(server, "GET", f"/api/source?file={file}&function={function}")[0] == 200


def test_a_lesson_is_told_without_its_checks(server):
    for lesson in LESSONS:
        status, _, answer = ask(server, "GET", f"/api/lesson?name={lesson.name}")
        assert status == 200 and b"<!--" not in answer
    assert ask(server, "GET", "/api/lesson?name=../main")[0] == 404


def test_a_silent_client_does_not_keep_the_server_from_ending():
    with pageserver.PageServer() as running:
        port = urlsplit(running.url).port
        silent = socket.create_connection(("127.0.0.1", port))
        silent.sendall(b"GET / HTTP/1.1\r\n")
        assert ask(running, "GET", "/")[0] == 200
        began = time.monotonic()
    assert time.monotonic() - began < 25, "it waited the 30 seconds that a client may take"
    silent.close()


def test_a_port_that_is_taken_is_an_error_and_not_another_port(server, capsys):
    port = str(urlsplit(server.url).port)
    with PROGRAM:
        assert PROGRAM.module("main").main(["--no-browser", "--port", port]) == 1
    assert f"cannot listen on 127.0.0.1:{port}" in capsys.readouterr().out


# ---- live: the program is run in this one's place


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        (["python", "x.py", "-v"], ["python", "-m", "clientgo.tour.attach", "--port", "0", "--", "x.py", "-v"]),
        (["python3.12", "-X", "dev", "-u", "-m", "x", "--", "y"], [
            *("python3.12", "-X", "dev", "-u", "-m", "clientgo.tour.attach", "--port", "0", "--", "-m", "x", "--", "y"),
        ]),
    ],
)  # fmt: skip
def test_a_program_behind_two_dashes_is_run_with_the_tour_attached(monkeypatch, given, becomes):
    run: list[list[str]] = []
    monkeypatch.setattr("os.execvp", lambda file, arguments: run.append(arguments))
    with PROGRAM:
        PROGRAM.module("main").main(["--port", "0", "--", *given])
    assert run == [becomes]


def test_in_a_terminal_the_program_runs_beside_the_tour_and_opens_no_page(monkeypatch):
    run: list[list[str]] = []
    given = ["--", "python", "-u", "x.py", "--terminal"]
    monkeypatch.setattr("clientgo.tour.liveterminal.show", lambda command: run.append(command) or 7)
    with PROGRAM:
        code = PROGRAM.module("main").main(["--terminal", "--worker", "a:b", *given])
    attach = ["-m", "clientgo.tour.attach", "--worker", "a:b", "--no-browser", "--", "x.py", "--terminal"]
    assert (code, run) == (7, [["python", "-u", *attach]])


@pytest.mark.parametrize("given", [["ls"], ["python"], ["python", "-c", "pass"], ["python", "-"], ["python", "-u"]])
def test_what_is_no_python_program_cannot_be_shown_live(capsys, given):
    with PROGRAM:
        assert PROGRAM.module("main").main(["--", *given]) == 2
    assert "attaches to Python programs only" in capsys.readouterr().out


def test_to_record_takes_a_program_and_to_replay_a_recording(capsys, tmp_path):
    with PROGRAM:
        main = PROGRAM.module("main").main
        assert main(["--record", str(tmp_path / "r")]) == 2
        assert main(["--replay", str(tmp_path / "r")]) == 1
        (tmp_path / "r").write_text("no recording")
        assert main(["--terminal", "--replay", str(tmp_path / "r")]) == 1
    output = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in output] == [
        "--record needs a program",
        "cannot replay",
        "cannot replay",
    ]


def test_the_flags_of_an_export_need_one(capsys):
    with PROGRAM:
        main = PROGRAM.module("main").main
        assert main(["--lesson", "03-queue"]) == main(["--no-breaks"]) == 2
    assert capsys.readouterr().out == "--lesson and --no-breaks need --export DIR\n" * 2


def test_a_python_that_is_not_there_is_named(capsys):
    with PROGRAM:
        assert PROGRAM.module("main").main(["--", "python-of-nobody", "x.py"]) == 1
    assert "cannot run python-of-nobody" in capsys.readouterr().out


@pytest.mark.parametrize(("lesson", "option"), [("06-handlers", "max_pending"), ("16-priority", "ageing")])
def test_a_lesson_that_names_an_option_of_ours_states_that_go_has_none(lesson, option):
    folder = Path(__file__).parents[3] / "cmd" / "informer-tour" / "lessons"
    text = (folder / f"{lesson}.md").read_text()
    (line,) = [each for each in text.splitlines() if option in each]
    assert "Go has no such option." in line


# ---- the opening


def test_the_opening_shows_hops_of_one_object_in_the_order_of_a_run():
    text = (PAGE / "opening.js").read_text()
    words = ", ".join(['"([^"]+)"'] * 4)
    hops = re.findall(rf'^  \["(\w+)", "(\w+)", [\d.]+, {words}\],$', text, re.MULTILINE)
    assert len(hops) == text.partition("export const HOPS = [")[2].partition("\n];")[0].count("\n  [")
    points = [point.hop for point in trace_of("list-and-watch").points if point.hop.key == "default/cheese"]
    at = -1
    for station, kind, name, label, english, chinese in hops:
        at = next(n for n in range(at + 1, len(points)) if (points[n].station, points[n].kind) == (station, kind))
        if name == "object" and points[at].version:
            assert label == f"cheese @{points[at].version}"
        assert name in ("object", "key") and label in ("default/cheese", "cheese @27", "cheese @28")
        assert problems(chinese) == []
        assert [english.find(". "), chinese.find("。")] == [-1, len(chinese) - 1], "one sentence for each hop"
        assert english.endswith(".")
