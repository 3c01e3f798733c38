"""`python cmd/demo`: a Foo and its controller on the embedded API server, every step checked."""

import sys

from main import main

sys.exit(main())
