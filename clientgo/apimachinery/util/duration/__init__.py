"""Durations as kubectl prints ages. Mirrors k8s.io/apimachinery/pkg/util/duration."""

from clientgo.apimachinery.util.duration.duration import human_duration, short_human_duration

__all__ = ["human_duration", "short_human_duration"]
