"""A fake clientset of the built-in API groups, for tests. Mirrors k8s.io/client-go/kubernetes/fake.

    client = fake.new_simple_clientset(corev1.Pod(metadata=metav1.ObjectMeta(name="a", namespace="ns")))
    client.core_v1().pods("ns").get(ctx, "a")
    client.actions()                                   # what was asked
    client.prepend_reactor("get", "pods", reaction)    # answer differently

Unlike the rest of the library this package builds on `clientgo.testing`; nothing but tests should import it.
"""

from clientgo.kubernetes.fake.clientset_generated import Clientset, new_clientset, new_simple_clientset

__all__ = ["Clientset", "new_clientset", "new_simple_clientset"]
