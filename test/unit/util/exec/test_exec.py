"""An exit error has the text of its cause and the program's exit status."""

from __future__ import annotations

import pickle

from clientgo.util import exec


def test_an_exit_error_has_the_causes_text_and_the_exit_status() -> None:
    cause = RuntimeError("command terminated with exit code 3")

    err = exec.CodeExitError(err=cause, code=3)

    assert isinstance(err, exec.ExitError)
    assert (str(err), err.exit_status(), err.exited()) == (str(cause), 3, True)
    assert err.err is err.__cause__ is cause
    assert pickle.loads(pickle.dumps(err)).exit_status() == 3
