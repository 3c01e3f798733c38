"""`python -m clientgo.codegen`."""

import sys

from clientgo.cli.start import exit_code_of
from clientgo.codegen.command import main

sys.exit(exit_code_of(main))
