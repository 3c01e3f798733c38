"""Identifiers of objects. Mirrors k8s.io/apimachinery/pkg/util/uuid."""

from clientgo.apimachinery.util.uuid.uuid import new_uuid

__all__ = ["new_uuid"]
