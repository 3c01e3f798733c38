"""Strategic merge patches: creation from two or three documents, and application.

Mirrors k8s.io/apimachinery/pkg/util/strategicpatch/patch.go. A strategic merge patch is a JSON merge patch that knows
the type: lists whose elements have a merge key are merged element by element. Directives inside a patch:

* `$patch: delete|replace|merge` deletes, replaces or merges the map or list element that contains it;
* `$retainKeys: [...]` removes all other keys of the map;
* `$deleteFromPrimitiveList/<key>: [...]` removes values from a list of scalars;
* `$setElementOrder/<key>: [...]` orders the list after the merge.

Go's functions take bytes, or maps that some of them change; these functions never change their arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from clientgo.apimachinery.runtime.view import copy_json
from clientgo.apimachinery.util.json import TooDeepError, limited_by_stack, marshal, unmarshal
from clientgo.apimachinery.util.mergepatch import (
    ErrBadJSONDoc,
    ErrBadPatchFormatForPrimitiveList,
    ErrBadPatchFormatForRetainKeys,
    ErrBadPatchFormatForSetElementOrderList,
    ErrNoListOfLists,
    ErrUnsupportedStrategicMergePatchFormat,
    MergePatchError,
    PreconditionFunc,
    err_bad_arg_type,
    err_bad_patch_type,
    err_no_merge_key,
    new_err_conflict,
    new_err_precondition_failed,
)
from clientgo.apimachinery.util.strategicpatch.meta import LookupPatchMeta, new_patch_meta_from_struct
from clientgo.apimachinery.util.strategicpatch.positions import Positions, deduplicated
from clientgo.golang.fmt import go_value

JSONMap: TypeAlias = dict[str, Any]
"""A JSON object. Go: strategicpatch.JSONMap."""

_DIRECTIVE_MARKER: Final = "$patch"
_DELETE: Final = "delete"
_REPLACE: Final = "replace"
_MERGE: Final = "merge"
_RETAIN_KEYS_STRATEGY: Final = "retainKeys"
_RETAIN_KEYS: Final = "$retainKeys"
_DELETE_FROM_PRIMITIVE_LIST: Final = "$deleteFromPrimitiveList"
_SET_ELEMENT_ORDER: Final = "$setElementOrder"


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """Options of a diff. Go: strategicpatch.DiffOptions."""

    set_element_order: bool = False
    ignore_changes_and_additions: bool = False
    ignore_deletions: bool = False
    build_retain_keys_directive: bool = False


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """The options of a merge into a document (both true) or into another patch. Go: strategicpatch.MergeOptions."""

    merge_parallel_list: bool = False
    ignore_unmatched_nulls: bool = False


# --- Making a patch ---------------------------------------------------------------------------------------------------


@limited_by_stack
def create_two_way_merge_patch(
    original: bytes | str, modified: bytes | str, data_struct: Any, *fns: PreconditionFunc
) -> bytes:
    """Return the patch that turns `original` into `modified`, documents of the class (or object) `data_struct`.

    Raises ErrBadJSONDoc, ErrPreconditionFailed and other ValueErrors. Go: strategicpatch.CreateTwoWayMergePatch.
    """
    schema = new_patch_meta_from_struct(data_struct)
    return create_two_way_merge_patch_using_lookup_patch_meta(original, modified, schema, *fns)


@limited_by_stack
def create_two_way_merge_patch_using_lookup_patch_meta(
    original: bytes | str, modified: bytes | str, schema: LookupPatchMeta, *fns: PreconditionFunc
) -> bytes:
    """Return the patch between two documents of a schema. Go: CreateTwoWayMergePatchUsingLookupPatchMeta."""
    before, after = _unmarshal(original), _unmarshal(modified)
    patch = create_two_way_merge_map_patch_using_lookup_patch_meta(before, after, schema, *fns)
    return marshal(patch).encode()


@limited_by_stack
def create_two_way_merge_map_patch(
    original: JSONMap, modified: JSONMap, data_struct: Any, *fns: PreconditionFunc
) -> JSONMap:
    """Return the patch between two JSON objects. Go: strategicpatch.CreateTwoWayMergeMapPatch."""
    schema = new_patch_meta_from_struct(data_struct)
    return create_two_way_merge_map_patch_using_lookup_patch_meta(original, modified, schema, *fns)


@limited_by_stack
def create_two_way_merge_map_patch_using_lookup_patch_meta(
    original: JSONMap, modified: JSONMap, schema: LookupPatchMeta, *fns: PreconditionFunc
) -> JSONMap:
    """Return the patch between two JSON objects of a schema. Go: CreateTwoWayMergeMapPatchUsingLookupPatchMeta."""
    patch: JSONMap = copy_json(_diff_maps(original, modified, schema, DiffOptions(set_element_order=True)))
    _check_preconditions(patch, fns)
    return patch


def _check_preconditions(patch: JSONMap, fns: Iterable[PreconditionFunc]) -> None:
    for fn in fns:
        if not fn(patch):
            raise new_err_precondition_failed(patch)


def _unmarshal_for_merge(document: bytes | str | None) -> JSONMap:
    """Return the JSON object in a document or a patch to merge. Only None means an empty one, unlike in a comparison.

    Like handleUnmarshal in Go.
    """
    if document is not None and not document:
        raise ErrBadJSONDoc
    return _unmarshal(document)


def _unmarshal(document: bytes | str | None) -> JSONMap:
    """Return the JSON object in a document. Without content, and as null, it is an empty one."""
    try:
        value = unmarshal(document or "{}")
    except TooDeepError:
        raise
    except ValueError:
        raise ErrBadJSONDoc from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ErrBadJSONDoc
    return value


def _diff_maps(original: JSONMap, modified: JSONMap, schema: LookupPatchMeta, options: DiffOptions) -> JSONMap:
    patch: JSONMap = {}
    for key, after in modified.items():
        if key not in original:
            if not options.ignore_changes_and_additions:
                patch[key] = after
            continue
        before = original[key]
        if key == _DIRECTIVE_MARKER:
            if not isinstance(before, str) or not isinstance(after, str):
                raise MergePatchError(f"invalid value for special key: {_DIRECTIVE_MARKER}")
            if before != after:
                patch[key] = after
        elif type(before) is type(after) is dict:
            _diff_map_field(key, before, after, patch, schema, options)
        elif type(before) is type(after) is list:
            _diff_list_field(key, before, after, patch, schema, options)
        elif (type(before) is not type(after) or before != after) and not options.ignore_changes_and_additions:
            patch[key] = after
    if not options.ignore_deletions:
        patch.update({key: None for key in original if key not in modified})
    if options.build_retain_keys_directive:
        retained = sorted(key for key, after in modified.items() if after is not None)
        dropped = any(before is not None and key not in modified for key, before in original.items())
        if retained and (patch or dropped):
            patch[_RETAIN_KEYS] = retained
    return patch


def _diff_map_field(
    key: str, before: JSONMap, after: JSONMap, patch: JSONMap, schema: LookupPatchMeta, options: DiffOptions
) -> None:
    try:
        subschema, patch_meta = schema.lookup_patch_metadata_for_struct(key)
    except ValueError:
        if before == after:
            return
        raise
    retain_keys, strategy = _split_strategies(patch_meta.get_patch_strategies())
    if strategy == _REPLACE:
        if not options.ignore_changes_and_additions:
            patch[key] = after
        return
    options = replace(options, build_retain_keys_directive=retain_keys)
    if inner := _diff_maps(before, after, subschema, options):
        patch[key] = inner


def _diff_list_field(
    key: str, before: list[Any], after: list[Any], patch: JSONMap, schema: LookupPatchMeta, options: DiffOptions
) -> None:
    try:
        subschema, patch_meta = schema.lookup_patch_metadata_for_slice(key)
    except ValueError:
        if before == after:
            return
        raise
    retain_keys, strategy = _split_strategies(patch_meta.get_patch_strategies())
    if strategy != _MERGE:
        if before != after and not options.ignore_changes_and_additions:
            patch[key] = after
        return
    options = replace(options, build_retain_keys_directive=retain_keys)
    merge_key = patch_meta.get_patch_merge_key()
    additions, deletions, order = _diff_lists(before, after, subschema, merge_key, options)
    if additions:
        patch[key] = additions
    if deletions:
        patch[f"{_DELETE_FROM_PRIMITIVE_LIST}/{key}"] = deletions
    if order:
        patch[f"{_SET_ELEMENT_ORDER}/{key}"] = order


def _diff_lists(
    before: list[Any], after: list[Any], schema: LookupPatchMeta, merge_key: str, options: DiffOptions
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the elements to add or merge, those to delete (scalars only), and the order to set."""
    if not before:
        return ([] if options.ignore_changes_and_additions else after), [], []
    if _element_type(before, after) is dict:
        return _diff_lists_of_maps(before, after, schema, merge_key, options)
    additions, deletions = _diff_lists_of_scalars(before, after, options)
    # Go has sorted the original list in place by now, and compares the modified list with that.
    changed = (not options.ignore_deletions and deletions) or (
        not options.ignore_changes_and_additions and sorted(before, key=_text) != after
    )
    return _in_order(additions, after, ""), deletions, after if options.set_element_order and changed else []


