"""The start of a program below `cmd/` by its folder: `python cmd/demo`, and Ctrl-C. Has no Go counterpart.

This module imports little, so that Ctrl-C prints no traceback from the program's first moment on.
"""

import errno
import io
import os
import select
import signal
import sys
from collections.abc import Callable
from importlib import import_module

# The exit codes that a shell reports for a process that SIGINT or SIGPIPE ended.
INTERRUPTED = 130
BROKEN_PIPE = 141

# Errors of a write to a full disk, beyond a quota or the largest file.
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_interrupt(err: BaseException | None) -> bool:
    """Report whether an interrupt led to this error."""
    while err is not None and not isinstance(err, KeyboardInterrupt):
        err = err.__cause__ or err.__context__
    return err is not None


def exit_code_of(run: Callable[[], int]) -> int:
    """Run the function and return its exit code. Blocks as the function does.

    The result is 130 if Ctrl-C ends it, and 141 if the reader of its output has enough: `clientgo explain pod | head`.
    A full disk is an error on one line.
    """
    try:
        _accept_any_text()
        try:
            return run()
        finally:
            _flush_output()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        if not _has_reader_ended():
            raise
        _drop_output()
        return BROKEN_PIPE
    except OSError as err:
        if err.errno not in _OUTPUT_ERRORS or err.filename is not None:
            raise
        _drop_output()
        print(f"error: cannot write the output: {err.strerror}", file=sys.stderr)
        return 1
    except RuntimeError as err:
        # CPython replaces an interrupt in `__set_name__` (before 3.12) and in `Condition.wait` by a RuntimeError.
        if is_interrupt(err):
            return INTERRUPTED
        raise


def _accept_any_text() -> None:
    """Let `print` replace what the terminal's encoding cannot express, such as a check mark, in place of an error."""
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stream.encoding.lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")
        elif stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Send the rest of the output nowhere, without Python's message about it at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flush_output() -> None:
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.flush()


def _has_reader_ended() -> bool:
    """Report whether the standard output is a pipe whose reader has ended. Always False on Windows."""
    if not hasattr(select, "poll"):
        return False
    poller = select.poll()
    try:
        poller.register(sys.stdout, 0)
    except (AttributeError, OSError, TypeError, ValueError):  # not a file
        return False
    return any(event & select.POLLERR for _, event in poller.poll(0))


def end_without_reader() -> None:
    """Let the first log line after the end of the log's reader (`2>&1 | head`) end the process with 141.

    Call it after the program is imported. It does nothing for a program that does not log.
    """
    output = sys.modules.get("clientgo.klog.output")
    if output is not None:
        output.configure(exit_code_without_reader=BROKEN_PIPE)


def run_program(module: str = "main") -> int:
    """Import the program's module, run its `main()` and return the exit code. Blocks as the program does.

    Ctrl-C prints no traceback. While modules load and after the program has ended, the signal ends the process at once,
    which a shell reports as exit code 130. In between, the program cleans up; the result is its own, or 130 if it does
    not handle the signal. Sets the process's handler of SIGINT, unless the parent process ignores the signal. Call it
    on the main thread. After the log's reader has ended (`2>&1 | head`), the next line ends the process with 141.
    """
    is_default = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    if is_default:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = import_module(module)
    end_without_reader()
    try:
        if is_default:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return exit_code_of(program.main)
    finally:
        if is_default:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
