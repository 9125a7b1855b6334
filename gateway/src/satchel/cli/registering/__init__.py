"""Satchel in the configuration files of MCP clients: where they are, and how they change."""
