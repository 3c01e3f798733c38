"""`python -m clientgo.scaffold`."""

import sys

from clientgo.scaffold.command import main

sys.exit(main())
