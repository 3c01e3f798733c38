"""The kinds of patterns.example.com/v1alpha1, for a scheme."""

from __future__ import annotations

from api.v1alpha1.site_types import Site, SiteList
from clientgo import controller_runtime as ctrl

GROUP_VERSION = ctrl.GroupVersion("patterns.example.com", "v1alpha1")
SCHEME_BUILDER = ctrl.SchemeBuilder(GROUP_VERSION).register(Site, SiteList)
add_to_scheme = SCHEME_BUILDER.add_to_scheme
