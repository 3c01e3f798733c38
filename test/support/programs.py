"""A program under cmd/ imported into the test's own process, beside others: each has modules named `main` and `pkg`."""

from __future__ import annotations

from processes import ROOT

from clientgo.codegen.importing import ImportedFolder


class ImportedProgram(ImportedFolder):
    """The modules of cmd/`name`, which are in sys.modules and sys.path only inside `with`.

    Generated code imports when it is first used: a test runs inside `with`, too.
    """

    def __init__(self, name: str) -> None:
        super().__init__(ROOT / "cmd" / name)
