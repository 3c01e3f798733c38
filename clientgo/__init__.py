"""Kubernetes client-go's informer machinery, in Python.

Packages correspond to Go's: `clientgo.tools.cache` is k8s.io/client-go/tools/cache, `clientgo.apimachinery` is
k8s.io/apimachinery/pkg, `clientgo.api` is k8s.io/api. Import the package and use it as in Go: `from clientgo.tools
import cache; cache.new_shared_informer(...)`.
"""

__version__ = "0.36.0"
"""The version of the library; its first two numbers are client-go's."""
