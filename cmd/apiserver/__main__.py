"""`python cmd/apiserver`: the embedded API server, as `python -m clientgo.testing.apiserver`."""

import sys

try:
    from clientgo.cli.start import run_program
except KeyboardInterrupt:
    sys.exit(130)

sys.exit(run_program("clientgo.testing.apiserver.__main__"))
