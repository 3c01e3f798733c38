"""Random texts for names. Mirrors k8s.io/apimachinery/pkg/util/rand/rand.go, as far as it is used."""

from __future__ import annotations

import random
from typing import Final

# No vowels, so that no words appear, and neither 0, 1 nor 3, which look like letters.
_ALPHANUMS: Final = "bcdfghjklmnpqrstvwxz2456789"


def string(n: int) -> str:
    """A random text of `n` letters and digits, as suffixes of generated names are. Go: rand.String."""
    return "".join(random.choices(_ALPHANUMS, k=n))
