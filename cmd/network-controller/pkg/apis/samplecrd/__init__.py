"""The API group samplecrd.k8s.io. Mirrors pkg/apis/samplecrd, whose register.go holds the group's name and version."""

GROUP_NAME = "samplecrd.k8s.io"
VERSION = "v1"
