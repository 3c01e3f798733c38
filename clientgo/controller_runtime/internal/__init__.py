"""sigs.k8s.io/controller-runtime/pkg/internal: the implementation of controllers, sources and servers. Not for
programs.
"""