def _diff_lists_of_scalars(before: list[Any], after: list[Any], options: DiffOptions) -> tuple[list[Any], list[Any]]:
    additions: list[Any] = []
    deletions: list[Any] = []
    for side, value in _walk(sorted(before, key=_text), sorted(after, key=_text), _text):
        if side == _ONLY_BEFORE and not options.ignore_deletions:
            deletions.append(value)
        elif side == _ONLY_AFTER and not options.ignore_changes_and_additions:
            additions.append(value)
    return additions, deduplicated(deletions)


def _diff_lists_of_maps(
    before: list[Any], after: list[Any], schema: LookupPatchMeta, merge_key: str, options: DiffOptions
) -> tuple[list[Any], list[Any], list[Any]]:
    def key_text(element: Any) -> str:
        return _text(_merge_value(element, merge_key))

    patch: list[Any] = []
    deletions: list[Any] = []
    for side, value in _walk(_by_merge_key(before, key_text), _by_merge_key(after, key_text), key_text):
        if side == _BOTH:
            old, new = value
            if inner := _diff_maps(old, new, schema, options):
                inner[merge_key] = new[merge_key]
                patch.append(inner)
        elif side == _ONLY_BEFORE and not options.ignore_deletions:
            deletions.append(create_delete_directive(merge_key, value[merge_key]))
        elif side == _ONLY_AFTER and not options.ignore_changes_and_additions:
            patch.append(value)
    patch = _in_order(patch, after, merge_key) + deletions
    keys_before = [element.get(merge_key) for element in before]
    keys_after = [element.get(merge_key) for element in after]
    ordered = (not options.ignore_changes_and_additions and (patch or keys_before != keys_after)) or (
        not options.ignore_deletions and patch
    )
    order = [{merge_key: value} for value in keys_after] if options.set_element_order and ordered else []
    return patch, [], order


