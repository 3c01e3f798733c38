"""`python cmd/apiserver`: the embedded API server, as `python -m clientgo.testing.apiserver`."""

import sys

from clientgo.testing.apiserver.__main__ import main

sys.exit(main())
