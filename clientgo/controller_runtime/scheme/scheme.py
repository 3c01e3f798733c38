"""A builder of schemes from the kinds of an API group. Mirrors pkg/scheme/scheme.go.

SCHEME_BUILDER = scheme.Builder(GroupVersion("webapp.example.com", "v1"))
SCHEME_BUILDER.register(Guestbook, GuestbookList)
SCHEME_BUILDER.add_to_scheme(my_scheme)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Object, Scheme, SchemeBuilder, new_scheme
from clientgo.apimachinery.runtime.schema import GroupVersion


@dataclass
class Builder:
    """The kinds of one group and version, for a scheme. Go: scheme.Builder.

    Go embeds a runtime.SchemeBuilder; here it is the field of that name.
    """

    group_version: GroupVersion
    scheme_builder: SchemeBuilder = field(default_factory=SchemeBuilder)

    def register(self, *classes: type[Object]) -> Self:
        """Add kinds under the names of their classes. Returns the builder. Go: Register."""

        def add(scheme: Scheme) -> None:
            scheme.add_known_types(self.group_version, *classes)
            metav1.add_to_group_version(scheme, self.group_version)

        self.scheme_builder.register(add)
        return self

    def register_all(self, b: Builder) -> Self:
        """Add all kinds of another builder. Returns this builder. Go: RegisterAll."""
        self.scheme_builder.extend(b.scheme_builder)
        return self

    def add_to_scheme(self, s: Scheme) -> None:
        """Add the kinds to a scheme. Raises ValueError if the scheme has other classes under these names.

        Go: AddToScheme.
        """
        self.scheme_builder.add_to_scheme(s)

    def build(self) -> Scheme:
        """Return a new scheme of these kinds. Go: Build."""
        built = new_scheme()
        self.add_to_scheme(built)
        return built