def _by_merge_key(elements: list[Any], key_text: Callable[[Any], str]) -> list[Any]:
    """Sort by merge key, with Go's order of equal keys. Go: sortMapsBasedOnField.

    Go's Less also returns true for equal keys, so its sort of up to twelve elements reverses them; in a longer list
    their order depends on the pivots. The order decides which elements become a pair, and thereby the patch.
    """
    keyed = [(key_text(element), element) for element in elements]
    if len({key for key, _ in keyed}) == len(keyed):
        return [element for _, element in sorted(keyed, key=lambda pair: pair[0])]
    from clientgo.golang import sort as gosort  # Imported here, since few lists need it.

    gosort.sort(keyed, lambda one, other: one[0] <= other[0])
    return [element for _, element in keyed]


_BOTH: Final = "both"
_ONLY_BEFORE: Final = "before"
_ONLY_AFTER: Final = "after"


def _walk(before: list[Any], after: list[Any], text: Any) -> Iterable[tuple[str, Any]]:
    """Iterate over two lists sorted by `text` in parallel; equal elements form pairs."""
    i = j = 0
    while i < len(before) or j < len(after):
        left = text(before[i]) if i < len(before) else ""
        right = text(after[j]) if j < len(after) else ""
        if i < len(before) and j < len(after) and item_matches_original_and_modified_slice(left, right):
            yield _BOTH, (before[i], after[j])
            i, j = i + 1, j + 1
        elif i >= len(before) or (j < len(after) and item_added_to_modified_slice(left, right)):
            yield _ONLY_AFTER, after[j]
            j += 1
        else:
            yield _ONLY_BEFORE, before[i]
            i += 1


# --- Applying a patch -------------------------------------------------------------------------------------------------


