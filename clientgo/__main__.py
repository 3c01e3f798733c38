"""`python -m clientgo`."""

import sys

from clientgo.cli.command import main

sys.exit(main())
