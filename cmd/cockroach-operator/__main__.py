"""`python cmd/cockroach-operator` runs main.py."""

import sys

from main import main

sys.exit(main())
