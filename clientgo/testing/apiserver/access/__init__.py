"""Authentication, RBAC authorization, escalation checks, and the request that a path means."""
