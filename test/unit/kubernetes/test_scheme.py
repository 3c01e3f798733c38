"""The scheme of the built-in kinds."""

from __future__ import annotations

import json

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api import meta
from clientgo.kubernetes.scheme import CODECS


def test_a_list_of_any_objects_is_decoded_and_its_items_are_kept_as_bytes() -> None:
    """Go: core/v1.List, which kubectl writes for several objects, and meta.ExtractList."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": [pod, {"kind": "Foo"}]})
    decoded, gvk = CODECS.universal_deserializer().decode(text.encode())
    items = meta.extract_list(decoded)
    assert (gvk.version, gvk.kind) == ("v1", "List")
    assert [type(item) for item in items] == [runtime.Unknown, runtime.Unknown]
    assert [item.to_dict() for item in items] == [pod, {"kind": "Foo"}]
    assert CODECS.universal_deserializer().decode(items[0].raw)[0] == corev1.Pod.from_dict(pod)
