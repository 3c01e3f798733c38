"""`python cmd/demo`: a Foo and its controller on the embedded API server, every step checked."""

import sys

try:
    from clientgo.cli.start import run_program
except KeyboardInterrupt:
    sys.exit(130)

sys.exit(run_program())
