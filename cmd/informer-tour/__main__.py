"""`python cmd/informer-tour`: the informer tour as a page."""

import sys

from main import main

if __name__ == "__main__":
    sys.exit(main())
