"""Credentials in a JSON file, an old format. Mirrors k8s.io/client-go/tools/auth."""

from clientgo.tools.auth.clientauth import Info, load_from_file

__all__ = ["Info", "load_from_file"]
