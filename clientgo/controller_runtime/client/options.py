"""The options of a client's methods. Mirrors pkg/client/options.go.

Every method takes any number of options. `CreateOptions` and similar classes hold all the options of a method and are
options themselves. Each of the small types sets one option, often for several methods:

    client.list(ctx, PodList, InNamespace("default"), MatchingLabels({"app": "web"}), Limit(500))
    client.patch(ctx, pod, merge_from(original), FieldOwner("web-operator"))

Differences: `as_create_options` and similar methods return a new object; Go may change the caller's Raw options. Go
embeds ListOptions and DeleteOptions in DeleteAllOfOptions; here they are two attributes, since both have a `raw`.
`unsafe_disable_deep_copy` does nothing: objects from a cache are read-only, so they are never copied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, Self

from clientgo.apimachinery import fields, labels
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.selection import Operator
from clientgo.apimachinery.util.errors import AggregateError

if TYPE_CHECKING:
    from clientgo.controller_runtime.client.client import (
        SubResourceApplyOptions,
        SubResourceCreateOptions,
        SubResourceGetOptions,
        SubResourcePatchOptions,
        SubResourceUpdateOptions,
    )

# --- What an option is -----------------------------------------------------------------------------------------------


class CreateOption(Protocol):
    """An option of a create. Go: client.CreateOption."""

    def apply_to_create(self, opts: CreateOptions, /) -> None: ...


class DeleteOption(Protocol):
    """An option of a delete. Go: client.DeleteOption."""

    def apply_to_delete(self, opts: DeleteOptions, /) -> None: ...


class GetOption(Protocol):
    """An option of a get. Go: client.GetOption."""

    def apply_to_get(self, opts: GetOptions, /) -> None: ...


class ListOption(Protocol):
    """An option of a list or a watch. Go: client.ListOption."""

    def apply_to_list(self, opts: ListOptions, /) -> None: ...


class UpdateOption(Protocol):
    """An option of an update. Go: client.UpdateOption."""

    def apply_to_update(self, opts: UpdateOptions, /) -> None: ...


class PatchOption(Protocol):
    """An option of a patch. Go: client.PatchOption."""

    def apply_to_patch(self, opts: PatchOptions, /) -> None: ...


class ApplyOption(Protocol):
    """An option of an apply. Go: client.ApplyOption."""

    def apply_to_apply(self, opts: ApplyOptions, /) -> None: ...


class DeleteAllOfOption(Protocol):
    """An option of a delete_all_of. Go: client.DeleteAllOfOption."""

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions, /) -> None: ...


class SubResourceGetOption(Protocol):
    """An option of reading a subresource. Go: client.SubResourceGetOption."""

    def apply_to_sub_resource_get(self, opts: SubResourceGetOptions, /) -> None: ...


class SubResourceUpdateOption(Protocol):
    """An option of updating a subresource. Go: client.SubResourceUpdateOption."""

    def apply_to_sub_resource_update(self, opts: SubResourceUpdateOptions, /) -> None: ...


class SubResourceCreateOption(Protocol):
    """An option of creating a subresource. Go: client.SubResourceCreateOption."""

    def apply_to_sub_resource_create(self, opts: SubResourceCreateOptions, /) -> None: ...


class SubResourcePatchOption(Protocol):
    """An option of patching a subresource. Go: client.SubResourcePatchOption."""

    def apply_to_sub_resource_patch(self, opts: SubResourcePatchOptions, /) -> None: ...


class SubResourceApplyOption(Protocol):
    """An option of applying to a subresource. Go: client.SubResourceApplyOption."""

    def apply_to_sub_resource_apply(self, opts: SubResourceApplyOptions, /) -> None: ...


# --- Options for several methods -------------------------------------------------------------------------------------


class _Text(str):
    """A text that is an option. Raises TypeError for other types, so that None is not read as the text "None"."""

    __slots__ = ()

    def __new__(cls, text: str = "") -> Self:
        if not isinstance(text, str):
            raise TypeError(f"{cls.__name__}: expected str, got {text!r}")
        return super().__new__(cls, text)


class _DryRunAll:
    """See DRY_RUN_ALL."""

    def apply_to_create(self, opts: CreateOptions) -> None:
        opts.dry_run = [metav1.DRY_RUN_ALL]

    def apply_to_update(self, opts: UpdateOptions) -> None:
        opts.dry_run = [metav1.DRY_RUN_ALL]

    def apply_to_patch(self, opts: PatchOptions) -> None:
        opts.dry_run = [metav1.DRY_RUN_ALL]

    def apply_to_apply(self, opts: ApplyOptions) -> None:
        opts.dry_run = [metav1.DRY_RUN_ALL]

    def apply_to_delete(self, opts: DeleteOptions) -> None:
        opts.dry_run = [metav1.DRY_RUN_ALL]

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions) -> None:
        self.apply_to_delete(opts.delete_options)

    def apply_to_sub_resource_create(self, opts: SubResourceCreateOptions) -> None:
        self.apply_to_create(opts)

    def apply_to_sub_resource_update(self, opts: SubResourceUpdateOptions) -> None:
        self.apply_to_update(opts)

    def apply_to_sub_resource_patch(self, opts: SubResourcePatchOptions) -> None:
        self.apply_to_patch(opts)

    def apply_to_sub_resource_apply(self, opts: SubResourceApplyOptions) -> None:
        self.apply_to_apply(opts)

    def __repr__(self) -> str:
        return "DRY_RUN_ALL"


# A dry run: the server performs all steps but does not persist the change. Go: client.DryRunAll.
DRY_RUN_ALL: Final = _DryRunAll()


class FieldOwner(_Text):
    """The field manager: the owner of the fields that a write sets. Go: client.FieldOwner."""

    __slots__ = ()

    def apply_to_patch(self, opts: PatchOptions) -> None:
        opts.field_manager = str(self)

    def apply_to_create(self, opts: CreateOptions) -> None:
        opts.field_manager = str(self)

    def apply_to_update(self, opts: UpdateOptions) -> None:
        opts.field_manager = str(self)

    def apply_to_apply(self, opts: ApplyOptions) -> None:
        opts.field_manager = str(self)

    def apply_to_sub_resource_patch(self, opts: SubResourcePatchOptions) -> None:
        self.apply_to_patch(opts)

    def apply_to_sub_resource_create(self, opts: SubResourceCreateOptions) -> None:
        self.apply_to_create(opts)

    def apply_to_sub_resource_update(self, opts: SubResourceUpdateOptions) -> None:
        self.apply_to_update(opts)

    def apply_to_sub_resource_apply(self, opts: SubResourceApplyOptions) -> None:
        self.apply_to_apply(opts)


class FieldValidation(_Text):
    """The server's treatment of unknown and duplicate fields: Ignore, Warn or Strict. Go: client.FieldValidation."""

    __slots__ = ()

    def apply_to_patch(self, opts: PatchOptions) -> None:
        opts.field_validation = str(self)

    def apply_to_create(self, opts: CreateOptions) -> None:
        opts.field_validation = str(self)

    def apply_to_update(self, opts: UpdateOptions) -> None:
        opts.field_validation = str(self)

    def apply_to_sub_resource_patch(self, opts: SubResourcePatchOptions) -> None:
        self.apply_to_patch(opts)

    def apply_to_sub_resource_create(self, opts: SubResourceCreateOptions) -> None:
        self.apply_to_create(opts)

    def apply_to_sub_resource_update(self, opts: SubResourceUpdateOptions) -> None:
        self.apply_to_update(opts)


