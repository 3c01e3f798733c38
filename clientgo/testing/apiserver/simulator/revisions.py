"""The history of a pod template: a ControllerRevision for each, which StatefulSets and DaemonSets roll between.

Does what Kubernetes' controller history does, without its hash collisions. A revision that comes back gets the highest
number again, as after `kubectl rollout undo`.
"""

from __future__ import annotations

import hashlib

from clientgo import kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context
from clientgo.testing.apiserver.simulator.ownership import adopt_and_release
from clientgo.testing.apiserver.wire.jsonio import Json, dumps_sorted

REVISION_HASH = "controller-revision-hash"
_DEFAULT_HISTORY = 10
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"

Owner = appsv1.StatefulSet | appsv1.DaemonSet


def hash_text(value: Json) -> str:
    """Return a hash of ten characters, from those that Kubernetes uses in names."""
    number = int(hashlib.sha256(dumps_sorted(value)).hexdigest()[:12], 16)
    text = ""
    for _ in range(10):
        number, rest = divmod(number, len(_ALPHABET))
        text += _ALPHABET[rest]
    return text


def template_of(revision: appsv1.ControllerRevision) -> Json:
    """Return the pod template that the revision stores."""
    template = dict(revision.to_dict()["data"]["spec"]["template"])
    template.pop("$patch", None)
    return template


class Revisions:
    """The revisions of one kind of owner."""

    def __init__(self, client: kubernetes.Clientset, kind: GroupVersionKind) -> None:
        self._client = client
        self._kind = kind

    def __repr__(self) -> str:
        return f"<Revisions of {self._kind.kind}s>"

    def of(self, ctx: Context, owner: Owner) -> list[appsv1.ControllerRevision]:
        """Return the owner's revisions, the oldest first. Raises the errors of adopt_and_release."""
        apps, namespace = self._client.apps_v1(), owner.get_namespace()
        client = apps.controller_revisions(namespace)
        owners = apps.stateful_sets(namespace) if isinstance(owner, appsv1.StatefulSet) else apps.daemon_sets(namespace)
        found = adopt_and_release(ctx, client.list(ctx, metav1.ListOptions()).items, owner, self._kind, client, owners)
        return sorted(found, key=lambda one: (one.revision, one.get_name()))

    def current(
        self, ctx: Context, owner: Owner, known: list[appsv1.ControllerRevision]
    ) -> appsv1.ControllerRevision:
        """Return the revision of the owner's current template; create it, or give it the highest number, if necessary.

        Raises StatusError.
        """
        client = self._client.apps_v1().controller_revisions(owner.get_namespace())
        template = owner.spec.template.to_dict()
        number = max((one.revision for one in known), default=0)
        equal = [one for one in known if template_of(one) == template]
        if not equal:
            return client.create(ctx, self._new(owner, template, number + 1))
        newest = equal[-1]
        if newest.revision == number:
            return newest
        again = newest.deep_copy()
        again.revision = number + 1
        return client.update(ctx, again)

    def forget_old(
        self, ctx: Context, owner: Owner, known: list[appsv1.ControllerRevision], in_use: set[str]
    ) -> None:
        """Delete the oldest revisions beyond the owner's limit that no pod has. Raises StatusError."""
        limit = owner.spec.revision_history_limit
        unused = [one for one in known if one.get_name() not in in_use]
        surplus = len(unused) - (_DEFAULT_HISTORY if limit is None else limit)
        client = self._client.apps_v1().controller_revisions(owner.get_namespace())
        for one in unused[: max(0, surplus)]:
            client.delete(ctx, one.get_name(), metav1.DeleteOptions())

    def _new(self, owner: Owner, template: Json, number: int) -> appsv1.ControllerRevision:
        code = hash_text(template)
        labels = {**dict(owner.spec.template.metadata.labels), REVISION_HASH: code}
        return appsv1.ControllerRevision.from_dict(
            {
                "metadata": {
                    "name": f"{owner.get_name()}-{code}",
                    "namespace": owner.get_namespace(),
                    "labels": labels,
                    "ownerReferences": [metav1.new_controller_ref(owner, self._kind).to_dict()],
                },
                "data": {"spec": {"template": {**template, "$patch": "replace"}}},
                "revision": number,
            }
        )
