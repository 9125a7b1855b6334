"""Prometheus metrics: how they are declared, counted, read and served.

Each part of Satchel declares its own in a module ``metrics``; those of every process are here. The whole list
is in docs/metrics.md. Import the modules themselves: the settings are cheap, the rest is not.
"""