@limited_by_stack
def strategic_merge_patch(original: bytes | str, patch: bytes | str, data_struct: Any) -> bytes:
    """Return `original` with the patch applied, documents of the class (or object) `data_struct`. Raises ValueErrors.

    Go: strategicpatch.StrategicMergePatch.
    """
    schema = new_patch_meta_from_struct(data_struct)
    return strategic_merge_patch_using_lookup_patch_meta(original, patch, schema)


@limited_by_stack
def strategic_merge_patch_using_lookup_patch_meta(
    original: bytes | str, patch: bytes | str, schema: LookupPatchMeta
) -> bytes:
    """Return `original` with the patch applied, for documents of a schema.

    Go: StrategicMergePatchUsingLookupPatchMeta.
    """
    before, changes = _unmarshal_for_merge(original), _unmarshal_for_merge(patch)
    merged = strategic_merge_map_patch_using_lookup_patch_meta(before, changes, schema)
    return marshal(merged).encode()


@limited_by_stack
def strategic_merge_map_patch(original: JSONMap, patch: JSONMap, data_struct: Any) -> JSONMap:
    """Return the JSON object `original` with the patch applied. Go: strategicpatch.StrategicMergeMapPatch."""
    from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured

    schema = new_patch_meta_from_struct(data_struct)
    if isinstance(schema.t, type) and issubclass(schema.t, Unstructured):
        raise ErrUnsupportedStrategicMergePatchFormat
    return strategic_merge_map_patch_using_lookup_patch_meta(original, patch, schema)


@limited_by_stack
def strategic_merge_map_patch_using_lookup_patch_meta(
    original: JSONMap, patch: JSONMap, schema: LookupPatchMeta
) -> JSONMap:
    """Return the JSON object `original` with the patch applied, for a schema.

    Go: StrategicMergeMapPatchUsingLookupPatchMeta.
    """
    options = MergeOptions(merge_parallel_list=True, ignore_unmatched_nulls=True)
    return _merge_map(copy_json(original), copy_json(patch), schema, options)


@limited_by_stack
def merge_strategic_merge_map_patch_using_lookup_patch_meta(schema: LookupPatchMeta, *patches: JSONMap) -> JSONMap:
    """Combine several patches into one. Go: MergeStrategicMergeMapPatchUsingLookupPatchMeta."""
    merged: JSONMap = {}
    for patch in patches:
        merged = _merge_map(merged, copy_json(patch), schema, MergeOptions())
    return merged


def _merge_map(original: JSONMap, patch: JSONMap, schema: LookupPatchMeta, options: MergeOptions) -> JSONMap:
    """Merge `patch` into `original`. Changes both arguments."""
    if _DIRECTIVE_MARKER in patch:
        return _apply_directive(patch)
    _apply_retain_keys(original, patch, options)
    _merge_ordered_lists(original, patch, schema, options)
    for key, value in patch.items():
        deleting = key.startswith(_DELETE_FROM_PRIMITIVE_LIST)
        if deleting:
            if not options.merge_parallel_list:
                original[key] = value
                continue
            key = _extract_key(key, _DELETE_FROM_PRIMITIVE_LIST)
        if value is None:
            original.pop(key, None)
            if options.ignore_unmatched_nulls:
                continue
        _merge_field(original, key, value, schema, options, deleting)
    return original


def _apply_directive(patch: JSONMap) -> JSONMap:
    directive = patch[_DIRECTIVE_MARKER]
    if directive == _REPLACE:
        return {key: value for key, value in patch.items() if key != _DIRECTIVE_MARKER}
    if directive == _DELETE:
        return {}
    raise err_bad_patch_type(directive, patch)


def _merge_field(
    original: JSONMap, key: str, value: Any, schema: LookupPatchMeta, options: MergeOptions, deleting: bool
) -> None:
    present: Any = original.get(key)
    if key not in original or type(present) is not type(value):
        if not deleting:
            _set_without_directives(original, key, _without_nulls(value) if options.ignore_unmatched_nulls else value)
        return
    if isinstance(value, dict):
        subschema, patch_meta = schema.lookup_patch_metadata_for_struct(key)
        _, strategy = _split_strategies(patch_meta.get_patch_strategies())
        original[key] = value if strategy == _REPLACE else _merge_map(present, value, subschema, options)
    elif isinstance(value, list):
        subschema, patch_meta = schema.lookup_patch_metadata_for_slice(key)
        _, strategy = _split_strategies(patch_meta.get_patch_strategies())
        merge_key = patch_meta.get_patch_merge_key()
        original[key] = _merge_list_field(present, value, subschema, strategy, merge_key, deleting, options)
    else:
        original[key] = value


