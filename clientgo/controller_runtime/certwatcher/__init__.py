"""A watcher that reloads a certificate and its key when their files change. Mirrors pkg/certwatcher."""

from clientgo.controller_runtime.certwatcher.certwatcher import Certificate, CertWatcher, follow, new

__all__ = ["CertWatcher", "Certificate", "follow", "new"]
