"""Readers of what `satchel import` takes: pure functions from text to records."""
