"""Collecting what fills a scheme. Mirrors runtime/scheme_builder.go."""

from __future__ import annotations

from collections.abc import Callable

from clientgo.apimachinery.runtime.scheme import Scheme


class SchemeBuilder(list[Callable[[Scheme], None]]):
    """A list of functions that fill a scheme. Go: SchemeBuilder."""

    def add_to_scheme(self, scheme: Scheme) -> None:
        """Run all of them. Go: AddToScheme."""
        for function in self:
            function(scheme)

    def register(self, *functions: Callable[[Scheme], None]) -> None:
        """Append functions. Go: Register."""
        self.extend(functions)


def new_scheme_builder(*functions: Callable[[Scheme], None]) -> SchemeBuilder:
    """Return a builder that calls these functions. Go: NewSchemeBuilder."""
    return SchemeBuilder(functions)
