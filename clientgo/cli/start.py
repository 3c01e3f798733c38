"""The start of a program below `cmd/` by its folder: `python cmd/demo`. Has no Go counterpart.

This module imports little, so that Ctrl-C prints no traceback from the program's first moment on.
"""

import signal
from importlib import import_module


def run_program(module: str = "main") -> int:
    """Import the program's module, run its `main()` and return the exit code. Blocks as the program does.

    Ctrl-C prints no traceback. While modules load and after the program has ended, the signal ends the process at once,
    which a shell reports as exit code 130. In between, the program cleans up; the result is its own, or 130 if it does
    not handle the signal. Sets the process's handler of SIGINT, unless the parent process ignores the signal. Call it
    on the main thread.
    """
    is_default = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    if is_default:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = import_module(module)
    try:
        if is_default:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return int(program.main())
    except KeyboardInterrupt:
        return 130
    except RuntimeError as err:
        # CPython replaces an interrupt in `__set_name__` (before 3.12) and in `Condition.wait` by a RuntimeError.
        from clientgo.cli.command import is_interrupt

        if is_interrupt(err):
            return 130
        raise
    finally:
        if is_default:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
