"""Run the command `clientgo` and interrupt it, as Ctrl-C does, at an event of Python's audit; test_ctrl_c.py runs it.

    python interrupt_at.py EVENT COUNTER COMMAND ...
    python interrupt_at.py EVENT COUNTER ./FOLDER ...   the program of a folder, as `python FOLDER`

Imports, opened files, processes and threads that start are such events, so their numbers reach from the start of
`main`, or of the folder's `__main__.py`, to the end of the process. EVENT is a number, or the name of an event, which
selects the first one. COUNTER is a file that gets the number of events at exit.
"""

from __future__ import annotations

import atexit
import os
import runpy
import signal
import sys
from pathlib import Path

from clientgo.__main__ import main

count = 0
is_done = False


def interrupt_at(event: str, program: str) -> None:
    has_begun = not program

    def on_event(name: str, arguments: tuple[object, ...]) -> None:
        global count, is_done
        nonlocal has_begun
        if not has_begun:
            has_begun = name == "exec" and getattr(arguments[0], "co_filename", "") == f"{program}/__main__.py"
            return
        count += 1
        if not is_done and event in (name, str(count)):
            is_done = True
            os.kill(os.getpid(), signal.SIGINT)

    sys.addaudithook(on_event)


if __name__ == "__main__":
    event, counter = sys.argv[1], Path(sys.argv[2])
    del sys.argv[1:3]
    atexit.register(lambda: counter.write_text(str(count)))
    program = sys.argv[1] if os.path.isdir(sys.argv[1]) else ""
    if program:
        del sys.argv[0]
    interrupt_at(event, program)
    if program:
        runpy.run_path(program, run_name="__main__")
    else:
        sys.exit(main())
