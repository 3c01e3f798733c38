"""The Director, which selects one actor for each reconciliation, and the actors."""

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
