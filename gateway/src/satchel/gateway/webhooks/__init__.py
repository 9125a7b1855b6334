"""Sends events to the endpoints that want them; what waits, and for how long, the store keeps."""
