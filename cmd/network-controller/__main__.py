"""`python cmd/network-controller` runs main.py."""

import sys

from main import main

sys.exit(main())
