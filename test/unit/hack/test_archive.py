"""hack/archive packs the records for other ports, and its runner compares a driver with them."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

from clientgo.testing import workqueue_machine
from clientgo.testing.apiserver import Server, kubeconfig_text, write_kubeconfig
from clientgo.testing.apiserver.admission.chain import UNDONE_BY_CONTROLLERS
from clientgo.testing.workqueue_machine.model import SHUT_DOWN
from clientgo.util import workqueue

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "hack"))
archive_machines: Any = pytest.importorskip("archive_machines", reason="needs the repository's scripts")

pytestmark = [
    pytest.mark.skipif(not (ROOT / "hack" / "archive").exists(), reason="needs the repository's scripts"),
    pytest.mark.takes_turns(4, together=True),
]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an unpacked archive."""
    folder = tmp_path_factory.mktemp("archive")
    packed = pack(folder / "a.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder / "client-go-records"


def pack(output: Path) -> Path:
    command = [sys.executable, str(ROOT / "hack" / "archive"), "--output", str(output)]
    subprocess.run(command, check=True, timeout=PATIENCE, capture_output=True)
    return output


def run(unpacked: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "run.py", *arguments]
    return subprocess.run(command, cwd=unpacked, timeout=PATIENCE, capture_output=True, text=True, check=False)


def driver(unpacked: Path, body: str) -> list[str]:
    """Return the command of a driver in Python whose function `answer` has this body."""
    path = unpacked / "driver.py"
    path.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        f"    {body}\n"
        "    print(json.dumps({'id': m['id'], **reply}), flush=True)\n"
    )
    return ["--", sys.executable, str(path)]


def test_the_index_describes_every_file(unpacked: Path) -> None:
    index = json.loads((unpacked / "index.json").read_text())
    files = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}

    assert files - {"index.json", "driver.py"} == set(index)
    for name, entry in index.items():
        data = (unpacked / name).read_bytes()
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
    golden = {path.name for path in (ROOT / "test" / "golden").rglob("*.jsonl.gz")}
    assert {f"{Path(name).name}.gz" for name in index if name.startswith("golden/")} == golden
    assert {name for name in index if name.startswith("machines/")} == {
        f"machines/{kind}_machine.jsonl" for kind in archive_machines.KINDS
    }
    queue = index["golden/workqueue/queue.jsonl"]
    assert queue["cases"] >= 40
    assert "shut_down_with_drain" in queue["operations"]


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    assert pack(tmp_path / "a.tar.gz").read_bytes() == pack(tmp_path / "b.tar.gz").read_bytes()


def test_every_link_of_the_readme_is_in_the_archive(unpacked: Path) -> None:
    text = (unpacked / "README.md").read_text()
    linked = re.findall(r"\]\((?!http)([^)]+)\)", text) + re.findall(r"`((?:golden|conformance)/[\w/.]+)`", text)

    assert linked
    assert [each for each in linked if not (unpacked / each).exists()] == []


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_driver_in_javascript_agrees_with_go(unpacked: Path) -> None:
    files = ["golden/workqueue/queue.jsonl", "golden/cache/heap.jsonl", "golden/apimachinery/labels.jsonl"]

    done = run(unpacked, *files, "--", "node", "driver.js")

    assert (done.returncode, done.stderr) == (0, "")
    counts = [tuple(map(int, re.findall(r"(\d+) (?:ok|differ|skipped)", line))) for line in done.stdout.splitlines()]
    (queue_ok, queue_differ, queue_skipped), heap, labels = counts
    assert queue_ok >= 10 and queue_differ == 0 and queue_skipped >= 10
    assert heap == (50, 0, 0)
    assert labels[:2] == (0, 0) and labels[2] > 0


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_driver_in_javascript_agrees_with_the_machines(unpacked: Path) -> None:
    """The driver's queue was written without the model: both agree on every session."""
    files = [f"machines/{kind}_machine.jsonl" for kind in archive_machines.KINDS]

    done = run(unpacked, *files, "--", "node", "driver.js")

    assert (done.returncode, done.stderr) == (0, "")
    counts = [list(map(int, re.findall(r"(\d+) (?:ok|differ|skipped)", line))) for line in done.stdout.splitlines()]
    assert counts == [[40, 0, 0]] * 3 + [[0, 0, 40]]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
