"""The kinds of crdb.cockroachlabs.com/v1alpha1, for a scheme."""

from __future__ import annotations

from api.v1alpha1.cluster_types import CrdbCluster, CrdbClusterList
from clientgo import controller_runtime as ctrl

GROUP_VERSION = ctrl.GroupVersion("crdb.cockroachlabs.com", "v1alpha1")
SCHEME_BUILDER = ctrl.SchemeBuilder(GROUP_VERSION).register(CrdbCluster, CrdbClusterList)
add_to_scheme = SCHEME_BUILDER.add_to_scheme
