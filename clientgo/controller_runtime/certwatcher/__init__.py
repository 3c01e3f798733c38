"""A certificate and its key, read again when their files change. Mirrors pkg/certwatcher."""

from clientgo.controller_runtime.certwatcher.certwatcher import Certificate, CertWatcher, new

__all__ = ["CertWatcher", "Certificate", "new"]
