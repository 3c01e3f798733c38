"""Order of resource versions (k8s.io/apimachinery/pkg/util/resourceversion)."""

from clientgo.apimachinery.util.resourceversion.resourceversion import InvalidResourceVersion, compare_resource_version

__all__ = ["InvalidResourceVersion", "compare_resource_version"]
