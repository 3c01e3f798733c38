"""Values as text with their types, for messages and hashes. Mirrors k8s.io/apimachinery/pkg/util/dump."""

from clientgo.apimachinery.util.dump.dump import for_hash, one_line, pretty

__all__ = ["for_hash", "one_line", "pretty"]
