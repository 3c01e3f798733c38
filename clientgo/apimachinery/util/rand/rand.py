"""Random texts for names. Mirrors the used parts of k8s.io/apimachinery/pkg/util/rand/rand.go."""

from __future__ import annotations

import random
from typing import Final

# No vowels, so that no words appear, and none of 0, 1 and 3, which resemble letters.
_ALPHANUMS: Final = "bcdfghjklmnpqrstvwxz2456789"


def string(n: int) -> str:
    """Return a random text of `n` letters and digits, as in generated names. Go: rand.String."""
    return "".join(random.choices(_ALPHANUMS, k=n))
