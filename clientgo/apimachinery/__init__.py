"""k8s.io/apimachinery/pkg: objects, schemes, labels, errors, watches and small utilities that all other packages use.
"""