@pytest.mark.parametrize(
    ("line", "broken"),
    [
        ("if (this.shuttingDown || this.dirty.has(item)) return;", "if (this.shuttingDown) return;"),
        ("this.failures.delete(args.item);", ""),
        ("Math.min(this.now + delay, this.waiting.get(item) ?? Infinity)", "this.now + delay"),
        ("Math.min(this.base * 2 ** failures, this.limit)", "this.base * 2 ** failures"),
        ('this.draining = op === "shut_down_with_drain";', ""),
        ("if (!this.processing.has(item)) this.ready.push(item);", "this.ready.push(item);"),
    ],
)
def test_the_machines_find_a_bug(unpacked: Path, line: str, broken: str) -> None:
    source = (unpacked / "driver.js").read_text()
    before, _, after = source.partition("class MachineQueue")
    assert line in after
    bug = unpacked.parent / "bug.js"
    bug.write_text(f"{before}class MachineQueue{after.replace(line, broken, 1)}")
    files = [f"machines/{kind}_machine.jsonl" for kind in ("queue", "delaying_queue", "rate_limiting_queue")]

    done = run(unpacked, *files, "--", "node", str(bug))

    assert done.returncode == 1
    assert re.search(r"machine_\d+: step \d+ \w+ \.\w+", done.stdout)


def limiter() -> Any:
    return workqueue.new_typed_item_exponential_failure_rate_limiter(archive_machines.BASE, archive_machines.LIMIT)


SESSIONS: dict[str, tuple[Any, Any]] = {
    "queue": (
        workqueue_machine.QueueSession,
        lambda metrics: workqueue.new_typed_with_config(
            workqueue.TypedQueueConfig(name="q", metrics_provider=metrics),
        ),
    ),
    "delaying_queue": (
        workqueue_machine.DelayingQueueSession,
        lambda metrics: workqueue.new_typed_delaying_queue_with_config(
            workqueue.TypedDelayingQueueConfig(name="q", metrics_provider=metrics)
        ),
    ),
    "rate_limiting_queue": (
        workqueue_machine.RateLimitingQueueSession,
        lambda metrics: workqueue.new_typed_rate_limiting_queue_with_config(
            limiter(), workqueue.TypedRateLimitingQueueConfig(name="q", metrics_provider=metrics)
        ),
    ),
    "priority_queue": (
        workqueue_machine.PriorityQueueSession,
        lambda metrics: workqueue.new_priority_queue(
            workqueue.PriorityQueueConfig(name="q", metrics_provider=metrics, rate_limiter=limiter())
        ),
    ),
}


@pytest.mark.parametrize("kind", SESSIONS)
def test_our_queues_agree_with_the_machines_data(kind: str) -> None:
    session_type, new_queue = SESSIONS[kind]
    for case in itertools.islice(archive_machines.cases(kind), 8):
        has_delays = "base_ms" in case["config"]
        options = {"base": archive_machines.BASE, "limit": archive_machines.LIMIT} if has_delays else {}
        with session_type(new_queue, **options) as session:
            for step in case["steps"]:
                args, expect = dict(step["args"]), step["expect"]
                seconds = [args.pop(name) / 1000 for name in ("delay_ms", "after_ms", "ms") if name in args]
                item = [args.pop("item")] if "item" in args else []
                getattr(session, step["op"])(*item, *seconds, *args.values())
                assert (session.queue.len(), session.queue.shutting_down()) == (expect["len"], expect["shutting_down"])
                assert session.model.blocked_gets == expect["blocked_gets"]
                returned = [None if each is SHUT_DOWN else each for each in session.model.handed_out]
                assert returned == expect["handed_out"]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_replay_in_javascript_compares_a_server_with_the_records(unpacked: Path, tmp_path: Path) -> None:
    cases = unpacked / "conformance" / "server_cases"
    wrong = tmp_path / "wrong.json"
    text = (cases / "errors.json").read_text()
    wrong.write_text(text.replace('"reason":"NotFound"', '"reason":"Gone"'))
    assert wrong.read_text() != text
    with Server(enable_admission_plugins=UNDONE_BY_CONTROLLERS) as server:

        def replay(only: str, file: Path) -> subprocess.CompletedProcess[str]:
            where = ["--server", server.url, "--token", server.token]
            command = ["node", str(unpacked / "replay.js"), *where, "--only", only, str(file)]
            return subprocess.run(command, timeout=PATIENCE, capture_output=True, text=True, check=False)

        for only, file, least in (("paths", "errors", 10), ("fval", "errors", 15), ("ssa_pod", "apply", 10)):
            same = replay(only, cases / f"{file}.json")
            assert (same.returncode, same.stderr) == (0, ""), same.stdout
            (agreed,) = re.findall(r"^(\d+) responses agree, 0 differ", same.stdout)
            assert int(agreed) >= least
        differs = replay("paths", wrong)
        nothing = replay("no such sequence", wrong)

    assert differs.returncode == 1
    assert re.search(r"DIFF errors/paths-\d+#\d+ GET \S+: body\.reason: want Gone got \"NotFound\"", differs.stdout)
    assert nothing.returncode == 1
    assert subprocess.run(["node", str(unpacked / "replay.js")], capture_output=True, check=False).returncode == 2


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_a_bug_in_the_driver_is_reported(unpacked: Path) -> None:
    source = (unpacked / "driver.js").read_text()
    (unpacked / "driver.py").write_text("")
    broken = unpacked.parent / "broken.js"
    broken.write_text(source.replace("if (this.dirty.has(item)) this.ready.push(item);", ""))
    assert broken.read_text() != source

    done = run(unpacked, "golden/workqueue/queue.jsonl", "--", "node", str(broken))

    assert done.returncode == 1
    assert re.search(r"queue_random_\d+: step \d+ \w+ \.\w+: want .*, got ", done.stdout)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("print('no JSON'); continue", "the driver wrote no JSON"),
        ("m['id'] += 1; reply = {}", "expected a reply with the id 1"),
        ("sys.exit(3)", "the driver exited before its reply"),
        ("sys.stdin.read(); continue", "no reply within 0.5 s"),
        ("print(7, flush=True); continue", "expected a reply with the id 1"),
    ],
    ids=["no JSON", "other id", "exit", "hangs", "no object"],
)
def test_a_driver_that_breaks_the_protocol_is_reported(unpacked: Path, reply: str, message: str) -> None:
    done = run(
        unpacked,
        "--timeout",
        "0.5" if "within" in message else "60",
        "golden/cache/heap.jsonl",
        *driver(unpacked, reply),
    )

    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("reply", "status", "line"),
    [
        ("reply = {'skip': 'later'} if 'begin' in m else {}", 1, "0 ok, 0 differ, 50 skipped"),
        ("reply = {'skip': 'later'}", 1, "0 ok, 0 differ, 50 skipped"),
        ("reply = {'error': 'oops'} if 'op' in m else {}", 1, "0 ok, 50 differ, 0 skipped"),
        ("reply = {}", 1, "0 ok, 50 differ, 0 skipped"),
    ],
    ids=["skips the file", "skips all", "fails", "no result"],
)
def test_nothing_that_was_not_compared_counts_as_equal(unpacked: Path, reply: str, status: int, line: str) -> None:
    done = run(unpacked, "golden/cache/heap.jsonl", *driver(unpacked, reply))

    assert (done.returncode, line in done.stdout) == (status, True)


