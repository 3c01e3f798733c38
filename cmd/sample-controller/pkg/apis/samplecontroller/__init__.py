"""The API group samplecontroller.k8s.io. Mirrors pkg/apis/samplecontroller."""

GROUP_NAME = "samplecontroller.k8s.io"
