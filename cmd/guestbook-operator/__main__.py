"""`python cmd/guestbook-operator` runs main.py."""

import sys

try:
    from clientgo.cli.start import run_program
except KeyboardInterrupt:
    sys.exit(130)

sys.exit(run_program())
