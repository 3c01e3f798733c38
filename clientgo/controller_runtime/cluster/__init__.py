"""sigs.k8s.io/controller-runtime/pkg/cluster: the shared dependencies of a program that works with one cluster."""

from clientgo.controller_runtime.cluster.cluster import (
    Cluster,
    MapperProvider,
    NewClientFunc,
    Option,
    Options,
    make_broadcaster_producer,
    new,
)

__all__ = [
    "Cluster",
    "MapperProvider",
    "NewClientFunc",
    "Option",
    "Options",
    "make_broadcaster_producer",
    "new",
]
