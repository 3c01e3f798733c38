"""What is added to objects, or refused, on their way into the store: the admission plugins of kube-apiserver.

One module a plugin, as in Kubernetes' plugin/pkg/admission; `chain` is the list of them with its switches.
"""
