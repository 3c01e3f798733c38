"""Who is asking and what they may: authentication, RBAC, escalation, and what a path asks for."""
