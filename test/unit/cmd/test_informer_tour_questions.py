"""The lessons' questions, links to Go's source and figures, and the rules for the files that they are read from."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import samplecontroller  # noqa: F401  # makes the sample-controller's packages importable
from programs import ImportedProgram

from clientgo import tour
from clientgo.tour import figures

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ImportedProgram("informer-tour")
with PROGRAM:
    chinese: Any = PROGRAM.module("chinese")
    claims: Any = PROGRAM.module("claims")
    lessons: Any = PROGRAM.module("lessons")
LESSONS = lessons.all_()

HEAD = "# A\nscenario: queue\n\nIntroduction.\n\n## B\nstop: queue added\n"
ANSWERS = "ask: C?\nright@queue.order: D\nwrong@queue.dirty: E\nwhy: F\n"


def read(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "lesson.md"
    path.write_text(text, encoding="utf-8")
    return lessons.read(path)


def test_a_step_has_answers_with_places_and_reasons(tmp_path):
    (step,) = read(tmp_path, HEAD + ANSWERS + "\nG.\n").steps
    assert step.to_dict()["answers"] == [
        {"text": "D", "right": True, "why": "", "place": "queue.order", "branch": None},
        {"text": "E", "right": False, "why": "F", "place": "queue.dirty", "branch": None},
    ]
    assert (step.ask, [each.text for each in step.paragraphs]) == ("C?", ["G."])


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (ANSWERS.replace("why: F\n", ""), "a wrong answer without a reason"),
        (ANSWERS.replace("ask: C?\n", ""), "answers without a question"),
        (ANSWERS.replace("wrong@queue.dirty", "right"), "a reason behind no wrong answer"),
        (ANSWERS.replace("wrong@queue.dirty: E\nwhy: F", "right: E"), "two to four answers, exactly one of them right"),
        (ANSWERS.replace("right@queue.order: D\n", ""), "two to four answers, exactly one of them right"),
        (ANSWERS + "wrong: H\nwhy: I\n" * 3, "two to four answers"),
        (ANSWERS.replace("queue.dirty", "queue.order"), "two in one place"),
        (ANSWERS.replace("queue.dirty", "queue.cellar"), "unknown places"),
    ],
)
def test_a_question_that_breaks_the_rules_is_refused(tmp_path, fields, problem):
    with pytest.raises(ValueError, match=rf"lesson\.md: the step 'B' .*{problem}"):
        read(tmp_path, HEAD + fields + "\nG.\n")


def test_a_paragraph_has_a_check_claims_and_a_figure_that_are_no_text(tmp_path):
    go = "go: util/workqueue/queue.go:7 (*Typed).Add = Typed.add; apiserver pkg/x.go:9 f"
    text = f"{HEAD}\nG. <!-- hop.key --> <!-- {go} --> <!-- figure: queue.order queue.dirty -->\n\nH.\n"
    (step,) = read(tmp_path, text).steps
    shown = step.to_dict()
    assert (shown["text"], step.paragraphs[0].check) == (["G.", "H."], "hop.key")
    assert shown["figures"] == [["queue.order", "queue.dirty"], []]
    first, second = shown["sources"][0]
    assert first["url"] == "https://github.com/kubernetes/client-go/blob/v0.36.0/util/workqueue/queue.go#L7"
    assert (first["file"], first["function"]) == ("clientgo/util/workqueue/queue.py", "Typed.add")
    assert second["url"] == "https://github.com/kubernetes/apiserver/blob/v0.36.0/pkg/x.go#L9"
    assert (second["file"], second["function"]) == ("", "")


@pytest.mark.parametrize(
    ("comment", "problem"),
    [
        ("go: util/workqueue/queue.go (*Typed).Add", "cannot read the claim"),
        ("go: elsewhere util/queue.go:7 f", "cannot read the claim"),
        ("go: apiserver pkg/x.go:9 f = g", "names no file of ours"),
        ("figure: queue.cellar", "no part 'queue.cellar'"),
    ],
)
def test_a_comment_that_cannot_be_read_is_refused(tmp_path, comment, problem):
    with pytest.raises(ValueError, match=rf"lesson\.md: .*{problem}"):
        read(tmp_path, f"{HEAD}\nG. <!-- {comment} -->\n")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_answers_differ_and_both_languages_have_the_same(lesson):
    words = chinese.words_of(lesson)
    for step, other in zip(lesson.steps, words["steps"], strict=True):
        assert len(step.answers) == len(other["answers"])
        for texts in ([each.text for each in step.answers], [each["text"] for each in other["answers"]]):
            assert len(set(texts)) == len(texts) and all(texts)


def test_lessons_are_numbered_and_state_how_long_they_take():
    assert [lesson.number for lesson in LESSONS] == [*range(1, len(LESSONS) + 1)]
    for lesson in LESSONS:
        about = lesson.to_dict()
        assert 1 <= about["minutes"] <= 20
        assert about["questions"] == sum(bool(step["answers"]) for step in about["steps"])


@cache
def functions_in(file: str) -> frozenset[str]:
    """Return the names that a file defines, with their classes."""
    found: set[str] = set()

    def walk(node: ast.AST, before: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                found.add(before + child.name)
                walk(child, f"{before}{child.name}.")
            elif isinstance(child, ast.Assign | ast.AnnAssign):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                found.update(before + each.id for each in targets if isinstance(each, ast.Name))

    walk(ast.parse((ROOT / file).read_text(encoding="utf-8")), "")
    return frozenset(found)


CLAIMS = [
    pytest.param(claim, id=f"{lesson.name}-{claim.go_function}")
    for lesson in LESSONS
    for paragraph in (*lesson.intro, *(each for step in lesson.steps for each in step.paragraphs))
    for claim in paragraph.sources
]


RECORDED = (ROOT / "test" / "unit" / "cmd" / "tour_claims.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("claim", CLAIMS)
def test_both_functions_of_a_claim_exist_gos_at_the_linked_line_of_the_linked_version(claim):
    """hack/tour_claims.py found the recorded functions in Go's source."""
    repository, tag = claim.url.split("/blob/")[0].rpartition("/")[2], claim.url.split("/blob/")[1].split("/")[0]
    assert f"{repository} {tag} {claim.go_file} {claim.line} {claim.go_function}" in RECORDED, "run hack/tour_claims.py"
    assert claim.url.endswith(f"/{tag}/{claim.go_file}#L{claim.line}")
    if claim.function:
        assert claim.function in functions_in(claim.file)


