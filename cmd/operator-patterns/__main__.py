"""`python cmd/operator-patterns` runs main.py."""

import sys

from main import main

sys.exit(main())