def _set_without_directives(original: JSONMap, key: str, value: Any) -> None:
    kept, keep = _remove_directives(value)
    if keep:
        original[key] = kept
    else:
        original.pop(key, None)


def _merge_list_field(
    original: list[Any],
    patch: list[Any],
    schema: LookupPatchMeta,
    strategy: str,
    merge_key: str,
    deleting: bool,
    options: MergeOptions,
) -> list[Any]:
    if strategy == _MERGE or deleting:
        return _merge_lists(original, patch, schema, merge_key, options, deleting)
    return patch


def _merge_lists(
    original: list[Any],
    patch: list[Any],
    schema: LookupPatchMeta,
    merge_key: str,
    options: MergeOptions,
    deleting: bool,
) -> list[Any]:
    if not original and not patch:
        return original
    if _element_type(original, patch) is not dict:
        if options.merge_parallel_list and deleting:
            deleted = Positions(patch)
            return [value for value in original if value not in deleted]
        merged = _without_duplicates(original + patch)
    else:
        if not merge_key:
            raise MergePatchError(f"cannot merge lists without merge key for {schema.name()}")
        original, patch = _apply_element_directives(original, patch, merge_key)
        merged = _merge_elements(original, patch, merge_key, schema, options)
    named, server_only = _partition(merged, patch, merge_key)
    return _merge_sorted(
        _in_order(server_only, original, merge_key), _in_order(named, patch, merge_key), original, merge_key
    )


