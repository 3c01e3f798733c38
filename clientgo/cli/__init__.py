"""The command `clientgo`, also `python -m clientgo`. Has no Go counterpart.

`main` runs one command; `explain` is the function behind `clientgo explain`.
"""

from clientgo.cli.command import main
from clientgo.cli.explain import explain

__all__ = ["explain", "main"]
