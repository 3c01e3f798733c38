"""`python cmd/informer-tour`: the informer tour as a page."""

import os
import sys

# What follows must run on any Python 3, without the library: it tells the user what to type.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(os.path.relpath(ROOT), "hack", "tour")
# A copy of the programs elsewhere has no scripts beside it.
COMMAND = SCRIPT if os.path.exists(SCRIPT) else sys.executable + " -m pip install ./clientgo-*.whl"
NEEDED = ("clientgo", "urllib3", "yaml")


def missing() -> str:
    """Return what this Python lacks; "" for nothing."""
    if sys.version_info < (3, 11):  # noqa: UP036  (the user may have any)
        return "Python 3.11 or newer"
    from importlib.util import find_spec

    return next((name for name in NEEDED if find_spec(name) is None), "")


if __name__ == "__main__":
    lacking = missing()
    if lacking:
        sys.exit(f"informer-tour needs {lacking}, which {sys.executable} does not have. Type: {COMMAND}")
    try:
        from clientgo.cli.start import run_program
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run_program())
