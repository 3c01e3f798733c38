"""`python -m clientgo.scaffold`."""

import sys

from clientgo.cli.start import exit_code_of
from clientgo.scaffold.command import main

sys.exit(exit_code_of(main))
