"""Mirrors k8s.io/utils, as far as client-go uses it: clock, lru and trace. Other modules do not belong here."""
