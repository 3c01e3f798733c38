"""Requests of server-side apply. Mirrors k8s.io/client-go/util/apply."""

from clientgo.util.apply.apply import new_request

__all__ = ["new_request"]
