"""Conversions of label selectors, constructors of options, and other helpers.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from clientgo.apimachinery import labels
from clientgo.apimachinery.apis.meta.v1.meta import Object
from clientgo.apimachinery.apis.meta.v1.types import (
    APIGroupList,
    DeleteOptions,
    LabelSelector,
    LabelSelectorOperator,
    LabelSelectorRequirement,
    ListOptions,
    ObjectMeta,
    Preconditions,
)
from clientgo.apimachinery.fields import one_term_equal_selector
from clientgo.apimachinery.selection import Operator
from clientgo.golang.strconv import quote

_OPERATORS: Final[dict[str, Operator]] = {
    LabelSelectorOperator.LABEL_SELECTOR_OP_IN: Operator.IN,
    LabelSelectorOperator.LABEL_SELECTOR_OP_NOT_IN: Operator.NOT_IN,
    LabelSelectorOperator.LABEL_SELECTOR_OP_EXISTS: Operator.EXISTS,
    LabelSelectorOperator.LABEL_SELECTOR_OP_DOES_NOT_EXIST: Operator.DOES_NOT_EXIST,
}
_API_OPERATORS: Final = {operator: name for name, operator in _OPERATORS.items()}


def label_selector_as_selector(ps: LabelSelector | None) -> labels.Selector:
    """Return the selector of a LabelSelector: None selects no object, an empty one selects all.

    Raises ValueError, or an Aggregate of field errors. Go: metav1.LabelSelectorAsSelector.
    """
    if ps is None:
        return labels.nothing()
    requirements = list(_requirements(ps))
    return labels.new_selector().add(*requirements) if requirements else labels.everything()


def _requirements(ps: LabelSelector) -> Iterator[labels.Requirement]:
    for key, value in ps.match_labels.items():
        yield labels.new_requirement(key, Operator.EQUALS, [value])
    for expr in ps.match_expressions:
        operator = _OPERATORS.get(expr.operator)
        if operator is None:
            raise ValueError(f"{quote(expr.operator)} is not a valid label selector operator")
        # The message of an error shows an absent list as None.
        yield labels.new_requirement(expr.key, operator, list(expr.values) or None)


def label_selector_as_map(ps: LabelSelector | None) -> dict[str, str]:
    """Return the labels that a selector requires. Raises ValueError if it has any other requirement.

    Go: LabelSelectorAsMap.
    """
    if ps is None:
        return {}
    selector = dict(ps.match_labels)
    for expr in ps.match_expressions:
        operator = quote(expr.operator)
        if expr.operator not in _OPERATORS:
            raise ValueError(f"{operator} is not a valid selector operator")
        if expr.operator != LabelSelectorOperator.LABEL_SELECTOR_OP_IN:
            raise ValueError(f"operator {operator} cannot be converted into the old label selector format")
        if len(expr.values) != 1:
            raise ValueError(
                f"operator {operator} without a single value cannot be converted into the old label selector format"
            )
        selector[expr.key] = expr.values[0]
    return selector


def parse_to_label_selector(selector: str) -> LabelSelector:
    """Parse the text of a selector into a LabelSelector. Raises ValueError. Go: metav1.ParseToLabelSelector."""
    try:
        requirements = labels.parse_to_requirements(selector)
    except Exception as err:
        raise ValueError(f'couldn\'t parse the selector string "{selector}": {err}') from err
    match_labels: dict[str, str] = {}
    expressions: list[LabelSelectorRequirement] = []
    for requirement in requirements:
        operator = requirement.operator()
        if operator in (Operator.EQUALS, Operator.DOUBLE_EQUALS):
            match_labels[requirement.key()] = requirement.values_unsorted()[0]
            continue
        if operator in (Operator.GREATER_THAN, Operator.LESS_THAN):
            raise ValueError(f"{quote(operator)} isn't supported in label selectors")
        if operator not in _API_OPERATORS:
            raise ValueError(f"{quote(operator)} is not a valid label selector operator")
        values = sorted(requirement.values())
        expressions.append(
            LabelSelectorRequirement(key=requirement.key(), operator=_API_OPERATORS[operator], values=values)
        )
    return LabelSelector(match_labels=match_labels, match_expressions=expressions)


def set_as_label_selector(ls: Mapping[str, str] | None) -> LabelSelector | None:
    """Return a LabelSelector that requires these labels, or None for None. Go: metav1.SetAsLabelSelector."""
    return None if ls is None else LabelSelector(match_labels=dict(ls))


def format_label_selector(label_selector: LabelSelector | None) -> str:
    """Return the selector's text, "<none>" if it is empty, "<error>" if it is invalid. Never raises.

    Go: metav1.FormatLabelSelector.
    """
    try:
        return str(label_selector_as_selector(label_selector)) or "<none>"
    except Exception:
        return "<error>"


def extract_group_versions(l: APIGroupList) -> list[str]:  # noqa: E741 (Go's name)
    """Return the `group/version` texts of all groups. Go: metav1.ExtractGroupVersions."""
    return [version.group_version for group in l.groups for version in group.versions]


def has_annotation(obj: ObjectMeta, ann: str) -> bool:
    """Report whether the metadata has the annotation. Go: metav1.HasAnnotation."""
    return ann in obj.annotations


def set_meta_data_annotation(obj: ObjectMeta, ann: str, value: str) -> None:
    """Set an annotation of the metadata. Go: metav1.SetMetaDataAnnotation."""
    obj.annotations[ann] = value


def has_label(obj: ObjectMeta, label: str) -> bool:
    """Report whether the metadata has the label. Go: metav1.HasLabel."""
    return label in obj.labels


def set_meta_data_label(obj: ObjectMeta, label: str, value: str) -> None:
    """Set a label of the metadata. Go: metav1.SetMetaDataLabel."""
    obj.labels[label] = value


def single_object(meta: ObjectMeta) -> ListOptions:
    """Return options that watch one object from its resource version. Go: metav1.SingleObject."""
    selector = str(one_term_equal_selector("metadata.name", meta.name))
    return ListOptions(field_selector=selector, resource_version=meta.resource_version)


def new_delete_options(grace: int) -> DeleteOptions:
    """Return options that delete after this number of seconds. Go: metav1.NewDeleteOptions."""
    return DeleteOptions(grace_period_seconds=grace)


def new_precondition_delete_options(uid: str) -> DeleteOptions:
    """Return options that delete only the object with this uid. Go: metav1.NewPreconditionDeleteOptions."""
    return DeleteOptions(preconditions=Preconditions(uid=uid))


def new_uid_preconditions(uid: str) -> Preconditions:
    """Return preconditions that require this UID. Go: metav1.NewUIDPreconditions."""
    return Preconditions(uid=uid)


def new_rv_deletion_precondition(rv: str) -> DeleteOptions:
    """Return options that delete only the object at this resource version. Go: metav1.NewRVDeletionPrecondition."""
    return DeleteOptions(preconditions=Preconditions(resource_version=rv))


def has_object_meta_system_field_values(meta: Object) -> bool:
    """Report whether fields that only the server sets are set. Go: metav1.HasObjectMetaSystemFieldValues."""
    return meta.get_creation_timestamp() is not None or meta.get_uid() != ""


def reset_object_meta_for_status(meta: Object, existing_meta: Object) -> None:
    """Restore the metadata that an update of the status must not change. Go: metav1.ResetObjectMetaForStatus."""
    meta.set_deletion_timestamp(existing_meta.get_deletion_timestamp())
    meta.set_generation(existing_meta.get_generation())
    meta.set_self_link(existing_meta.get_self_link())
    meta.set_labels(existing_meta.get_labels())
    meta.set_annotations(existing_meta.get_annotations())
    meta.set_finalizers(existing_meta.get_finalizers())
    meta.set_owner_references(existing_meta.get_owner_references())