# --- Create ----------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class CreateOptions:
    """The options of a create. Go: client.CreateOptions."""

    dry_run: list[str] | None = None
    field_manager: str = ""
    field_validation: str = ""
    raw: metav1.CreateOptions | None = None
    """Further options of the request."""

    def as_create_options(self) -> metav1.CreateOptions:
        """Return the options for the request. Go: AsCreateOptions."""
        options = metav1.CreateOptions() if self.raw is None else self.raw.deep_copy()
        options.dry_run = self.dry_run or []
        options.field_manager = self.field_manager
        options.field_validation = self.field_validation
        return options

    def apply_options(self, opts: Iterable[CreateOption]) -> Self:
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_create(self)
        return self

    def apply_to_create(self, opts: CreateOptions) -> None:
        if self.dry_run is not None:
            opts.dry_run = self.dry_run
        if self.field_manager:
            opts.field_manager = self.field_manager
        if self.field_validation:
            opts.field_validation = self.field_validation
        if self.raw is not None:
            opts.raw = self.raw


# --- Delete ----------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class DeleteOptions:
    """The options of a delete. Go: client.DeleteOptions."""

    grace_period_seconds: int | None = None
    """Seconds until the object is removed; 0 is immediately, None selects the kind's default."""
    preconditions: metav1.Preconditions | None = None
    """Conditions that the object must meet; otherwise StatusError (Conflict) is raised."""
    propagation_policy: str | None = None
    """The treatment of objects that the deleted one owns: Orphan, Background or Foreground."""
    raw: metav1.DeleteOptions | None = None
    dry_run: list[str] | None = None

    def as_delete_options(self) -> metav1.DeleteOptions:
        """Return the options for the request. Go: AsDeleteOptions."""
        options = metav1.DeleteOptions() if self.raw is None else self.raw.deep_copy()
        options.grace_period_seconds = self.grace_period_seconds
        options.preconditions = self.preconditions
        options.propagation_policy = self.propagation_policy
        options.dry_run = self.dry_run or []
        return options

    def apply_options(self, opts: Iterable[DeleteOption]) -> Self:
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_delete(self)
        return self

    def apply_to_delete(self, opts: DeleteOptions) -> None:
        if self.grace_period_seconds is not None:
            opts.grace_period_seconds = self.grace_period_seconds
        if self.preconditions is not None:
            opts.preconditions = self.preconditions
        if self.propagation_policy is not None:
            opts.propagation_policy = self.propagation_policy
        if self.raw is not None:
            opts.raw = self.raw
        if self.dry_run is not None:
            opts.dry_run = self.dry_run


