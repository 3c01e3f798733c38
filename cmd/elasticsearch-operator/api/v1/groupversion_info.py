"""The kinds of elasticsearch.k8s.elastic.co/v1, for a scheme."""

from __future__ import annotations

from api.v1.elasticsearch_types import Elasticsearch, ElasticsearchList
from clientgo import controller_runtime as ctrl

GROUP_VERSION = ctrl.GroupVersion("elasticsearch.k8s.elastic.co", "v1")
SCHEME_BUILDER = ctrl.SchemeBuilder(GROUP_VERSION).register(Elasticsearch, ElasticsearchList)
add_to_scheme = SCHEME_BUILDER.add_to_scheme