def test_a_file_without_operations_is_no_file_for_the_runner(unpacked: Path) -> None:
    index = json.loads((unpacked / "index.json").read_text())
    without = [name for name, entry in index.items() if "keys" in entry]
    assert len(without) == 9
    assert "Nine files have no steps" in (unpacked / "README.md").read_text()
    assert index["golden/apimachinery/duration.jsonl"]["keys"] == ["human", "name", "ns", "short"]

    done = run(unpacked, without[0], *driver(unpacked, "reply = {}"))

    assert (done.returncode, "has no operations" in done.stderr) == (2, True)


def test_the_sequences_of_requests_are_replayed_against_a_server(unpacked: Path, tmp_path: Path) -> None:
    """The embedded API server stands for a port's; one of its responses is then recorded wrongly."""
    kubeconfig, cases = tmp_path / "kubeconfig", unpacked / "conformance" / "server_cases" / "errors.json"
    command = [sys.executable, "replay_cases.py", "--kubeconfig", str(kubeconfig), "--only", "errors/paths-000"]
    wrong = tmp_path / "wrong.json"
    wrong.write_text(cases.read_text().replace('"code":201', '"code":202').replace('"code": 201', '"code": 202'))
    with Server() as server:
        write_kubeconfig(kubeconfig, kubeconfig_text(server.url, server.token))
        same, differs = (
            subprocess.run(
                [*command, str(file)],
                cwd=unpacked / "conformance",
                timeout=PATIENCE,
                capture_output=True,
                text=True,
                check=False,
            )
            for file in (cases, wrong)
        )
    assert same.returncode == 0, same.stdout + same.stderr
    assert "requests agree" in same.stdout
    assert (differs.returncode, "DIFF errors/paths-000#0 POST" in differs.stdout) == (1, True), differs.stdout


def test_a_missing_driver_is_an_error(unpacked: Path) -> None:
    assert run(unpacked, "golden/cache/heap.jsonl", "--", "./no-such-driver").returncode == 2
    assert run(unpacked, "golden/cache/heap.jsonl").returncode == 2


def test_values_are_compared_as_json(unpacked: Path) -> None:
    code = (
        "from run import differences as d\n"
        "assert list(d({'a': None}, {}, 0)) == []\n"
        "assert list(d({'a': 1}, {'a': 1.0}, 0)) == []\n"
        "assert list(d([True], [1], 0)) == ['[0]: want true, got 1']\n"
        "assert list(d({'a': [1, 2]}, {'a': [1]}, 0)) == ['.a: want [1, 2], got [1]']\n"
        "assert list(d(5, 7, 2)) == [] != list(d(5, 8, 2))\n"
        "assert list(d('1', 1, 0)) and list(d({}, {'b': 0}, 0)) and list(d(None, False, 0))\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=unpacked, check=True, timeout=PATIENCE)
