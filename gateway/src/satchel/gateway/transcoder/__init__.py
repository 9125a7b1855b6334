"""Turns the contract into routes, JSON, OpenAPI and schemas; knows nothing of memories or of HTTP servers."""
