"""The group version webapp.example.com/v1."""

from api.v1.groupversion_info import GROUP_VERSION, SCHEME_BUILDER, add_to_scheme
from api.v1.guestbook_types import Guestbook, GuestbookList, GuestbookSpec, GuestbookStatus

__all__ = [
    "GROUP_VERSION",
    "SCHEME_BUILDER",
    "Guestbook",
    "GuestbookList",
    "GuestbookSpec",
    "GuestbookStatus",
    "add_to_scheme",
]
