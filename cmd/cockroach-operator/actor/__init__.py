"""The Director, who chooses, and the actors, who do: one of them at each reconcile."""

from actor.actor import Action, Actor, NotReadyError, PermanentError, ValidationError
from actor.director import ClusterDirector, Director

__all__ = [
    "Action",
    "Actor",
    "ClusterDirector",
    "Director",
    "NotReadyError",
    "PermanentError",
    "ValidationError",
]
