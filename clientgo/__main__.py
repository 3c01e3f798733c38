"""`python -m clientgo`, and the entry point of the command `clientgo`. Has no Go counterpart.

This module imports nothing before `main` runs, so that Ctrl-C prints no traceback while the command's modules load.
"""

import sys


def main() -> int:
    """Run one command and return its exit code. Blocks as the command does.

    Ctrl-C prints no traceback. While modules load and after the command has ended, the signal ends the process at once,
    which a shell reports as exit code 130. In between, the command cleans up and the result is 130, or 0 if Ctrl-C is
    the usual end of the command. Sets the process's handler of SIGINT, unless the parent process ignores the signal.
    """
    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        from clientgo.cli import command

        return command.main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
