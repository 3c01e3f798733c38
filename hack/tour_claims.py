"""Record which functions of Go's source the informer tour's lessons link to, from local clones of Go's repositories.

    python hack/tour_claims.py client-go=DIR apiserver=DIR apimachinery=DIR sample-controller=DIR controller-runtime=DIR

DIR is a clone, with or without a work tree, that has the tag of cmd/informer-tour/claims.py. The script finds the
function of each link in the file at that tag and writes a line to test/unit/cmd/tour_claims.txt: repository, tag, file,
line, function. It exits with 1, and writes nothing, when a file or a function is missing or the line is another one. A
test compares the lessons with the recorded lines, so that it needs no clones.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "test" / "unit" / "cmd" / "tour_claims.txt"
sys.path[:0] = [str(ROOT / "cmd" / "informer-tour"), str(ROOT)]

# A function or method, a type, and a constant or variable on its own line or in a group.
_METHOD = re.compile(r"^func (?:\(\w+ (?P<pointer>\*?)(?P<owner>\w+)(?:\[[^\]]*\])?\) )?(?P<name>\w+)[\[(]")
_OTHER = re.compile(r"^(?:type (?P<type>\w+)\b|(?:const |var |\t)(?P<value>\w+)(?: +[\w.*]+)? += )")


def declared(text: str) -> dict[str, int]:
    """Return the names that a Go file declares, as claims write them, with their lines."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if method := _METHOD.match(line):
            owner = f"({method['pointer']}{method['owner']})." if method["owner"] else ""
            found.setdefault(owner + method["name"], number)
        elif other := _OTHER.match(line):
            found.setdefault(other["type"] or other["value"], number)
    return found


def main(arguments: list[str]) -> int:
    """Write the record; the result is the exit code."""
    from claims import TAGS  # type: ignore[import-not-found]

    import lessons  # type: ignore[import-not-found]

    folders = dict(each.split("=", 1) for each in arguments)

    @cache
    def names_in(repository: str, tag: str, file: str) -> dict[str, int]:
        command = ["git", "-C", folders[repository], "show", f"{tag}:{file}"]
        shown = subprocess.run(command, capture_output=True, text=True, check=False)
        return declared(shown.stdout)

    lines: set[str] = set()
    problems: list[str] = []
    for lesson in lessons.all_():
        for paragraph in (*lesson.intro, *(each for step in lesson.steps for each in step.paragraphs)):
            for claim in paragraph.sources:
                tag = TAGS[claim.repository].rpartition("/")[2]
                found = names_in(claim.repository, tag, claim.go_file).get(claim.go_function)
                if found != claim.line:
                    problems.append(f"{lesson.name}: {claim.go_file} {claim.go_function} is at line {found}")
                lines.add(f"{claim.repository} {tag} {claim.go_file} {claim.line} {claim.go_function}")
    if problems:
        print(*problems, sep="\n", file=sys.stderr)
        return 1
    RECORD.write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
