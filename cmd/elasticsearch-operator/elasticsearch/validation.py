"""Validation of a cluster beyond its schema."""

from __future__ import annotations

from api.v1 import Elasticsearch
from clientgo.apimachinery.util.validation import field
from elasticsearch import label, nodespec, version

NO_MASTER = "Elasticsearch needs to have at least one master node"
NO_DOWNGRADE = "Downgrades are not supported"
NO_ROLE = "is no role of a node"


def validate(es: Elasticsearch) -> field.ErrorList:
    """Return all errors in the spec; the list is empty when it is valid."""
    found = field.ErrorList()
    spec, path = es.spec, field.new_path("spec")
    try:
        wanted = version.parse(spec.version)
    except ValueError as err:
        found.append(field.invalid(path.child("version"), spec.version, str(err)))
    else:
        if es.status.version and wanted < version.parse(es.status.version):
            found.append(field.forbidden(path.child("version"), NO_DOWNGRADE))
    masters = 0
    for number, node_set in enumerate(spec.node_sets):
        roles = nodespec.roles_of(node_set)
        where = path.child("nodeSets").index(number).child("config").key("node.roles")
        found += [field.invalid(where, role, NO_ROLE) for role in roles if role not in label.ROLES]
        masters += node_set.count if label.MASTER in roles else 0
    if not masters:
        names = [node_set.name for node_set in spec.node_sets]
        found.append(field.invalid(path.child("nodeSets"), names, NO_MASTER))
    return found