class GracePeriodSeconds(int):
    """Seconds until a deleted object is removed. Go: client.GracePeriodSeconds."""

    __slots__ = ()

    def apply_to_delete(self, opts: DeleteOptions) -> None:
        opts.grace_period_seconds = int(self)

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions) -> None:
        self.apply_to_delete(opts.delete_options)


class Preconditions(metav1.Preconditions):
    """Conditions that an object must meet to be deleted. Go: client.Preconditions."""

    def apply_to_delete(self, opts: DeleteOptions) -> None:
        opts.preconditions = metav1.Preconditions.from_dict(self.to_dict())

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions) -> None:
        self.apply_to_delete(opts.delete_options)


class PropagationPolicy(_Text):
    """The treatment of objects that the deleted one owns. Go: client.PropagationPolicy."""

    __slots__ = ()

    def apply_to_delete(self, opts: DeleteOptions) -> None:
        opts.propagation_policy = str(self)

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions) -> None:
        self.apply_to_delete(opts.delete_options)


# --- Get -------------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class GetOptions:
    """The options of a get. Go: client.GetOptions."""

    raw: metav1.GetOptions | None = None
    """The options of the request; caches ignore them."""
    unsafe_disable_deep_copy: bool | None = None

    def apply_to_get(self, opts: GetOptions) -> None:
        if self.raw is not None:
            opts.raw = self.raw
        if self.unsafe_disable_deep_copy is not None:
            opts.unsafe_disable_deep_copy = self.unsafe_disable_deep_copy

    def as_get_options(self) -> metav1.GetOptions:
        """Return the options for the request. Go: AsGetOptions."""
        return metav1.GetOptions() if self.raw is None else self.raw.deep_copy()

    def apply_options(self, opts: Iterable[GetOption]) -> Self:
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_get(self)
        return self


# --- List ------------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class ListOptions:
    """The options of a list or a watch. Go: client.ListOptions."""

    label_selector: labels.Selector | None = None
    field_selector: fields.Selector | None = None
    """A cache accepts only exact matches of indexed fields."""
    namespace: str = ""
    """The namespace to list; "" selects all namespaces and cluster-scoped objects."""
    limit: int = 0
    """The maximum number of objects to return; 0 is unlimited. The list then has a continue token."""
    continue_: str = ""
    """The continue token of the previous list."""
    unsafe_disable_deep_copy: bool | None = None
    raw: metav1.ListOptions | None = None
    """Further options of the request; the other attributes take precedence."""

    def apply_to_list(self, opts: ListOptions) -> None:
        if self.label_selector is not None:
            opts.label_selector = self.label_selector
        if self.field_selector is not None:
            opts.field_selector = self.field_selector
        if self.namespace:
            opts.namespace = self.namespace
        if self.raw is not None:
            opts.raw = self.raw
        if self.limit > 0:
            opts.limit = self.limit
        if self.continue_:
            opts.continue_ = self.continue_
        if self.unsafe_disable_deep_copy is not None:
            opts.unsafe_disable_deep_copy = self.unsafe_disable_deep_copy

    def as_list_options(self) -> metav1.ListOptions:
        """Return the options for the request. Go: AsListOptions."""
        options = metav1.ListOptions() if self.raw is None else self.raw.deep_copy()
        if self.label_selector is not None:
            options.label_selector = str(self.label_selector)
        if self.field_selector is not None:
            options.field_selector = str(self.field_selector)
        if not options.watch:
            options.limit = self.limit
            options.continue_ = self.continue_
        return options

    def apply_options(self, opts: Iterable[ListOption]) -> Self:
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_list(self)
        return self


