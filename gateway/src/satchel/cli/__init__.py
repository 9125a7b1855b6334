"""The satchel command: a thin client, and the launcher of the services."""
