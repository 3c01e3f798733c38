"""`python cmd/guestbook-operator` runs main.py."""

import sys

from main import main

sys.exit(main())
