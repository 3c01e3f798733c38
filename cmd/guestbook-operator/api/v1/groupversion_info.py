"""The kinds of webapp.example.com/v1, for a scheme."""

from __future__ import annotations

from api.v1.guestbook_types import Guestbook, GuestbookList
from clientgo import controller_runtime as ctrl

GROUP_VERSION = ctrl.GroupVersion("webapp.example.com", "v1")
SCHEME_BUILDER = ctrl.SchemeBuilder(GROUP_VERSION).register(Guestbook, GuestbookList)
add_to_scheme = SCHEME_BUILDER.add_to_scheme
