"""`python -m clientgo.codegen`."""

import sys

from clientgo.codegen.command import main

sys.exit(main())