def _apply_element_directives(original: list[Any], patch: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Apply the elements with `$patch`; return the rest of both lists."""
    plain: list[Any] = []
    gone = Positions()
    replacing = False
    for element in patch:
        directive = element.get(_DIRECTIVE_MARKER)
        if _DIRECTIVE_MARKER not in element:
            plain.append(element)
        elif directive == _DELETE:
            gone.append(_merge_value(element, merge_key))
        elif directive == _REPLACE:
            replacing = True
        elif directive == _MERGE:
            raise MergePatchError("merging lists cannot yet be specified in the patch")
        else:
            raise err_bad_patch_type(directive, element)
    if replacing:
        return plain, []
    return [each for each in original if each.get(merge_key) not in gone], plain


def _merge_elements(
    original: list[Any], patch: list[Any], merge_key: str, schema: LookupPatchMeta, options: MergeOptions
) -> list[Any]:
    merged = list(original)
    positions = _positions(merged, merge_key)
    for element in patch:
        name = _merge_value(element, merge_key)
        position = positions.find(name)
        if position >= 0:
            merged[position] = _merge_map(merged[position], element, schema, options)
        else:
            merged.append(element)
            positions.append(name)
    return merged


def _apply_retain_keys(original: JSONMap, patch: JSONMap, options: MergeOptions) -> None:
    if _RETAIN_KEYS not in patch:
        return
    retained = patch.pop(_RETAIN_KEYS)
    if not options.merge_parallel_list:
        if original.setdefault(_RETAIN_KEYS, retained) != retained:
            raise MergePatchError(
                f"{go_value(original[_RETAIN_KEYS])} and {go_value(retained)} are not deep equal: "
                "this may happen when calculating the 3-way diff patch"
            )
        return
    if not isinstance(retained, list):
        raise ErrBadPatchFormatForRetainKeys
    for key, value in patch.items():
        directive = key.startswith((_DELETE_FROM_PRIMITIVE_LIST, _SET_ELEMENT_ORDER))
        if value is not None and not directive and key not in retained:
            raise ErrBadPatchFormatForRetainKeys
    for key in [key for key in original if key not in retained]:
        del original[key]


def _merge_ordered_lists(original: JSONMap, patch: JSONMap, schema: LookupPatchMeta, options: MergeOptions) -> None:
    """Merge and sort the lists that have a `$setElementOrder`, and remove both from the patch."""
    for directive in [key for key in patch if key.startswith(_SET_ELEMENT_ORDER)]:
        order = patch.pop(directive)
        if not options.merge_parallel_list and original.setdefault(directive, order) != order:
            raise ErrBadPatchFormatForSetElementOrderList
        key = _extract_key(directive, _SET_ELEMENT_ORDER)
        for each in (order, original.get(key, []), patch.get(key, [])):
            if not isinstance(each, list):
                raise err_bad_arg_type(list, each)
        subschema, patch_meta = schema.lookup_patch_metadata_for_slice(key)
        merge_key = patch_meta.get_patch_merge_key()
        _, strategy = _split_strategies(patch_meta.get_patch_strategies())
        _validate_order(patch.get(key, []), order, merge_key)
        present, wanted = original.get(key), patch.get(key)
        if present is not None and wanted is not None:
            merged = _merge_list_field(present, wanted, subschema, strategy, merge_key, False, options)
        elif wanted is not None:
            merged, _ = _remove_directives(wanted)
        elif present is not None:
            merged = present
        else:
            continue
        _check_partition(merged, order, merge_key)
        # Raises when there are no elements.
        is_map = _element_type(present or [], wanted or []) is dict
        for each in (*merged, *order, *(present or ())) if is_map else ():
            _merge_value(each, merge_key)
        named, server_only = _partition(merged, order, merge_key)
        before = _order_after_merge(present or [], wanted or [], merge_key)
        original[key] = _merge_sorted(
            _in_order(server_only, before, merge_key), _in_order(named, order, merge_key), before, merge_key
        )
        patch.pop(key, None)


def _check_partition(merged: list[Any], order: list[Any], merge_key: str) -> None:
    """Raise the errors of Go's partitionMapsByPresentInList: it searches `order` only until it finds an element."""
    if not merge_key:
        return
    strange = next((index for index, each in enumerate(order) if not isinstance(each, dict)), len(order))
    searched = Positions(each[merge_key] for each in order[:strange] if merge_key in each)
    for each in merged:
        if _merge_value(each, merge_key) not in searched and strange < len(order):
            raise MergePatchError(f"value for key {strange} is not a map")


def _order_after_merge(present: list[Any], patch: list[Any], merge_key: str) -> list[Any]:
    """Return the order by which the merged list is sorted.

    Go merges into the list's own memory and then reads the order from there: new elements take the places of deleted
    ones. Servers sort lists by that order, so it is kept.
    """
    if not merge_key:
        return present
    directives = [(each.get(merge_key), each.get(_DIRECTIVE_MARKER)) for each in patch]
    deleted = Positions(name for name, directive in directives if directive == _DELETE)
    kept = [each for each in present if each.get(merge_key) not in deleted]
    if any(directive == _REPLACE for _, directive in directives):
        return kept
    known = _positions(kept, merge_key)
    added = [each for each in patch if _DIRECTIVE_MARKER not in each and each.get(merge_key) not in known]
    return kept + added[: len(present) - len(kept)]


def _validate_order(patch: list[Any], order: list[Any], merge_key: str) -> None:
    """Raise an error unless the patch's elements follow the order to set."""
    if not order or not patch:
        return
    waiting = [element for element in patch if not (isinstance(element, dict) and _DIRECTIVE_MARKER in element)]
    positions = iter(order)
    for element in waiting:
        wanted = _identity(element, merge_key)
        if not any(_identity(each, merge_key) == wanted for each in positions):
            raise MergePatchError(
                f"The order in patch list:\n{go_value(patch)}\n doesn't match {_SET_ELEMENT_ORDER} list:\n"
                f"{go_value(order)}\n"
            )


def _partition(merged: list[Any], order: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Return the elements that `order` names, and the others."""
    named: list[Any] = []
    others: list[Any] = []
    ordered = _positions(order, merge_key)
    for element in merged:
        (named if _identity(element, merge_key) in ordered else others).append(element)
    return named, others


def _merge_sorted(left: list[Any], right: list[Any], server_order: list[Any], merge_key: str) -> list[Any]:
    """Merge both lists: an element of `left` comes first if the server has it before the element of `right`."""
    merged: list[Any] = []
    positions = _positions(server_order, merge_key)
    i = j = 0
    while i < len(left) and j < len(right):
        mine = positions.find(_identity(left[i], merge_key))
        theirs = positions.find(_identity(right[j], merge_key))
        if 0 <= mine < theirs:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + right[j:] + left[i:]


def _in_order(elements: list[Any], order: list[Any], merge_key: str) -> list[Any]:
    """Sort by the position in `order`; elements to delete come last. Go: normalizeSliceOrder.

    An element that `order` lacks is less than every other one, and every other one is less than it. Go's stable sort
    still produces an order, which this function reproduces.
    """
    kept = [each for each in elements if not (isinstance(each, dict) and each.get(_DIRECTIVE_MARKER) == _DELETE)]
    deleted = [each for each in elements if isinstance(each, dict) and each.get(_DIRECTIVE_MARKER) == _DELETE]
    positions = _positions(order, merge_key)
    placed = [(positions.find(_identity(each, merge_key)), each) for each in kept]
    if all(position >= 0 for position, _ in placed):
        placed.sort(key=lambda pair: pair[0])
    else:
        from clientgo.golang import sort as gosort  # Imported here, since few lists need it.

        gosort.stable(placed, lambda one, other: one[0] < 0 or other[0] < 0 or one[0] < other[0])
    return [each for _, each in placed] + deleted


def _remove_directives(value: Any) -> tuple[Any, bool]:
    """Return the value without the parts that have a directive, and whether anything is left."""
    if isinstance(value, dict):
        if _DIRECTIVE_MARKER in value:
            return None, False
        parts = {key: _remove_directives(each) for key, each in value.items()}
        return {key: part for key, (part, keep) in parts.items() if keep}, True
    if isinstance(value, list):
        return [part for part, keep in map(_remove_directives, value) if keep], True
    return value, True


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value


# --- Three documents --------------------------------------------------------------------------------------------------


@limited_by_stack
def create_three_way_merge_patch(
    original: bytes | str,
    modified: bytes | str,
    current: bytes | str,
    schema: LookupPatchMeta,
    overwrite: bool,
    *fns: PreconditionFunc,
) -> bytes:
    """Return a patch of `current` with the changes from `original` to `modified`; it keeps the changes of other
    clients.

    Without `overwrite`, raises ErrConflict if another client changed the same field.
    Go: strategicpatch.CreateThreeWayMergePatch.
    """
    before, wanted, now = _unmarshal(original), _unmarshal(modified), _unmarshal(current)
    delta = _diff_maps(now, wanted, schema, DiffOptions(set_element_order=True, ignore_deletions=True))
    deletions = _diff_maps(
        before, wanted, schema, DiffOptions(set_element_order=True, ignore_changes_and_additions=True)
    )
    patch = _merge_map(copy_json(deletions), copy_json(delta), schema, MergeOptions())
    _check_preconditions(patch, fns)
    if not overwrite:
        changed = _diff_maps(before, now, schema, DiffOptions())
        if merging_maps_have_conflicts(patch, changed, schema):
            raise new_err_conflict(marshal(patch), marshal(changed))
    return marshal(patch).encode()


@limited_by_stack
def merging_maps_have_conflicts(left: JSONMap, right: JSONMap, schema: LookupPatchMeta) -> bool:
    """Report whether two patches set different values at the same path. Go: strategicpatch.MergingMapsHaveConflicts."""
    return _fields_have_conflicts(left, right, schema, "", "")


def _fields_have_conflicts(left: Any, right: Any, schema: LookupPatchMeta, strategy: str, merge_key: str) -> bool:
    if type(left) is not type(right):
        return True
    if isinstance(left, dict):
        if left.get(_DIRECTIVE_MARKER) != right.get(_DIRECTIVE_MARKER):
            return True
        return strategy != _REPLACE and _maps_have_conflicts(left, right, schema)
    if isinstance(left, list):
        return _lists_have_conflicts(left, right, schema, strategy, merge_key)
    return bool(left != right)


def _maps_have_conflicts(left: JSONMap, right: JSONMap, schema: LookupPatchMeta) -> bool:
    for key, value in left.items():
        if key in (_DIRECTIVE_MARKER, _RETAIN_KEYS) or key not in right:
            continue
        subschema, strategy, merge_key = schema, "", ""
        if key.startswith((_SET_ELEMENT_ORDER, _DELETE_FROM_PRIMITIVE_LIST)):
            if value != right[key]:
                return True
            continue
        if isinstance(value, (dict, list)):
            lookup = schema.lookup_patch_metadata_for_struct if isinstance(value, dict) else None
            subschema, patch_meta = (lookup or schema.lookup_patch_metadata_for_slice)(key)
            _, strategy = _split_strategies(patch_meta.get_patch_strategies())
            merge_key = patch_meta.get_patch_merge_key()
        if _fields_have_conflicts(value, right[key], subschema, strategy, merge_key):
            return True
    return False


def _lists_have_conflicts(
    left: list[Any], right: list[Any], schema: LookupPatchMeta, strategy: str, merge_key: str
) -> bool:
    of_maps = _element_type(left, right) is dict
    if strategy == _MERGE:
        if not of_maps:
            return False
        # Of elements with equal merge keys the last one counts, as in Go's sliceOfMapsToMapOfMaps.
        mine, theirs = (
            {_text(_merge_value(element, merge_key)): element for element in each} for each in (left, right)
        )
        return any(
            _fields_have_conflicts(element, theirs[name], schema, "", "")
            for name, element in mine.items()
            if name in theirs
        )
    if len(left) != len(right):
        return True
    if not of_maps:
        left, right = (sorted(_without_duplicates(each), key=_text) for each in (left, right))
    if len(left) != len(right):
        return True
    return any(_fields_have_conflicts(one, other, schema, "", "") for one, other in zip(left, right))


def item_added_to_modified_slice(original: str, modified: str) -> bool:
    """Report whether the second of two sorted lists has an additional element. Go: ItemAddedToModifiedSlice."""
    return original > modified


def item_removed_from_modified_slice(original: str, modified: str) -> bool:
    """Report whether the first of two sorted lists has an additional element. Go: ItemRemovedFromModifiedSlice."""
    return original < modified


def item_matches_original_and_modified_slice(original: str, modified: str) -> bool:
    """Report whether the items are equal. Go: ItemMatchesOriginalAndModifiedSlice."""
    return original == modified


def create_delete_directive(merge_key: str, merge_key_value: Any) -> JSONMap:
    """Return the element of a patch that deletes an element. Go: strategicpatch.CreateDeleteDirective."""
    return {merge_key: merge_key_value, _DIRECTIVE_MARKER: _DELETE}


# --- Small helpers ----------------------------------------------------------------------------------------------------


def _split_strategies(strategies: Sequence[str]) -> tuple[bool, str]:
    """Report whether keys are retained, and return the other strategy, if any. Go: extractRetainKeysPatchStrategy."""
    others = [strategy for strategy in strategies if strategy != _RETAIN_KEYS_STRATEGY]
    if len(strategies) > 2 or len(others) > 1:
        raise MergePatchError(f"unexpected patch strategy: [{' '.join(strategies)}]")
    return len(others) < len(strategies), others[0] if others else ""


def _element_type(*lists: list[Any]) -> type:
    """Return the common type of all elements. Raises an error for several types, or for none."""
    types = [type(element) for each in lists for element in each]
    if not types:
        raise MergePatchError("no elements in any of the given slices")
    if types[0] is list:
        raise ErrNoListOfLists
    if types.count(types[0]) < len(types):
        raise MergePatchError(f"list element types are not identical: {go_value(list(lists))}")
    return types[0]


def _require_map(element: Any) -> Mapping[str, Any]:
    if not isinstance(element, dict):
        raise err_bad_arg_type(dict, element)
    return element


def _merge_value(element: Any, merge_key: str) -> Any:
    if merge_key not in _require_map(element):
        raise err_no_merge_key(element, merge_key)
    return element[merge_key]


def _identity(element: Any, merge_key: str) -> Any:
    """Return the value that identifies an element: the value of its merge key, or the element itself."""
    return _merge_value(element, merge_key) if merge_key else element


def _positions(elements: list[Any], merge_key: str) -> Positions:
    """Return the positions of the elements' identities. An element without its merge key has the identity None."""
    return Positions(_require_map(each).get(merge_key) for each in elements) if merge_key else Positions(elements)


def _extract_key(directive: str, prefix: str) -> str:
    head, slash, key = directive.partition("/")
    if slash and head == prefix:
        return key
    if prefix == _DELETE_FROM_PRIMITIVE_LIST:
        raise ErrBadPatchFormatForPrimitiveList
    raise ErrBadPatchFormatForSetElementOrderList


def _text(value: Any) -> str:
    """Return the text that Go prints for a scalar."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "<nil>" if value is None else str(value)


def _without_duplicates(values: list[Any]) -> list[Any]:
    kept: list[Any] = []
    known = Positions()
    for value in values:
        if value not in known:
            kept.append(value)
            known.append(value)
    return kept
