"""`python -m clientgo`, and the entry point of the command `clientgo`. Has no Go counterpart.

This module imports nothing else before `main` runs, so that Ctrl-C prints no traceback while the command's modules load.
"""

import signal
import sys


def main() -> int:
    """Run one command and return its exit code. Blocks as the command does.

    Ctrl-C prints no traceback. Before the command has loaded and after it has ended, the signal ends the process at
    once, which a shell reports as exit code 130. In between, the command cleans up and the result is 130, or 0 if Ctrl-C
    is the usual end of the command. Changes the process's handler of SIGINT, unless the parent process has set one.
    """
    has_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if has_default:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from clientgo.cli import command

    try:
        if has_default:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = command.main()
    except KeyboardInterrupt:
        # A second one, or one just outside of the command.
        code = 130
    if has_default and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return code


if __name__ == "__main__":
    sys.exit(main())