class MatchingLabels(dict[str, str]):
    """An option that selects objects with these labels, combined with any other selector. Go: client.MatchingLabels."""

    def apply_to_list(self, opts: ListOptions) -> None:
        selector = labels.selector_from_validated_set(self)
        if opts.label_selector is None:
            opts.label_selector = selector
            return
        requirements, _ = selector.requirements()
        opts.label_selector = opts.label_selector.add(*requirements)

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions) -> None:
        self.apply_to_list(opts.list_options)


class HasLabels(list[str]):
    """An option that selects objects with labels of these names, whatever their values. Go: client.HasLabels.

    As in Go an invalid label name is ignored, so a list of only such names selects everything. Raises TypeError for a
    single text, which is no list of names.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        if isinstance(names, str):
            raise TypeError(f"HasLabels: expected a list of names, got {names!r}")
        super().__init__(names)

    def apply_to_list(self, opts: ListOptions) -> None:
        selector = labels.new_selector() if opts.label_selector is None else opts.label_selector
        for name in self:
            try:
                selector = selector.add(labels.new_requirement(name, Operator.EXISTS))
            except AggregateError:  # of the name's defects
                continue
        opts.label_selector = selector

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions) -> None:
        self.apply_to_list(opts.list_options)


@dataclass(frozen=True)
class MatchingLabelsSelector:
    """An option that selects objects by a label selector; None selects no object. Go: client.MatchingLabelsSelector."""

    selector: labels.Selector | None = None

    def __post_init__(self) -> None:
        _require_selector(self, "labels.parse")

    def apply_to_list(self, opts: ListOptions) -> None:
        opts.label_selector = labels.nothing() if self.selector is None else self.selector

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions) -> None:
        self.apply_to_list(opts.list_options)


def _require_selector(option: MatchingLabelsSelector | MatchingFieldsSelector, function: str) -> None:
    """Raise TypeError for a text; `function` makes a selector of it."""
    if isinstance(option.selector, str):
        raise TypeError(f"{type(option).__name__}: expected a selector, got {option.selector!r}; {function} makes one")


class MatchingFields(dict[str, str]):
    """An option that selects objects whose fields have these values; a cache needs an index of each field.

    Go: client.MatchingFields.
    """

    def apply_to_list(self, opts: ListOptions) -> None:
        opts.field_selector = fields.selector_from_set(self)

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions) -> None:
        self.apply_to_list(opts.list_options)


@dataclass(frozen=True)
class MatchingFieldsSelector:
    """An option that selects objects by a field selector; None selects no object. Go: client.MatchingFieldsSelector."""

    selector: fields.Selector | None = None

    def __post_init__(self) -> None:
        _require_selector(self, "fields.parse_selector")

    def apply_to_list(self, opts: ListOptions) -> None:
        opts.field_selector = fields.nothing() if self.selector is None else self.selector

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions) -> None:
        self.apply_to_list(opts.list_options)


class InNamespace(_Text):
    """An option that selects objects of one namespace. Go: client.InNamespace."""

    __slots__ = ()

    def apply_to_list(self, opts: ListOptions) -> None:
        opts.namespace = str(self)

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions) -> None:
        self.apply_to_list(opts.list_options)

    def as_selector(self) -> fields.Selector:
        """Return an equivalent field selector. Go: AsSelector."""
        return fields.selector_from_set({"metadata.namespace": str(self)})


class Limit(int):
    """The maximum number of objects to return; not for delete_all_of, which has no limit. Go: client.Limit."""

    __slots__ = ()

    def apply_to_list(self, opts: ListOptions) -> None:
        opts.limit = int(self)


@dataclass(frozen=True)
class UnsafeDisableDeepCopyOption:
    """An option without effect: objects from a cache are read-only and never copied.

    Go: client.UnsafeDisableDeepCopyOption.
    """

    disable: bool = True

    def apply_to_get(self, opts: GetOptions) -> None:
        opts.unsafe_disable_deep_copy = self.disable

    def apply_to_list(self, opts: ListOptions) -> None:
        opts.unsafe_disable_deep_copy = self.disable


# Go: client.UnsafeDisableDeepCopy.
UNSAFE_DISABLE_DEEP_COPY: Final = UnsafeDisableDeepCopyOption(True)


class Continue(_Text):
    """The continue token of the previous list; not for delete_all_of, which has none. Go: client.Continue."""

    __slots__ = ()

    def apply_to_list(self, opts: ListOptions) -> None:
        opts.continue_ = str(self)


# --- Update ----------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class UpdateOptions:
    """The options of an update. Go: client.UpdateOptions."""

    dry_run: list[str] | None = None
    field_manager: str = ""
    field_validation: str = ""
    raw: metav1.UpdateOptions | None = None

    def as_update_options(self) -> metav1.UpdateOptions:
        """Return the options for the request. Go: AsUpdateOptions."""
        options = metav1.UpdateOptions() if self.raw is None else self.raw.deep_copy()
        options.dry_run = self.dry_run or []
        options.field_manager = self.field_manager
        options.field_validation = self.field_validation
        return options

    def apply_options(self, opts: Iterable[UpdateOption]) -> Self:
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_update(self)
        return self

    def apply_to_update(self, opts: UpdateOptions) -> None:
        if self.dry_run is not None:
            opts.dry_run = self.dry_run
        if self.field_manager:
            opts.field_manager = self.field_manager
        if self.field_validation:
            opts.field_validation = self.field_validation
        if self.raw is not None:
            opts.raw = self.raw


# --- Patch -----------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class PatchOptions:
    """The options of a patch. Go: client.PatchOptions."""

    dry_run: list[str] | None = None
    force: bool | None = None
    """Take fields from other owners. Only for server-side apply."""
    field_manager: str = ""
    field_validation: str = ""
    raw: metav1.PatchOptions | None = None

    def apply_options(self, opts: Iterable[PatchOption]) -> Self:
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_patch(self)
        return self

    def as_patch_options(self) -> metav1.PatchOptions:
        """Return the options for the request; `raw` supplies the values that are not set otherwise.

        Go: AsPatchOptions.
        """
        options = metav1.PatchOptions() if self.raw is None else self.raw.deep_copy()
        if self.dry_run is not None:
            options.dry_run = self.dry_run
        if self.force is not None:
            options.force = self.force
        if self.field_manager:
            options.field_manager = self.field_manager
        if self.field_validation:
            options.field_validation = self.field_validation
        return options

    def apply_to_patch(self, opts: PatchOptions) -> None:
        if self.dry_run is not None:
            opts.dry_run = self.dry_run
        if self.force is not None:
            opts.force = self.force
        if self.field_manager:
            opts.field_manager = self.field_manager
        if self.field_validation:
            opts.field_validation = self.field_validation
        if self.raw is not None:
            opts.raw = self.raw


class _ForceOwnership:
    """See FORCE_OWNERSHIP."""

    def apply_to_patch(self, opts: PatchOptions) -> None:
        opts.force = True

    def apply_to_sub_resource_patch(self, opts: SubResourcePatchOptions) -> None:
        self.apply_to_patch(opts)

    def apply_to_apply(self, opts: ApplyOptions) -> None:
        opts.force = True

    def apply_to_sub_resource_apply(self, opts: SubResourceApplyOptions) -> None:
        self.apply_to_apply(opts)

    def __repr__(self) -> str:
        return "FORCE_OWNERSHIP"


# Server-side apply takes fields from other owners; most controllers need this. Go: client.ForceOwnership.
FORCE_OWNERSHIP: Final = _ForceOwnership()


# --- DeleteAllOf -----------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class DeleteAllOfOptions:
    """The objects to delete, and the options of their deletion. Go: client.DeleteAllOfOptions."""

    list_options: ListOptions = field(default_factory=ListOptions)
    delete_options: DeleteOptions = field(default_factory=DeleteOptions)

    def apply_options(self, opts: Iterable[DeleteAllOfOption]) -> Self:
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_delete_all_of(self)
        return self

    def apply_to_delete_all_of(self, opts: DeleteAllOfOptions) -> None:
        self.list_options.apply_to_list(opts.list_options)
        self.delete_options.apply_to_delete(opts.delete_options)


# --- Apply -----------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class ApplyOptions:
    """The options of a server-side apply. Go: client.ApplyOptions."""

    dry_run: list[str] | None = None
    force: bool | None = None
    """Take fields from other owners."""
    field_manager: str = ""
    """The owner of the fields. Required."""

    def apply_options(self, opts: Iterable[ApplyOption]) -> Self:
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_apply(self)
        return self

    def apply_to_apply(self, opts: ApplyOptions) -> None:
        if self.dry_run is not None:
            opts.dry_run = self.dry_run
        if self.force is not None:
            opts.force = self.force
        if self.field_manager:
            opts.field_manager = self.field_manager

    def as_patch_options(self) -> metav1.PatchOptions:
        """Return the options for the request. Go: AsPatchOptions."""
        return metav1.PatchOptions(dry_run=self.dry_run or [], force=self.force, field_manager=self.field_manager)
