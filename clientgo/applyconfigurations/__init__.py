"""Server-side apply: what a typed object lacks as an apply configuration (k8s.io/client-go/applyconfigurations).

    deployment = appsv1.Deployment(
        metadata=metav1.ObjectMeta(name="web", labels={"app": "web"}),
        spec=appsv1.DeploymentSpec(replicas=3),
    )
    client.apps_v1().deployments("default").apply(ctx, deployment, metav1.ApplyOptions(field_manager="me"))

Choose the form by the values that it has to send:

* a typed object sends the fields that were set, without empty and zero values: enough for most programs;
* `explicit(corev1.PodSpec)(host_network=False)` sends these values as well, for any part of the object;
* `extract(obj, field_manager)` starts from the fields that the manager owns, to change some and keep the rest; it has
  Go's names too, as in `applyconfigurations.apps.v1.extract_deployment`, and `codegen` writes them for own kinds;
* a dict or an Unstructured sends exactly its content, unchecked.

Do not apply an object that was read from the server: the manager would own all of its fields.
"""

from typing import TYPE_CHECKING

from clientgo.applyconfigurations.utils import for_kind, new_type_converter
from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.applyconfigurations.builders import explicit, extract
else:
    __getattr__, __dir__ = attach(__name__, {"builders": ["explicit", "extract"]})

__all__ = ["explicit", "extract", "for_kind", "new_type_converter"]
