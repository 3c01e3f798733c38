"""The admission plugins of kube-apiserver, which change or reject objects before they are stored.

Each plugin is one module, as in Kubernetes' plugin/pkg/admission. `chain` lists them and enables or disables each.
"""
