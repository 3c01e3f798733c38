"""A command line flag with a transformed value. Mirrors tools/clientcmd/flag.go, with argparse instead of pflag."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


class FlagAction(argparse.Action):
    """The argparse action of a bound flag."""

    # True if the value is a secret; see FlagInfo.add_secret_annotation.
    classified = False


def setting(target: object, attr: str, transform: Callable[[str], Any] = str) -> type[FlagAction]:
    """Return an argparse action that sets an attribute of `target`; a ValueError of `transform` is a usage error."""

    class Setting(FlagAction):
        def __call__(
            self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None
        ) -> None:
            try:
                value = transform(values)
            except ValueError as err:
                raise argparse.ArgumentError(self, str(err)) from None
            setattr(target, attr, value)
            setattr(namespace, self.dest, value)

    return Setting


def appending(target: object, attr: str) -> type[FlagAction]:
    """Return an argparse action that appends to a list attribute of `target`; the first value replaces the default."""

    class Appending(FlagAction):
        used = False

        def __call__(
            self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None
        ) -> None:
            held = [*getattr(target, attr), values] if self.used else [values]
            self.used = True
            setattr(target, attr, held)
            setattr(namespace, self.dest, held)

    return Appending
