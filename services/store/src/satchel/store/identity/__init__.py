"""Identities of agents: read from conversations, merged, changed, compared and shown; no I/O, no clock."""