def test_the_record_of_gos_functions_has_no_other_lines_and_the_versions_that_are_described():
    functions = {(each.repository, each.go_file, each.go_function) for each in (param.values[0] for param in CLAIMS)}
    assert len(RECORDED) == len(functions) > 100
    assert {line.split(" ")[1] for line in RECORDED if not line.startswith("controller-runtime ")} == {"v0.36.0"}


# ---- figures


STATE: dict[str, Any] = {
    "queue": {
        "order": ["default/apple", "default/bread"],
        "dirty": ["default/apple"],
        "processing": [],
        "waiting": [{"key": "default/cheese", "due": 1.5}],
        "failures": {"default/cheese": 2},
        "priorities": {"default/bread": -100},
    },
    "indexer": {
        "informers": [
            {"kind": "Foo", "objects": [{"key": "default/a", "version": "7"}], "indices": {}},
            {"kind": "Deployment"},
        ]
    },
    "handlers": {
        "handlers": [
            {
                "name": "shouter.Enqueuer",
                "pending": [{"method": "on_add", "key": "default/apple"}],
                "taken": [],
                "delivering": {"method": "on_update", "key": "other/bread"},
            }
        ]
    },
}


@pytest.mark.parametrize(
    ("part", "texts"),
    [
        ("queue.order", ["apple", "bread (-100)"]),
        ("queue.dirty", ["apple"]),
        ("queue.processing", []),
        ("queue.waiting", ["cheese 1.5s"]),
        ("queue.failures", ["cheese ×2"]),
        ("indexer.objects", ["Foo a @7"]),
        ("handlers.pending", ["Enqueuer: add apple"]),
        ("handlers.delivering", ["Enqueuer: update other/bread"]),
        ("election.holder", []),
    ],
)
def test_a_figure_shows_a_part_as_short_texts(part, texts):
    assert figures.figure(STATE, part) == texts


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("scenario", lessons.SCENARIOS.values(), ids=lambda scenario: scenario.name)
def test_every_part_can_be_drawn_at_every_hop(scenario):
    trace = tour.execute(scenario, limit=tour.MAX_HOPS)
    drawn: set[str] = set()
    for number in range(-1, len(trace.points)):
        state = trace.state(number)
        drawn |= {part for part in figures.PARTS if figures.figure(state, part)}
    assert {"queue.order", "queue.dirty", "queue.processing", "indexer.objects"} <= drawn


PARAGRAPHS = [
    pytest.param(paragraph, id=f"{lesson.name}-{number}")
    for lesson in LESSONS
    for number, paragraph in enumerate([*lesson.intro, *(each for step in lesson.steps for each in step.paragraphs)])
]


@pytest.mark.parametrize("paragraph", PARAGRAPHS)
def test_a_paragraph_that_names_go_links_to_its_source(paragraph):
    if re.search(r"\bGo\b|\bclient-go\b|\bcontroller-runtime\b", paragraph.text):
        assert paragraph.sources, paragraph.text


@pytest.mark.parametrize("paragraph", PARAGRAPHS)
def test_a_paragraph_about_the_three_sets_shows_them(paragraph):
    if all(f"queue.{name}" in paragraph.check for name in ("order", "dirty", "processing")):
        assert {"queue.order", "queue.dirty", "queue.processing"} <= set(paragraph.figure)
